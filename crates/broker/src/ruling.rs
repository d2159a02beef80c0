//! What a rule says to a request. Rules are matched elsewhere; here it is
//! decided what they may do.

use crate::{
    Allowance, Ask, DecidedBy, Decision, Delivery, Kind, OutcomeKind, Resolution, Timestamp, words,
};

/// A rule that covers a request, in a human's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub rule: RuleRef,
    pub verdict: Verdict,
}

/// Names a rule for people and for the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRef {
    pub id: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Deny {
        /// Why, in the words of whoever made the rule.
        reason: Option<String>,
    },
}

impl Ruling {
    /// False where only a human may answer.
    pub fn may_answer(&self, ask: &Ask) -> bool {
        let may_allow = ask.rules_may_allow && ask.input_faithful && !ask.requires_user_interaction;
        ask.kind == Kind::Tool && (may_allow || self.verdict != Verdict::Allow)
    }

    /// `None` where only a human may answer: the request is shown.
    pub(crate) fn on(self, ask: &Ask, now: Timestamp) -> Option<Resolution> {
        if !self.may_answer(ask) {
            return None;
        }
        let (outcome, decision) = match self.verdict {
            Verdict::Allow => (OutcomeKind::Allowed, Decision::Allow(Allowance::default())),
            Verdict::Deny { reason } => {
                let message = words::denied_by_rule(&self.rule.text, reason.as_deref());
                let message = Some(message);
                let interrupt = false;
                (OutcomeKind::Denied, Decision::Deny { message, interrupt })
            }
        };
        Some(Resolution {
            outcome,
            by: DecidedBy::Rule(self.rule),
            decision: Some(decision),
            at: now,
            delivery: Delivery::Pending,
        })
    }
}
