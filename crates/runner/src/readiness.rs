//! The one line that a runner says on its standard output.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Readiness {
    Ready { ready: bool, agent_pid: u32 },
    Failed { error: String, kind: FailureKind },
}

/// What has to be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The folder in which the agent should work.
    Folder,
    /// The agent's program.
    Program,
    /// The runner's own folder, or anything else on the runner's side.
    Runner,
}
