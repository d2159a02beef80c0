//! Limits that a client can run into: each has a name, and whoever keeps
//! within them notices nothing.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use pretty_assertions::assert_eq;
use sayso::config::Size;
use serde_json::{Value, json};
use support::{TOKEN, TestServer, bash, tool};

async fn get(server: &TestServer, path: &str) -> Value {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.get(server.url(path)).bearer_auth(TOKEN).send();
    answer.await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn there_are_only_so_many_agents_at_once() {
    let server = TestServer::start_configured(|config| config.max_sessions = 2).await;
    let mut client = server.connect().await;
    let first = client.start(&server, &bash("true")).await;
    client.start(&server, &bash("true")).await;
    let third = json!({"type": "start_session", "cwd": server.project()});
    let error = client.call(third.clone()).await;
    assert_eq!(error["code"], "overloaded", "{error}");
    let sessions = server.connect().await.welcome["sessions"].clone();
    assert_eq!(
        sessions.as_array().map(Vec::len),
        Some(2),
        "nothing is left of it"
    );
    client
        .call(json!({"type": "stop_session", "session_id": first}))
        .await;
    client.state(&first, "dead").await;
    let ack = client.call(third).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    let error = client
        .call(json!({"type": "start_session", "cwd": server.project(), "resume": first}))
        .await;
    assert_eq!(
        error["code"], "overloaded",
        "one that goes on counts, too: {error}"
    );
    server.stop().await;
}

/// An agent that fills the disk is stopped. What it said, what was decided and the history are all there.
#[tokio::test]
async fn a_transcript_that_is_full_stops_its_agent_and_says_so() {
    let limit = Size(Some(64 << 10));
    let server = TestServer::start_configured(|config| config.max_transcript = limit).await;
    let mut client = server.connect().await;
    let rule = json!({"type": "add_rule", "rule": "Bash(head:*)", "effect": "allow",
        "scope": {"kind": "everywhere"}, "confirm_broad": true});
    assert_eq!(client.call(rule).await["type"], "ack");
    let letters = "letters".repeat(4 << 10);
    std::fs::write(server.project().join("letters.txt"), letters).unwrap();
    let input = json!({"command": "head -c 5000 letters.txt"});
    let steps: Vec<_> = (0..50).map(|_| tool("Bash", input.clone())).collect();
    let script = json!({"steps": steps});
    let session = client.start(&server, &script).await;
    let ended = client.state(&session, "dead").await;
    let error = ended["error"].as_str().unwrap();
    assert!(
        error.contains("64 KiB") && error.contains("max_transcript"),
        "{error}"
    );

    // On disk, and everything before it.
    client.subscribe(&session).await;
    let full = |entry: &Value| entry["kind"] == "notice" && entry["text"] == error;
    client.entry(&session, full).await;
    let path = format!("/api/sessions/{session}/transcript");
    let transcript = get(&server, &path).await;
    let entries = transcript["entries"].as_array().unwrap();
    let numbers: Vec<u64> = entries
        .iter()
        .map(|entry| entry["seq"].as_u64().unwrap())
        .collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "nothing is missing");
    let count = |fits: &dyn Fn(&Value) -> bool| entries.iter().filter(|one| fits(one)).count();
    // The one that was under way when the agent was stopped may have failed.
    let ran = count(&|one| one["kind"] == "tool_result" && one["is_error"] != true);
    assert!((2..50).contains(&ran), "{ran}");
    assert!(count(&|one| one["kind"] == "decision") >= ran);
    assert_eq!(count(&full), 1);
    let ended = async {
        loop {
            let history = get(&server, "/api/history").await;
            let mut told = history["entries"].as_array().unwrap().iter();
            if told.any(|entry| entry["outcome"] == "ended") {
                return;
            }
        }
    };
    let patience = std::time::Duration::from_secs(60);
    tokio::time::timeout(patience, ended).await.unwrap();
    assert_eq!(get(&server, "/api/history/check").await["good"], true);

    // It does not go on growing when it is resumed; with a higher limit it does.
    let resume = |server: &TestServer| {
        json!({"type": "start_session", "cwd": server.project(), "resume": session,
            "prompt": bash("true").to_string()})
    };
    let folder = server.stop().await;
    let server = TestServer::open(folder, |config| config.max_transcript = limit).await;
    let mut client = server.connect().await;
    assert_eq!(client.call(resume(&server)).await["type"], "ack");
    let ended = client.state(&session, "dead").await;
    assert_eq!(ended["error"], error);
    let folder = server.stop().await;
    let server = TestServer::open(folder, |_| {}).await;
    let mut client = server.connect().await;
    assert_eq!(client.call(resume(&server)).await["type"], "ack");
    client.opened().await;
    server.stop().await;
}
