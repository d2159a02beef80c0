//! The codec and the answer, for any input.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

use proptest::prelude::*;
use sayso_claude::line::{Line, LineError, LineSplitter, Received};
use sayso_claude::{AgentEvent, AgentInput, ControlSession, PermissionAnswer, RawJson};
use serde_json::{Value, json};

const SMALL_LIMIT: usize = 200;

/// Everything the splitter gives for these bytes, cut at these places.
fn split(bytes: &[u8], cuts: &[usize]) -> (Vec<Received>, Option<String>) {
    let mut splitter = LineSplitter::with_limit(SMALL_LIMIT);
    let mut lines = Vec::new();
    let mut start = 0;
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    for end in ends {
        splitter.push(&bytes[start..end]);
        start = end;
        loop {
            match splitter.next_line() {
                Ok(Some(line)) => lines.push(line),
                Ok(None) => break,
                Err(error) => return (lines, Some(kind(&error))),
            }
        }
    }
    match splitter.finish() {
        Ok(rest) => lines.extend(rest),
        Err(error) => return (lines, Some(kind(&error))),
    }
    (lines, None)
}

fn kind(error: &LineError) -> String {
    error.to_string()
}

/// Bytes that look enough like the protocol to get past the first check.
fn traffic() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[]}}\n".to_vec()),
        Just(b"{\"type\":\"control_request\",\"request_id\":\"a\",\"request\":{".to_vec()),
        Just(b"\"\\ud800\"".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"{".to_vec()),
        Just("ä\u{202e}".as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_lines(
        bytes in traffic(),
        cuts in prop::collection::vec(any::<usize>(), 0..10),
    ) {
        prop_assert_eq!(split(&bytes, &cuts), split(&bytes, &[]));
    }

    #[test]
    fn no_bytes_make_the_session_panic(bytes in traffic()) {
        let mut session = ControlSession::new();
        session.initialize();
        for line in split(&bytes, &[]).0 {
            if let Received::Json(line) = line {
                let _ = session.receive(&line);
            }
        }
    }

    #[test]
    fn no_json_makes_the_session_panic(line in any_json(), kind in "(assistant|user|result|stream_event|control_response|control_request|system)") {
        let mut line = line;
        if !line.is_object() {
            line = json!({"message": line, "event": line, "response": line, "request": line});
        }
        line["type"] = json!(kind);
        if let Ok(line) = Line::check(line.to_string()) {
            let _ = ControlSession::new().receive(&line);
        }
    }

    #[test]
    fn checklist_7_any_input_goes_back_byte_for_byte(input in any_json(), spaces in 0usize..3) {
        let input = format!("{{{}\"x\":{input}}}", " ".repeat(spaces));
        let line = format!(
            r#"{{"type":"control_request","request_id":"a","request":{{"subtype":"can_use_tool","tool_name":"T","input":{input}}}}}"#
        );
        let mut session = ControlSession::new();
        let reception = session.receive(&Line::check(line).unwrap()).unwrap();
        prop_assert!(matches!(reception.events.as_slice(), [AgentEvent::Asked(_)]));
        let answer = PermissionAnswer::Allow {
            updated_input: None,
            updated_permissions: Vec::new(),
            permanent: false,
        };
        let sent = session.send(AgentInput::Answer { request_id: "a".to_owned(), answer }).unwrap();
        let expected = format!("\"updatedInput\":{input}}}");
        prop_assert!(sent.contains(&expected));
        prop_assert!(!sent.contains('\n'));
        prop_assert!(RawJson::parse_text(sent).is_ok());
    }
}
