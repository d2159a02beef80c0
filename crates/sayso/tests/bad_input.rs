//! Bad input of clients: a named error, and nothing else changes.

mod support;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{TestServer, bash};

#[tokio::test]
async fn a_bad_frame_gets_a_named_error_and_changes_nothing() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &bash("true")).await;
    let request = client.opened().await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    let huge = format!(
        r#"{{"type":"ping","id":"{}"}}"#,
        "x".repeat(10 * 1024 * 1024)
    );
    let cases: Vec<(String, &str)> = vec![
        ("not json".to_owned(), "invalid_message"),
        ("[1]".to_owned(), "invalid_message"),
        (r#"{"type":"dance"}"#.to_owned(), "unknown_type"),
        (r#"{"type":"respond","request_id":"x"}"#.to_owned(), "invalid_message"),
        (r#"{"type":"ping","surprise":1}"#.to_owned(), "invalid_message"),
        (huge, "message_too_large"),
        (json!({"type": "interrupt", "session_id": nobody}).to_string(), "unknown_session"),
        (json!({"type": "subscribe", "session_id": nobody}).to_string(), "unknown_session"),
        (json!({"type": "hold", "request_id": nobody}).to_string(), "unknown_request"),
        (json!({"type": "extend", "request_id": request["request_id"], "seconds": 0}).to_string(), "invalid_message"),
        (json!({"type": "start_session", "cwd": "relative"}).to_string(), "folder_not_found"),
        (json!({"type": "start_session", "cwd": "/no/such/folder"}).to_string(), "folder_not_found"),
        (json!({"type": "start_session", "cwd": "/", "agent": "nobody"}).to_string(), "agent_unavailable"),
        (json!({"type": "start_session", "cwd": "/", "agent": "claude"}).to_string(), "agent_unavailable"),
        (json!({"type": "start_session", "cwd": "/", "permission_mode": "yolo"}).to_string(), "invalid_message"),
        (json!({"type": "start_session", "cwd": "/", "policies": {"tool_timeout": "soon"}}).to_string(), "invalid_message"),
        (json!({"type": "set_permission_mode", "session_id": session, "permission_mode": "yolo"}).to_string(), "invalid_message"),
        (json!({"type": "send_message", "session_id": session, "content": []}).to_string(), "invalid_message"),
        (json!({"type": "rename_session", "session_id": session, "title": " "}).to_string(), "invalid_message"),
        (json!({"type": "respond", "request_id": nobody, "input_digest": "", "decision": {"behavior": "allow"}}).to_string(), "unknown_request"),
        (json!({"type": "respond", "request_id": request["request_id"], "input_digest": request["input_digest"], "decision": {"behavior": "answer", "answers": {}}}).to_string(), "invalid_answer"),
        (json!({"type": "respond", "request_id": request["request_id"], "input_digest": request["input_digest"], "decision": {"behavior": "allow", "updated_input": "text"}}).to_string(), "invalid_answer"),
        (json!({"type": "respond", "request_id": request["request_id"], "input_digest": request["input_digest"], "decision": {"behavior": "allow", "remember": [99]}}).to_string(), "invalid_answer"),
    ];
    // What was sent before the bad frames is not their doing.
    client.call(json!({"type": "ping"})).await;
    client.take_seen();
    for (frame, code) in cases {
        client.send_text(&frame).await;
        let error = client.wait_for(|frame| frame["type"] == "error").await;
        let shown: String = frame.chars().take(120).collect();
        assert_eq!(error["code"], code, "{shown}: {error}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.len() > 10 && !text.contains("os error")),
            "{error}"
        );
    }
    assert_eq!(
        client.take_seen(),
        Vec::<Value>::new(),
        "nothing else was said"
    );
    let again = server.connect().await;
    assert_eq!(
        again.welcome["pending_requests"],
        json!([request]),
        "nothing changed"
    );
    assert_eq!(again.welcome["sessions"].as_array().unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_frame_beyond_all_measure_ends_the_connection_and_nothing_else() {
    let server = TestServer::start().await;
    let (mut rude, mut other) = (server.connect().await, server.connect().await);
    rude.send_text_ignoring_errors(&"x".repeat(40 * 1024 * 1024))
        .await;
    assert!(rude.ended().await);
    let ack = other.call(json!({"type": "ping"})).await;
    assert_eq!(ack["type"], "ack");
    server.stop().await;
}
