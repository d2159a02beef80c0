//! The agent waits for a word before each tool, and only a word that fits is sent.

#![expect(clippy::unwrap_used, reason = "a failure in a test fails the test")]

use sayso_claude::line::Line;
use sayso_claude::{
    AgentEvent, AgentInput, BeforeTool, ControlSession, PermissionAnswer, PermissionMode, SendError,
};
use serde_json::{Value, json};

fn starting(session: &mut ControlSession, request_id: &str) -> Vec<AgentEvent> {
    let line = json!({"type": "control_request", "request_id": request_id, "request": {
        "subtype": "hook_callback", "callback_id": "sayso-before-tool", "tool_use_id": "call",
        "input": {
            "hook_event_name": "PreToolUse", "permission_mode": "acceptEdits",
            "tool_name": "Bash", "tool_input": {"command": "ls"},
        },
    }});
    let line = Line {
        text: line.to_string(),
        repaired: false,
    };
    let reception = session.receive(&line).unwrap();
    assert!(reception.replies.is_empty(), "the host's word is awaited");
    reception.events
}

fn said(verdict: BeforeTool) -> Value {
    let mut session = ControlSession::new();
    starting(&mut session, "before");
    let input = AgentInput::BeforeTool {
        request_id: "before".into(),
        verdict,
    };
    let line: Value = serde_json::from_str(&session.send(input.clone()).unwrap()).unwrap();
    let again = session.send(input).unwrap_err();
    assert!(matches!(again, SendError::NotOpen { .. }));
    line["response"]["response"].clone()
}

#[test]
fn a_tool_that_starts_is_told_with_its_mode() {
    let mut session = ControlSession::new();
    let events = starting(&mut session, "before");
    let [AgentEvent::ToolStarting(start)] = events.as_slice() else {
        panic!("one tool starts: {events:?}");
    };
    assert_eq!(start.tool_name, "Bash");
    assert_eq!(start.input.as_str(), r#"{"command":"ls"}"#);
    assert_eq!(start.permission_mode, Some(PermissionMode::AcceptEdits));
    assert_eq!(session.open_requests().collect::<Vec<_>>(), ["before"]);
}

#[test]
fn each_word_is_said_once() {
    assert_eq!(said(BeforeTool::NoOpinion), json!({}));
    let reason = "Not on Fridays.".to_owned();
    let expected = |decision: &str| {
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": decision,
            "permissionDecisionReason": "Not on Fridays.",
        }})
    };
    let ask = BeforeTool::Ask {
        reason: reason.clone(),
    };
    assert_eq!(said(ask), expected("ask"));
    assert_eq!(said(BeforeTool::Deny { reason }), expected("deny"));
}

#[test]
fn an_answer_to_an_ask_can_deny_a_start_but_never_allow_it() {
    let mut session = ControlSession::new();
    starting(&mut session, "before");
    let mut answer = |answer| {
        session.send(AgentInput::Answer {
            request_id: "before".into(),
            answer,
        })
    };
    let allow = PermissionAnswer::Allow {
        updated_input: None,
        updated_permissions: Vec::new(),
        permanent: false,
    };
    assert!(matches!(answer(allow), Err(SendError::WrongKind { .. })));
    let deny = PermissionAnswer::Deny {
        message: "No.".into(),
        interrupt: false,
    };
    assert!(
        answer(deny)
            .unwrap()
            .contains(r#""permissionDecision":"deny""#)
    );
}

#[test]
fn the_agent_is_told_to_hold_a_tool_when_its_report_fails() {
    let line: Value = serde_json::from_str(&ControlSession::new().initialize()).unwrap();
    let before = &line["request"]["hooks"]["PreToolUse"][0];
    assert_eq!(before["onFailure"], "block");
    assert_eq!(before["matcher"], Value::Null);
}

#[test]
fn a_restored_request_can_be_answered_and_its_line_may_come_again() {
    let raw = r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls", "n":1.0}}"#;
    let raw = sayso_claude::RawJson::parse_text(raw.to_owned()).unwrap();
    let mut session = ControlSession::with_id_prefix("second");
    let event = session.restore("ask", &raw, true).unwrap();
    assert!(matches!(event, AgentEvent::Asked(ask) if ask.request_id == "ask"));
    let line = Line {
        text: format!(
            r#"{{"type":"control_request","request_id":"ask","request":{}}}"#,
            raw.as_str()
        ),
        repaired: false,
    };
    let again = session.receive(&line).unwrap();
    assert_eq!(again, sayso_claude::Reception::default());
    assert!(session.receive(&line).is_err(), "but only once");
    let answer = PermissionAnswer::Allow {
        updated_input: None,
        updated_permissions: Vec::new(),
        permanent: false,
    };
    let request_id = "ask".to_owned();
    let sent = session
        .send(AgentInput::Answer { request_id, answer })
        .unwrap();
    assert!(
        sent.contains(r#"{"command":"ls", "n":1.0}"#),
        "byte for byte: {sent}"
    );
}
