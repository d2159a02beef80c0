//! Agents that are stopped and started again with their history.
//!
//! An agent that was not started for it refuses the mode that asks nothing; what it has open is refused before it is
//! stopped, saying why. One that does not react is ended at once, and what it had open is withdrawn.

use std::time::Duration;

use sayso_broker::{Event, Mode, SessionId};
use sayso_claude::ControlRequest;
use sayso_protocol::{EntryBody, ErrorCode, NoticeLevel, StartSession};
use tokio::time::Instant;

use super::sessions::Stopped;
use super::{Caller, Hub, wire};
use crate::agents::claude;

/// How long the refusals of open requests may take.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(3);

/// An agent on its way out, and what its successor starts with.
#[derive(Debug)]
pub(super) struct Restart {
    caller: Caller,
    start: StartSession,
    /// What the transcript says of it.
    notice: String,
    /// None of the requests is waited for any longer than this; over once the agent is told to stop.
    pub(super) until: Option<Instant>,
    stopping: bool,
}

impl Hub {
    pub(super) fn restart_in(&mut self, caller: Caller, session: SessionId, mode: &str) {
        let Some(caller) = self.first_to_restart(caller, session) else {
            return;
        };
        self.dispatch(Event::Restarting {
            session,
            mode: Mode::new(mode),
        });
        self.restarts.insert(
            session,
            Restart {
                caller,
                start: StartSession {
                    resume: Some(session.0),
                    permission_mode: Some(mode.to_owned()),
                    ..StartSession::default()
                },
                notice: format!(
                    "The agent was started again for the mode {mode}. What it was doing was stopped; write to go on."
                ),
                until: Some(Instant::now() + REFUSAL_PATIENCE),
                stopping: false,
            },
        );
        self.advance_restarts();
    }

    /// Puts another agent in the place of one that does not react.
    pub(super) fn replace(&mut self, caller: Caller, session: SessionId, start: StartSession) {
        let Some(caller) = self.first_to_restart(caller, session) else {
            return;
        };
        let notice = "The agent did not react, so it was ended and started again with its history.";
        self.restarts.insert(
            session,
            Restart {
                caller,
                start,
                notice: notice.to_owned(),
                until: None,
                stopping: true,
            },
        );
        self.stop_agent(session, Stopped::Replaced);
    }

    /// `None` when somebody else was, and this one is told so.
    fn first_to_restart(&mut self, caller: Caller, session: SessionId) -> Option<Caller> {
        if !self.restarts.contains_key(&session) {
            return Some(caller);
        }
        let text = "The agent is being started again already.";
        self.reply(caller, Err(wire::error(ErrorCode::Overloaded, text)));
        None
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
        let text = restart.notice;
        let level = NoticeLevel::Info;
        self.append(session, None, EntryBody::Notice { level, text });
        self.start_session(restart.caller, restart.start);
    }
}
