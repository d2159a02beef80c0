//! What agents are asked for, and what follows from their answers.

use std::sync::Arc;
use std::time::Duration;

use sayso_broker::{Event, Mode, SessionId};
use sayso_claude::ControlRequest;
use sayso_protocol::{Ack, ErrorCode, ErrorMessage};
use serde_json::value::RawValue;
use tokio::time::Instant;
use uuid::Uuid;

use super::{Caller, Hub, queue, watchdog, wire};
use crate::agents::claude;

/// How long an agent may take to answer a control request.
const CONTROL_PATIENCE: Duration = Duration::from_secs(15);

/// A control request that an agent has not answered yet.
#[derive(Debug)]
pub(super) struct Control {
    session: SessionId,
    caller: Caller,
    purpose: ControlPurpose,
    pub(super) deadline: Instant,
}

#[derive(Debug)]
pub(super) enum ControlPurpose {
    Plain,
    SetMode(Mode),
    /// The time for the mode that asks nothing is over.
    EndBypass(Mode),
    SetModel(String),
    /// A tool ran unasked; a rule of the agent's own may explain it.
    Explain(Box<watchdog::Suspect>),
    AgentRules,
    /// The agent is given denials; one that does not take them has them from Sayso all the same.
    HandOver,
    TakeBack {
        message: Uuid,
        why: queue::TakeBack,
    },
}

impl Hub {
    /// Asks the agent for something and answers the client when it has answered.
    pub(super) fn control(
        &mut self,
        caller: Caller,
        session: SessionId,
        request: ControlRequest,
        purpose: ControlPurpose,
    ) {
        let able = self
            .running(session)
            .and_then(|()| self.check_able(session, &request));
        if let Err(error) = able {
            self.control_failed(session, &purpose);
            return self.reply(caller, Err(error));
        }
        self.next_control += 1;
        let token = self.next_control;
        let sent = self.send_to_agent(session, claude::control(token, request));
        match sent {
            Ok(()) => {
                let control = Control {
                    session,
                    caller,
                    purpose,
                    deadline: Instant::now() + CONTROL_PATIENCE,
                };
                self.controls.insert(token, control);
            }
            Err(error) => {
                self.control_failed(session, &purpose);
                self.reply(caller, Err(error));
            }
        }
    }

    /// What the agent cannot do is refused here, never tried.
    fn check_able(&self, session: SessionId, request: &ControlRequest) -> Result<(), ErrorMessage> {
        let agent = self.sessions.get(session).map(|known| known.agent.as_str());
        let Some(able) = agent.and_then(|agent| self.agents.info(agent)) else {
            return Ok(());
        };
        let able = match request {
            ControlRequest::SetModel { .. } => able.capabilities.set_model,
            ControlRequest::SetPermissionMode { .. } => able.capabilities.set_permission_mode,
            ControlRequest::Interrupt { .. } => able.capabilities.interrupt,
            _ => true,
        };
        if able {
            return Ok(());
        }
        Err(wire::error(
            ErrorCode::NotSupported,
            "This agent cannot do that.",
        ))
    }

    pub(super) fn control_done(
        &mut self,
        token: u64,
        result: Result<Option<Arc<RawValue>>, String>,
    ) {
        let Some(control) = self.controls.remove(&token) else {
            return;
        };
        let data = match result {
            Ok(data) => data,
            Err(message) => {
                let message = format!("The agent refused: {message}");
                self.control_failed(control.session, &control.purpose);
                self.reply(
                    control.caller,
                    Err(wire::error(ErrorCode::AgentError, message)),
                );
                return;
            }
        };
        match control.purpose {
            ControlPurpose::Plain | ControlPurpose::HandOver => {}
            ControlPurpose::Explain(suspect) => {
                return self.looked_into(control.session, &suspect, data.as_deref());
            }
            ControlPurpose::AgentRules => return self.agent_rules(control.caller, data.as_deref()),
            ControlPurpose::TakeBack { message, why } => {
                let Control {
                    caller, session, ..
                } = control;
                return self.take_back_answered(caller, session, message, why, data.as_deref());
            }
            ControlPurpose::SetMode(mode) | ControlPurpose::EndBypass(mode) => {
                self.dispatch(Event::ModeConfirmed {
                    session: control.session,
                    mode,
                })
            }
            ControlPurpose::SetModel(model) => {
                self.update(control.session, |known| {
                    known.model = Some(model);
                    true
                });
            }
        }
        let ack = Ack {
            data,
            ..Ack::default()
        };
        self.reply(control.caller, Ok(ack));
    }

    pub(super) fn give_up_controls(&mut self, now: Instant) {
        let late = self
            .controls
            .iter()
            .filter(|(_, control)| control.deadline <= now);
        let late: Vec<u64> = late.map(|(token, _)| *token).collect();
        self.fail_controls(late, "The agent did not answer in time.");
    }

    pub(super) fn fail_controls_of(&mut self, session: SessionId) {
        let lost = self
            .controls
            .iter()
            .filter(|(_, control)| control.session == session);
        let lost: Vec<u64> = lost.map(|(token, _)| *token).collect();
        self.fail_controls(lost, "The agent ended before it answered.");
    }

    fn fail_controls(&mut self, tokens: Vec<u64>, message: &str) {
        for token in tokens {
            if let Some(control) = self.controls.remove(&token) {
                self.control_failed(control.session, &control.purpose);
                self.reply(
                    control.caller,
                    Err(wire::error(ErrorCode::AgentError, message)),
                );
            }
        }
    }

    pub(super) fn control_failed(&mut self, session: SessionId, purpose: &ControlPurpose) {
        match purpose {
            ControlPurpose::TakeBack { message, .. } => self.take_back_failed(session, *message),
            ControlPurpose::EndBypass(_) => self.bypass_not_ended(session),
            ControlPurpose::Explain(suspect) => self.alert(session, suspect),
            // Who wanted this mode did not cause the next one.
            ControlPurpose::SetMode(_) => {
                self.mode_actors.remove(&session);
            }
            ControlPurpose::Plain
            | ControlPurpose::AgentRules
            | ControlPurpose::HandOver
            | ControlPurpose::SetModel(_) => {}
        }
    }
}
