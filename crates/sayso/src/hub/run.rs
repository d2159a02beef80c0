//! One process of a session's agent, while it runs.

use std::collections::HashMap;

use sayso_broker::RequestId;
use sayso_claude::PermissionMode;

use super::progress::Progress;
use super::sessions::Session;
use super::silence::Hearing;
use super::watchdog::Watch;
use crate::agents::link::AgentHandle;

/// One process of a session's agent.
#[derive(Debug)]
pub(super) struct Run {
    /// Tells late output of an earlier process from that of this one.
    pub(super) number: u64,
    pub(super) handle: AgentHandle,
    /// It can be switched to a mode that asks nothing.
    pub(super) allows_bypass: bool,
    /// What it had cost when this process began to count.
    pub(super) cost_before: f64,
    /// Why Sayso stopped it, if it did.
    pub(super) stopped: Option<Stopped>,
    pub(super) watch: Watch,
    pub(super) hearing: Hearing,
    /// Tools that were allowed and have not ended yet, by their uses.
    pub(super) allowed: HashMap<String, AllowedTool>,
    pub(super) progress: Progress,
}

impl Run {
    /// Nothing is known of it yet but where its output begins.
    pub(super) fn new(
        number: u64,
        handle: AgentHandle,
        session: &Session,
        progress: Progress,
    ) -> Self {
        let mode = PermissionMode::from_wire(&session.permission_mode);
        Self {
            number,
            handle,
            allows_bypass: mode == PermissionMode::BypassPermissions,
            cost_before: session.usage.cost_usd,
            stopped: None,
            watch: Watch::default(),
            hearing: Hearing::default(),
            allowed: HashMap::new(),
            progress,
        }
    }
}

/// What the history tells of a tool's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AllowedTool {
    pub(super) request: RequestId,
    pub(super) name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    Asked,
    /// To start again in a mode that it must be started with.
    ForMode,
    Idle,
    /// It did not react for longer than `agent_patience`.
    Unresponsive,
    /// It did not react, and a human wanted another one in its place.
    Replaced,
    RepeatedRequest,
    /// It ran a tool that nobody allowed.
    Unasked,
    /// Its session's transcript has reached `max_transcript`.
    TranscriptFull,
}
