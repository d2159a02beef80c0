//! Watches what agents run: what a rule denies does not start, what a rule wants asked is asked, and a tool
//! that ran without anybody's say-so is told in red.

mod sightings;

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp as Moment;
use sayso_broker::{Event, SessionId};
use sayso_claude::{AgentInput, BeforeTool, ControlRequest, PermissionMode};
use sayso_protocol::{Ack, AgentRules, Alert, EntryBody, ErrorCode, OnUnasked, RuleEffect};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::clock::rule_time;
use super::controls::ControlPurpose;
use super::sessions::Stopped;
use super::{Caller, Hub, nobody, wire};
use crate::agents::{Starting, claude};
use crate::rules::{self, Call, Word};
use sightings::Made;
pub(super) use sightings::Watch;

const SAY_AGAIN_AFTER: Duration = Duration::from_millis(50);
/// Longer commands are cut in alerts; the transcript has them whole.
const LONGEST_SUBJECT: usize = 500;

/// A tool that ran unasked, while it is looked into.
#[derive(Debug)]
pub(super) struct Suspect {
    tool_use_id: String,
    call: Call,
}

/// A word to an agent that was slow to read.
#[derive(Debug)]
pub(super) struct Unsaid {
    session: SessionId,
    input: AgentInput,
    pub(super) retry_at: Instant,
}

impl Hub {
    /// The agent is about to run a tool and waits. A denial is recorded like any other before it hears it.
    pub(super) fn tool_starting(&mut self, session: SessionId, starting: Starting) {
        let Starting { start, call } = starting;
        let moment = rule_time();
        let word = self.rules.first_word(&call, session.0, moment);
        let verdict = match word {
            Word::Nothing => BeforeTool::NoOpinion,
            Word::Ask { reason } => BeforeTool::Ask { reason },
            Word::Deny { ruling, matched } => {
                self.count_hits(&matched, moment);
                let ask = Box::new(claude::refusable(*start));
                let ruling = Some(ruling);
                return self.dispatch(Event::Asked {
                    session,
                    ask,
                    ruling,
                });
            }
        };
        if let Some(id) = &start.tool_use_id {
            let mode = start.permission_mode.clone();
            let mode = mode.unwrap_or_else(|| self.mode_of(session));
            self.watch(session, |watch, cwd| {
                watch.saw(id, Made::Call(call), mode, cwd);
            });
        }
        let request_id = start.request_id;
        self.say(
            session,
            AgentInput::BeforeTool {
                request_id,
                verdict,
            },
        );
    }

    /// The same for an agent that does not report what it is about to do.
    pub(super) fn tool_used(&mut self, session: SessionId, body: &EntryBody) {
        match body {
            EntryBody::ToolUse {
                tool_use_id,
                tool_name,
                tool_input,
                ..
            } => {
                let mode = self.mode_of(session);
                let made = Made::Line {
                    tool_name: tool_name.clone(),
                    input: tool_input.clone(),
                };
                self.watch(session, |watch, cwd| {
                    watch.saw(tool_use_id, made, mode, cwd);
                });
            }
            EntryBody::ToolResult {
                tool_use_id,
                is_error: false,
                ..
            } => self.tool_ran(session, tool_use_id),
            _ => {}
        }
    }

    pub(super) fn asked_about(&mut self, session: SessionId, tool_use_id: Option<&str>) {
        if let Some(id) = tool_use_id {
            self.watch(session, |watch, _| watch.asked_about(id));
        }
    }

    pub(super) fn tool_ran(&mut self, session: SessionId, tool_use_id: &str) {
        let mut unasked = None;
        self.watch(session, |watch, cwd| {
            unasked = watch.ran(tool_use_id, cwd);
        });
        if let Some(call) = unasked {
            let suspect = Box::new(Suspect {
                tool_use_id: tool_use_id.to_owned(),
                call,
            });
            // Only the agent knows the rules that it goes by right now.
            let request = ControlRequest::ListPermissionRules;
            self.control(nobody(), session, request, ControlPurpose::Explain(suspect));
        }
    }

    /// The agent said which rules it goes by, or could not.
    pub(super) fn looked_into(
        &mut self,
        session: SessionId,
        suspect: &Suspect,
        answer: Option<&RawValue>,
    ) {
        let rules = answer.and_then(claude::read_rules).unwrap_or_default();
        if !claude::explained(&suspect.call, &rules) {
            self.alert(session, suspect);
        }
    }

    pub(super) fn alert(&mut self, session: SessionId, suspect: &Suspect) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let stopped = known.policies.on_unasked.unwrap_or_default() == OnUnasked::Stop;
        let tool_name = suspect.call.tool_name.clone();
        tracing::error!(%session, tool = %tool_name, "a tool ran that nobody allowed");
        let mut subject = rules::subject(&suspect.call.input);
        if let Some((cut, _)) = subject.char_indices().nth(LONGEST_SUBJECT) {
            subject.truncate(cut);
            subject.push('…');
        }
        let subject_text = subject.clone();
        let before = known.alert.as_ref().map_or(0, |alert| alert.count);
        known.alert = Some(Alert {
            tool_name: tool_name.clone(),
            tool_use_id: suspect.tool_use_id.clone(),
            subject: subject.clone(),
            at: Moment::now(),
            count: before.saturating_add(1),
            stopped,
        });
        let body = EntryBody::UnaskedTool {
            tool_use_id: suspect.tool_use_id.clone(),
            tool_name,
            subject,
            stopped,
        };
        let entry = self.alert_entry(
            session,
            &suspect.call.tool_name,
            &subject_text,
            &suspect.call.input,
        );
        self.keep_note(vec![entry], "an alert");
        self.append(session, None, body);
        if stopped {
            self.stop_agent(session, Stopped::Unasked);
        }
        self.session_changed(session);
    }

    pub(super) fn dismiss_alert(&mut self, caller: Caller, session: SessionId) {
        let reply = self.known(session);
        if let Some(known) = self.sessions.get_mut(session)
            && known.alert.take().is_some()
        {
            self.session_changed(session);
        }
        self.reply(caller, reply.map(|()| Ack::default()));
    }

    /// What the agent itself goes by, for those who look at the rules.
    pub(super) fn agent_rules(&mut self, caller: Caller, answer: Option<&RawValue>) {
        let rules: Option<AgentRules> = answer.and_then(claude::read_rules);
        let reply = rules
            .and_then(|rules| serde_json::value::to_raw_value(&rules).ok())
            .map(|data| Ack {
                data: Some(data.into()),
                ..Ack::default()
            })
            .ok_or_else(|| {
                let text =
                    "The agent's answer could not be read. It may be too new for this version.";
                wire::error(ErrorCode::AgentError, text)
            });
        self.reply(caller, reply);
    }

    /// Gives the agent the denials that hold for good, so that they hold without Sayso too.
    pub(super) fn hand_over_denials(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let Some(run) = &mut known.run else {
            return;
        };
        let lasting = self.rules.rules().iter().filter(|rule| {
            rule.effect == RuleEffect::Deny
                && rule.enabled
                && rule.uses_left.is_none()
                && rule.expires_at.is_none()
                && rules::reaches(&rule.scope, Some(session.0), known.cwd.as_ref())
        });
        let denials: Vec<String> = lasting.map(|rule| rule.rule.clone()).collect();
        if denials == run.watch.denials {
            return;
        }
        let request = claude::hand_over(&denials);
        run.watch.denials = denials;
        self.control(nobody(), session, request, ControlPurpose::HandOver);
    }

    pub(super) fn hand_over_everywhere(&mut self) {
        for session in self.sessions.running() {
            self.hand_over_denials(session);
        }
    }

    /// Says something to an agent, and again to one that is slow to read. False when there is nobody to hear it.
    pub(super) fn say(&mut self, session: SessionId, input: AgentInput) -> bool {
        match self.send_to_agent(session, input.clone()) {
            Ok(()) => true,
            Err(error) if error.code == ErrorCode::Overloaded => {
                self.unsaid.push(Unsaid {
                    session,
                    input,
                    retry_at: Instant::now() + SAY_AGAIN_AFTER,
                });
                true
            }
            Err(error) => {
                tracing::warn!(%session, error = %error.message, "an agent could not be told something");
                false
            }
        }
    }

    pub(super) fn say_again(&mut self, now: Instant) {
        for unsaid in std::mem::take(&mut self.unsaid) {
            if unsaid.retry_at > now {
                self.unsaid.push(unsaid);
            } else {
                self.say(unsaid.session, unsaid.input);
            }
        }
    }

    fn mode_of(&self, session: SessionId) -> PermissionMode {
        let known = self.sessions.get(session);
        PermissionMode::from_wire(known.map_or("default", |known| &known.permission_mode))
    }

    fn watch(&mut self, session: SessionId, change: impl FnOnce(&mut Watch, &Path)) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        if let Some(run) = &mut known.run {
            change(&mut run.watch, known.cwd.as_ref());
        }
    }
}
