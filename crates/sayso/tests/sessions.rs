//! Sessions over restarts, slow clients, REST, and an orderly end.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use std::process::Stdio;

use pretty_assertions::assert_eq;
use sayso::config::PolicySettings;
use serde_json::{Value, json};
use support::{Client, TOKEN, TestServer, bash};

#[tokio::test]
async fn sessions_and_transcripts_are_there_after_a_restart_and_go_on() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client
        .start(&server, &json!({"steps": [{"say": "Before."}]}))
        .await;
    client.subscribe(&session).await;
    let said = |text: &'static str| {
        move |entry: &Value| entry["kind"] == "assistant_text" && entry["text"] == text
    };
    client.entry(&session, said("Before.")).await;
    client.turn_over(&session).await;
    let folder = server.stop().await;

    let server = TestServer::start_in(folder, PolicySettings::default()).await;
    let mut client = server.connect().await;
    let known = client.welcome["sessions"][0].clone();
    assert_eq!(
        (&known["session_id"], &known["state"]),
        (&json!(session), &json!("dead"))
    );
    assert_eq!(known["can_resume"], true);
    client.subscribe(&session).await;
    client.entry(&session, said("Before.")).await;
    let script = json!({"steps": [{"say": "After."}]}).to_string();
    let cwd = server.project();
    let resume = json!({"type": "start_session", "cwd": cwd, "resume": session, "prompt": script});
    let ack = client.call(resume).await;
    assert_eq!(ack["session_id"], json!(session), "{ack}");
    client.entry(&session, said("After.")).await;
    server.stop().await;
}

#[tokio::test]
async fn i1_a_shutdown_answers_what_is_open_and_records_it() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &bash("touch never.txt")).await;
    let request = client.opened().await;
    let project = server.project();
    let stopping = tokio::spawn(server.stop());
    let outcome = client.closed(&request).await;
    assert_eq!(
        (&outcome["what"], &outcome["by"]),
        (&json!("denied"), &json!("policy"))
    );
    stopping.await.unwrap();
    assert!(!project.join("never.txt").exists());
}

#[tokio::test]
async fn i7_a_killed_server_leaves_its_request_open_for_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, url) = demo_server(&folder).await;
    let project = folder.path().join("project");
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let start = json!({"cwd": project, "prompt": bash("touch after.txt").to_string()});
    let started = api
        .post(format!("{url}/api/sessions"))
        .bearer_auth(TOKEN)
        .json(&start);
    let started: Value = started.send().await.unwrap().json().await.unwrap();
    let request = support::first_request(&api, &url).await;
    assert_eq!(request["session_id"], started["session_id"]);
    child.kill().await.unwrap();

    let server = TestServer::start_in(folder, PolicySettings::default()).await;
    let mut client = server.connect().await;
    assert_eq!(client.welcome["pending_requests"], json!([request]));
    let session = started["session_id"].as_str().unwrap();
    client.subscribe(session).await;
    let ack = client.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    let entry = client
        .entry(session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(entry["outcome"]["what"], "allowed");
    client
        .entry(session, |entry| entry["kind"] == "tool_result")
        .await;
    assert!(server.project().join("after.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_killed_agent_and_its_runner_leave_the_request_as_orphaned() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, url) = demo_server(&folder).await;
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let project = folder.path().join("project");
    let start = json!({"cwd": project, "prompt": bash("true").to_string()});
    let started = api
        .post(format!("{url}/api/sessions"))
        .bearer_auth(TOKEN)
        .json(&start);
    let started: Value = started.send().await.unwrap().json().await.unwrap();
    let request = support::first_request(&api, &url).await;
    child.kill().await.unwrap();
    kill_runners(&folder.path().join("data/agents"));

    let server = TestServer::start_in(folder, PolicySettings::default()).await;
    let mut client = server.connect().await;
    assert_eq!(client.welcome["pending_requests"], json!([]));
    let session = started["session_id"].as_str().unwrap();
    client.subscribe(session).await;
    let entry = client
        .entry(session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(entry["outcome"]["what"], "orphaned");
    let error = client.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(error["code"], "already_decided", "{error}");
    let agents = server.folder.path().join("data/agents");
    let gone = async {
        while std::fs::read_dir(&agents).unwrap().count() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let gone = tokio::time::timeout(std::time::Duration::from_secs(60), gone).await;
    assert!(gone.is_ok(), "nothing of it is left");
    server.stop().await;
}

async fn demo_server(folder: &tempfile::TempDir) -> (tokio::process::Child, String) {
    std::fs::create_dir_all(folder.path().join("project")).unwrap();
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args([
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--token",
            TOKEN,
            "--data-dir",
        ])
        .arg(folder.path().join("data"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let url = support::printed_url(child.stdout.take().unwrap()).await;
    (child, url)
}

/// What a power cut does to those that outlive the server.
fn kill_runners(folder: &std::path::Path) {
    for runner in sayso_runner::find(folder).unwrap() {
        let pid = runner.record.unwrap().pid;
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        while sayso_runner::clean_up(&runner.folder).unwrap() == sayso_runner::CleanUp::Alive {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_gets_a_new_snapshot_and_holds_nobody_up() {
    let server = TestServer::start().await;
    let (mut slow, mut fast) = (server.connect().await, server.connect().await);
    let session = fast.start(&server, &json!({"steps": []})).await;
    slow.subscribe(&session).await;
    let long = json!({"steps": [{"say": "x".repeat(5 * 1024 * 1024)}]});
    for script in [&long, &long, &long, &long, &bash("true")] {
        let content = json!([{"type": "text", "text": script.to_string()}]);
        let message = json!({"type": "send_message", "session_id": session, "content": content});
        let ack = fast.call(message).await;
        assert_eq!(ack["type"], "ack", "{ack}");
    }
    let request = fast.opened().await;
    let welcome = slow.wait_for(|frame| frame["type"] == "welcome").await;
    assert_eq!(welcome["pending_requests"], json!([request]));
    slow.take_seen();
    slow.subscribe(&session).await;
    let asked = |entry: &Value| entry["tool_use_id"] == request["tool_use_id"];
    let last = slow.entry(&session, asked).await;
    assert!(last["seq"].as_u64().unwrap() > 8, "{}", last["seq"]);
    server.stop().await;
}

#[tokio::test]
async fn rest_does_what_the_socket_does() {
    let server = TestServer::start().await;
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = async |path: String, body: Value| {
        let request = api.post(server.url(&path)).bearer_auth(TOKEN).json(&body);
        let answer = request.send().await.unwrap();
        (
            answer.status().as_u16(),
            answer.json::<Value>().await.unwrap(),
        )
    };
    let start = json!({"cwd": server.project(), "prompt": bash("touch rest.txt").to_string()});
    let (status, ack) = post("/api/sessions".to_owned(), start).await;
    assert_eq!(status, 200, "{ack}");
    let request = support::first_request(&api, &server.url("")).await;
    let id = request["request_id"].as_str().unwrap();
    let (status, _) = post(format!("/api/requests/{id}/hold"), json!({})).await;
    assert_eq!(status, 200);
    let (status, _) = post(format!("/api/requests/{id}/extend"), json!({"seconds": 60})).await;
    assert_eq!(status, 200);
    let decision =
        |digest: &Value| json!({"input_digest": digest, "decision": {"behavior": "allow"}});
    let (status, error) = post(
        format!("/api/requests/{id}/decision"),
        decision(&json!("0")),
    )
    .await;
    assert_eq!((status, &error["code"]), (409, &json!("digest_mismatch")));
    let right = decision(&request["input_digest"]);
    let (status, _) = post(format!("/api/requests/{id}/decision"), right.clone()).await;
    assert_eq!(status, 200);
    let (status, error) = post(format!("/api/requests/{id}/decision"), right).await;
    assert_eq!((status, &error["code"]), (409, &json!("already_decided")));
    assert_eq!(error["outcome"]["client"]["label"], "a script");
    server.stop().await;
}

#[tokio::test]
async fn the_welcome_is_the_first_frame_and_a_goodbye_the_last() {
    let policies = PolicySettings {
        when_unattended: Some(sayso_protocol::WhenUnattended::Pause),
        ..PolicySettings::default()
    };
    let server = TestServer::start_with(policies).await;
    let mut first = server.connect().await;
    first.start(&server, &bash("true")).await;
    let request = first.opened().await;
    first.close().await;
    let paused = async {
        loop {
            let api = reqwest::Client::builder().no_proxy().build().unwrap();
            let request = support::first_request(&api, &server.url("")).await;
            if request["deadline"].is_null() {
                return request;
            }
        }
    };
    assert_eq!(paused.await["request_id"], request["request_id"]);
    // `connect` fails when anything comes before the welcome.
    let mut again = server.connect().await;
    assert!(again.welcome["pending_requests"][0]["deadline"].is_string());
    let stopping = tokio::spawn(server.stop());
    assert_eq!(again.close_code().await, Some(1001));
    stopping.await.unwrap();
}

#[tokio::test]
async fn a_removed_session_is_gone_with_its_agent_and_its_requests() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("true")).await;
    let request = client.opened().await;
    client.take_seen();
    client
        .call(json!({"type": "remove_session", "session_id": session}))
        .await;
    assert_eq!(client.closed(&request).await["what"], "withdrawn");
    client
        .wait_for(|frame| frame["type"] == "session_removed")
        .await;
    let told = client.take_seen();
    assert!(
        told.iter().all(|frame| frame["type"] != "session_state"),
        "{told:?}"
    );
    let again = server.connect().await;
    assert_eq!(again.welcome["sessions"], json!([]));
    server.stop().await;
}

/// The process group of the only agent.
fn agent_group(server: &TestServer) -> rustix::process::Pid {
    let runners = sayso_runner::find(&server.folder.path().join("data/agents")).unwrap();
    let agent = runners[0].record.as_ref().unwrap().agent_pid;
    rustix::process::Pid::from_raw(i32::try_from(agent).unwrap()).unwrap()
}

#[tokio::test]
async fn an_agent_that_does_not_read_is_noticed_and_loses_nothing() {
    use rustix::process::{Signal, kill_process_group};
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch late.txt")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    let group = agent_group(&server);
    kill_process_group(group, Signal::STOP).unwrap();
    // More than a pipe holds.
    let content = json!([{"type": "text", "text": "x".repeat(512 * 1024)}]);
    let message = json!({"type": "send_message", "session_id": session, "content": content});
    assert_eq!(client.call(message).await["type"], "ack");
    let stuck = client
        .wait_for(|frame| {
            let error = frame["session"]["error"].as_str().unwrap_or_default();
            error.contains("does not read")
        })
        .await;
    assert_eq!(stuck["session"]["session_id"], session.as_str());
    let other = server.connect().await;
    assert_eq!(other.welcome["pending_requests"], json!([request]));
    kill_process_group(group, Signal::CONT).unwrap();
    client
        .wait_for(|frame| frame["type"] == "session_state" && frame["session"]["error"].is_null())
        .await;
    let ack = client.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    client
        .entry(&session, |entry| entry["kind"] == "tool_result")
        .await;
    assert!(server.project().join("late.txt").exists());
    server.stop().await;
}

/// The agent stands still while it gets something. That is told, and also that it goes on.
async fn stands_still_for(server: &TestServer, client: &mut Client, session: &str, what: Value) {
    use rustix::process::{Signal, kill_process_group};
    let group = agent_group(server);
    kill_process_group(group, Signal::STOP).unwrap();
    let ack = client.call(what).await;
    assert_eq!(ack["type"], "ack", "it is with the agent: {ack}");
    let stuck = client
        .wait_for(|frame| {
            let error = frame["session"]["error"].as_str().unwrap_or_default();
            error.contains("does not react")
        })
        .await;
    assert_eq!(stuck["session"]["session_id"], session);
    kill_process_group(group, Signal::CONT).unwrap();
    client
        .wait_for(|frame| frame["type"] == "session_state" && frame["session"]["error"].is_null())
        .await;
}

fn message(session: &str) -> Value {
    let content = json!([{"type": "text", "text": "{\"steps\": []}"}]);
    json!({"type": "send_message", "session_id": session, "content": content})
}

#[tokio::test]
async fn an_agent_that_does_not_react_to_an_answer_is_noticed() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch late.txt")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    let answer = json!({
        "type": "respond",
        "request_id": request["request_id"],
        "input_digest": request["input_digest"],
        "decision": {"behavior": "allow"},
    });
    stands_still_for(&server, &mut client, &session, answer).await;
    client
        .entry(&session, |entry| entry["kind"] == "tool_result")
        .await;
    assert!(server.project().join("late.txt").exists());
    server.stop().await;
}

/// It may work for an hour before it reads the message, but it gives a word when it is asked for one.
#[tokio::test]
async fn an_agent_at_work_that_does_not_react_to_a_message_is_noticed() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch late.txt")).await;
    client.subscribe(&session).await;
    client.opened().await;
    stands_still_for(&server, &mut client, &session, message(&session)).await;
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_does_not_react_to_a_message_is_noticed() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &json!({"steps": []})).await;
    client.subscribe(&session).await;
    client
        .wait_for(|frame| frame["session"]["state"] == "user_turn")
        .await;
    stands_still_for(&server, &mut client, &session, message(&session)).await;
    client
        .wait_for(|frame| frame["session"]["state"] == "user_turn")
        .await;
    server.stop().await;
}
