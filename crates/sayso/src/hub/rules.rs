//! Rules that answer in a human's place: made by clients, asked before anybody is shown a request.

use jiff::Timestamp;
use sayso_broker::{Ask, Event, Kind, RequestId, SessionId};
use sayso_protocol::{
    Ack, AddRule, EnableRule, ErrorCode, ErrorMessage, Rule, RuleScope, ServerMessage, UpdateRule,
};
use sayso_store::{RuleId, UnixMillis, Write};
use uuid::Uuid;

use super::audit::{self, Actor};
use super::clock::rule_time;
use super::writes::AfterWrite;
use super::{Caller, Hub, wire};
use crate::agents::{AskedTool, claude};
use crate::rules;

/// More than anybody looks through.
const MAXIMUM_RULES: usize = 10_000;

impl Hub {
    pub(super) fn asked(&mut self, session: SessionId, ask: Box<Ask>) {
        self.asked_about(session, ask.tool_use_id.as_deref());
        self.dispatch(Event::Asked {
            session,
            ask,
            ruling: None,
        });
    }

    /// An agent asks about a tool. A rule may answer; otherwise the request says why none did.
    pub(super) fn tool_asked(&mut self, session: SessionId, asked: AskedTool) {
        let AskedTool {
            mut ask,
            mut detail,
            call,
        } = asked;
        self.asked_about(session, ask.tool_use_id.as_deref());
        let mut ruling = None;
        if ask.kind == Kind::Tool {
            let now = rule_time();
            let found = self.rules.judge(&call, session.0, now);
            ruling = found.ruling.filter(|ruling| ruling.may_answer(&ask));
            if ruling.is_some() {
                self.count_hits(&found.matched, now);
            } else {
                detail.rule_explanation = found.explanation;
            }
        }
        ask.detail = claude::detail_json(&detail);
        self.details.remember(&ask, detail, call);
        self.dispatch(Event::Asked {
            session,
            ask: Box::new(ask),
            ruling,
        });
    }

    pub(super) fn count_hits(&mut self, matched: &[Uuid], now: Timestamp) {
        for id in matched {
            if let Some(rule) = self.rules.hit(*id, now).cloned() {
                let (id, at) = (RuleId(*id), UnixMillis(now.as_millisecond()));
                // A rule for some uses must not have more of them after a restart.
                self.keep_note(vec![Write::UseRule { id, at }], "a rule's use");
                self.clients.broadcast(&ServerMessage::RuleUsed { rule });
            }
        }
    }

    pub(super) fn tell_rules(&mut self) {
        let rules = self.rules.rules().to_vec();
        self.clients.broadcast(&ServerMessage::Rules { rules });
    }

    pub(super) fn add_rule(&mut self, caller: Caller, wanted: AddRule) {
        let id = Uuid::now_v7();
        if self.rules.rules().len() >= MAXIMUM_RULES {
            let text = format!("There are {MAXIMUM_RULES} rules; remove some first.");
            return self.reply(caller, Err(wire::error(ErrorCode::InvalidRule, text)));
        }
        let created_by = self.client_of(&caller).label;
        match self.made(id, &wanted) {
            Ok(rule) => {
                let rule = Rule { created_by, ..rule };
                self.keep(caller, rule, &wanted.decide);
            }
            Err(error) => self.reply(caller, Err(error)),
        }
    }

    pub(super) fn update_rule(&mut self, caller: Caller, update: UpdateRule) {
        let Some(old) = self.rules.get(update.rule_id).cloned() else {
            return self.reply(caller, Err(unknown_rule()));
        };
        match self.made(update.rule_id, &update.rule) {
            Ok(rule) => {
                let rule = Rule {
                    enabled: old.enabled,
                    created_at: old.created_at,
                    created_by: old.created_by,
                    hits: old.hits,
                    last_hit_at: old.last_hit_at,
                    ..rule
                };
                self.keep(caller, rule, &update.rule.decide);
            }
            Err(error) => self.reply(caller, Err(error)),
        }
    }

    pub(super) fn enable_rule(&mut self, caller: Caller, enable: &EnableRule) {
        match self.rules.get(enable.rule_id).cloned() {
            Some(rule) => {
                let enabled = enable.enabled;
                self.keep(caller, Rule { enabled, ..rule }, &[]);
            }
            None => self.reply(caller, Err(unknown_rule())),
        }
    }

    pub(super) fn remove_rule(&mut self, caller: Caller, id: Uuid) {
        let Some(rule) = self.rules.remove(id) else {
            return self.reply(caller, Err(unknown_rule()));
        };
        let actor = Actor::human(&self.client_of(&caller).label);
        let writes = vec![
            Write::RemoveRule(RuleId(id)),
            audit::rule_entry(&rule, "removed", &actor),
        ];
        self.write_rule(caller, writes, Ack::default());
    }

    /// The rule that a human wants, checked.
    fn made(&self, id: Uuid, wanted: &AddRule) -> Result<Rule, ErrorMessage> {
        rules::checked(wanted)?;
        if let RuleScope::Session { session_id } = &wanted.scope {
            self.known(SessionId(*session_id))?;
        }
        let too_broad = rules::too_broad(&wanted.rule);
        if let (Some(why), false) = (&too_broad, wanted.confirm_broad) {
            let text = format!("This rule is wider than it looks: {why}.");
            return Err(wire::error(ErrorCode::RuleTooBroad, text));
        }
        let now = rule_time();
        let minutes = |minutes: u32| jiff::SignedDuration::from_mins(minutes.into());
        Ok(Rule {
            rule_id: id,
            rule: wanted.rule.clone(),
            effect: wanted.effect,
            scope: wanted.scope.clone(),
            uses_left: wanted.uses,
            expires_at: wanted
                .minutes
                .map(|count| now.checked_add(minutes(count)).unwrap_or(Timestamp::MAX)),
            reason: wanted
                .reason
                .clone()
                .filter(|reason| !reason.trim().is_empty()),
            matches: wanted.matches.clone(),
            matches_not: wanted.matches_not.clone(),
            enabled: wanted.enabled.unwrap_or(true),
            created_at: now,
            created_by: String::new(),
            hits: 0,
            last_hit_at: None,
            too_broad,
        })
    }

    /// Takes the rule into force and writes it. Of the open requests it decides only those that were named.
    fn keep(&mut self, caller: Caller, rule: Rule, decide: &[Uuid]) {
        let ack = Ack {
            rule_id: Some(rule.rule_id),
            ..Ack::default()
        };
        let row = rules::row(&rule);
        let known = self.rules.get(rule.rule_id).is_some();
        let what = if known { "changed" } else { "added" };
        let actor = Actor::human(&self.client_of(&caller).label);
        let entry = audit::rule_entry(&rule, what, &actor);
        self.rules.put(rule);
        self.write_rule(caller, vec![Write::PutRule(row), entry], ack);
        for request in decide {
            self.decide_by_rule(RequestId(*request));
        }
    }

    fn write_rule(&mut self, caller: Caller, writes: Vec<Write>, ack: Ack) {
        self.tell_rules();
        self.hand_over_everywhere();
        let ack = Box::new(ack);
        let after = AfterWrite::Rule { caller, ack };
        if let Err(after) = self.writes.submit(writes, after) {
            self.rule_written(after, Err("the disk does not keep up".to_owned()));
        }
    }

    /// Whoever changed a rule hears whether it will still be so after a restart.
    pub(super) fn rule_written(&mut self, after: AfterWrite, result: Result<(), String>) {
        let AfterWrite::Rule { caller, ack } = after else {
            return;
        };
        let reply = result.map(|()| *ack).map_err(|why| {
            let text = format!(
                "This holds until Sayso ends, but it could not be written down: {why}. Try again."
            );
            wire::error(ErrorCode::StoreUnavailable, text)
        });
        self.reply(caller, reply);
    }

    fn decide_by_rule(&mut self, request: RequestId) {
        let Some(view) = self
            .broker
            .request(request)
            .filter(|view| view.ask.kind == Kind::Tool)
        else {
            return;
        };
        let Some(call) = self.details.call(&view.ask) else {
            return;
        };
        let now = rule_time();
        let found = self.rules.judge(&call, view.session.0, now);
        if let Some(ruling) = found.ruling.filter(|ruling| ruling.may_answer(&view.ask)) {
            self.count_hits(&found.matched, now);
            self.dispatch(Event::Ruled { request, ruling });
        }
    }
}

fn unknown_rule() -> ErrorMessage {
    wire::error(ErrorCode::UnknownRule, "There is no such rule any more.")
}
