//! Sayso's own rules: kept, matched against what agents ask, and counted.
//!
//! What a rule means is in `sayso-policy`; here is which of them are in force
//! for a session, and for how long.

mod book;
mod call;
mod check;
mod convert;
mod history;
mod lines;
mod remote;
mod settings;

pub use book::{Found, RuleBook, Word};
pub use call::{Call, links};
pub use check::{checked, too_broad};
pub use convert::{risks, row, rule, suggestions};
pub use history::{candidates, past_calls, subject, tried, would_decide};
pub use lines::check_lines;
pub use remote::run as run_remotely;
pub use settings::{read_settings, write_settings};

use sayso_policy::{Decision, Entry, RuleId, Rules, Source};
use sayso_protocol::{Rule, RuleEffect, RuleScope};
use std::path::Path;
use uuid::Uuid;

/// The rules that speak for a session in `cwd` at `now`, arranged for matching.
pub fn in_force<'a>(
    rules: impl IntoIterator<Item = &'a Rule>,
    session: Option<Uuid>,
    cwd: &Path,
    now: jiff::Timestamp,
) -> Rules {
    let speaking = rules
        .into_iter()
        .filter(|rule| is_alive(rule, now) && reaches(&rule.scope, session, cwd));
    Rules::new(speaking.filter_map(entry))
}

/// It has not been switched off, used up or outlived. What allows for a while does not where the clock says that it
/// is yet to be made: then nobody knows how much of its time is left.
pub fn is_alive(rule: &Rule, now: jiff::Timestamp) -> bool {
    let in_time = |at| at > now && (rule.effect != RuleEffect::Allow || rule.created_at <= now);
    rule.enabled && rule.uses_left != Some(0) && rule.expires_at.is_none_or(in_time)
}

pub fn reaches(scope: &RuleScope, session: Option<Uuid>, cwd: &Path) -> bool {
    match scope {
        RuleScope::Everywhere {} => true,
        RuleScope::Project { path } => cwd.starts_with(path),
        RuleScope::Session { session_id } => Some(*session_id) == session,
    }
}

/// A rule that cannot be read any more says nothing: no fault allows.
fn entry(rule: &Rule) -> Option<Entry> {
    Some(Entry {
        id: RuleId::new(&rule.rule_id.to_string()),
        effect: effect(rule.effect),
        rule: sayso_policy::Rule::parse(&rule.rule).ok()?,
        source: match &rule.scope {
            RuleScope::Everywhere {} => Source::User,
            RuleScope::Project { path } => Source::Folder(path.clone()),
            RuleScope::Session { .. } => Source::Session,
        },
    })
}

pub fn effect(effect: RuleEffect) -> Decision {
    match effect {
        RuleEffect::Allow => Decision::Allow,
        RuleEffect::Ask => Decision::Ask,
        RuleEffect::Deny => Decision::Deny,
    }
}

pub fn shown_effect(decision: Decision) -> RuleEffect {
    match decision {
        Decision::Allow => RuleEffect::Allow,
        Decision::Ask => RuleEffect::Ask,
        Decision::Deny => RuleEffect::Deny,
    }
}
