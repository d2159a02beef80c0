//! `docs/compat/tofucode.md` names these tests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::front_end::FrontEnd;
use crate::scripts::{questions, two_at_once};
use crate::support::{TestServer, bash};

async fn started(server: &TestServer, script: &Value, more: &str) -> FrontEnd {
    let mut tab = FrontEnd::connect(server, "tofucode", more).await;
    tab.send(&json!({"type": "prompt", "prompt": script.to_string()}))
        .await;
    tab
}

fn response(request: &Value, decision: &str) -> Value {
    json!({"type": "permission_response", "requestId": request["requestId"], "decision": decision})
}

async fn closed(tab: &mut FrontEnd, request: &Value) -> Value {
    let id = request["requestId"].clone();
    tab.wait_for(|frame| frame["type"] == "request_closed" && frame["requestId"] == id)
        .await
}

async fn error(tab: &mut FrontEnd) -> Value {
    tab.of_type("error").await["message"].clone()
}

#[tokio::test]
async fn a_request_has_the_documents_fields_and_runs_when_approved() {
    let server = TestServer::start().await;
    let why = json!({"decision_reason": "File write outside allowed directories", "blocked_path": "/etc/hosts"});
    let script = json!({"steps": [
        {"tool": {"name": "Bash", "input": {"command": "touch ran.txt"}, "request": why}}, {"say": "Done."},
    ]});
    let mut tab = started(&server, &script, "").await;
    let info = tab.of_type("session_info").await;
    assert_eq!(
        info["projectPath"],
        json!(server.project().display().to_string())
    );
    let request = tab.of_type("permission_request").await;
    assert_eq!(
        request,
        json!({
            "type": "permission_request", "requestId": request["requestId"], "toolName": "Bash",
            "toolInput": {"command": "touch ran.txt"}, "reason": "File write outside allowed directories",
            "blockedPath": "/etc/hosts", "sessionId": info["sessionId"],
        })
    );
    tab.send(&response(&request, "approve")).await;
    let over = closed(&mut tab, &request).await;
    assert_eq!(over["decision"], "approve");
    assert_eq!(tab.of_type("tool_result").await["isError"], false);
    assert_eq!(tab.of_type("text").await["content"], "Done.");
    tab.wait_for(|frame| frame["status"] == "completed").await;
    assert!(server.project().join("ran.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn what_is_denied_does_not_run() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch never.txt"), "").await;
    let request = tab.of_type("permission_request").await;
    tab.send(&response(&request, "deny")).await;
    assert_eq!(closed(&mut tab, &request).await["decision"], "deny");
    assert_eq!(tab.of_type("tool_result").await["isError"], true);
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn the_documents_two_errors_come_where_it_says_so_and_nothing_is_decided() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch never.txt"), "").await;
    let request = tab.of_type("permission_request").await;
    let id = &request["requestId"];
    let invalid = [
        json!({"type": "permission_response"}),
        json!({"type": "permission_response", "requestId": id}),
        json!({"type": "permission_response", "decision": "approve"}),
        json!({"type": "permission_response", "requestId": id, "decision": "maybe"}),
        json!({"type": "permission_response", "requestId": id, "decision": true}),
        json!({"type": "question_response", "requestId": id, "answers": {}}),
    ];
    for frame in &invalid {
        tab.send(frame).await;
        assert_eq!(
            error(&mut tab).await,
            "Invalid permission response",
            "{frame}"
        );
    }
    for unknown in ["perm_1", "00000000-0000-4000-8000-000000000000"] {
        let frame =
            json!({"type": "permission_response", "requestId": unknown, "decision": "approve"});
        tab.send(&frame).await;
        assert_eq!(
            error(&mut tab).await,
            "Permission request not found or expired"
        );
    }
    tab.send(&json!({"type": "no_such_thing"})).await;
    assert_eq!(
        error(&mut tab).await,
        "There is no message of type `no_such_thing`"
    );
    tab.send_text("{ no json").await;
    error(&mut tab).await;
    tab.send(&response(&request, "deny")).await;
    assert_eq!(closed(&mut tab, &request).await["decision"], "deny");
    // Late.
    tab.send(&response(&request, "approve")).await;
    assert_eq!(
        error(&mut tab).await,
        "Permission request not found or expired"
    );
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn the_limit_is_five_minutes() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut tab = started(&server, &bash("true"), "").await;
    tab.of_type("permission_request").await;
    let opened = native.opened().await;
    let at = |name: &str| {
        opened[name]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
    };
    let seconds = at("deadline").as_second() - at("created_at").as_second();
    assert_eq!(seconds, 300);
    server.stop().await;
}

#[tokio::test]
async fn nobody_answers_and_it_is_denied_with_a_clear_error() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch never.txt"), "&timeout=1s").await;
    let request = tab.of_type("permission_request").await;
    let timed_out = tab.of_type("error").await;
    assert_eq!(
        timed_out,
        json!({"type": "error", "message": "Permission request timed out", "requestId": request["requestId"]})
    );
    assert_eq!(closed(&mut tab, &request).await["decision"], "deny");
    let result = tab.of_type("tool_result").await;
    assert_eq!(result["isError"], true);
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn one_response_closes_the_prompt_in_every_tab() {
    let server = TestServer::start().await;
    let mut first = started(&server, &bash("touch once.txt"), "").await;
    let request = first.of_type("permission_request").await;
    let session = request["sessionId"].as_str().unwrap();
    let mut second = FrontEnd::join(&server, "tofucode", session).await;
    assert_eq!(second.of_type("permission_request").await, request);
    second.send(&response(&request, "approve")).await;
    for tab in [&mut first, &mut second] {
        assert_eq!(closed(tab, &request).await["decision"], "approve");
    }
    first.send(&response(&request, "deny")).await;
    assert_eq!(
        error(&mut first).await,
        "Permission request not found or expired"
    );
    second
        .wait_for(|frame| frame["status"] == "completed")
        .await;
    assert!(server.project().join("once.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_reload_shows_what_is_pending_again() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &bash("touch late.txt"), "").await;
    let request = tab.of_type("permission_request").await;
    tab.close().await;
    let session = request["sessionId"].as_str().unwrap();
    let mut tab = FrontEnd::join(&server, "tofucode", session).await;
    assert_eq!(tab.of_type("permission_request").await, request);
    tab.send(&response(&request, "approve")).await;
    tab.wait_for(|frame| frame["status"] == "completed").await;
    assert!(server.project().join("late.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn two_at_once_are_answered_in_any_order() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &two_at_once(), "").await;
    let requests = [
        tab.of_type("permission_request").await,
        tab.of_type("permission_request").await,
    ];
    tab.send(&response(&requests[1], "deny")).await;
    tab.send(&response(&requests[0], "approve")).await;
    assert_eq!(closed(&mut tab, &requests[0]).await["decision"], "approve");
    assert_eq!(closed(&mut tab, &requests[1]).await["decision"], "deny");
    server.stop().await;
}

#[tokio::test]
async fn four_questions_are_answered_with_labels_joined_labels_and_free_text() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut tab = started(&server, &questions(), "").await;
    let asked = tab.of_type("question_request").await;
    assert_eq!(asked["questions"].as_array().unwrap().len(), 4);
    let request = native.opened().await;
    let answers = json!({
        "One?": "Summary", "Several?": "Summary, Detailed", "Free?": "Something else", "Last?": "Detailed",
    });
    tab.send(
        &json!({"type": "question_response", "requestId": asked["requestId"], "answers": answers}),
    )
    .await;
    assert_eq!(closed(&mut tab, &asked).await["decision"], "approve");
    assert_eq!(native.closed(&request).await["what"], "answered");
    let result = tab.of_type("tool_result").await;
    let text = result["content"].as_str().unwrap();
    assert!(
        text.contains("Something else") && text.contains("Summary, Detailed"),
        "{text}"
    );
    server.stop().await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_and_the_question_stays() {
    let server = TestServer::start().await;
    let mut tab = started(&server, &questions(), "").await;
    let asked = tab.of_type("question_request").await;
    let answer = |answers: Value| json!({"type": "question_response", "requestId": asked["requestId"], "answers": answers});
    tab.send(&answer(json!({"One?": "Summary"}))).await;
    let refused = tab.of_type("error").await;
    assert_eq!(refused["requestId"], asked["requestId"]);
    tab.send(&response(&asked, "deny")).await;
    assert_eq!(closed(&mut tab, &asked).await["decision"], "deny");
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_dies_takes_its_prompts_away() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let mut tab = started(&server, &bash("true"), "").await;
    let request = tab.of_type("permission_request").await;
    let stop = json!({"type": "stop_session", "session_id": request["sessionId"]});
    native.call(stop).await;
    assert_eq!(closed(&mut tab, &request).await["decision"], "withdrawn");
    server.stop().await;
}

#[tokio::test]
async fn the_chat_goes_on_in_the_same_session_with_its_old_mode_names() {
    let server = TestServer::start().await;
    let mut tab = FrontEnd::connect(&server, "tofucode", "").await;
    let script = bash("touch unasked.txt").to_string();
    tab.send(&json!({"type": "prompt", "prompt": script, "permissionMode": "skip"}))
        .await;
    let info = tab.of_type("session_info").await;
    assert_eq!(info["permissionMode"], "bypassPermissions");
    tab.wait_for(|frame| frame["status"] == "completed").await;
    assert!(server.project().join("unasked.txt").exists());
    let script = json!({"steps": [{"stream": ["Hel", "lo."]}]}).to_string();
    tab.send(&json!({"type": "prompt", "prompt": script})).await;
    let mut text = String::new();
    loop {
        let frame = tab.next().await;
        match frame["type"].as_str() {
            Some("text") => text.push_str(frame["content"].as_str().unwrap()),
            Some("task_status") if frame["status"] == "completed" => break,
            _ => assert_eq!(frame["sessionId"], info["sessionId"], "{frame}"),
        }
    }
    assert_eq!(text, "Hello.");
    server.stop().await;
}

#[tokio::test]
async fn a_session_that_is_not_there_is_said_so() {
    let server = TestServer::start().await;
    let unknown = "00000000-0000-4000-8000-000000000000";
    let mut tab = FrontEnd::join(&server, "tofucode", unknown).await;
    error(&mut tab).await;
    server.stop().await;
}
