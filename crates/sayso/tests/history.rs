//! The history has every decision, what became of it, and whatever else changed who may do what.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod puppet;
mod support;

use std::time::Duration;

use pretty_assertions::assert_eq;
use puppet::Puppet;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use support::{TOKEN, TestServer};

async fn get(server: &TestServer, path: &str) -> Value {
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = api.get(server.url(path)).bearer_auth(TOKEN);
    ask.send().await.unwrap().json().await.unwrap()
}

/// All of the history once its last entry is there: clients hear of some things before they are written.
async fn history_up_to(server: &TestServer, last: (String, String, String)) -> Value {
    page_up_to(server, "/api/history", last).await
}

async fn page_up_to(server: &TestServer, path: &str, last: (String, String, String)) -> Value {
    let mut tries = tokio::time::interval(Duration::from_millis(20));
    let ask = async {
        loop {
            tries.tick().await;
            let page = get(server, path).await;
            if told(&page).last() == Some(&last) {
                return page;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ask)
        .await
        .unwrap()
}

async fn text(server: &TestServer, path: &str) -> String {
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = api.get(server.url(path)).bearer_auth(TOKEN);
    ask.send().await.unwrap().text().await.unwrap()
}

/// Kind, outcome and actor of each entry, oldest first.
fn told(page: &Value) -> Vec<(String, String, String)> {
    let word = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    let mut told: Vec<_> = page["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            (
                word(entry, "kind"),
                word(entry, "outcome"),
                word(entry, "by"),
            )
        })
        .collect();
    told.reverse();
    told
}

fn line(kind: &str, outcome: &str, by: &str) -> (String, String, String) {
    (kind.to_owned(), outcome.to_owned(), by.to_owned())
}

#[tokio::test]
async fn every_decision_and_what_became_of_it_is_told() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let rule = json!({
        "type": "add_rule", "rule": "Bash(mkdir:*)", "effect": "deny", "reason": "No folders.",
        "scope": {"kind": "everywhere"},
    });
    client.call(rule).await;
    let steps = json!({"steps": [
        {"tool": {"name": "Bash", "input": {"command": "touch a.txt --token=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}}},
        {"tool": {"name": "Bash", "input": {"command": "mkdir b"}}},
        {"tool": {"name": "Bash", "input": {"command": "false"}}},
    ]});
    let session = client.start(&server, &steps).await;
    client.subscribe(&session).await;
    for behavior in ["allow", "allow"] {
        let request = client.opened().await;
        client
            .respond(&request, json!({"behavior": behavior}))
            .await;
    }
    client
        .entry(&session, |entry| entry["kind"] == "turn_ended")
        .await;
    let mode = json!({
        "type": "set_permission_mode", "session_id": session, "permission_mode": "acceptEdits",
    });
    client.call(mode).await;

    let page = history_up_to(&server, line("mode", "acceptEdits", "human")).await;
    assert_eq!(
        told(&page),
        [
            line("rule", "added", "human"),
            line("session", "started", "human"),
            line("decision", "allowed", "human"),
            line("outcome", "failed", "agent"),
            line("decision", "denied", "rule"),
            line("decision", "allowed", "human"),
            line("outcome", "failed", "agent"),
            line("mode", "acceptEdits", "human"),
        ]
    );
    let list = page.to_string();
    assert!(
        !list.contains("sk-ant-api03"),
        "a likely secret is masked: {list}"
    );

    let denied = get(&server, "/api/history?outcome=denied").await;
    assert_eq!(denied["entries"].as_array().unwrap().len(), 1);
    let found = get(&server, "/api/history?search=mkdir&kind=decision").await;
    assert_eq!(told(&found), [line("decision", "denied", "rule")]);
    let wrong = get(&server, "/api/history?by=nobody").await;
    assert_eq!(wrong["code"], "invalid_message");

    let seq = denied["entries"][0]["seq"].as_i64().unwrap();
    let detail = get(&server, &format!("/api/history/{seq}")).await;
    assert_eq!(
        detail["record"]["request"]["tool_input"]["command"],
        "mkdir b"
    );
    assert_eq!(detail["record"]["message"], "No folders.");
    assert!(detail["record"]["latency_ms"].is_u64());
    let check = get(&server, "/api/history/check").await;
    assert_eq!(check["good"], true, "{check}");

    let lines = text(&server, "/api/history/export?format=jsonl&kind=decision").await;
    assert_eq!(lines.lines().count(), 3);
    let csv = text(&server, "/api/history/export?format=csv").await;
    assert!(csv.starts_with("seq,at,kind,"));
    // A reason may have lines of its own.
    let rows = csv
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    assert_eq!(rows.count(), 8);
    server.stop().await;
}

#[tokio::test]
async fn the_last_page_says_that_it_is_the_last() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &support::bash("true")).await;
    let request = client.opened().await;
    client.respond(&request, json!({"behavior": "deny"})).await;
    history_up_to(&server, line("decision", "denied", "human")).await;
    let first = get(&server, "/api/history?limit=1").await;
    assert_eq!(first["next"], first["entries"][0]["seq"]);
    let last = get(
        &server,
        &format!("/api/history?limit=1&before={}", first["next"]),
    )
    .await;
    assert_eq!(last["entries"][0]["kind"], "session");
    assert_eq!(last["next"], Value::Null);
    server.stop().await;
}

#[tokio::test]
async fn withdrawn_and_unasked_are_told_too() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let steps = json!({"steps": [
        {"tool": {"name": "Bash", "input": {"command": "touch quiet.txt"}, "ask": false}},
        {"withdraw": {"tool": {"name": "Bash", "input": {"command": "true"}}, "after_ms": 50}},
    ]});
    let session = client.start(&server, &steps).await;
    client.subscribe(&session).await;
    client
        .entry(&session, |entry| entry["kind"] == "turn_ended")
        .await;
    let stop = json!({"type": "stop_session", "session_id": session});
    client.call(stop).await;
    client.state(&session, "dead").await;
    let told = told(&history_up_to(&server, line("session", "ended", "human")).await);
    assert!(
        told.contains(&line("alert", "ran unasked", "agent")),
        "{told:?}"
    );
    assert!(
        told.contains(&line("decision", "withdrawn", "agent")),
        "{told:?}"
    );
    server.stop().await;
}

/// What runs as the agent: this test binary, called by a script.
#[test]
#[ignore = "is the agent of the tests here"]
fn puppet_agent() {
    puppet::run();
}

/// The agent is the one to tell of it.
#[tokio::test]
async fn a_mode_that_goes_with_a_yes_is_the_humans() {
    let plan = json!({"plan": "1. Paint the door"});
    let write = json!({"tool": {"name": "Write", "input": {"file_path": "a.txt", "content": "a"}}});
    for (step, mode, decision) in [
        (
            plan,
            "plan",
            json!({"behavior": "allow", "permission_mode": "acceptEdits"}),
        ),
        (
            write,
            "default",
            json!({"behavior": "allow", "remember": [0]}),
        ),
    ] {
        let server = TestServer::start().await;
        let mut client = server.connect().await;
        let start = json!({
            "type": "start_session", "agent": "demo", "cwd": server.project(),
            "permission_mode": mode, "prompt": json!({"steps": [step]}).to_string(),
        });
        client.call(start).await;
        let request = client.opened().await;
        let answer = client.respond(&request, decision).await;
        assert_eq!(answer["type"], "ack", "{answer}");
        let told = line("mode", "acceptEdits", "human");
        page_up_to(&server, "/api/history?kind=mode", told).await;
        server.stop().await;
    }
}

#[tokio::test]
async fn a_reason_is_no_line_of_the_command() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &support::bash("touch a")).await;
    let request = client.opened().await;
    let deny = json!({"behavior": "deny", "message": "Rather tomorrow."});
    client.respond(&request, deny).await;
    let page = get(&server, "/api/history?kind=decision&search=tomorrow").await;
    assert_eq!(page["entries"][0]["text"], "touch a", "{page}");
    let path = format!("/api/history/{}", page["entries"][0]["seq"]);
    let whole = get(&server, &path).await;
    assert_eq!(whole["record"]["message"], "Rather tomorrow.", "{whole}");
    server.stop().await;
}

#[derive(Deserialize)]
struct Detail {
    record: Record,
}

#[derive(Deserialize)]
struct Record {
    request: Recorded,
    decision: Decided,
}

#[derive(Deserialize)]
struct Recorded {
    tool_name: String,
    tool_input: Box<RawValue>,
    input_digest: String,
}

#[derive(Deserialize)]
struct Decided {
    updated_input: Box<RawValue>,
}

async fn entries(puppet: &Puppet, server: &puppet::Server, query: &str) -> Vec<Value> {
    let page = puppet.get(server, &format!("/api/history?{query}")).await;
    page["entries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_entry_holds_the_exact_input_and_is_found_by_its_words() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    // A number beyond every type, an order of its own, and a letter that could be written otherwise.
    let input = r#"{"zeta":123456789012345678901234567890,"file_path":"/tmp/a","content":"caf\u00e9 needle","alpha":1.50}"#;
    puppet.say_exactly(&format!(
        r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"can_use_tool","tool_name":"Write","tool_use_id":"t1","input":{input},"permission_suggestions":[]}}}}"#
    ));
    let request = puppet.request(&server).await;
    let edited =
        json!({"behavior": "allow", "updated_input": {"file_path": "/tmp/b", "content": "thread"}});
    puppet.decide(&server, &request, edited).await;
    puppet.until_decided(&server, &session, 1).await;

    let found = entries(&puppet, &server, "kind=decision&search=needle").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["text"], "/tmp/a", "a list shows the subject only");
    let detail = format!("/api/history/{}", found[0]["seq"]);
    let detail: Detail = serde_json::from_str(&puppet.get_text(&server, &detail).await).unwrap();
    let Record { request, decision } = detail.record;
    assert_eq!(request.tool_input.get(), input);
    let digest = Sha256::new()
        .chain_update(request.tool_name)
        .chain_update([0])
        .chain_update(input);
    let digest = digest.finalize();
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(request.input_digest, digest);
    let updated: Value = serde_json::from_str(decision.updated_input.get()).unwrap();
    assert_eq!(updated["content"], "thread");

    let by_name = found[0]["by_name"].as_str().unwrap();
    let by_name = by_name.split_whitespace().next().unwrap();
    for words in ["thread", "needle+thread", by_name] {
        let query = format!("kind=decision&search={words}");
        assert_eq!(entries(&puppet, &server, &query).await.len(), 1, "{words}");
    }
    puppet.say(&puppet::tool_result("t1", "done"));
    puppet
        .until_told(&server, "/api/history?kind=outcome&tool=Write")
        .await;
}

#[tokio::test]
async fn what_was_orphaned_at_a_start_belongs_to_its_project() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    puppet.start(&server).await;
    puppet.say(&puppet::ask("r1", "t1", "ls"));
    puppet.request(&server).await;
    puppet.kill(server).await;
    // Nothing of the agent is left to be heard.
    puppet.kill_runner().await;
    for runner in sayso_runner::find(&puppet.data().join("agents")).unwrap() {
        sayso_runner::clean_up(&runner.folder).unwrap();
        sayso_runner::remove(&runner.folder).unwrap();
    }
    let server = puppet.server().await;
    let project = puppet.folder.path().join("project");
    let query = format!("outcome=orphaned&project={}", project.display());
    assert_eq!(entries(&puppet, &server, &query).await.len(), 1);
}

#[tokio::test]
async fn a_large_input_is_told_whole_wherever_it_is_read() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let input = json!({"file_path": "a.txt", "content": "ä\n\"".repeat(20_000)});
    let steps = json!({"steps": [{"tool": {"name": "Write", "input": input}}]});
    let session = client.start(&server, &steps).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    assert_eq!(request["tool_input"], input);
    client.respond(&request, json!({"behavior": "allow"})).await;
    client.turn_over(&session).await;
    let page = history_up_to(&server, line("outcome", "ran", "agent")).await;
    let decided = &page["entries"][1];
    let detail = get(&server, &format!("/api/history/{}", decided["seq"])).await;
    assert_eq!(detail["record"]["request"]["tool_input"], input);
    let exported = text(&server, "/api/history/export?kind=decision").await;
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["body"], detail["record"]);
    let transcript = get(&server, &format!("/api/sessions/{session}/transcript")).await;
    let entries = transcript["entries"].as_array().unwrap();
    assert!(entries.iter().any(|entry| entry["tool_input"] == input));
    let check = get(&server, "/api/history/check").await;
    assert_eq!(check["good"], true, "{check}");

    let folder = server.stop().await;
    let database = SqliteConnectOptions::new().filename(folder.path().join("data/sayso.db"));
    let mut database = database.connect().await.unwrap();
    let kept: (i64, i64) = sqlx::query_as("SELECT count(*), sum(uses) FROM input_uses")
        .fetch_one(&mut database)
        .await
        .unwrap();
    // The entry of the transcript may have come to the database before the request.
    assert!(matches!(kept, (1, 2..=3)), "{kept:?}");
}
