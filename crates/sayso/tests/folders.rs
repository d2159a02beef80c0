//! Folders: what they would run, and completing their names.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pretty_assertions::assert_eq;
use sayso::config::PolicySettings;
use serde_json::{Value, json};
use support::{Client, TOKEN, TestServer};

const HOOKS: &str =
    r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ran"}]}]}}"#;

/// A server whose `claude` is the demo agent, noting how it was started.
async fn server_with_claude() -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("no-claude-here");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exit\necho \"$@\" >> '{}'\nexec '{}' fake-claude -- \"$@\"\n",
        folder.path().join("started").display(),
        env!("CARGO_BIN_EXE_sayso"),
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    TestServer::start_in(folder, PolicySettings::default()).await
}

fn write_settings(project: &Path, text: &str) {
    fs::create_dir_all(project.join(".claude")).unwrap();
    fs::write(project.join(".claude/settings.json"), text).unwrap();
}

async fn start(client: &mut Client, server: &TestServer, more: Value) -> Value {
    let mut message = json!({"type": "start_session", "cwd": server.project(), "agent": "claude"});
    for (key, value) in more.as_object().unwrap() {
        message[key] = value.clone();
    }
    client.call(message).await
}

#[tokio::test]
async fn nothing_runs_in_a_folder_that_nobody_trusted() {
    let server = server_with_claude().await;
    let started = server.folder.path().join("started");
    let mut client = server.connect().await;
    write_settings(&server.project(), HOOKS);

    let refused = start(&mut client, &server, json!({})).await;
    assert_eq!(refused["code"], "folder_not_trusted", "{refused}");
    let finding = &refused["trust"]["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["name"], &finding["detail"]),
        (&json!("hook"), &json!("SessionStart"), &json!("touch ran"))
    );
    let digest = &refused["trust"]["digest"];

    // What changed meanwhile is shown again, not trusted unseen.
    write_settings(&server.project(), r#"{"env":{"A":"1"}}"#);
    let accept = json!({"trust": true, "trust_digest": digest});
    let changed = start(&mut client, &server, accept).await;
    assert_eq!(changed["code"], "folder_not_trusted");
    assert_eq!(changed["trust"]["findings"][0]["kind"], "environment");
    assert!(!started.exists(), "an agent was started");

    let accept = json!({"trust": true, "trust_digest": changed["trust"]["digest"]});
    let ack = start(&mut client, &server, accept).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    // Trusted as it is: not asked again, until it changes.
    let again = start(&mut client, &server, json!({})).await;
    assert_eq!(again["type"], "ack", "{again}");
    write_settings(&server.project(), HOOKS);
    let other = start(&mut client, &server, json!({})).await;
    assert_eq!(other["code"], "folder_not_trusted");
    server.stop().await;
}

#[tokio::test]
async fn a_session_can_start_without_the_folders_own_settings() {
    let server = server_with_claude().await;
    let mut client = server.connect().await;
    write_settings(&server.project(), HOOKS);
    let ack = start(&mut client, &server, json!({"trust": false})).await;
    let session = ack["session_id"].as_str().unwrap().to_owned();
    let known = client.state(&session, "user_turn").await;
    assert_eq!(known["restricted"], true);
    let started = fs::read_to_string(server.folder.path().join("started")).unwrap();
    for flag in ["--setting-sources=user", "--strict-mcp-config"] {
        assert!(started.contains(flag), "{started}");
    }
    // It goes on as it began, without a question.
    let stop = json!({"type": "stop_session", "session_id": session});
    client.call(stop).await;
    client.state(&session, "dead").await;
    let ack = start(&mut client, &server, json!({"resume": session})).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    client.state(&session, "user_turn").await;
    let started = fs::read_to_string(server.folder.path().join("started")).unwrap();
    assert_eq!(started.matches("--setting-sources=user").count(), 2);
    server.stop().await;
}

#[tokio::test]
async fn the_demo_agent_takes_nothing_from_its_folder() {
    let server = TestServer::start().await;
    write_settings(&server.project(), HOOKS);
    let mut client = server.connect().await;
    client.start(&server, &json!("Hello")).await;
    server.stop().await;
}

#[tokio::test]
async fn folders_files_and_conversations_are_listed() {
    let server = TestServer::start().await;
    let project = server.project();
    fs::create_dir_all(project.join("inner")).unwrap();
    fs::write(project.join("inner/login.ts"), "").unwrap();
    let api = reqwest::Client::new();
    let get = async |path: &str, query: &[(&str, &str)]| -> (u16, Value) {
        let mut url = reqwest::Url::parse(&server.url(path)).unwrap();
        url.query_pairs_mut().extend_pairs(query);
        let answer = api.get(url).bearer_auth(TOKEN).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    };
    let typed = format!("{}/in", project.display());
    let inner = project.join("inner").display().to_string();
    assert_eq!(
        get("/api/folders", &[("path", &typed)]).await,
        (
            200,
            json!({"folders": [{"path": inner, "project": false}], "exists": false, "truncated": false})
        )
    );
    let cwd = project.display().to_string();
    assert_eq!(
        get("/api/files", &[("cwd", &cwd), ("query", "logi")]).await,
        (
            200,
            json!({"files": [{"path": "inner/login.ts"}], "truncated": false})
        )
    );
    assert_eq!(
        get("/api/conversations", &[("cwd", &cwd)]).await,
        (200, json!({"conversations": []}))
    );
    for (path, query) in [
        ("/api/files", ("cwd", "relative")),
        ("/api/conversations", ("cwd", "relative")),
        ("/api/files", ("query", "no folder")),
    ] {
        assert_eq!(get(path, &[query]).await.0, 400, "{path}");
    }
    server.stop().await;
}
