//! Tells the agent what a human changed. The agent runs a changed input without a word to its model, which
//! then wonders about results that do not fit what it asked for.

use std::collections::VecDeque;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::outgoing;
use crate::raw::RawJson;
use crate::wire::HookCallback;

/// A tool call that never runs would otherwise be remembered for ever.
const REMEMBERED: usize = 256;
/// Beyond this the model should look at the file instead.
const LONGEST_VALUE: usize = 4000;

/// The tool calls that were changed and have not been reported yet.
#[derive(Debug, Default)]
pub(super) struct Edits {
    notes: VecDeque<(String, String)>,
}

impl Edits {
    pub(super) fn remember(&mut self, tool_use_id: &str, asked: &RawJson, ran: &RawJson) {
        let Some(note) = note(asked, ran) else {
            return;
        };
        self.notes.retain(|(known, _)| known != tool_use_id);
        if self.notes.len() == REMEMBERED {
            self.notes.pop_front();
        }
        self.notes.push_back((tool_use_id.to_owned(), note));
    }

    /// The answer to a report. Without an edit there is nothing to say.
    pub(super) fn answer(&mut self, request_id: &str, callback: &HookCallback) -> String {
        let known = |(id, _): &(String, String)| Some(id) == callback.tool_use_id.as_ref();
        let note = self
            .notes
            .iter()
            .position(known)
            .and_then(|index| self.notes.remove(index));
        let Some((_, note)) = note else {
            return outgoing::empty_line(request_id);
        };
        let output = json!({
            "hookSpecificOutput": {
                "hookEventName": callback.event,
                "additionalContext": note,
            },
        });
        outgoing::success_line(request_id, output)
            .unwrap_or_else(|_| outgoing::empty_line(request_id))
    }
}

/// `None` when nothing was changed after all.
fn note(asked: &RawJson, ran: &RawJson) -> Option<String> {
    let asked: IndexMap<String, Value> = asked.parse().unwrap_or_default();
    let ran: IndexMap<String, Value> = ran.parse().ok()?;
    let changed = ran
        .iter()
        .filter(|(name, value)| asked.get(*name) != Some(value))
        .map(|(name, value)| format!("\n- {name}: {}", shown(value)));
    let dropped = asked
        .keys()
        .filter(|name| !ran.contains_key(*name))
        .map(|name| format!("\n- {name}: left out"));
    let changes: String = changed.chain(dropped).collect();
    (!changes.is_empty()).then(|| {
        format!(
            "The user changed this tool call before allowing it. What ran is not what you asked for. \
             It ran with:{changes}"
        )
    })
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let length = text.chars().count();
    if length <= LONGEST_VALUE {
        return text;
    }
    let start: String = text.chars().take(LONGEST_VALUE).collect();
    format!("{start}… ({length} characters in all; look at the result to see the rest)")
}
