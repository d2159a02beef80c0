//! A tool that ran without anybody's say-so is told, once, until somebody has seen it.

mod support;

use pretty_assertions::assert_eq;
use sayso::config::PolicySettings;
use sayso_protocol::OnUnasked;
use serde_json::{Value, json};
use support::{Client, TestServer, bash};

/// A tool that the agent runs without asking, or after asking as it should.
fn unasked(command: &str) -> Value {
    json!({"steps": [{"tool": {"name": "Bash", "input": {"command": command}, "ask": false}}]})
}

async fn alert(client: &mut Client) -> Value {
    let frame = client
        .wait_for(|frame| frame["type"] == "session_state" && frame["session"]["alert"].is_object())
        .await;
    frame["session"]["alert"].clone()
}

#[tokio::test]
async fn a_tool_that_ran_unasked_is_told_until_somebody_has_seen_it() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &unasked("touch quiet.txt")).await;
    client.subscribe(&session).await;
    let told = alert(&mut client).await;
    assert_eq!(
        (
            &told["tool_name"],
            &told["subject"],
            &told["count"],
            &told["stopped"]
        ),
        (
            &json!("Bash"),
            &json!("touch quiet.txt"),
            &json!(1),
            &json!(false)
        )
    );
    let entry = client
        .entry(&session, |entry| entry["kind"] == "unasked_tool")
        .await;
    assert_eq!(entry["tool_use_id"], told["tool_use_id"]);

    // It is still there for whoever comes after a restart.
    client.close().await;
    let server = TestServer::start_in(server.stop().await, PolicySettings::default()).await;
    let mut client = server.connect().await;
    assert_eq!(
        client.welcome["sessions"][0]["alert"]["subject"],
        "touch quiet.txt"
    );
    let dismiss = json!({"type": "dismiss_alert", "session_id": session});
    assert_eq!(client.call(dismiss).await["type"], "ack");
    client
        .wait_for(|frame| frame["type"] == "session_state" && frame["session"]["alert"].is_null())
        .await;
    server.stop().await;
}

#[tokio::test]
async fn a_session_can_be_stopped_for_it() {
    let policies = PolicySettings {
        on_unasked: Some(OnUnasked::Stop),
        ..PolicySettings::default()
    };
    let server = TestServer::start_with(policies).await;
    let mut client = server.connect().await;
    let mut script = unasked("touch quiet.txt");
    script["steps"]
        .as_array_mut()
        .unwrap()
        .push(json!({"sleep_ms": 600_000}));
    let session = client.start(&server, &script).await;
    assert_eq!(alert(&mut client).await["stopped"], true);
    let dead = client.state(&session, "dead").await;
    let error = dead["error"].as_str().unwrap();
    assert!(error.contains("nobody allowed"), "{error}");
    server.stop().await;
}

#[tokio::test]
async fn what_is_explained_raises_no_alarm() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    // Only reads; was asked and allowed; is covered by a rule that the agent was told to remember.
    let steps = json!({"steps": [
        {"tool": {"name": "Bash", "input": {"command": "ls"}, "ask": false}},
        {"tool": {"name": "Bash", "input": {"command": "touch asked.txt"}}},
        {"tool": {"name": "Bash", "input": {"command": "touch asked.txt"}}},
    ]});
    let session = client.start(&server, &steps).await;
    let request = client.opened().await;
    let decision = json!({"behavior": "allow", "remember": [0]});
    client.respond(&request, decision).await;
    client.turn_over(&session).await;
    // An agent in a mode that asks nothing need not ask.
    let mode = json!({
        "type": "start_session", "cwd": server.project(), "agent": "demo",
        "permission_mode": "bypassPermissions", "prompt": bash("touch bypass.txt").to_string(),
    });
    let second = client.call(mode).await["session_id"]
        .as_str()
        .unwrap()
        .to_owned();
    client.turn_over(&second).await;
    let seen = client.take_seen();
    let alerted = |frame: &&Value| frame["session"]["alert"].is_object();
    assert_eq!(seen.iter().filter(alerted).count(), 0);
    assert!(server.project().join("bypass.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn the_agents_own_rules_can_be_looked_at_with_the_denials_it_was_given() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch first.txt")).await;
    let request = client.opened().await;
    let list = json!({"type": "list_agent_rules", "session_id": session});
    let before = client.call(list.clone()).await;
    assert_eq!(before["data"]["rules"], json!([]));
    for (rule, minutes) in [("Bash(curl:*)", None), ("Bash(wget:*)", Some(5))] {
        let mut add = json!({
            "type": "add_rule", "rule": rule, "effect": "deny", "scope": {"kind": "everywhere"},
        });
        if let Some(minutes) = minutes {
            add["minutes"] = json!(minutes);
        }
        assert_eq!(client.call(add).await["type"], "ack");
    }
    client
        .respond(&request, json!({"behavior": "allow", "remember": [0]}))
        .await;
    client.turn_over(&session).await;
    let rules = client.call(list).await["data"]["rules"].clone();
    assert_eq!(
        rules,
        json!([
            {"rule": "Bash(touch first.txt)", "effect": "allow", "source": "session", "handed_over": false},
            {"rule": "Bash(curl:*)", "effect": "deny", "source": "flagSettings", "handed_over": true},
        ])
    );
    server.stop().await;
}

#[tokio::test]
async fn settings_files_are_read_and_written() {
    let server = TestServer::start().await;
    let api = reqwest::Client::new();
    let text =
        json!({"permissions": {"allow": ["Bash(make)"], "deny": ["Read(.env)"]}}).to_string();
    let answer = api
        .post(server.url("/api/rules/settings"))
        .bearer_auth(support::TOKEN)
        .json(&json!({"text": text}))
        .send()
        .await
        .unwrap();
    let found: Value = answer.json().await.unwrap();
    assert_eq!(found["rules"].as_array().unwrap().len(), 2);
    let mut client = server.connect().await;
    for rule in found["rules"].as_array().unwrap() {
        let add = json!({
            "type": "add_rule", "rule": rule["rule"], "effect": rule["effect"],
            "scope": {"kind": "project", "path": server.project()},
        });
        assert_eq!(client.call(add).await["type"], "ack");
    }
    let get = |query: String| {
        let api = api.clone();
        let url = server.url(&format!("/api/rules/settings{query}"));
        async move {
            let answer = api
                .get(url)
                .bearer_auth(support::TOKEN)
                .send()
                .await
                .unwrap();
            answer.json::<Value>().await.unwrap()
        }
    };
    let there = get(format!("?cwd={}", server.project().display())).await;
    assert_eq!(there["permissions"]["deny"], json!(["Read(.env)"]));
    assert_eq!(get(String::new()).await["permissions"]["allow"], json!([]));
    server.stop().await;
}
