//! Reading client frames: what is taken, and what the refusals say.

#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use pretty_assertions::assert_eq;
use sayso_protocol::{AnswerValue, ClientFrame, ClientMessage, Decision, ErrorCode};

const REQUEST: &str = "6f4b8a4e-4c52-4b0e-8f5a-3f0f7f3a1a11";

#[track_caller]
fn refused(frame: &str) -> (Option<String>, ErrorCode, String) {
    let error = ClientFrame::parse(frame).expect_err("the frame is refused");
    (error.id, error.code, error.message)
}

#[track_caller]
fn respond(decision: &str) -> Decision {
    let frame = format!(
        r#"{{"type":"respond","id":"7","request_id":"{REQUEST}","input_digest":"d","decision":{decision}}}"#
    );
    match ClientFrame::parse(&frame)
        .expect("the frame is read")
        .message
    {
        ClientMessage::Respond(respond) => respond.decision,
        other => panic!("read as {other:?}"),
    }
}

#[test]
fn an_edited_input_is_kept_byte_for_byte() {
    let edited =
        r#"{ "command":"echo  1",  "big":123456789012345678901234567890, "z":1.0, "a":1e2 }"#;
    let Decision::Allow(allow) = respond(&format!(
        r#"{{"behavior":"allow","updated_input":{edited},"remember":[0,2]}}"#
    )) else {
        panic!("read as another behavior");
    };
    assert_eq!(allow.updated_input.unwrap().get(), edited);
    assert_eq!(allow.remember, vec![0, 2]);
}

#[test]
fn answers_are_text_or_labels_in_the_order_given() {
    let Decision::Answer(answer) =
        respond(r#"{"behavior":"answer","answers":{"b?":"x","a?":["y","z"]}}"#)
    else {
        panic!("read as another behavior");
    };
    let read: Vec<_> = answer.answers.into_iter().collect();
    assert_eq!(
        read,
        vec![
            ("b?".to_owned(), AnswerValue::Text("x".to_owned())),
            (
                "a?".to_owned(),
                AnswerValue::Labels(vec!["y".to_owned(), "z".to_owned()])
            ),
        ]
    );
}

#[test]
fn a_refusal_names_the_field_and_echoes_the_id() {
    let cases = [
        ("[]", None, ErrorCode::InvalidMessage, "one JSON object"),
        ("{", None, ErrorCode::InvalidMessage, "one JSON object"),
        (
            r#"{"id":"1"}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "`type` is missing",
        ),
        (
            r#"{"id":1,"type":"ping"}"#,
            None,
            ErrorCode::InvalidMessage,
            "`id` must be a string",
        ),
        (
            r#"{"id":"1","type":"dance"}"#,
            Some("1"),
            ErrorCode::UnknownType,
            "`dance`",
        ),
        (
            r#"{"id":"1","type":"hold"}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "missing field `request_id`",
        ),
        (
            r#"{"id":"1","type":"hold","request_id":"x"}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "field `request_id`",
        ),
        (
            r#"{"id":"1","type":"presence"}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "missing field `visible`",
        ),
        (
            r#"{"id":"1","type":"presence","visible":"yes"}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "field `visible`",
        ),
        (
            r#"{"id":"1","type":"ping","extra":1}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "unknown field `extra`",
        ),
        (
            r#"{"id":"1","type":"send_message","session_id":"6f4b8a4e-4c52-4b0e-8f5a-3f0f7f3a1a11","content":[{"type":"text"}]}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "field `content[0]",
        ),
        (
            r#"{"id":"1","type":"start_session","cwd":"/","policies":{"free_text":"yes"}}"#,
            Some("1"),
            ErrorCode::InvalidMessage,
            "field `policies.free_text`",
        ),
    ];
    for (frame, id, code, part) in cases {
        let (read_id, read_code, message) = refused(frame);
        assert_eq!((read_id.as_deref(), read_code), (id, code), "{frame}");
        assert!(message.contains(part), "{frame}: {message}");
    }
}

#[test]
fn a_misspelt_decision_field_is_refused_not_ignored() {
    let frame = format!(
        r#"{{"type":"respond","request_id":"{REQUEST}","input_digest":"d","decision":{{"behavior":"allow","updatedInput":{{}}}}}}"#
    );
    let (_, code, message) = refused(&frame);
    assert_eq!(code, ErrorCode::InvalidMessage);
    assert!(message.contains("updatedInput"), "{message}");
}

#[test]
fn deeply_nested_json_is_refused_without_harm() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let frame = format!(r#"{{"type":"send_message","content":{deep}}}"#);
    assert_eq!(refused(&frame).1, ErrorCode::InvalidMessage);
}
