//! The history has every decision, what became of it, and whatever else changed who may do what.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{TOKEN, TestServer};

async fn get(server: &TestServer, path: &str) -> Value {
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = api.get(server.url(path)).bearer_auth(TOKEN);
    ask.send().await.unwrap().json().await.unwrap()
}

/// All of the history once its last entry is there: clients hear of some things before they are written.
async fn history_up_to(server: &TestServer, last: (String, String, String)) -> Value {
    let mut tries = tokio::time::interval(Duration::from_millis(20));
    let ask = async {
        loop {
            tries.tick().await;
            let page = get(server, "/api/history").await;
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
