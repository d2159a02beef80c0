//! `docs/compat/twicc.md` names these tests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::front_end::FrontEnd;
use crate::scripts::{policies, questions, two_at_once};
use crate::support::{TestServer, bash, tool};

fn has_pending(frame: &Value) -> bool {
    frame["type"] == "process_state" && frame["pending_request"].is_object()
}

async fn pending(tab: &mut FrontEnd) -> Value {
    tab.wait_for(has_pending).await
}

/// Starts a session with a script for the demo agent.
async fn started(server: &TestServer, script: &Value) -> FrontEnd {
    let mut tab = FrontEnd::connect(server, "twicc", "").await;
    tab.of_type("active_processes").await;
    let message = json!({"type": "send_message", "text": script.to_string()});
    tab.send(&message).await;
    tab
}

fn response(state: &Value, fields: &Value) -> Value {
    let request = &state["pending_request"];
    let mut response = json!({
        "type": "pending_request_response",
        "session_id": state["session_id"],
        "request_id": request["request_id"],
        "request_type": request["request_type"],
    });
    for (name, value) in fields.as_object().unwrap() {
        response[name] = value.clone();
    }
    response
}

fn is_over(frame: &Value) -> bool {
    frame["type"] == "process_state"
        && frame["state"] == "user_turn"
        && frame.get("pending_request").is_none()
}

fn result(text: &str) -> impl Fn(&Value) -> bool {
    let text = text.to_owned();
    move |frame| {
        let item = &frame["items"][0];
        item["kind"] == "tool_result" && item["text"].as_str().unwrap_or_default().contains(&text)
    }
}

#[tokio::test]
async fn a_tool_call_is_shown_with_all_its_fields_and_runs_when_allowed() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("echo out; touch ran.txt")).await;
    let state = pending(&mut tab).await;
    assert_eq!(state["state"], "assistant_turn");
    assert!(
        state["started_at"].is_f64() && state["state_changed_at"].is_f64(),
        "{state}"
    );
    let project = server.project().display().to_string();
    let dashed = project.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    assert_eq!(state["project_id"], json!(dashed));
    let request = &state["pending_request"];
    assert_eq!(request["request_type"], "tool_approval");
    assert_eq!(request["tool_name"], "Bash");
    assert_eq!(
        request["tool_input"],
        json!({"command": "echo out; touch ran.txt"})
    );
    assert!(request["created_at"].as_f64().unwrap() > 1_700_000_000.0);
    // The front end repeats the input that it was shown; that is no edit.
    let input = request["tool_input"].clone();
    let allow = response(
        &state,
        &json!({"decision": "allow", "updated_input": input}),
    );
    tab.send(&allow).await;
    tab.wait_for(result("out")).await;
    assert!(server.project().join("ran.txt").exists());
    let mut native = server.connect().await;
    native
        .subscribe(state["session_id"].as_str().unwrap())
        .await;
    let decision = native
        .entry(state["session_id"].as_str().unwrap(), |entry| {
            entry["kind"] == "decision"
        })
        .await;
    assert_eq!(decision["outcome"]["edited"], false);
    assert_eq!(decision["updated_input"], Value::Null);
    server.stop().await;
}

#[tokio::test]
async fn an_edited_input_runs_in_place_of_the_one_that_was_asked() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch original.txt")).await;
    let state = pending(&mut tab).await;
    let edited = json!({"decision": "allow", "updated_input": {"command": "touch edited.txt"}});
    tab.send(&response(&state, &edited)).await;
    tab.wait_for(result("")).await;
    assert!(server.project().join("edited.txt").exists());
    assert!(!server.project().join("original.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_denial_carries_its_reason_or_the_documents_words() {
    let server = TestServer::start().await;
    let script = json!({"steps": [tool("Bash", json!({"command": "one"})), tool("Bash", json!({"command": "two"}))]});
    let mut tab = started(&server, &script).await;
    let state = pending(&mut tab).await;
    tab.send(&response(
        &state,
        &json!({"decision": "deny", "message": "Not that one."}),
    ))
    .await;
    tab.wait_for(result("Not that one.")).await;
    let state = pending(&mut tab).await;
    tab.send(&response(&state, &json!({"decision": "deny"})))
        .await;
    tab.wait_for(result("User denied this action")).await;
    server.stop().await;
}

#[tokio::test]
async fn four_questions_take_a_label_joined_labels_and_free_text() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &questions()).await;
    let state = pending(&mut tab).await;
    let request = &state["pending_request"];
    assert_eq!(request["request_type"], "ask_user_question");
    assert_eq!(request["tool_name"], "AskUserQuestion");
    assert_eq!(
        request["tool_input"]["questions"].as_array().unwrap().len(),
        4
    );
    let answers = json!({"answers": {
        "One?": "Summary", "Several?": "Summary, Detailed", "Free?": "Something else", "Last?": "Detailed",
    }});
    tab.send(&response(&state, &answers)).await;
    let session = state["session_id"].as_str().unwrap();
    let mut native = server.connect().await;
    native.subscribe(session).await;
    let decision = native
        .entry(session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(
        decision["answers"],
        json!({"One?": "Summary", "Several?": ["Summary", "Detailed"], "Free?": "Something else", "Last?": ["Detailed"]})
    );
    tab.wait_for(is_over).await;
    server.stop().await;
}

#[tokio::test]
async fn one_request_is_shown_at_a_time_and_the_next_follows() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut tab = started(&server, &two_at_once()).await;
    let (first, second) = (native.opened().await, native.opened().await);
    let state = pending(&mut tab).await;
    assert_eq!(state["pending_request"]["request_id"], first["request_id"]);
    // The one behind it cannot be answered before it is shown.
    let mut early = response(&state, &json!({"decision": "allow"}));
    early["request_id"] = second["request_id"].clone();
    tab.send(&early).await;
    tab.send(&response(&state, &json!({"decision": "allow"})))
        .await;
    let next = tab
        .wait_for(|frame| frame["pending_request"]["request_id"] == second["request_id"])
        .await;
    assert_eq!(native.closed(&first).await["what"], "allowed");
    tab.send(&response(&next, &json!({"decision": "deny"})))
        .await;
    assert_eq!(native.closed(&second).await["what"], "denied");
    server.stop().await;
}

#[tokio::test]
async fn an_answer_in_one_tab_clears_the_form_in_all() {
    let server = TestServer::start().await;
    let mut first = started(&server, &bash("true")).await;
    let state = pending(&mut first).await;
    let mut second = FrontEnd::connect(&server, "twicc", "").await;
    let active = second.of_type("active_processes").await;
    assert_eq!(
        active["processes"][0]["pending_request"],
        state["pending_request"]
    );
    second
        .send(&response(&state, &json!({"decision": "allow"})))
        .await;
    for tab in [&mut first, &mut second] {
        tab.wait_for(|frame| {
            frame["type"] == "process_state" && frame.get("pending_request").is_none()
        })
        .await;
        tab.wait_for(is_over).await;
    }
    // A late answer is ignored, and the connection lives on.
    first
        .send(&response(&state, &json!({"decision": "deny"})))
        .await;
    first.send(&json!({"type": "send_message", "session_id": state["session_id"], "text": bash("true").to_string()})).await;
    pending(&mut first).await;
    server.stop().await;
}

#[tokio::test]
async fn what_is_pending_is_there_again_after_a_reconnect() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch late.txt")).await;
    let state = pending(&mut tab).await;
    tab.close().await;
    let mut tab = FrontEnd::connect(&server, "twicc", "").await;
    let active = tab.of_type("active_processes").await;
    assert_eq!(
        active["processes"][0]["pending_request"],
        state["pending_request"]
    );
    tab.send(&response(&state, &json!({"decision": "allow"})))
        .await;
    tab.wait_for(is_over).await;
    assert!(server.project().join("late.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn killing_a_process_takes_its_pending_request_away() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch never.txt")).await;
    let state = pending(&mut tab).await;
    tab.send(&json!({"type": "kill_process", "session_id": state["session_id"]}))
        .await;
    let dead = tab.wait_for(|frame| frame["state"] == "dead").await;
    assert_eq!(dead.get("pending_request"), None, "{dead}");
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn there_is_no_time_limit() {
    let policies = policies("timeout = '2s'");
    let server = TestServer::start_with(policies).await;
    let mut native = server.connect().await;
    let mut tab = started(&server, &bash("true")).await;
    pending(&mut tab).await;
    assert_eq!(native.opened().await["deadline"], Value::Null);
    server.stop().await;
}

#[tokio::test]
async fn what_cannot_be_read_is_ignored_and_decides_nothing() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch never.txt")).await;
    let state = pending(&mut tab).await;
    let without = |name: &str| {
        let mut frame = response(&state, &json!({"decision": "allow"}));
        frame.as_object_mut().unwrap().remove(name);
        frame
    };
    let bad = [
        without("session_id"),
        without("request_type"),
        json!({"type": "pending_request_response"}),
        response(
            &state,
            &json!({"request_id": "00000000-0000-4000-8000-000000000000", "decision": "allow"}),
        ),
        response(
            &state,
            &json!({"request_type": "ask_user_question", "answers": {}}),
        ),
        response(
            &state,
            &json!({"request_type": "something", "decision": "allow"}),
        ),
        response(
            &state,
            &json!({"decision": "allow", "updated_input": "no object"}),
        ),
        json!({"type": "no_such_thing"}),
        json!([]),
    ];
    for frame in &bad {
        tab.send(frame).await;
    }
    tab.send_text("{ no json").await;
    // All of them were read by now, and the request is still open.
    tab.send(&response(
        &state,
        &json!({"decision": "deny", "message": "the only one"}),
    ))
    .await;
    tab.wait_for(result("the only one")).await;
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn states_follow_the_process_from_start_to_end() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &json!({"steps": [{"say": "Hello."}]})).await;
    for state in ["starting", "assistant_turn", "user_turn"] {
        tab.wait_for(|frame| frame["type"] == "process_state" && frame["state"] == state)
            .await;
    }
    let said = tab
        .wait_for(|frame| frame["items"][0]["kind"] == "assistant_message")
        .await;
    assert_eq!(said["items"][0]["text"], "Hello.");
    server.stop().await;
}
