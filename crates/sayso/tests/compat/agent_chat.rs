//! `docs/compat/agent-chat.md` names these tests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::front_end::{FrontEnd, first_outcome};
use crate::scripts::questions;
use crate::support::{TestServer, bash};

async fn started(server: &TestServer, script: &Value, more: &str) -> FrontEnd {
    let mut page = FrontEnd::connect(server, "agent-chat", more).await;
    say(&mut page, script).await;
    page
}

async fn say(page: &mut FrontEnd, script: &Value) {
    page.send(&json!({"type": "chat_message", "data": {"message": script.to_string()}}))
        .await;
}

fn response(question: &Value, answers: &Value) -> Value {
    let data =
        json!({"question_id": question["question_id"], "answers": answers, "cancelled": false});
    json!({"type": "ask_user_response", "data": data})
}

fn cancel(question: &Value) -> Value {
    let data = json!({"question_id": question["question_id"], "cancelled": true});
    json!({"type": "ask_user_response", "data": data})
}

fn all() -> Value {
    json!({
        "One?": "Summary", "Several?": "Summary, Detailed", "Free?": "Something else", "Last?": "Detailed",
    })
}

async fn asked(page: &mut FrontEnd) -> Value {
    page.of_type("ask_user_question").await
}

async fn status(page: &mut FrontEnd, fits: impl Fn(&Value) -> bool) -> Value {
    page.wait_for(|frame| frame["type"] == "session_status" && fits(frame))
        .await
}

#[tokio::test]
async fn questions_are_asked_and_answered_and_the_status_tells_who_waits() {
    let server = TestServer::start().await;
    let mut page = started(&server, &questions(), "").await;
    let question = asked(&mut page).await;
    assert_eq!(question["questions"].as_array().unwrap().len(), 4);
    assert_eq!(question["timeout_seconds"], 55);
    let waiting = status(&mut page, |frame| frame["waiting_for_user"] == true).await;
    assert_eq!(
        waiting,
        json!({
            "type": "session_status", "session_id": page.session(), "is_processing": false,
            "waiting_for_user": true, "pending_question_id": question["question_id"],
        })
    );
    page.send(&response(&question, &all())).await;
    let goes_on = status(&mut page, |frame| frame["is_processing"] == true).await;
    assert_eq!(goes_on["pending_question_id"], Value::Null);
    page.of_type("chat_complete").await;
    let mut native = server.connect().await;
    let session = page.session();
    native.subscribe(&session).await;
    let decision = native
        .entry(&session, |entry| entry["kind"] == "decision")
        .await;
    assert_eq!(
        decision["answers"],
        json!({"One?": "Summary", "Several?": ["Summary", "Detailed"], "Free?": "Something else", "Last?": ["Detailed"]})
    );
    assert!(
        page.seen()
            .iter()
            .all(|frame| frame["type"] != "ask_user_timeout")
    );
    server.stop().await;
}

#[tokio::test]
async fn nobody_answers_in_time_and_the_turn_is_stopped() {
    let server = TestServer::start().await;
    let mut script = questions();
    let steps = script["steps"].as_array_mut().unwrap();
    steps.push(json!({"say": "I went on all the same."}));
    let mut page = started(&server, &script, "&timeout=1s").await;
    let question = asked(&mut page).await;
    let timeout = page.of_type("ask_user_timeout").await;
    assert_eq!(
        timeout,
        json!({
            "type": "ask_user_timeout", "question_id": question["question_id"], "error": "User response timed out",
        })
    );
    status(&mut page, |frame| {
        frame["is_processing"] == false && frame["waiting_for_user"] == false
    })
    .await;
    page.of_type("chat_complete").await;
    // A late answer is ignored.
    page.send(&response(&question, &all())).await;
    say(&mut page, &json!({"steps": [{"say": "Next."}]})).await;
    page.wait_for(|frame| frame["content"] == "Next.").await;
    for frame in page.seen() {
        assert!(
            frame["type"] != "error" && frame["content"] != "I went on all the same.",
            "{frame}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn a_cancelled_question_stops_the_turn() {
    let server = TestServer::start().await;
    let mut script = questions();
    let steps = script["steps"].as_array_mut().unwrap();
    steps.push(json!({"say": "I went on all the same."}));
    let mut page = started(&server, &script, "").await;
    let question = asked(&mut page).await;
    page.send(&cancel(&question)).await;
    let timeout = page.of_type("ask_user_timeout").await;
    assert_eq!(timeout["question_id"], question["question_id"]);
    assert_eq!(timeout["error"], "User cancelled the question");
    page.of_type("chat_complete").await;
    let outcome = first_outcome(&server, &page.session()).await;
    assert_eq!(outcome["what"], "denied");
    assert!(
        page.seen()
            .iter()
            .all(|frame| frame["content"] != "I went on all the same."),
        "{:?}",
        page.seen()
    );
    server.stop().await;
}

#[tokio::test]
async fn only_the_active_connection_answers_and_the_other_is_told_that_the_session_is_taken() {
    let server = TestServer::start().await;
    let mut first = started(&server, &questions(), "").await;
    let question = asked(&mut first).await;
    let mut second = FrontEnd::join(&server, "agent-chat", &first.session()).await;
    assert_eq!(asked(&mut second).await, question);
    first.send(&response(&question, &all())).await;
    let taken = first.of_type("session_taken").await;
    assert_eq!(taken["question_id"], question["question_id"]);
    second.send(&response(&question, &all())).await;
    for page in [&mut first, &mut second] {
        status(page, |frame| frame["waiting_for_user"] == false).await;
        page.of_type("chat_complete").await;
    }
    let outcome = first_outcome(&server, &first.session()).await;
    assert_eq!(outcome["what"], "answered");
    server.stop().await;
}

#[tokio::test]
async fn a_question_asked_while_nobody_is_there_is_asked_again_on_reconnect() {
    let server = TestServer::start().await;
    let mut script = questions();
    let steps = script["steps"].as_array_mut().unwrap();
    steps.insert(0, json!({"sleep_ms": 300}));
    let mut page = started(&server, &script, "").await;
    status(&mut page, |_| true).await;
    let session = page.session();
    page.close().await;
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = crate::support::first_request(&api, &server.url("")).await;
    let mut page = FrontEnd::join(&server, "agent-chat", &session).await;
    let question = asked(&mut page).await;
    assert_eq!(question["question_id"], request["request_id"]);
    page.send(&response(&question, &all())).await;
    page.of_type("chat_complete").await;
    assert_eq!(first_outcome(&server, &session).await["what"], "answered");
    server.stop().await;
}

#[tokio::test]
async fn what_is_typed_while_the_agent_waits_is_kept_for_it() {
    let server = TestServer::start().await;
    let mut page = started(&server, &questions(), "").await;
    let question = asked(&mut page).await;
    say(&mut page, &json!({"steps": [{"say": "That came later."}]})).await;
    page.send(&response(&question, &all())).await;
    page.wait_for(|frame| frame["content"] == "That came later.")
        .await;
    server.stop().await;
}

#[tokio::test]
async fn a_bad_answer_is_refused_and_an_unknown_one_ignored() {
    let server = TestServer::start().await;
    let mut page = started(&server, &questions(), "").await;
    let question = asked(&mut page).await;
    page.send(&response(&question, &json!({"One?": "Summary"})))
        .await;
    page.of_type("error").await;
    page.send(&json!({"type": "ask_user_response", "data": {}}))
        .await;
    let missing = page.of_type("error").await;
    assert!(
        missing["error"].as_str().unwrap().contains("question_id"),
        "{missing}"
    );
    for id in ["q_123", "00000000-0000-4000-8000-000000000000"] {
        page.send(&response(&json!({"question_id": id}), &all()))
            .await;
    }
    page.send(&response(&question, &all())).await;
    page.of_type("chat_complete").await;
    assert!(page.seen().iter().all(|frame| frame["type"] != "error"));
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_is_stopped_does_not_wait_any_more() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut page = started(&server, &questions(), "").await;
    let question = asked(&mut page).await;
    native
        .call(json!({"type": "stop_session", "session_id": page.session()}))
        .await;
    let timeout = page.of_type("ask_user_timeout").await;
    assert_eq!(timeout["question_id"], question["question_id"]);
    assert_eq!(timeout["error"], "The agent does not wait any more");
    server.stop().await;
}

#[tokio::test]
async fn tools_are_for_somebody_else_to_allow() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut page = started(&server, &bash("touch allowed.txt"), "").await;
    let request = native.opened().await;
    assert_ne!(request["deadline"], Value::Null);
    let used = page.of_type("tool_use").await;
    assert_eq!(used["tool_input"], json!({"command": "touch allowed.txt"}));
    // Its session is the page's; whoever opens it takes it over.
    native.subscribe(&page.session()).await;
    let ack = native.respond(&request, json!({"behavior": "allow"})).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    page.of_type("chat_complete").await;
    assert!(server.project().join("allowed.txt").exists());
    assert!(
        page.seen()
            .iter()
            .all(|frame| frame["type"] != "ask_user_question")
    );
    server.stop().await;
}
