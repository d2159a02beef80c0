//! `docs/compat/ui-chatter.md` names these tests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::front_end::{FrontEnd, first_outcome};
use crate::scripts::{questions, two_at_once};
use crate::support::{TestServer, bash, tool};

/// A side panel whose session is there.
async fn panel(server: &TestServer, mode: &str, more: &str) -> FrontEnd {
    let mut panel = FrontEnd::connect(server, "ui-chatter", more).await;
    panel
        .send(&json!({"type": "handshake", "permission_mode": mode}))
        .await;
    let created = panel.of_type("session_created").await;
    assert_eq!(created["permission_mode"], mode);
    panel
}

async fn chat(panel: &mut FrontEnd, script: &Value) {
    panel
        .send(&json!({"type": "chat", "message": script.to_string()}))
        .await;
}

/// A side panel in the mode that asks, with this said.
async fn asked(server: &TestServer, script: &Value) -> FrontEnd {
    let mut panel = panel(server, "default", "").await;
    chat(&mut panel, script).await;
    panel
}

fn response(request: &Value, fields: &Value) -> Value {
    let mut response = json!({"type": "permission_response", "request_id": request["request_id"]});
    for (name, value) in fields.as_object().unwrap() {
        response[name] = value.clone();
    }
    response
}

async fn request(panel: &mut FrontEnd) -> Value {
    panel.of_type("permission_request").await
}

async fn closed(panel: &mut FrontEnd, request: &Value) -> Value {
    let id = request["request_id"].clone();
    let fits = |frame: &Value| frame["type"] == "permission_closed" && frame["request_id"] == id;
    panel.wait_for(fits).await["outcome"].clone()
}

fn is_done(frame: &Value) -> bool {
    frame["type"] == "response_chunk" && frame["done"] == true
}

/// What the agent was told of a call.
async fn output(panel: &mut FrontEnd) -> String {
    let ended = |frame: &Value| frame["type"] == "tool_activity" && frame["status"] != "executing";
    let activity = panel.wait_for(ended).await;
    activity["output"].as_str().unwrap().to_owned()
}

/// The test that the document prints, frame by frame.
#[tokio::test]
async fn test_permission_flow_end_to_end() {
    let server = TestServer::start().await;
    let mut websocket = FrontEnd::connect(&server, "ui-chatter", "").await;
    websocket
        .send(&json!({"type": "handshake", "permission_mode": "plan"}))
        .await;
    let response = websocket.next().await;
    assert_eq!(response["type"], "session_created");
    assert!(response["session_id"].is_string());

    let script = bash("touch test.txt").to_string();
    websocket
        .send(&json!({"type": "chat", "message": script}))
        .await;
    let request = websocket.next().await;
    assert_eq!(request["type"], "permission_request");
    assert_eq!(request["tool_name"], "Bash");

    websocket
        .send(&json!({
            "type": "permission_response", "request_id": request["request_id"], "approved": true,
        }))
        .await;
    let mut messages = Vec::new();
    loop {
        let message = websocket.next().await;
        let done = is_done(&message);
        messages.push(message);
        if done {
            break;
        }
    }
    let activities = messages.iter().filter(|m| m["type"] == "tool_activity");
    assert!(activities.into_iter().any(|t| t["tool_name"] == "Bash"));
    assert!(server.project().join("test.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn scenario_1_a_command_is_shown_and_runs_when_allowed() {
    let server = TestServer::start().await;
    let mut panel = asked(&server, &bash("touch test.txt")).await;
    let request = request(&mut panel).await;
    let timestamp = request["timestamp"].as_str().unwrap();
    assert!(timestamp.parse::<jiff::Timestamp>().is_ok(), "{timestamp}");
    assert_eq!(
        request,
        json!({
            "type": "permission_request", "request_id": request["request_id"], "request_type": "tool_approval",
            "tool_name": "Bash", "input_data": {"command": "touch test.txt"}, "timeout_seconds": 60,
            "timestamp": timestamp,
        })
    );
    panel
        .send(&response(
            &request,
            &json!({"approved": true, "modified_input": null, "reason": null}),
        ))
        .await;
    assert_eq!(closed(&mut panel, &request).await, "allowed");
    panel.wait_for(is_done).await;
    assert!(server.project().join("test.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn scenario_2_a_dangerous_command_says_what_it_would_do() {
    let server = TestServer::start().await;
    let mut panel = asked(&server, &bash("rm -f one.tmp")).await;
    let request = request(&mut panel).await;
    assert_eq!(request["input_data"]["command"], "rm -f one.tmp");
    assert_eq!(request["risks"][0]["kind"], "deletes", "{request}");
    server.stop().await;
}

#[tokio::test]
async fn scenarios_3_and_4_writing_and_editing_show_the_file_and_its_text() {
    let server = TestServer::start().await;
    let file = server.project().join("test.txt");
    let path = file.display().to_string();
    let script = json!({"steps": [
        tool("Write", json!({"file_path": path, "content": "hello"})),
        tool("Edit", json!({"file_path": path, "old_string": "hello", "new_string": "world"})),
    ]});
    let mut panel = asked(&server, &script).await;
    let write = request(&mut panel).await;
    assert_eq!(
        write["input_data"],
        json!({"file_path": path, "content": "hello"})
    );
    panel
        .send(&response(&write, &json!({"approved": true})))
        .await;
    let edit = request(&mut panel).await;
    assert_eq!(
        edit["input_data"],
        json!({"file_path": path, "old_string": "hello", "new_string": "world"})
    );
    panel
        .send(&response(&edit, &json!({"approved": true})))
        .await;
    panel.wait_for(is_done).await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), "world");
    server.stop().await;
}

#[tokio::test]
async fn scenarios_5_and_6_questions_take_a_label_joined_labels_and_free_text() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut panel = asked(&server, &questions()).await;
    let request = request(&mut panel).await;
    assert_eq!(request["request_type"], "ask_user_question");
    assert_eq!(request["questions"].as_array().unwrap().len(), 4);
    assert_eq!(request["timeout_seconds"], 60);
    assert!(
        request.get("tool_name").is_none() && request.get("input_data").is_none(),
        "{request}"
    );
    let opened = native.opened().await;
    let answers = json!({
        "One?": "Summary", "Several?": "Summary, Detailed", "Free?": "Something else", "Last?": "Detailed",
    });
    panel
        .send(&response(
            &request,
            &json!({"approved": true, "answers": answers}),
        ))
        .await;
    assert_eq!(closed(&mut panel, &request).await, "answered");
    let session = opened["session_id"].as_str().unwrap();
    native.subscribe(session).await;
    let decision = native
        .entry(session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(
        decision["answers"],
        json!({"One?": "Summary", "Several?": ["Summary", "Detailed"], "Free?": "Something else", "Last?": ["Detailed"]})
    );
    server.stop().await;
}

#[tokio::test]
async fn scenario_7_nobody_answers_and_the_agent_is_refused() {
    let server = TestServer::start().await;
    let mut panel = panel(&server, "default", "&timeout=1s").await;
    chat(&mut panel, &bash("touch never.txt")).await;
    let request = request(&mut panel).await;
    assert_eq!(request["timeout_seconds"], 1);
    assert_eq!(closed(&mut panel, &request).await, "expired");
    assert!(output(&mut panel).await.contains("answered within"));
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

/// Scenarios 8 and 9 are keys of the panel; what they send is what its buttons send.
#[tokio::test]
async fn scenarios_8_to_10_a_denial_carries_its_reason_and_the_agent_goes_on() {
    let server = TestServer::start().await;
    let script = json!({"steps": [
        tool("Bash", json!({"command": "one"})), tool("Bash", json!({"command": "two"})),
        {"say": "Something else, then."},
    ]});
    let mut panel = asked(&server, &script).await;
    let first = request(&mut panel).await;
    panel
        .send(&response(
            &first,
            &json!({"approved": false, "reason": "Not that one."}),
        ))
        .await;
    assert!(output(&mut panel).await.contains("Not that one."));
    let second = request(&mut panel).await;
    panel.send(&response(&second, &json!({}))).await;
    assert!(output(&mut panel).await.contains("User denied permission"));
    let chunk = panel.of_type("response_chunk").await;
    assert_eq!(chunk["content"], "Something else, then.");
    assert_eq!(chunk["done"], false);
    panel.wait_for(is_done).await;
    server.stop().await;
}

#[tokio::test]
async fn scenario_11_bypass_asks_for_no_tool_but_still_passes_questions_on() {
    let server = TestServer::start().await;
    let mut panel = panel(&server, "bypassPermissions", "").await;
    let mut script = questions();
    let steps = script["steps"].as_array_mut().unwrap();
    steps.insert(0, tool("Bash", json!({"command": "touch unasked.txt"})));
    chat(&mut panel, &script).await;
    let request = request(&mut panel).await;
    assert_eq!(request["request_type"], "ask_user_question");
    assert!(server.project().join("unasked.txt").exists());
    panel
        .send(&response(&request, &json!({"approved": false})))
        .await;
    let told = panel.wait_for(|frame| {
        frame["output"]
            .as_str()
            .unwrap_or_default()
            .contains("User did not answer")
    });
    told.await;
    server.stop().await;
}

#[tokio::test]
async fn scenario_12_a_connection_that_is_lost_leads_to_a_denial() {
    let server = TestServer::start().await;
    let mut panel = panel(&server, "default", "").await;
    chat(&mut panel, &bash("touch never.txt")).await;
    request(&mut panel).await;
    let session = panel.session();
    panel.close().await;
    let outcome = first_outcome(&server, &session).await;
    assert_eq!(outcome["what"], "denied", "{outcome}");
    assert_eq!(outcome["by_name"], "when_unattended");
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn what_is_asked_while_nobody_is_connected_is_denied() {
    let server = TestServer::start().await;
    let mut panel = panel(&server, "default", "").await;
    let script =
        json!({"steps": [{"sleep_ms": 1500}, tool("Bash", json!({"command": "touch never.txt"}))]});
    chat(&mut panel, &script).await;
    let session = panel.session();
    panel.close().await;
    let outcome = first_outcome(&server, &session).await;
    assert_eq!(outcome["by_name"], "when_unattended", "{outcome}");
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn all_requests_are_sent_and_answered_in_any_order() {
    let server = TestServer::start().await;
    let mut panel = asked(&server, &two_at_once()).await;
    let requests = [request(&mut panel).await, request(&mut panel).await];
    panel
        .send(&response(&requests[1], &json!({"approved": false})))
        .await;
    assert_eq!(closed(&mut panel, &requests[1]).await, "denied");
    panel
        .send(&response(&requests[0], &json!({"approved": true})))
        .await;
    assert_eq!(closed(&mut panel, &requests[0]).await, "allowed");
    server.stop().await;
}

#[tokio::test]
async fn an_edited_input_runs_in_place_of_the_one_that_was_asked() {
    let server = TestServer::start().await;
    let mut panel = asked(&server, &bash("touch original.txt")).await;
    let request = request(&mut panel).await;
    let edited = json!({"approved": true, "modified_input": {"command": "touch edited.txt"}});
    panel.send(&response(&request, &edited)).await;
    panel.wait_for(is_done).await;
    assert!(server.project().join("edited.txt").exists());
    assert!(!server.project().join("original.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_response_without_an_id_is_an_error_and_one_with_an_unknown_id_is_ignored() {
    let server = TestServer::start().await;
    let mut panel = asked(&server, &bash("touch never.txt")).await;
    let request = request(&mut panel).await;
    panel
        .send(&json!({"type": "permission_response", "approved": true}))
        .await;
    assert_eq!(
        panel.of_type("error").await,
        json!({
            "type": "error", "code": "invalid_request", "message": "Missing request_id in permission_response",
        })
    );
    for id in ["nonsense", "00000000-0000-4000-8000-000000000000"] {
        panel
            .send(&json!({"type": "permission_response", "request_id": id, "approved": true}))
            .await;
    }
    panel
        .send(&response(
            &request,
            &json!({"approved": false, "reason": "the only one"}),
        ))
        .await;
    assert!(output(&mut panel).await.contains("the only one"));
    // Late.
    panel
        .send(&response(&request, &json!({"approved": true})))
        .await;
    panel.wait_for(is_done).await;
    let errors = panel.seen().iter().filter(|frame| frame["type"] == "error");
    assert_eq!(errors.count(), 0);
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_change_of_the_mode_refuses_what_is_pending_and_says_so() {
    let server = TestServer::start().await;
    let script =
        json!({"steps": [tool("Bash", json!({"command": "touch never.txt"})), {"sleep_ms": 300}]});
    let mut panel = asked(&server, &script).await;
    let request = request(&mut panel).await;
    panel
        .send(&json!({"type": "update_permission_mode", "permission_mode": "acceptEdits"}))
        .await;
    assert_eq!(closed(&mut panel, &request).await, "denied");
    let updated = panel.of_type("permission_mode_updated").await;
    assert_eq!(updated["permission_mode"], "acceptEdits");
    let told = output(&mut panel).await;
    assert!(
        told.contains("The permission mode was changed to acceptEdits"),
        "{told}"
    );
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn two_panels_show_the_same_and_one_answer_closes_both() {
    let server = TestServer::start().await;
    let mut first = asked(&server, &bash("true")).await;
    let shown = request(&mut first).await;
    let session = first.session();
    let mut second = FrontEnd::join(&server, "ui-chatter", &session).await;
    second.send(&json!({"type": "handshake"})).await;
    assert_eq!(
        second.of_type("session_created").await["session_id"],
        json!(session)
    );
    assert_eq!(request(&mut second).await, shown);
    second
        .send(&response(&shown, &json!({"approved": true})))
        .await;
    for panel in [&mut first, &mut second] {
        assert_eq!(closed(panel, &shown).await, "allowed");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_is_said_before_the_session_is_there_waits_for_it() {
    let server = TestServer::start().await;
    let mut panel = FrontEnd::connect(&server, "ui-chatter", "").await;
    panel.send(&json!({"type": "chat", "message": "hi"})).await;
    let early = panel.of_type("error").await;
    assert_eq!(early["code"], "invalid_request");
    panel.send(&json!({"type": "handshake"})).await;
    chat(&mut panel, &json!({"steps": [{"say": "Here I am."}]})).await;
    let chunk = panel.of_type("response_chunk").await;
    assert_eq!(chunk["content"], "Here I am.");
    panel.send(&json!({"type": "handshake"})).await;
    let again = panel.of_type("error").await;
    assert_eq!(again["message"], "There was a handshake already");
    server.stop().await;
}

#[tokio::test]
async fn a_folder_that_is_not_there_and_an_agent_that_dies_are_told_as_errors() {
    let server = TestServer::start().await;
    let mut lost = FrontEnd::connect(&server, "ui-chatter", "/not/there").await;
    lost.send(&json!({"type": "handshake"})).await;
    assert_eq!(lost.of_type("error").await["code"], "folder_not_found");
    let script = json!({"steps": [{"together": [tool("Bash", json!({"command": "true"})), {"sleep_ms": 300}]}]});
    let mut panel = asked(&server, &script).await;
    let shown = request(&mut panel).await;
    let session = panel.session();
    let mut native = server.connect().await;
    native
        .call(json!({"type": "stop_session", "session_id": session}))
        .await;
    assert_eq!(closed(&mut panel, &shown).await, "withdrawn");
    server.stop().await;
}
