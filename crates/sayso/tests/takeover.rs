//! What a server makes of the agents of the one before it: of what they said meanwhile, and of what their dead
//! runners wrote down.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod puppet;
mod support;

use std::time::Duration;

use pretty_assertions::assert_eq;
use puppet::{Puppet, ask, text, tool_result, tool_use};
use sayso::config::PolicySettings;
use sayso_store::{
    DecidedBy, DecisionRow, Delivery, Outcome, RequestId, Store, UnixMillis, Write, WriteJob,
    Writer,
};
use serde_json::{Value, json};
use support::{TOKEN, TestServer};

/// What runs as the agent: this test binary, called by a script.
#[test]
#[ignore = "is the agent of the tests here"]
fn puppet_agent() {
    puppet::run();
}

async fn next_server(puppet: &mut Puppet) -> TestServer {
    let empty = tempfile::tempdir().unwrap();
    let folder = std::mem::replace(&mut puppet.folder, empty);
    TestServer::start_in(folder, PolicySettings::default()).await
}

/// For a puppet that another server has by now.
fn say_in(server: &TestServer, line: &Value) {
    puppet::append(&server.folder.path().join("puppet/say"), line);
}

async fn entries(server: &TestServer, session: &str) -> Vec<Value> {
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = server.url(&format!("/api/sessions/{session}/transcript"));
    let page = api.get(url).bearer_auth(TOKEN).send().await.unwrap();
    let page: Value = page.json().await.unwrap();
    page["entries"].as_array().unwrap().clone()
}

/// The kinds of entries, and what is worth comparing of each. The agent's program is a test, which makes noise.
fn outline(entries: &[Value]) -> Vec<String> {
    let is_noise = |entry: &Value| entry["kind"] == "notice" && entry["level"] != "error";
    let entries = entries.iter().filter(|entry| !is_noise(entry));
    let outline = entries.map(|entry| match entry["kind"].as_str() {
        Some("decision") => format!("decision {}", entry["outcome"]["what"]),
        Some("tool_result") => format!("result {}", entry["content"][0]["text"]),
        Some("assistant_text") => format!("text {}", entry["text"]),
        kind => kind.unwrap_or_default().to_owned(),
    });
    outline.collect()
}

#[tokio::test]
async fn what_a_dead_runner_wrote_down_is_in_the_transcript_before_the_end() {
    let mut puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&text("m1", "heard"));
    puppet.say(&ask("r1", "t1", "ls"));
    puppet.request(&server).await;
    puppet.kill(server).await;
    puppet.say_unheard(&text("m2", "unheard")).await;
    puppet.say_unheard(&tool_result("t0", "done")).await;
    puppet.say_unheard(&ask("r2", "t2", "pwd")).await;
    let agent = puppet.kill_runner().await;
    assert!(puppet::is_running(agent), "it does not end with its input");

    let server = next_server(&mut puppet).await;
    let client = server.connect().await;
    assert_eq!(client.welcome["pending_requests"], json!([]));
    let shown = &client.welcome["sessions"][0];
    assert_eq!(
        (&shown["state"], &shown["can_resume"]),
        (&json!("dead"), &json!(true))
    );
    let error = shown["error"].as_str().unwrap();
    assert_eq!(
        error,
        "The agent was lost: the background process that kept it running ended while Sayso did not run."
    );
    assert!(!puppet::is_running(agent), "nobody could hear it any more");
    let agents = server.folder.path().join("data/agents");
    puppet
        .until("nothing of it is left", || puppet::is_empty(&agents))
        .await;
    let expected = [
        "user_message",
        "text \"heard\"",
        "text \"unheard\"",
        "result \"done\"",
        "notice",
        "decision \"orphaned\"",
        "decision \"orphaned\"",
    ];
    let mut told = entries(&server, &session).await;
    // Nobody waits for an entry about a decision, which is on record by itself.
    for _ in 0..100 {
        if outline(&told).len() >= expected.len() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        told = entries(&server, &session).await;
    }
    assert_eq!(outline(&told), expected);
    // The next one finds nothing new.
    let server = TestServer::start_in(server.stop().await, PolicySettings::default()).await;
    assert_eq!(outline(&entries(&server, &session).await), outline(&told));
    server.stop().await;
}

#[tokio::test]
async fn a_killed_runner_takes_its_agent_with_it_and_its_request_can_be_asked_again() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    puppet.request(&server).await;
    let agent = puppet.kill_runner().await;
    puppet
        .until("the agent is gone", || !puppet::is_running(agent))
        .await;
    let agents = puppet.data().join("agents");
    puppet
        .until("nothing of it is left", || puppet::is_empty(&agents))
        .await;
    puppet.kill(server).await;
    let store = Store::open(&puppet.data().join("sayso.db")).await.unwrap();
    let decided = store
        .decisions(sayso_store::PageStart::Newest, 10)
        .await
        .unwrap();
    let outcomes: Vec<Outcome> = decided.iter().map(|row| row.decision.outcome).collect();
    assert_eq!(outcomes, [Outcome::Orphaned]);
    store.close().await;
}

/// It lives, and nobody can talk to it.
#[tokio::test]
async fn an_agent_whose_runner_does_not_answer_is_ended_before_its_session_can_go_on() {
    let puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    puppet.request(&server).await;
    puppet.kill(server).await;
    let agent = puppet.stop_runner();
    assert!(puppet::is_running(agent));
    let server = puppet.server().await;
    assert!(
        !puppet::is_running(agent),
        "no second one may run beside it"
    );
    puppet.until_decided(&server, &session, 1).await;
    let sessions = puppet.get(&server, "/api/sessions").await;
    assert_eq!(
        (
            &sessions["sessions"][0]["state"],
            &sessions["sessions"][0]["can_resume"]
        ),
        (&json!("dead"), &json!(true))
    );
    let agents = puppet.data().join("agents");
    puppet
        .until("nothing of it is left", || puppet::is_empty(&agents))
        .await;
}

async fn write(puppet: &Puppet, write: Write) {
    let store = Store::open(&puppet.data().join("sayso.db")).await.unwrap();
    let (completed, mut completions) = tokio::sync::mpsc::channel(2);
    let writer = Writer::start(store.clone(), completed, 1).unwrap();
    let writes = vec![write];
    writer.submit(WriteJob { token: 1, writes }).unwrap();
    completions.recv().await.unwrap().result.unwrap();
    writer.close().await;
    store.close().await;
}

fn id_of(request: &Value) -> RequestId {
    RequestId(request["request_id"].as_str().unwrap().parse().unwrap())
}

/// As if the server had been killed before or after it wrote down that the agent was told.
async fn set_delivery(puppet: &Puppet, request: &Value, delivery: Delivery) {
    let delivery = Write::SetDelivery {
        request_id: id_of(request),
        delivery,
        at: None,
    };
    write(puppet, delivery).await;
}

/// As if the server had been killed between writing this down and telling the agent.
async fn decide_in_the_store(puppet: &Puppet, request: &Value, outcome: Outcome, decision: Value) {
    let decision = DecisionRow {
        request_id: id_of(request),
        outcome,
        decided_by: DecidedBy::Human,
        client_id: Some(uuid::Uuid::nil().to_string()),
        client_label: Some("a browser".to_owned()),
        message: decision["message"].as_str().map(str::to_owned),
        decision: decision.to_string(),
        at: UnixMillis(1),
        delivery: Delivery::Pending,
        delivered_at: None,
    };
    write(puppet, Write::Decide(decision)).await;
}

/// What the history says became of tools.
async fn outcomes(server: &TestServer) -> Vec<Value> {
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = server.url("/api/history?kind=outcome");
    let page = api.get(url).bearer_auth(TOKEN).send().await.unwrap();
    let page: Value = page.json().await.unwrap();
    page["entries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_tool_that_was_changed_and_allowed_before_is_told_of_after() {
    changed_and_allowed_before(Delivery::Sent).await;
}

#[tokio::test]
async fn a_tool_that_ran_before_its_delivery_was_noted_is_told_of_after() {
    changed_and_allowed_before(Delivery::Pending).await;
}

/// `delivery` is how far the first server came.
async fn changed_and_allowed_before(delivery: Delivery) {
    let mut puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&tool_use("m1", "t1", "touch asked.txt"));
    puppet.say(&ask("r1", "t1", "touch asked.txt"));
    let request = puppet.request(&server).await;
    let changed = json!({"behavior": "allow", "updated_input": {"command": "touch changed.txt"}});
    let ack = puppet.decide(&server, &request, changed).await;
    assert_eq!(ack["error"], Value::Null, "{ack}");
    puppet
        .until("the answer is there", || puppet.has_heard("changed.txt"))
        .await;
    puppet.kill(server).await;
    set_delivery(&puppet, &request, delivery).await;
    let report = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}});
    puppet
        .say_unheard(
            &json!({"type": "control_request", "request_id": "h1", "request": {
                "subtype": "hook_callback", "callback_id": "sayso-after-tool", "tool_use_id": "t1",
                "input": report,
            }}),
        )
        .await;
    puppet.say_unheard(&tool_result("t1", "done")).await;

    let heard = puppet.folder.path().join("puppet/heard");
    let server = next_server(&mut puppet).await;
    let mut client = server.connect().await;
    client.subscribe(&session).await;
    client
        .entry(&session, |entry| entry["kind"] == "tool_result")
        .await;
    let heard = || std::fs::read_to_string(&heard).unwrap();
    puppet
        .until("the report is answered", || heard().contains("\"h1\""))
        .await;
    let answer = heard();
    let answer = answer.lines().find(|line| line.contains("\"h1\"")).unwrap();
    assert!(
        answer.contains("The user changed this tool call"),
        "{answer}"
    );
    let history = outcomes(&server).await;
    assert_eq!(history.len(), 1, "{history:?}");
    assert_eq!(
        (&history[0]["outcome"], &history[0]["request_id"]),
        (&json!("ran"), &request["request_id"])
    );
    // Nor is a tool that was asked about taken for one that was not: whatever the agent was asked about it
    // would have been answered before this.
    let content = json!([{"type": "text", "text": "the last word"}]);
    let message = json!({"type": "send_message", "session_id": session, "content": content});
    assert_eq!(client.call(message).await["type"], "ack");
    puppet
        .until("the message is there", || heard().contains("the last word"))
        .await;
    say_in(&server, &text("m9", "understood"));
    client
        .entry(&session, |entry| entry["text"] == "understood")
        .await;
    let client = server.connect().await;
    assert_eq!(client.welcome["sessions"][0]["alert"], Value::Null);
    server.stop().await;
}

#[tokio::test]
async fn the_reason_of_a_refusal_that_stops_comes_once_however_often_it_is_delivered() {
    let mut puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    let request = puppet.request(&server).await;
    puppet.kill(server).await;
    let decision = json!({"behavior": "deny", "message": "not this way", "interrupt": true});
    decide_in_the_store(&puppet, &request, Outcome::Denied, decision).await;

    for round in 1..=2 {
        let server = puppet.server().await;
        puppet.until_decided(&server, &session, round).await;
        puppet.kill(server).await;
        set_delivery(&puppet, &request, Delivery::Pending).await;
    }
    let heard = puppet.folder.path().join("puppet/heard");
    let server = next_server(&mut puppet).await;
    let mut client = server.connect().await;
    let content = json!([{"type": "text", "text": "the last word"}]);
    let message = json!({"type": "send_message", "session_id": session, "content": content});
    assert_eq!(client.call(message).await["type"], "ack");
    let heard = || std::fs::read_to_string(&heard).unwrap();
    puppet
        .until("the message is there", || heard().contains("the last word"))
        .await;
    let told = heard();
    let told = told.lines().filter(|line| line.contains("not this way"));
    let types = told.map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone());
    assert_eq!(types.collect::<Vec<_>>(), ["control_response", "user"]);
    server.stop().await;
}

#[tokio::test]
async fn a_decision_is_not_delivered_for_what_the_agent_took_back_meanwhile() {
    let mut puppet = Puppet::new();
    let server = puppet.server().await;
    let session = puppet.start(&server).await;
    puppet.say(&ask("r1", "t1", "ls"));
    let request = puppet.request(&server).await;
    puppet.kill(server).await;
    decide_in_the_store(
        &puppet,
        &request,
        Outcome::Allowed,
        json!({"behavior": "allow"}),
    )
    .await;
    puppet
        .say_unheard(&json!({"type": "control_cancel_request", "request_id": "r1"}))
        .await;

    let heard = puppet.folder.path().join("puppet/heard");
    let server = next_server(&mut puppet).await;
    let mut client = server.connect().await;
    client.subscribe(&session).await;
    let entry = client
        .entry(&session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(entry["outcome"]["what"], "allowed");
    assert_eq!(entry["outcome"]["delivery"], "too_late");
    // What is said after it comes after it.
    let content = json!([{"type": "text", "text": "the last word"}]);
    let message = json!({"type": "send_message", "session_id": session, "content": content});
    assert_eq!(client.call(message).await["type"], "ack");
    let heard = || std::fs::read_to_string(&heard).unwrap();
    puppet
        .until("the message is there", || heard().contains("the last word"))
        .await;
    assert!(!heard().contains("\"r1\""), "{}", heard());
    server.stop().await;
}
