//! All rules, and which of them answers a call.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use sayso_broker::{RuleRef, Ruling, Verdict};
use sayso_policy::{Decision, Evaluation, Rules, evaluate};
use sayso_protocol::{Rule, RuleEffect};
use sayso_store::RuleRow;
use uuid::Uuid;

use super::{Call, convert, in_force, is_alive};

/// The rules as they are kept, with what was arranged for each session.
#[derive(Debug, Default)]
pub struct RuleBook {
    rules: Vec<Rule>,
    arranged: HashMap<Uuid, Arranged>,
}

#[derive(Debug)]
struct Arranged {
    rules: Arc<Rules>,
    /// When the first of them runs out.
    until: Option<Timestamp>,
}

/// What the rules say to a call.
#[derive(Debug)]
pub struct Found {
    /// A rule answers it.
    pub ruling: Option<Ruling>,
    /// The rules that led there, to be counted.
    pub matched: Vec<Uuid>,
    /// Why it is asked all the same; `None` when there are no rules at all.
    pub explanation: Option<String>,
}

/// The rules' word on a call before anybody is asked.
#[derive(Debug)]
pub enum Word {
    Nothing,
    Ask { reason: String },
    Deny { ruling: Ruling, matched: Vec<Uuid> },
}

impl RuleBook {
    pub fn load(rows: Vec<RuleRow>) -> Self {
        Self {
            rules: rows.into_iter().filter_map(convert::rule).collect(),
            arranged: HashMap::new(),
        }
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub fn get(&self, id: Uuid) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.rule_id == id)
    }

    /// Adds the rule, or puts it in the place of the one with its id.
    pub fn put(&mut self, rule: Rule) {
        self.arranged.clear();
        match self
            .rules
            .iter_mut()
            .find(|old| old.rule_id == rule.rule_id)
        {
            Some(old) => *old = rule,
            None => self.rules.push(rule),
        }
    }

    pub fn remove(&mut self, id: Uuid) -> Option<Rule> {
        self.arranged.clear();
        let index = self.rules.iter().position(|rule| rule.rule_id == id)?;
        Some(self.rules.remove(index))
    }

    /// Those that end with the session.
    pub fn remove_session(&mut self, session: Uuid) -> bool {
        use sayso_protocol::RuleScope;
        self.arranged.clear();
        let before = self.rules.len();
        self.rules.retain(|rule| {
            !matches!(&rule.scope, RuleScope::Session { session_id } if *session_id == session)
        });
        self.rules.len() < before
    }

    pub fn judge(&mut self, call: &Call, session: Uuid, now: Timestamp) -> Found {
        if self.rules.is_empty() {
            return Found {
                ruling: None,
                matched: Vec::new(),
                explanation: None,
            };
        }
        let rules = self.arranged_for(session, Path::new(&call.cwd), now);
        self.found(evaluate(&rules, &call.facts()))
    }

    /// What rules say to a call that nobody may ask about. Allowing is no part of it.
    pub fn first_word(&mut self, call: &Call, session: Uuid, now: Timestamp) -> Word {
        let cautious = |rule: &Rule| rule.effect != RuleEffect::Allow && is_alive(rule, now);
        if !self.rules.iter().any(cautious) {
            return Word::Nothing;
        }
        let rules = self.arranged_for(session, Path::new(&call.cwd), now);
        let evaluation = evaluate(&rules, &call.facts());
        let decision = evaluation.decision;
        let reason = evaluation.explanation.clone();
        let found = self.found(evaluation);
        let asks = |id: &Uuid| {
            self.get(*id)
                .is_some_and(|rule| rule.effect == RuleEffect::Ask)
        };
        match (decision, found.ruling) {
            (Decision::Deny, Some(ruling)) => Word::Deny {
                ruling,
                matched: found.matched,
            },
            (Decision::Ask, _) if found.matched.iter().any(asks) => Word::Ask { reason },
            _ => Word::Nothing,
        }
    }

    fn arranged_for(&mut self, session: Uuid, cwd: &Path, now: Timestamp) -> Arc<Rules> {
        if let Some(kept) = self.arranged.get(&session)
            && kept.until.is_none_or(|until| until > now)
        {
            return Arc::clone(&kept.rules);
        }
        let rules = Arc::new(in_force(&self.rules, Some(session), cwd, now));
        let alive = self.rules.iter().filter(|rule| is_alive(rule, now));
        let until = alive.filter_map(|rule| rule.expires_at).min();
        let kept = Arranged {
            rules: Arc::clone(&rules),
            until,
        };
        self.arranged.insert(session, kept);
        rules
    }

    fn found(&self, evaluation: Evaluation) -> Found {
        let matched: Vec<&Rule> = evaluation
            .matched
            .iter()
            .filter_map(|id| self.get(id.0.parse().ok()?))
            .collect();
        let verdict = match evaluation.decision {
            Decision::Allow => Some(Verdict::Allow),
            Decision::Deny => Some(Verdict::Deny {
                reason: matched.iter().find_map(|rule| rule.reason.clone()),
            }),
            Decision::Ask => None,
        };
        let texts: Vec<&str> = matched.iter().map(|rule| rule.rule.as_str()).collect();
        let ruling = verdict.zip(matched.first()).map(|(verdict, first)| Ruling {
            rule: RuleRef {
                id: first.rule_id.to_string(),
                text: texts.join(", "),
            },
            verdict,
        });
        Found {
            ruling,
            matched: matched.iter().map(|rule| rule.rule_id).collect(),
            explanation: Some(evaluation.explanation),
        }
    }

    /// Counts an answer. A rule for so many uses is used up by it.
    pub fn hit(&mut self, id: Uuid, now: Timestamp) -> Option<&Rule> {
        let rule = self.rules.iter_mut().find(|rule| rule.rule_id == id)?;
        rule.hits += 1;
        rule.last_hit_at = Some(now);
        if let Some(left) = &mut rule.uses_left {
            *left = left.saturating_sub(1);
            self.arranged.clear();
        }
        Some(rule)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use sayso_protocol::{RuleEffect, RuleScope};
    use serde_json::json;

    use super::*;

    pub(in crate::rules) fn rule(text: &str, effect: RuleEffect) -> Rule {
        Rule {
            rule_id: Uuid::now_v7(),
            rule: text.to_owned(),
            effect,
            scope: RuleScope::Everywhere {},
            uses_left: None,
            expires_at: None,
            reason: None,
            matches: Vec::new(),
            matches_not: Vec::new(),
            enabled: true,
            created_at: Timestamp::UNIX_EPOCH,
            created_by: "a browser".to_owned(),
            hits: 0,
            last_hit_at: None,
            too_broad: None,
        }
    }

    fn call(command: &str) -> Call {
        Call::new(
            "Bash",
            json!({"command": command}),
            Path::new("/srv/project"),
        )
    }

    const SESSION: Uuid = Uuid::from_u128(1);

    fn seconds(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn a_rule_speaks_within_its_scope_its_time_and_its_uses() {
        let elsewhere = RuleScope::Project {
            path: "/srv/other".to_owned(),
        };
        let here = RuleScope::Project {
            path: "/srv".to_owned(),
        };
        let other_session = RuleScope::Session {
            session_id: Uuid::from_u128(2),
        };
        let plain = || rule("Bash(ls)", RuleEffect::Allow);
        let cases = [
            (plain(), true),
            (
                Rule {
                    scope: here,
                    ..plain()
                },
                true,
            ),
            (
                Rule {
                    scope: elsewhere,
                    ..plain()
                },
                false,
            ),
            (
                Rule {
                    scope: other_session,
                    ..plain()
                },
                false,
            ),
            (
                Rule {
                    enabled: false,
                    ..plain()
                },
                false,
            ),
            (
                Rule {
                    uses_left: Some(0),
                    ..plain()
                },
                false,
            ),
            (
                Rule {
                    expires_at: Some(seconds(100)),
                    ..plain()
                },
                false,
            ),
            (
                Rule {
                    expires_at: Some(seconds(101)),
                    ..plain()
                },
                true,
            ),
            (
                Rule {
                    rule: "Bash(((".to_owned(),
                    ..plain()
                },
                false,
            ),
        ];
        for (rule, speaks) in cases {
            let mut book = RuleBook::default();
            book.put(rule.clone());
            let found = book.judge(&call("ls"), SESSION, seconds(100));
            assert_eq!(found.ruling.is_some(), speaks, "{rule:?}");
        }
    }

    #[test]
    fn a_rule_runs_out_while_the_session_goes_on() {
        let mut book = RuleBook::default();
        let expires_at = Some(seconds(200));
        book.put(Rule {
            expires_at,
            ..rule("Bash(ls)", RuleEffect::Allow)
        });
        assert!(
            book.judge(&call("ls"), SESSION, seconds(199))
                .ruling
                .is_some()
        );
        assert!(
            book.judge(&call("ls"), SESSION, seconds(200))
                .ruling
                .is_none()
        );
    }

    #[test]
    fn uses_are_counted() {
        let mut book = RuleBook::default();
        book.put(Rule {
            uses_left: Some(2),
            ..rule("Bash(ls)", RuleEffect::Allow)
        });
        for left in [1, 0] {
            let found = book.judge(&call("ls"), SESSION, seconds(1));
            let hit = book.hit(found.matched[0], seconds(1)).unwrap();
            assert_eq!(hit.uses_left, Some(left));
        }
        assert!(
            book.judge(&call("ls"), SESSION, seconds(1))
                .ruling
                .is_none()
        );
    }

    #[test]
    fn deny_beats_allow_and_says_why() {
        let mut book = RuleBook::default();
        book.put(rule("Bash(ls)", RuleEffect::Allow));
        let reason = Some("Not here.".to_owned());
        book.put(Rule {
            reason: reason.clone(),
            ..rule("Bash(ls)", RuleEffect::Deny)
        });
        let found = book.judge(&call("ls"), SESSION, seconds(1));
        assert_eq!(found.ruling.unwrap().verdict, Verdict::Deny { reason });
    }

    #[test]
    fn a_part_that_no_rule_covers_is_named() {
        let mut book = RuleBook::default();
        book.put(rule("Bash(ls)", RuleEffect::Allow));
        let found = book.judge(&call("ls && rm -rf x"), SESSION, seconds(1));
        assert!(found.ruling.is_none());
        assert!(found.explanation.unwrap().contains("rm -rf x"));
    }
}
