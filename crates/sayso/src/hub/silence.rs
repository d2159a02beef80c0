//! Agents that do not react: an answer or a message is with them and nothing comes back, or they do not even read it.

use std::time::Duration;

use sayso_broker::SessionId;
use tokio::time::Instant;

use super::Hub;
use crate::agents::Reading;

/// An agent says something at once when it hears an answer, or a message that it waited for, if only that it works on.
const PATIENCE: Duration = Duration::from_millis(900);

const SILENT: &str = "The agent has what you sent and does not react. It may be stopped or stuck; \
    if it stays so, stop the session and write to go on.";
const STUCK: &str = "The agent does not read what it is sent. It may be stopped or stuck; \
    if it stays so, it is ended after half a minute, and you can write to go on.";

/// What is heard of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hearing {
    reaction: Reaction,
    /// It does not read its input.
    stuck: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reaction {
    #[default]
    Fine,
    /// It got an answer or a message, and has until then to react.
    Expecting { until: Instant },
    /// It did not.
    Silent,
}

impl Hearing {
    pub(super) fn deadline(self) -> Option<Instant> {
        match self.reaction {
            Reaction::Expecting { until } => Some(until),
            Reaction::Fine | Reaction::Silent => None,
        }
    }

    /// For the human, while it lasts.
    pub(super) fn problem(self) -> Option<&'static str> {
        if self.stuck {
            return Some(STUCK);
        }
        (self.reaction == Reaction::Silent).then_some(SILENT)
    }
}

impl Hub {
    pub(super) fn expect_reaction(&mut self, session: SessionId, now: Instant) {
        if let Some(run) = self.run_of(session)
            && run.hearing.reaction == Reaction::Fine
        {
            let until = now + PATIENCE;
            run.hearing.reaction = Reaction::Expecting { until };
        }
    }

    pub(super) fn input_is(&mut self, session: SessionId, reading: Reading) {
        let Some(run) = self.run_of(session) else {
            return;
        };
        let stuck = reading == Reading::Stuck;
        if std::mem::replace(&mut run.hearing.stuck, stuck) != stuck {
            if stuck {
                tracing::warn!(%session, "an agent does not read its input");
            }
            self.session_changed(session);
        }
    }

    pub(super) fn heard(&mut self, session: SessionId) {
        let Some(run) = self.run_of(session) else {
            return;
        };
        let before = std::mem::take(&mut run.hearing.reaction);
        if before == Reaction::Silent {
            self.session_changed(session);
        }
    }

    pub(super) fn note_silence(&mut self, now: Instant) {
        for session in self.sessions.running() {
            if let Some(run) = self.run_of(session)
                && run.hearing.deadline().is_some_and(|until| until <= now)
            {
                run.hearing.reaction = Reaction::Silent;
                tracing::warn!(%session, "an agent does not react to what it was sent");
                self.session_changed(session);
            }
        }
    }
}
