//! How the hub comes to its end.

use std::sync::Arc;
use std::time::Duration;

use sayso_broker::Event;
use tokio::time::Instant;

use super::Hub;
use crate::config::OnShutdown;

/// How long the answers that a shutdown makes may take.
const DRAIN_PATIENCE: Duration = Duration::from_secs(3);
/// How often a shutdown looks whether it is over.
const STOPPING_LOOKS: Duration = Duration::from_millis(20);
/// How long agents may take to end; they are killed then.
const STOP_PATIENCE: Duration = Duration::from_secs(14);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    /// Agents go on without this server.
    Leaving,
    /// Open requests are being refused.
    Draining {
        until: Instant,
    },
    /// Agents have been told to stop.
    Stopping {
        until: Instant,
    },
}

impl Phase {
    /// When to look whether the end has come.
    pub(super) fn wakeup(self) -> Option<Instant> {
        match self {
            Self::Running | Self::Leaving => None,
            Self::Draining { until } => Some(until),
            // What is waited for then does not wake anybody up.
            Self::Stopping { until } => Some(until.min(Instant::now() + STOPPING_LOOKS)),
        }
    }
}

impl Hub {
    pub(super) fn begin_shutdown(&mut self) {
        if self.phase != Phase::Running {
            return;
        }
        if self.config.on_shutdown == OnShutdown::Keep {
            self.phase = Phase::Leaving;
            return;
        }
        self.phase = Phase::Draining {
            until: Instant::now() + DRAIN_PATIENCE,
        };
        self.dispatch(Event::ShutDown);
    }

    /// True when nothing is left to wait for.
    pub(super) fn advance_shutdown(&mut self) -> bool {
        let now = Instant::now();
        if let Phase::Draining { until } = self.phase
            && (self.broker.is_quiet() || until <= now)
        {
            self.sessions.stop_all();
            self.phase = Phase::Stopping {
                until: now + STOP_PATIENCE,
            };
        }
        match self.phase {
            Phase::Running | Phase::Draining { .. } => false,
            Phase::Leaving => true,
            Phase::Stopping { until } => {
                let served = Arc::strong_count(&self.links) > 1;
                (!self.sessions.any_running() && !served) || until <= now
            }
        }
    }
}
