//! Agents that do not react: an answer is with them, and nothing comes back.

use std::time::Duration;

use sayso_broker::SessionId;
use tokio::time::Instant;

use super::Hub;

/// An agent says something at once when it hears an answer, if only that it works on.
const PATIENCE: Duration = Duration::from_millis(900);

/// What is heard of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Hearing {
    #[default]
    Fine,
    /// It got an answer, and has until then to react.
    Expecting { until: Instant },
    /// It did not.
    Silent,
}

impl Hearing {
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Self::Expecting { until } => Some(until),
            Self::Fine | Self::Silent => None,
        }
    }

    /// For the human, while it lasts.
    pub(super) fn problem(self) -> Option<&'static str> {
        (self == Self::Silent).then_some(
            "The agent has your answer and does not react. It may be stopped or stuck; \
             if it stays so, stop the session and write to go on.",
        )
    }
}

impl Hub {
    pub(super) fn expect_reaction(&mut self, session: SessionId, now: Instant) {
        if let Some(run) = self.run_of(session)
            && run.hearing == Hearing::Fine
        {
            let until = now + PATIENCE;
            run.hearing = Hearing::Expecting { until };
        }
    }

    pub(super) fn heard(&mut self, session: SessionId) {
        let Some(run) = self.run_of(session) else {
            return;
        };
        let before = std::mem::take(&mut run.hearing);
        if before == Hearing::Silent {
            self.session_changed(session);
        }
    }

    pub(super) fn note_silence(&mut self, now: Instant) {
        for session in self.sessions.running() {
            if let Some(run) = self.run_of(session)
                && run.hearing.deadline().is_some_and(|until| until <= now)
            {
                run.hearing = Hearing::Silent;
                tracing::warn!(%session, "an agent does not react to an answer");
                self.session_changed(session);
            }
        }
    }
}
