//! The agent's model hears what a human changed, once, and nothing else.

#![expect(clippy::unwrap_used, reason = "a failure in a test fails the test")]

use sayso_claude::line::Line;
use sayso_claude::{AgentInput, ControlSession, PermissionAnswer, RawJson};
use serde_json::{Value, json};

/// The agent asks, the human allows (changed, perhaps), and the call runs.
fn reported(asked: &Value, updated: Option<Value>, reports: &[&str]) -> Vec<Value> {
    let mut session = ControlSession::new();
    receive(
        &mut session,
        &json!({"type": "control_request", "request_id": "ask", "request": {
            "subtype": "can_use_tool", "tool_name": "Bash", "input": asked, "tool_use_id": "call",
        }}),
    );
    let answer = PermissionAnswer::Allow {
        updated_input: updated.map(|input| RawJson::parse_text(input.to_string()).unwrap()),
        updated_permissions: Vec::new(),
        permanent: false,
    };
    let request_id = "ask".to_owned();
    session
        .send(AgentInput::Answer { request_id, answer })
        .unwrap();
    let mut replies = Vec::new();
    for (number, tool_use_id) in reports.iter().enumerate() {
        replies.extend(receive(
            &mut session,
            &json!({"type": "control_request", "request_id": format!("report-{number}"), "request": {
                "subtype": "hook_callback", "callback_id": "sayso-after-tool",
                "tool_use_id": tool_use_id, "input": {"hook_event_name": "PostToolUse"},
            }}),
        ));
    }
    assert_eq!(session.open_requests().count(), 0);
    replies
}

fn receive(session: &mut ControlSession, line: &Value) -> Vec<Value> {
    let line = Line {
        text: line.to_string(),
        repaired: false,
    };
    let replies = session.receive(&line).unwrap().replies;
    let read = |reply: &sayso_claude::Reply| {
        let value: Value = serde_json::from_str(&reply.line).unwrap();
        value["response"]["response"].clone()
    };
    replies.iter().map(read).collect()
}

#[test]
fn a_changed_command_is_told_once_and_only_for_its_own_call() {
    let replies = reported(
        &json!({"command": "rm -rf build", "timeout": 5000}),
        Some(json!({"command": "rm -rf build/cache", "extra": [1]})),
        &["another", "call", "call"],
    );
    let note = "The user changed this tool call before allowing it. What ran is not what you asked for. \
                It ran with:\n- command: rm -rf build/cache\n- extra: [1]\n- timeout: left out";
    let told =
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": note}});
    assert_eq!(replies, [json!({}), told, json!({})]);
}

#[test]
fn what_was_not_changed_is_not_talked_about() {
    let input = json!({"command": "ls"});
    assert_eq!(reported(&input, None, &["call"]), [json!({})]);
    assert_eq!(
        reported(&input, Some(input.clone()), &["call"]),
        [json!({})]
    );
}

#[test]
fn a_long_text_is_told_in_part() {
    let replies = reported(
        &json!({"content": "short"}),
        Some(json!({"content": "ä".repeat(5000)})),
        &["call"],
    );
    let note = replies[0]["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(note.ends_with("ä… (5000 characters in all; look at the result to see the rest)"));
    assert!(note.chars().count() < 4300);
}

#[test]
fn a_report_that_cannot_be_read_is_not_taken_for_a_known_one() {
    let mut session = ControlSession::new();
    let replies = receive(
        &mut session,
        &json!({"type": "control_request", "request_id": "a", "request": {
            "subtype": "hook_callback", "callback_id": 7, "input": "what",
        }}),
    );
    assert_eq!(replies, [json!({})]);
}
