//! What an entry of the history holds of a request: its exact words, so that the digest can be made again from them,
//! and what it is found by.

use sayso_broker::{Allowance, Decision, Json};
use sayso_protocol::{ClientRef, DecidedBy, OutcomeKind, RawJson, RequestType};
use sayso_store::AuditRecord;
use serde::Serialize;
use serde_json::Value;

use super::wire;
use crate::audit::Sparse;
use crate::rules;

/// So much of a request can be found by its words; longer ones are found by their beginning.
const FINDABLE_BYTES: usize = 16 * 1024;

/// For all of an entry but the agent's own words.
const ROOM_FOR_THE_REST: usize = 1024;

/// What is null or empty is not stored; `audit::record` fills it in for whoever reads the history.
#[derive(Debug, Serialize)]
pub(super) struct DecisionBody<'a> {
    pub(super) form: Sparse,
    pub(super) request: AskedBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shown: Option<RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<ExactDecision<'a>>,
    pub(super) outcome: OutcomeKind,
    pub(super) by: DecidedBy,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<ClientRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    pub(super) latency_ms: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct AskedBody<'a> {
    pub(super) request_type: RequestType,
    pub(super) tool_name: &'a str,
    /// Byte for byte what the digest was made of.
    pub(super) tool_input: Option<RawJson>,
    pub(super) input_digest: &'a str,
    pub(super) tool_use_id: Option<&'a str>,
    pub(super) created_at: jiff::Timestamp,
}

/// A decision as clients send it, with an edited input in the human's own bytes.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ExactDecision<'a> {
    Allow {
        behavior: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        remember: &'a [usize],
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_mode: Option<&'a str>,
    },
    Plain(Value),
}

impl<'a> ExactDecision<'a> {
    pub(super) fn new(decision: &'a Decision) -> Self {
        match decision {
            Decision::Allow(Allowance {
                updated_input,
                remember,
                mode,
                automatic: _,
            }) => Self::Allow {
                behavior: "allow",
                updated_input: updated_input.as_ref().and_then(Json::to_raw),
                remember,
                permission_mode: mode.as_ref().map(|mode| mode.0.as_ref()),
            },
            Decision::Deny { .. } | Decision::Answer(_) | Decision::Submit(_) => {
                Self::Plain(wire::decision_json(decision))
            }
        }
    }
}

impl DecisionBody<'_> {
    pub(super) fn json(&self) -> String {
        let length = |raw: &Option<RawJson>| raw.as_ref().map_or(0, |raw| raw.get().len());
        let room = length(&self.request.tool_input) + length(&self.shown) + ROOM_FOR_THE_REST;
        let mut text = Vec::with_capacity(room);
        match serde_json::to_writer(&mut text, self) {
            Ok(()) => String::from_utf8(text).unwrap_or_default(),
            Err(_) => String::new(),
        }
    }
}

/// JSON as it was written; `None` for what is none.
pub(super) fn exact(text: &str) -> Option<RawJson> {
    serde_json::from_str(text).ok()
}

/// What of a decision can be looked for; nothing where the human only said yes or no.
pub(super) fn findable(decision: &Decision) -> Option<Value> {
    match decision {
        Decision::Allow(Allowance {
            updated_input: None,
            ..
        })
        | Decision::Deny { .. } => None,
        Decision::Allow(_) | Decision::Answer(_) | Decision::Submit(_) => {
            Some(wire::decision_json(decision))
        }
    }
}

/// What a list shows of a request, and behind it all that it is found by: the reason, what would be written, what was
/// answered, what was changed.
pub(super) fn text(input: &Value, decision: Option<&Value>, message: Option<&str>) -> String {
    let shown = rules::subject(input);
    // First, by which `audit::subject` knows that it is not below what is shown.
    let reason = message.unwrap_or_default();
    let mut words = String::new();
    collect(input, &shown, &mut words);
    for part in ["updated_input", "answers", "notes", "content"] {
        if let Some(decided) = decision.and_then(|decision| decision.get(part)) {
            collect(decided, &shown, &mut words);
        }
    }
    AuditRecord::findable(&shown, &format!("{reason}{words}"))
}

/// What is shown is searched too, so it need not stand here again.
fn collect(value: &Value, shown: &str, words: &mut String) {
    match value {
        Value::String(text) if text == shown => {}
        Value::String(text) => add(text, words),
        Value::Number(number) => add(&number.to_string(), words),
        Value::Array(values) => values.iter().for_each(|value| collect(value, shown, words)),
        Value::Object(fields) => fields
            .values()
            .for_each(|value| collect(value, shown, words)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn add(text: &str, words: &mut String) {
    let room = FINDABLE_BYTES.saturating_sub(words.len() + 1);
    if room > 0 && !text.is_empty() {
        words.push('\n');
        words.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_words_are_found_and_a_list_shows_the_first() {
        let input = json!({"file_path": "/srv/a.rs", "content": "fn answer() {}", "mode": 420});
        let decision = json!({"answers": {"Which?": "the blue one"}});
        let text = text(&input, Some(&decision), Some("as agreed"));
        for word in ["/srv/a.rs", "answer()", "420", "blue", "agreed"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert_eq!(sayso_store::shown_text(&text), "/srv/a.rs");
    }

    #[test]
    fn what_a_list_shows_is_not_held_twice() {
        let input = json!({"command": "make all", "description": "Build it", "again": "make all"});
        let text = text(&input, None, None);
        assert_eq!(text, "make all\u{1e}\nBuild it");
    }

    #[test]
    fn a_long_input_is_cut_between_two_letters() {
        let input = json!({"content": "ä".repeat(20_000)});
        let shown = sayso_store::shown_text;
        for (message, more) in [(None, 0), (Some("Not now."), 8)] {
            let text = text(&input, None, message);
            let found = text.len() - shown(&text).len();
            let expected = FINDABLE_BYTES - 2 + more..=FINDABLE_BYTES + 1 + more;
            assert!(expected.contains(&found), "{found}");
        }
    }
}
