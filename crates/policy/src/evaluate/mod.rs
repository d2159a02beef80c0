//! From rules and a call to a decision, with its reason.

mod allow;
mod command;
mod deny;
mod file;
mod named;
mod targets;
mod web;

use crate::call::{Tool, ToolCall};
use crate::decision::Decision;
use crate::rules::{RuleId, Rules};

/// What the rules say about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    pub decision: Decision,
    /// The rules that led to the decision, sorted. Empty when it asks because
    /// no rule covers the call.
    pub matched: Vec<RuleId>,
    /// Why, in words for a human. Names the part that is not covered.
    pub explanation: String,
}

/// Judges `call`. Deny beats ask beats allow, wherever the rules stand; what no
/// rule covers, and what cannot be read, asks.
pub fn evaluate(rules: &Rules, call: &ToolCall<'_>) -> Evaluation {
    let mut verdict = Verdict::default();
    named::judge(rules, call, &mut verdict);
    match call.tool() {
        Tool::Bash => command::judge(rules, call, &mut verdict),
        Tool::Read | Tool::Edit => file::judge(rules, call, &mut verdict),
        Tool::WebFetch => web::judge(rules, call, &mut verdict),
        Tool::Agent | Tool::Mcp | Tool::WebSearch | Tool::Talk | Tool::Other => {}
    }
    verdict.finish(call)
}

/// What was found on the way to a decision.
#[derive(Debug, Default)]
struct Verdict {
    /// The strictest that a rule said, if it denied or asked.
    stopped: Option<Decision>,
    deny: Vec<RuleId>,
    ask: Vec<RuleId>,
    allow: Vec<RuleId>,
    /// Reasons to deny or to ask by a rule.
    stops: Vec<String>,
    /// Reasons why nothing can be allowed, rule or not.
    doubts: Vec<String>,
}

impl Verdict {
    fn stop(&mut self, effect: Decision, ids: Vec<RuleId>, what: &str) {
        match effect {
            Decision::Deny => self.deny.extend(ids),
            Decision::Ask => self.ask.extend(ids),
            Decision::Allow => self.allow.extend(ids),
        }
        if effect != Decision::Allow {
            self.stopped = self.stopped.max(Some(effect));
            let verb = if effect == Decision::Deny {
                "denied"
            } else {
                "to be asked about"
            };
            self.stops.push(format!("{what} is {verb} by a rule"));
        }
    }

    /// Denied, with more reasons than will be told: nothing changes that.
    fn is_settled(&self) -> bool {
        self.stopped == Some(Decision::Deny) && self.stops.len() >= ENOUGH_REASONS
    }

    fn doubt(&mut self, reason: impl Into<String>) {
        self.doubts.push(reason.into());
    }

    fn finish(self, call: &ToolCall<'_>) -> Evaluation {
        match self.stopped {
            Some(Decision::Deny) => {
                return Evaluation::new(Decision::Deny, self.deny, &self.stops);
            }
            Some(decision) => return Evaluation::new(decision, self.ask, &self.stops),
            None => {}
        }
        if !self.doubts.is_empty() {
            return Evaluation::new(Decision::Ask, Vec::new(), &self.doubts);
        }
        if self.allow.is_empty() {
            let reason = format!("{} is not covered by any rule", call.tool_name);
            return Evaluation::new(Decision::Ask, Vec::new(), &[reason]);
        }
        let reason = format!("{} is allowed by a rule", call.tool_name);
        Evaluation::new(Decision::Allow, self.allow, &[reason])
    }
}

impl Evaluation {
    fn new(decision: Decision, mut matched: Vec<RuleId>, reasons: &[String]) -> Self {
        matched.sort();
        matched.dedup();
        let mut unique: Vec<&String> = Vec::new();
        for reason in reasons {
            if unique.len() < MAX_REASONS && !unique.contains(&reason) {
                unique.push(reason);
            }
        }
        let mut explanation = String::new();
        for reason in unique {
            if !explanation.is_empty() {
                explanation.push_str("; ");
            }
            explanation.push_str(reason);
        }
        explanation.push('.');
        Self {
            decision,
            matched,
            explanation,
        }
    }
}

const MAX_REASONS: usize = 10;
const ENOUGH_REASONS: usize = 100;

/// A part of the input between backticks, cut where nobody would read on.
fn quote(text: &str) -> String {
    const MOST: usize = 200;
    let mut shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}
