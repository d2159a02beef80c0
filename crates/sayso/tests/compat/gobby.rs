//! `docs/compat/gobby.md` names these tests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::front_end::{FrontEnd, first_outcome};
use crate::scripts::questions;
use crate::support::{TestServer, bash, tool};

async fn started(server: &TestServer, script: &Value, more: &str) -> FrontEnd {
    let mut page = FrontEnd::connect(server, "gobby", more).await;
    say(&mut page, "c1", script).await;
    page
}

async fn say(page: &mut FrontEnd, conversation: &str, script: &Value) {
    page.send(&json!({
        "type": "chat_message", "conversation_id": conversation, "content": script.to_string(),
    }))
    .await;
}

fn one_question(id: &str) -> Value {
    let options =
        json!([{"label": "Red", "description": ""}, {"label": "Green", "description": ""}]);
    let question =
        json!({"question": "Which?", "header": "H", "options": options, "multiSelect": false});
    json!({"tool": {"name": "AskUserQuestion", "id": id, "input": {"questions": [question]}}})
}

fn response(call: &str, answers: &Value) -> Value {
    json!({"type": "ask_user_response", "conversation_id": "c1", "tool_call_id": call, "answers": answers})
}

async fn status(page: &mut FrontEnd, status: &str) -> Value {
    page.wait_for(|frame| frame["type"] == "tool_status" && frame["status"] == status)
        .await
}

fn is_done(frame: &Value) -> bool {
    frame["type"] == "chat_stream" && frame["done"] == true
}

#[tokio::test]
async fn a_question_is_a_call_that_is_answered_by_its_id() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let script = json!({"steps": [one_question("call_1"), {"say": "Red it is."}]});
    let mut page = started(&server, &script, "").await;
    let calling = status(&mut page, "calling").await;
    assert_eq!(
        calling,
        json!({
            "type": "tool_status", "conversation_id": "c1", "tool_call_id": "call_1", "status": "calling",
            "tool_name": "AskUserQuestion", "arguments": script["steps"][0]["tool"]["input"],
        })
    );
    let request = native.opened().await;
    page.send(&response("call_1", &json!({"Which?": "Red"})))
        .await;
    let completed = status(&mut page, "completed").await;
    assert_eq!(completed["tool_call_id"], "call_1");
    assert!(
        completed["result"].as_str().unwrap().contains("Red"),
        "{completed}"
    );
    assert_eq!(native.closed(&request).await["what"], "answered");
    let said = page.of_type("chat_stream").await;
    assert_eq!(
        said,
        json!({"type": "chat_stream", "conversation_id": "c1", "content": "Red it is.", "done": false})
    );
    page.wait_for(is_done).await;
    server.stop().await;
}

#[tokio::test]
async fn four_questions_take_labels_joined_labels_and_where_allowed_free_text() {
    let server = TestServer::start().await;
    let mut page = started(&server, &questions(), "&free_text=true").await;
    let calling = status(&mut page, "calling").await;
    let answers = json!({
        "One?": "Summary", "Several?": "Summary, Detailed", "Free?": "Something else", "Last?": "Detailed",
    });
    page.send(&response(
        calling["tool_call_id"].as_str().unwrap(),
        &answers,
    ))
    .await;
    let completed = status(&mut page, "completed").await;
    let text = completed["result"].as_str().unwrap();
    assert!(
        text.contains("Something else") && text.contains("Summary, Detailed"),
        "{text}"
    );
    server.stop().await;
}

#[tokio::test]
async fn answers_that_are_no_options_and_unknown_or_missing_keys_are_rejected_and_the_question_stays()
 {
    let server = TestServer::start().await;
    let script = json!({"steps": [one_question("call_1")]});
    let mut page = started(&server, &script, "").await;
    status(&mut page, "calling").await;
    let mut native = server.connect().await;
    assert_eq!(
        native.welcome["pending_requests"].as_array().unwrap().len(),
        1
    );
    let bad = [
        json!({"Which?": "Blue"}),
        json!({"Which?": "Red", "What else?": "Red"}),
        json!({"Wich?": "Red"}),
        json!({}),
    ];
    for answers in &bad {
        page.send(&response("call_1", answers)).await;
        let error = page.of_type("chat_error").await;
        assert_eq!(error["conversation_id"], "c1", "{answers}: {error}");
    }
    page.send(
        &json!({"type": "ask_user_response", "conversation_id": "c1", "answers": {"Which?": 1}}),
    )
    .await;
    page.of_type("chat_error").await;
    page.send(&response("call_1", &json!({"Which?": "Green"})))
        .await;
    let request = native.welcome["pending_requests"][0].clone();
    assert_eq!(native.closed(&request).await["what"], "answered");
    server.stop().await;
}

#[tokio::test]
async fn an_answer_to_nothing_is_ignored() {
    let server = TestServer::start().await;
    let script = json!({"steps": [one_question("call_1")]});
    let mut page = started(&server, &script, "").await;
    status(&mut page, "calling").await;
    page.send(&response("call_2", &json!({"Which?": "Red"})))
        .await;
    page.send(&json!({
        "type": "ask_user_response", "conversation_id": "c2", "tool_call_id": "call_1", "answers": {"Which?": "Red"},
    }))
    .await;
    page.send(&response("call_1", &json!({"Which?": "Green"})))
        .await;
    let completed = status(&mut page, "completed").await;
    assert!(completed["result"].as_str().unwrap().contains("Green"));
    // Late.
    page.send(&response("call_1", &json!({"Which?": "Red"})))
        .await;
    page.wait_for(is_done).await;
    assert!(
        page.seen()
            .iter()
            .all(|frame| frame["type"] != "chat_error"),
        "{:?}",
        page.seen()
    );
    server.stop().await;
}

#[tokio::test]
async fn the_limit_is_three_hundred_seconds_or_what_the_address_says() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    for (more, expected) in [("", 300), ("&timeout=90s", 90)] {
        let script = json!({"steps": [one_question("call_1")]});
        let mut page = FrontEnd::connect(&server, "gobby", more).await;
        say(&mut page, &format!("c{more}"), &script).await;
        let opened = native.opened().await;
        let at = |name: &str| {
            let text = opened[name].as_str().unwrap();
            text.parse::<jiff::Timestamp>().unwrap().as_second()
        };
        assert_eq!(at("deadline") - at("created_at"), expected);
    }
    server.stop().await;
}

#[tokio::test]
async fn nobody_answers_and_the_call_ends_with_an_error() {
    let server = TestServer::start().await;
    let script = json!({"steps": [one_question("call_1")]});
    let mut page = started(&server, &script, "&timeout=1s").await;
    let failed = status(&mut page, "error").await;
    assert_eq!(failed["tool_call_id"], "call_1");
    page.wait_for(is_done).await;
    server.stop().await;
}

#[tokio::test]
async fn a_page_that_leaves_rejects_its_question_at_once() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let script = json!({"steps": [one_question("call_1")]});
    let mut page = started(&server, &script, "").await;
    status(&mut page, "calling").await;
    let request = native.opened().await;
    page.close().await;
    let outcome = native.closed(&request).await;
    assert_eq!(outcome["what"], "denied");
    assert_eq!(
        outcome["message"],
        "The user disconnected before they answered"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_question_stays_while_another_page_of_the_conversation_is_there() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let script = json!({"steps": [one_question("call_1")]});
    let mut page = started(&server, &script, "").await;
    let calling = status(&mut page, "calling").await;
    let request = native.opened().await;
    let session = request["session_id"].as_str().unwrap();
    let mut other = FrontEnd::join(&server, "gobby", session).await;
    assert_eq!(status(&mut other, "calling").await, calling);
    page.close().await;
    other
        .send(&response("call_1", &json!({"Which?": "Red"})))
        .await;
    assert_eq!(native.closed(&request).await["what"], "answered");
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_is_stopped_ends_its_call() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let script = json!({"steps": [one_question("call_1")]});
    let mut page = started(&server, &script, "").await;
    status(&mut page, "calling").await;
    let request = native.opened().await;
    native
        .call(json!({"type": "stop_session", "session_id": request["session_id"]}))
        .await;
    let ended = status(&mut page, "error").await;
    assert_eq!(ended["tool_call_id"], "call_1");
    assert_eq!(native.closed(&request).await["what"], "withdrawn");
    server.stop().await;
}

#[tokio::test]
async fn other_tools_wait_for_somebody_unless_the_connection_asks_otherwise() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut page = started(&server, &bash("touch asked.txt"), "").await;
    status(&mut page, "calling").await;
    let request = native.opened().await;
    native.respond(&request, json!({"behavior": "allow"})).await;
    page.wait_for(is_done).await;
    assert!(server.project().join("asked.txt").exists());
    page.close().await;

    let script = json!({"steps": [tool("Bash", json!({"command": "touch automatic.txt"})), one_question("call_1")]});
    let mut page = FrontEnd::connect(&server, "gobby", "&auto_approve=tools").await;
    say(&mut page, "automatic", &script).await;
    let request = native.opened().await;
    let outcome = native.closed(&request).await;
    assert_eq!(
        (&outcome["what"], &outcome["by"], &outcome["by_name"]),
        (&json!("allowed"), &json!("policy"), &json!("auto_approve"))
    );
    // A question is still somebody's to answer.
    let question = native.opened().await;
    assert_eq!(question["request_type"], "ask_user_question");
    assert!(server.project().join("automatic.txt").exists());
    page.close().await;
    assert_eq!(native.closed(&question).await["what"], "denied");
    server.stop().await;
}

#[tokio::test]
async fn approving_ends_with_the_connection_that_asked_for_it() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut page = FrontEnd::connect(&server, "gobby", "&auto_approve=tools").await;
    let script =
        json!({"steps": [{"sleep_ms": 500}, tool("Bash", json!({"command": "touch never.txt"}))]});
    say(&mut page, "c1", &script).await;
    native
        .wait_for(|frame| frame["session"]["state"] == "assistant_turn")
        .await;
    page.close().await;
    let request = native.opened().await;
    native.respond(&request, json!({"behavior": "deny"})).await;
    let session = request["session_id"].as_str().unwrap();
    assert_eq!(first_outcome(&server, session).await["by"], "human");
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_conversation_is_found_again_by_its_id() {
    let server = TestServer::start().await;
    let mut page = started(&server, &json!({"steps": [{"say": "One."}]}), "").await;
    page.wait_for(is_done).await;
    // A second conversation on the same socket is another session.
    say(&mut page, "c2", &json!({"steps": [{"say": "Two."}]})).await;
    let done = page.wait_for(is_done).await;
    assert_eq!(done["conversation_id"], "c2");
    page.close().await;
    let mut page = started(&server, &json!({"steps": [{"say": "Three."}]}), "").await;
    let said = page.of_type("chat_stream").await;
    assert_eq!(said["content"], "Three.");
    page.wait_for(is_done).await;
    let native = server.connect().await;
    assert_eq!(native.welcome["sessions"].as_array().unwrap().len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn what_is_said_while_a_conversation_begins_goes_to_the_same_session() {
    let server = TestServer::start().await;
    let mut page = FrontEnd::connect(&server, "gobby", "").await;
    say(&mut page, "c1", &json!({"steps": [{"say": "One."}]})).await;
    say(&mut page, "c1", &json!({"steps": [{"say": "Two."}]})).await;
    for text in ["One.", "Two."] {
        let said = page.wait_for(|frame| frame["content"] == text).await;
        assert_eq!(said["conversation_id"], "c1");
    }
    let native = server.connect().await;
    assert_eq!(native.welcome["sessions"].as_array().unwrap().len(), 1);
    server.stop().await;
}
