//! How an agent's end is told, and how a lost connection is told from it.

use std::path::Path;
use std::time::Duration;

use sayso_claude::event::Exited;
use sayso_claude::line::LineError;
use sayso_claude::{AgentEvent, AgentFault, EndedAgent};
use sayso_runner::{CleanUp, Connection, EndReason, Events, LostReason, clean_up};
use tokio::time::{Instant, sleep, timeout};

use super::task::Task;

/// A runner whose socket was lost makes it anew within seconds.
const RECONNECT_FOR: Duration = Duration::from_secs(15);
/// A runner, for people who need not know that there are such things.
pub(super) const HOLDER: &str = "the background process that kept it running";
const RECONNECT_EVERY: Duration = Duration::from_millis(250);
/// A runner has little to do before it goes.
const UNTIL_GONE: Duration = Duration::from_secs(5);

impl Task {
    pub(super) fn exited(&mut self, exited: sayso_runner::Exited) -> Exited {
        let (initializing, asked_to_end) = {
            let state = self.shared.lock();
            (state.is_initializing(), state.asked_to_end)
        };
        let fault = self.fault.take().or(match exited.reason {
            EndReason::Unclaimed => Some(AgentFault::Unclaimed),
            EndReason::LineTooLong { limit } => Some(LineError::TooLong { limit }.into()),
            EndReason::RunnerTerminated => Some(lost_because(&format!("{HOLDER} was told to end"))),
            EndReason::FolderRemoved => {
                Some(lost_because("its folder among Sayso's data was removed"))
            }
            EndReason::Itself | EndReason::Stopped | EndReason::OutputClosed => None,
        });
        EndedAgent {
            code: exited.code,
            signal: exited.signal,
            stderr_tail: exited.stderr_tail,
            asked_to_end,
            initializing,
            fault,
        }
        .exited()
    }

    pub(super) async fn ended(&mut self, exited: Exited) {
        let outputs = self.adapter.translate(AgentEvent::Exited(Box::new(exited)));
        self.pass_on(outputs).await;
    }

    /// The hub takes as long as the disk does. False when it has gone before that: then the next one reads again
    /// what the runner has.
    pub(super) async fn wait_until_forgotten(&self) -> bool {
        let forgotten = async {
            while !self.shared.lock().forgotten {
                self.shared.changed.notified().await;
            }
        };
        tokio::select! {
            () = forgotten => true,
            () = self.destination.hub.closed() => false,
        }
    }

    /// `None` when the runner is gone.
    pub(super) async fn reconnect(&self, folder: &Path, reason: &LostReason) -> Option<Connection> {
        if *reason == LostReason::Replaced {
            return None;
        }
        let deadline = Instant::now() + RECONNECT_FOR;
        loop {
            if let Ok(connection) = Connection::connect(folder, self.line).await {
                return Some(connection);
            }
            let path = folder.to_owned();
            let alive = tokio::task::spawn_blocking(move || is_alive(&path)).await;
            if !alive.unwrap_or(false) || Instant::now() >= deadline {
                return None;
            }
            sleep(RECONNECT_EVERY).await;
        }
    }
}

/// Why an agent is gone, for people. The log has it in full.
pub(super) fn words(reason: &LostReason) -> String {
    tracing::warn!(%reason, "an agent was lost");
    match reason {
        LostReason::Replaced => "another Sayso has taken it over".to_owned(),
        LostReason::Closed | LostReason::Io(_) | LostReason::Frame(_) => {
            format!("{HOLDER} has ended")
        }
    }
}

/// The runner goes when it is told to forget.
pub(super) async fn gone(mut events: Events) {
    let end = async { while events.next().await.is_some() {} };
    let _ = timeout(UNTIL_GONE, end).await;
}

/// The agent is gone, and nobody heard it say why. The reason ends a sentence.
pub(super) fn lost_because(reason: &str) -> AgentFault {
    AgentFault::Lost(format!("{}.", reason.trim_end_matches('.')))
}

pub(super) fn fault(fault: AgentFault) -> Exited {
    EndedAgent {
        fault: Some(fault),
        ..EndedAgent::default()
    }
    .exited()
}

fn is_alive(folder: &Path) -> bool {
    matches!(clean_up(folder), Ok(CleanUp::Alive))
}
