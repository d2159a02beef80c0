//! Modes that an agent must be started with.
//!
//! An agent that was not started for it refuses the mode that asks nothing. So it is stopped and started again
//! with its history; what was open is refused before, saying why.

use std::time::Duration;

use sayso_broker::{Event, Mode, SessionId};
use sayso_claude::ControlRequest;
use sayso_protocol::{EntryBody, NoticeLevel, StartSession};
use tokio::time::Instant;

use super::sessions::Stopped;
use super::{Caller, Hub};
use crate::agents::claude;

/// How long the refusals of open requests may take.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(3);

/// An agent on its way out, and the mode that its successor starts with.
#[derive(Debug)]
pub(super) struct Restart {
    caller: Caller,
    mode: String,
    /// None of the requests is waited for any longer than this; over once the agent is told to stop.
    pub(super) until: Option<Instant>,
    stopping: bool,
}

impl Hub {
    pub(super) fn restart_in(&mut self, caller: Caller, session: SessionId, mode: &str) {
        if self.restarts.contains_key(&session) {
            let text = "The agent is being started again already.";
            let error = super::wire::error(sayso_protocol::ErrorCode::Overloaded, text);
            return self.reply(caller, Err(error));
        }
        self.dispatch(Event::Restarting {
            session,
            mode: Mode::new(mode),
        });
        self.restarts.insert(
            session,
            Restart {
                caller,
                mode: mode.to_owned(),
                until: Some(Instant::now() + REFUSAL_PATIENCE),
                stopping: false,
            },
        );
        self.advance_restarts();
    }

    /// Stops agents whose requests are all refused.
    pub(super) fn advance_restarts(&mut self) {
        if self.restarts.is_empty() {
            return;
        }
        let now = Instant::now();
        let broker = &self.broker;
        let ready = self.restarts.iter_mut().filter(|(session, restart)| {
            !restart.stopping
                && (restart.until.is_none_or(|until| until <= now)
                    || !broker.has_requests(**session))
        });
        let mut sessions = Vec::new();
        for (session, restart) in ready {
            restart.stopping = true;
            restart.until = None;
            sessions.push(*session);
        }
        for session in sessions {
            self.next_control += 1;
            let interrupt = ControlRequest::Interrupt {
                cancel_queued: false,
            };
            // Nobody waits for the answer: the agent ends in any case.
            let _ = self.send_to_agent(session, claude::control(self.next_control, interrupt));
            self.stop_agent(session, Stopped::ForMode);
        }
    }

    /// The agent has ended; starts the one that takes its place.
    pub(super) fn restart_now(&mut self, session: SessionId) {
        let Some(restart) = self.restarts.remove(&session) else {
            return;
        };
        let text = format!(
            "The agent was started again for the mode {}. What it was doing was stopped; write to go on.",
            restart.mode
        );
        let level = NoticeLevel::Info;
        self.append(session, None, EntryBody::Notice { level, text });
        let start = StartSession {
            resume: Some(session.0),
            permission_mode: Some(restart.mode),
            ..StartSession::default()
        };
        self.start_session(restart.caller, start);
    }
}
