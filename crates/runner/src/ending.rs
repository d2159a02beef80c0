//! How an agent ended.

use serde::{Deserialize, Serialize};

/// The last thing a runner has to say. Kept in a file of its own, written when the journal is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exited {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub reason: EndReason,
    /// The end of what the agent wrote to its standard error; what is not UTF-8 is replaced.
    pub stderr_tail: String,
    /// No line has a higher number. Zero when the agent wrote none.
    pub last_seq: u64,
}

/// Why the agent ended, as far as the runner had a part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EndReason {
    /// By itself, or because of a signal that the runner did not choose to send.
    Itself,
    /// A client wanted it stopped.
    Stopped,
    /// Nobody was connected for too long.
    Unclaimed,
    /// The runner itself was asked to end.
    RunnerTerminated,
    /// It closed its output and went on: nobody can hear it.
    OutputClosed,
    /// It wrote a line beyond the limit; that line is not in the journal.
    LineTooLong { limit: usize },
    /// The runner's folder was removed, so nobody can find the runner any more.
    FolderRemoved,
}
