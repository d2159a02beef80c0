//! Which calls of an agent were seen, and which of them it has asked about.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use sayso_claude::{PermissionMode, RecentIds};
use serde_json::value::RawValue;

use crate::agents::claude;
use crate::rules::Call;

/// As many calls as are kept in mind for one agent until it asks about them.
const REMEMBERED: usize = 1024;

/// The calls of one agent that it must ask about.
#[derive(Debug, Default)]
pub(in crate::hub) struct Watch {
    /// It has not asked about these yet.
    unasked: VecDeque<(String, Sighting)>,
    asked: RecentIds<()>,
    /// The denials that the agent was given last.
    pub(super) denials: Vec<String>,
}

/// A call that may have to be asked about. Nearly all are, a moment later, so the call is read only when it has run.
#[derive(Debug)]
struct Sighting {
    made: Made,
    /// Of the moment when it was seen.
    mode: PermissionMode,
    /// It was read, and it must be asked about.
    must_ask: bool,
}

/// A call as it came.
#[derive(Debug)]
pub(super) enum Made {
    Call(Box<Call>),
    Line {
        tool_name: String,
        input: Arc<RawValue>,
    },
}

impl Made {
    fn tool_name(&self) -> &str {
        match self {
            Self::Call(call) => &call.tool_name,
            Self::Line { tool_name, .. } => tool_name,
        }
    }

    fn into_call(self, cwd: &Path) -> Call {
        match self {
            Self::Call(call) => *call,
            Self::Line { tool_name, input } => {
                let input = serde_json::from_str(input.get()).unwrap_or_default();
                Call::new(&tool_name, input, cwd)
            }
        }
    }
}

impl Sighting {
    /// The call, if the agent must ask about it.
    fn judge(self, cwd: &Path) -> Option<Call> {
        let call = self.made.into_call(cwd);
        (self.must_ask || claude::must_ask(&call, &self.mode)).then_some(call)
    }
}

impl Watch {
    /// A call that the agent makes, or is about to make, in `cwd`.
    pub(super) fn saw(&mut self, tool_use_id: &str, made: Made, mode: PermissionMode, cwd: &Path) {
        self.unasked.retain(|(known, _)| known != tool_use_id);
        if self.asked.contains(tool_use_id) || !claude::may_have_to_ask(made.tool_name(), &mode) {
            return;
        }
        if self.unasked.len() == REMEMBERED {
            self.forget_harmless(cwd);
        }
        if self.unasked.len() == REMEMBERED {
            self.unasked.pop_front();
        }
        let sighting = Sighting {
            made,
            mode,
            must_ask: false,
        };
        self.unasked.push_back((tool_use_id.to_owned(), sighting));
    }

    /// Makes room, so that what must be asked about is not forgotten for what need not be.
    fn forget_harmless(&mut self, cwd: &Path) {
        let all = std::mem::take(&mut self.unasked).into_iter();
        let judged = all.filter_map(|(tool_use_id, sighting)| {
            let mode = sighting.mode.clone();
            let made = Made::Call(Box::new(sighting.judge(cwd)?));
            let sighting = Sighting {
                made,
                mode,
                must_ask: true,
            };
            Some((tool_use_id, sighting))
        });
        self.unasked = judged.collect();
    }

    pub(in crate::hub) fn asked_about(&mut self, tool_use_id: &str) {
        self.unasked.retain(|(known, _)| known != tool_use_id);
        self.asked.insert(tool_use_id, ());
    }

    /// The call has run. Given back when nobody was asked and somebody should have been; once.
    pub(super) fn ran(&mut self, tool_use_id: &str, cwd: &Path) -> Option<Call> {
        let index = self
            .unasked
            .iter()
            .position(|(known, _)| known == tool_use_id)?;
        let (_, sighting) = self.unasked.remove(index)?;
        sighting.judge(cwd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CWD: &str = "/srv/project";

    fn made(command: &str) -> Made {
        let input = serde_json::json!({ "command": command });
        Made::Line {
            tool_name: "Bash".to_owned(),
            input: serde_json::value::to_raw_value(&input).unwrap().into(),
        }
    }

    fn saw(watch: &mut Watch, tool_use_id: &str, command: &str) {
        let mode = PermissionMode::Default;
        watch.saw(tool_use_id, made(command), mode, CWD.as_ref());
    }

    #[test]
    fn only_what_must_be_asked_about_and_was_not_is_told_once() {
        let mut watch = Watch::default();
        for (id, command) in [("1", "ls"), ("2", "touch x"), ("3", "touch y")] {
            saw(&mut watch, id, command);
        }
        watch.asked_about("3");
        let mut ran = |id| watch.ran(id, CWD.as_ref()).map(|call| call.input);
        assert_eq!(ran("1"), None);
        assert_eq!(ran("2"), Some(serde_json::json!({"command": "touch x"})));
        assert_eq!(ran("2"), None);
        assert_eq!(ran("3"), None);
    }

    #[test]
    fn the_mode_counts_in_which_a_call_was_made() {
        let mut watch = Watch::default();
        watch.saw(
            "1",
            made("touch x"),
            PermissionMode::BypassPermissions,
            CWD.as_ref(),
        );
        assert!(watch.ran("1", CWD.as_ref()).is_none());
    }

    #[test]
    fn what_is_harmless_displaces_nothing() {
        let mut watch = Watch::default();
        saw(&mut watch, "bad", "touch x");
        for number in 0..3 * REMEMBERED {
            saw(&mut watch, &number.to_string(), "ls");
        }
        assert!(watch.ran("bad", CWD.as_ref()).is_some());
        for number in 0..=REMEMBERED {
            saw(&mut watch, &format!("bad {number}"), "touch x");
        }
        assert_eq!(watch.unasked.len(), REMEMBERED);
        assert!(watch.ran("bad 0", CWD.as_ref()).is_none());
        assert!(watch.ran("bad 1", CWD.as_ref()).is_some());
    }
}
