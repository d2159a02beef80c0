//! What a human makes of a call is a call like the agent's own: its risks are
//! read and the rules are asked before it is decided.

use std::path::Path;

use sayso_broker::{Kind, RequestId, SessionId, Verdict};
use sayso_protocol::{Decision, ErrorCode, ErrorMessage, Respond};
use serde_json::Value;

use super::clock::rule_time;
use super::shutdown::Phase;
use super::{Caller, Hub, HubMessage, permission, wire};
use crate::access::Pass;
use crate::agents::claude;
use crate::rules::{Call, Word};

/// A decision that changes a call, and what was read of the changed one.
#[derive(Debug)]
pub struct Edited {
    pass: Pass,
    caller: Caller,
    respond: Respond,
    session: SessionId,
    call: Call,
    destructive: bool,
}

impl Hub {
    /// Reading looks at the file system, so an edited call comes back with a message of its own.
    pub(super) fn respond(&mut self, pass: &Pass, caller: Caller, respond: Respond) {
        let Some((session, call)) = self.edited_call(&respond) else {
            return self.decide(caller, respond);
        };
        let (pass, hub) = (pass.clone(), self.handle.clone());
        tokio::task::spawn_blocking(move || {
            let call = call.with_links();
            let edited = Box::new(Edited {
                destructive: claude::is_destructive(&call),
                pass,
                caller,
                respond,
                session,
                call,
            });
            // When the hub has ended there is nobody left to decide.
            let _ = hub.messages.blocking_send(HubMessage::Edited(edited));
        });
    }

    /// `None` for what is no edit of a tool call, and for what the broker refuses anyway.
    fn edited_call(&self, respond: &Respond) -> Option<(SessionId, Call)> {
        let Decision::Allow(allow) = &respond.decision else {
            return None;
        };
        let request = self.broker.request(RequestId(respond.request_id))?;
        let input: Value = serde_json::from_str(allow.updated_input.as_ref()?.get()).ok()?;
        let known = self.sessions.get(request.session)?;
        let call = Call::new(&request.ask.tool_name, input, Path::new(&known.cwd));
        (request.ask.kind == Kind::Tool).then_some((request.session, call))
    }

    pub(super) fn edited(&mut self, edited: Edited) {
        let Edited {
            pass,
            caller,
            respond,
            session,
            call,
            destructive,
        } = edited;
        let checked = if self.phase != Phase::Running {
            let text = "Sayso is shutting down.";
            Err(wire::error(ErrorCode::ShuttingDown, text))
        } else if destructive {
            permission::check_proof(&pass)
        } else {
            Ok(())
        };
        match checked.and_then(|()| self.denial(session, &call)) {
            Ok(()) => self.decide(caller, respond),
            Err(error) => {
                let request_id = Some(respond.request_id);
                self.reply(
                    caller,
                    Err(ErrorMessage {
                        request_id,
                        ..error
                    }),
                );
            }
        }
    }

    /// What a rule denies, nobody gets by writing it into a call that was asked about.
    fn denial(&mut self, session: SessionId, call: &Call) -> Result<(), ErrorMessage> {
        match self.rules.first_word(call, session.0, rule_time()) {
            Word::Nothing | Word::Ask { .. } => Ok(()),
            Word::Deny { ruling, .. } => {
                let why = match ruling.verdict {
                    Verdict::Deny { reason } => reason,
                    Verdict::Allow => None,
                };
                let why = why.map(|why| format!(" {why}")).unwrap_or_default();
                let text = format!(
                    "The rule `{}` denies what you changed this to.{why}",
                    ruling.rule.text
                );
                Err(wire::error(ErrorCode::DeniedByRule, text))
            }
        }
    }
}
