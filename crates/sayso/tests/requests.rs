//! The life of requests over the public protocol, with a real server and the demo agent.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use pretty_assertions::assert_eq;
use sayso::config::PolicySettings;
use serde_json::{Value, json};
use support::{TestServer, bash, tool, tool_result};

fn how(outcome: &Value) -> (&str, &str) {
    let text = |field: &str| outcome[field].as_str().unwrap_or_default();
    (text("what"), text("by"))
}

fn policies(text: &str) -> PolicySettings {
    use figment::providers::{Format, Toml};
    figment::Figment::from(Toml::string(text))
        .extract()
        .unwrap()
}

#[tokio::test]
async fn an_approved_command_runs_and_every_client_sees_it_end() {
    let server = TestServer::start().await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    let session = first.start(&server, &bash("echo yes > made.txt")).await;
    let (request, same) = (first.opened().await, second.opened().await);
    assert_eq!(request, same);
    assert_eq!(request["tool_input"]["command"], "echo yes > made.txt");
    let ack = first.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    for client in [&mut first, &mut second] {
        let outcome = client.closed(&request).await;
        assert_eq!(how(&outcome), ("allowed", "human"));
        assert_eq!(outcome["delivery"], "sent");
    }
    first.turn_over(&session).await;
    let made = std::fs::read_to_string(server.project().join("made.txt")).unwrap();
    assert_eq!(made, "yes\n");
    server.stop().await;
}

#[tokio::test]
async fn the_agent_reads_exactly_the_reason_of_a_refusal() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch no.txt")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    let reason = "Not now — «later», please.";
    client
        .respond(&request, json!({"behavior": "deny", "message": reason}))
        .await;
    assert_eq!(how(&client.closed(&request).await), ("denied", "human"));
    assert_eq!(tool_result(&mut client, &session).await, reason);
    assert!(!server.project().join("no.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn what_runs_is_what_the_human_edited() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch original.txt")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    let edited = json!({"behavior": "allow", "updated_input": {"command": "touch edited.txt"}});
    client.respond(&request, edited).await;
    assert_eq!(client.closed(&request).await["edited"], true);
    client.turn_over(&session).await;
    let decision = client
        .entry(&session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(
        decision["updated_input"],
        json!({"command": "touch edited.txt"})
    );
    assert!(server.project().join("edited.txt").exists());
    assert!(!server.project().join("original.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn i2_a_later_decision_hears_who_decided_what() {
    let server = TestServer::start().await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    first.start(&server, &bash("true")).await;
    let request = first.opened().await;
    first.respond(&request, json!({"behavior": "deny"})).await;
    first.closed(&request).await;
    let error = second.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(error["code"], "already_decided", "{error}");
    assert_eq!(how(&error["outcome"]), ("denied", "human"));
    assert_eq!(
        error["outcome"]["client"]["client_id"],
        first.welcome["client_id"]
    );
    server.stop().await;
}

#[tokio::test]
async fn i4_a_decision_on_another_input_is_refused() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &bash("true")).await;
    let mut request = client.opened().await;
    let digest = request["input_digest"].take();
    request["input_digest"] = json!("0".repeat(64));
    let error = client.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(error["code"], "digest_mismatch");
    request["input_digest"] = digest;
    let ack = client.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(ack["type"], "ack", "still open: {ack}");
    server.stop().await;
}

#[tokio::test]
async fn two_subagents_ask_at_once_and_are_answered_in_reverse() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let subagent = |name: &str, command: &str| {
        let steps = [tool("Bash", json!({"command": command}))];
        json!({"subagent": {"name": name, "steps": steps}})
    };
    let together = [
        subagent("one", "touch one.txt"),
        subagent("two", "touch two.txt"),
    ];
    let session = client
        .start(&server, &json!({"steps": [{"together": together}]}))
        .await;
    let requests = [client.opened().await, client.opened().await];
    let labels: Vec<&str> = requests
        .iter()
        .filter_map(|request| request["agent_label"].as_str())
        .collect();
    assert_eq!(labels.len(), 2, "{requests:?}");
    assert_ne!(labels[0], labels[1]);
    for request in requests.iter().rev() {
        let ack = client.respond(request, json!({"behavior": "allow"})).await;
        assert_eq!(ack["type"], "ack", "{ack}");
    }
    client.turn_over(&session).await;
    assert!(server.project().join("one.txt").exists() && server.project().join("two.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn i6_a_client_that_comes_back_sees_exactly_the_open_requests() {
    let server = TestServer::start().await;
    let mut first = server.connect().await;
    let together = [
        tool("Read", json!({"file_path": "/a"})),
        tool("Read", json!({"file_path": "/b"})),
    ];
    first
        .start(&server, &json!({"steps": [{"together": together}]}))
        .await;
    let (one, two) = (first.opened().await, first.opened().await);
    first.respond(&one, json!({"behavior": "deny"})).await;
    first.closed(&one).await;
    first.close().await;
    let again = server.connect().await;
    assert_eq!(again.welcome["pending_requests"], json!([two]));
    server.stop().await;
}

#[tokio::test]
async fn questions_are_answered_by_label_list_or_free_text_and_checked() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let option = |label: &str| json!({"label": label, "description": "d"});
    let questions = json!([
        {"question": "Format?", "header": "F", "multiSelect": false, "options": [option("Short"), option("Long")]},
        {"question": "Parts?", "header": "P", "multiSelect": true, "options": [option("Intro"), option("End, really")]},
    ]);
    let steps = json!({"steps": [{"question": {"questions": questions}}]});
    let session = client.start(&server, &steps).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    assert_eq!(request["request_type"], "ask_user_question");
    for (answers, part) in [
        (json!({"Format?": "Short"}), "\"Parts?\" has no answer"),
        (
            json!({"Format?": "Short", "Parts?": ["Intro"], "More?": "x"}),
            "no question \"More?\"",
        ),
        (
            json!({"Format?": ["Short", "Long"], "Parts?": ["Intro"]}),
            "takes one answer",
        ),
        (json!({"Format?": " ", "Parts?": ["Intro"]}), "is empty"),
    ] {
        let error = client
            .respond(&request, json!({"behavior": "answer", "answers": answers}))
            .await;
        assert_eq!(error["code"], "invalid_answer", "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    let answers = json!({"Format?": "As a poem", "Parts?": ["Intro", "End, really"]});
    client
        .respond(&request, json!({"behavior": "answer", "answers": answers}))
        .await;
    assert_eq!(how(&client.closed(&request).await), ("answered", "human"));
    let told = tool_result(&mut client, &session).await;
    assert!(
        told.contains("As a poem") && told.contains("End, really"),
        "{told}"
    );
    server.stop().await;
}

#[tokio::test]
async fn nobody_answers_in_time_and_the_agent_is_told_that_this_is_no_refusal() {
    let server = TestServer::start_with(policies("timeout = '300ms'")).await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("touch late.txt")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    assert!(request["deadline"].is_string());
    let outcome = client.closed(&request).await;
    assert_eq!(how(&outcome), ("expired", "timeout"));
    let told = tool_result(&mut client, &session).await;
    assert!(told.contains("not a refusal"), "{told}");
    assert!(!server.project().join("late.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn holding_stops_the_clock_and_extending_moves_it() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &bash("true")).await;
    let request = client.opened().await;
    let id = &request["request_id"];
    client.call(json!({"type": "hold", "request_id": id})).await;
    let fits = |frame: &Value| frame["type"] == "request_updated";
    let held = client.wait_for(fits).await["pending_request"].clone();
    assert_eq!(
        (&held["held"], &held["deadline"]),
        (&json!(true), &Value::Null)
    );
    assert!(held["remaining_seconds"].as_u64().unwrap() <= 300);
    client
        .call(json!({"type": "extend", "request_id": id, "seconds": 600}))
        .await;
    let longer = client.wait_for(fits).await["pending_request"].clone();
    assert!(longer["remaining_seconds"].as_u64().unwrap() > 800);
    client
        .call(json!({"type": "resume_clock", "request_id": id}))
        .await;
    let running = client.wait_for(fits).await["pending_request"].clone();
    assert!(
        running["deadline"].is_string() && running["held"] == false,
        "{running}"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_mode_that_a_human_chooses_settles_what_it_would_not_have_asked() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let file = server.project().join("by-mode.txt");
    let write = tool("Write", json!({"file_path": file, "content": "x"}));
    let session = client.start(&server, &json!({"steps": [write]})).await;
    let request = client.opened().await;
    let mode = json!({"type": "set_permission_mode", "session_id": session, "permission_mode": "acceptEdits"});
    let ack = client.call(mode).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    assert_eq!(how(&client.closed(&request).await), ("allowed", "mode"));
    client.turn_over(&session).await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x");
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_dies_takes_its_requests_with_it() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let ask = tool("Bash", json!({"command": "true"}));
    let steps = json!({"steps": [{"together": [ask, {"subagent": {"name": "doomed", "steps": [{"sleep_ms": 200}, "crash"]}}]}]});
    let session = client.start(&server, &steps).await;
    let request = client.opened().await;
    assert_eq!(how(&client.closed(&request).await), ("withdrawn", "agent"));
    let dead = client.state(&session, "dead").await;
    assert!(
        dead["error"]
            .as_str()
            .is_some_and(|error| !error.is_empty()),
        "{dead}"
    );
    let error = client.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(error["code"], "already_decided");
    server.stop().await;
}

#[tokio::test]
async fn bad_output_of_an_agent_ends_in_a_clear_error() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let cases = [
        (
            json!({"huge_line": {"bytes": 100 * 1024 * 1024}}),
            "longer than 67108864 bytes",
        ),
        (json!("invalid_utf8"), "UTF-8"),
        (json!("half_line"), "not JSON"),
        (json!("repeat_request_id"), "twice"),
        (json!({"deep": {"levels": 4000}}), "nested deeper"),
    ];
    for (step, part) in cases {
        let steps = json!({"steps": [{"together": [tool("Bash", json!({"command": "true"})), {"subagent": {"name": "bad", "steps": [{"sleep_ms": 100}, step]}}]}]});
        let session = client.start(&server, &steps).await;
        let request = client.opened().await;
        assert_eq!(
            how(&client.closed(&request).await),
            ("withdrawn", "agent"),
            "{part}"
        );
        let dead = client.state(&session, "dead").await;
        let error = dead["error"].as_str().unwrap_or_default();
        assert!(error.contains(part), "{part}: {dead}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_interrupt_withdraws_open_requests_and_the_session_goes_on() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("true")).await;
    let request = client.opened().await;
    let ack = client
        .call(json!({"type": "interrupt", "session_id": session}))
        .await;
    assert_eq!(ack["type"], "ack", "{ack}");
    assert_eq!(how(&client.closed(&request).await), ("withdrawn", "agent"));
    client.state(&session, "user_turn").await;
    let content = json!([{"type": "text", "text": bash("touch next.txt").to_string()}]);
    client
        .call(json!({"type": "send_message", "session_id": session, "content": content}))
        .await;
    let next = client.opened().await;
    client.respond(&next, json!({"behavior": "allow"})).await;
    client.subscribe(&session).await;
    let ran = |entry: &Value| entry["kind"] == "tool_result" && entry["is_error"] == false;
    client.entry(&session, ran).await;
    assert!(server.project().join("next.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn deny_and_stop_brings_the_reason_that_the_agent_throws_away() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("true")).await;
    client.subscribe(&session).await;
    let request = client.opened().await;
    let stop = json!({"behavior": "deny", "message": "Use the other folder.", "interrupt": true});
    client.respond(&request, stop).await;
    assert_eq!(how(&client.closed(&request).await), ("denied", "human"));
    let told = |entry: &Value| {
        entry["kind"] == "user_message" && entry["content"][0]["text"] == "Use the other folder."
    };
    client.entry(&session, told).await;
    client.state(&session, "user_turn").await;
    server.stop().await;
}

#[tokio::test]
async fn only_the_active_client_answers_where_that_is_the_policy() {
    let server = TestServer::start_with(policies("responders = 'active'")).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    let session = first.start(&server, &bash("true")).await;
    let request = first.opened().await;
    let error = second.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(error["code"], "session_taken", "{error}");
    second.subscribe(&session).await;
    let ack = second.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(ack["type"], "ack", "taken over: {ack}");
    server.stop().await;
}
