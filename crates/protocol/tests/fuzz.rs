//! Frames of clients that mean harm. How the inputs are made and how a failure is repeated is told in
//! `CONTRIBUTING.md`.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

use sayso_fuzzing::Target;
use sayso_protocol::{AddRule, ClientFrame, ClientMessage, Decision, parse_body};
use serde_json::Value;

const WORDS: &[&str] = &[
    "\"id\":\"1\",",
    "\"type\":",
    "\"session_id\":",
    "\"request_id\":",
    "\"decision\":",
    "\"behavior\":\"allow\"",
    "\"behavior\":\"deny\"",
    "\"updated_input\":",
    "\"input_digest\":",
    "\"content\":[",
    "\"answers\":{",
    "\"policies\":{",
    "6f4b8a4e-4c52-4b0e-8f5a-3f0f7f3a1a11",
    "\"respond\"",
    "\"start_session\"",
    "\"add_rule\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"scope\":{\"kind\":",
    "\"remember\":[",
    "\"interrupt\":true",
    "\"trust\":",
    "\"seconds\":",
];

/// A refusal is shown to humans and sent back; it must not grow with what was sent.
const LONGEST_REFUSAL: usize = 4000;

fn target() -> Target {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/frames");
    Target::new(corpus).dictionary(WORDS)
}

/// As text: a number in the middle of it may have more digits than a value keeps.
fn written(frame: &ClientFrame) -> String {
    let message = serde_json::to_string(&frame.message).unwrap();
    match &frame.id {
        Some(id) => format!("{{\"id\":{},{}", Value::from(id.clone()), &message[1..]),
        None => message,
    }
}

#[test]
fn frames() {
    target().run(|input| {
        let text = String::from_utf8_lossy(input);
        let frame = match ClientFrame::parse(&text) {
            Ok(frame) => frame,
            Err(error) => {
                assert!(error.message.len() < LONGEST_REFUSAL, "{}", error.message);
                // Without what it quotes.
                let words = error.message.split('`').step_by(2);
                let words: Vec<_> = words
                    .map(|part| part.chars().take(24).collect::<String>())
                    .collect();
                return Err((words, error.id.is_some()));
            }
        };
        let once = written(&frame);
        let again = ClientFrame::parse(&once).unwrap();
        assert_eq!(written(&again), once);
        if let ClientMessage::Respond(respond) = &frame.message
            && let Decision::Allow(allow) = &respond.decision
            && let Some(edited) = &allow.updated_input
        {
            assert!(text.contains(edited.get()), "what runs is what was sent");
        }
        let known: Vec<String> = serde_json::to_value(&frame.message)
            .unwrap()
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.keys().cloned())
            .collect();
        let kind = serde_json::to_value(&frame.message).unwrap()["type"].to_string();
        Ok((kind, known))
    });
}

#[test]
fn bodies() {
    target().run(|input| {
        let text = String::from_utf8_lossy(input);
        let rule = parse_body::<AddRule>("add_rule", &text);
        let decision = parse_body::<sayso_protocol::Respond>("respond", &text);
        for message in [rule.err(), decision.err()].into_iter().flatten() {
            assert!(
                message.message.len() < LONGEST_REFUSAL,
                "{}",
                message.message
            );
        }
    });
}
