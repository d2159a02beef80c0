//! A session as the broker knows it.

use crate::{ClientId, EndReason, Mode, Policies, RequestId, Timestamp};

/// Lives from the first start until the session is removed; survives its agent.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) state: SessionState,
    pub(crate) state_changed_at: Timestamp,
    pub(crate) mode: Mode,
    pub(crate) policies: Policies,
    /// In the order in which the agent asked.
    pub(crate) requests: Vec<RequestId>,
    /// The client that opened it last; see `Responders::Active`.
    pub(crate) active: Option<ClientId>,
    pub(crate) ended: Option<EndReason>,
    /// Why requests cannot be shown or decided right now.
    pub(crate) store_problem: Option<String>,
    /// The agent was told to stop; said once.
    pub(crate) stopping: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    Starting,
    AssistantTurn,
    UserTurn,
    Dead,
}

/// What the rest of Sayso may see of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionView {
    pub state: SessionState,
    pub state_changed_at: Timestamp,
    pub mode: Mode,
    pub ended: Option<EndReason>,
    pub store_problem: Option<String>,
}

impl Session {
    /// True when the state is a new one.
    pub(crate) fn enter(&mut self, now: Timestamp, state: SessionState) -> bool {
        if self.state == state {
            return false;
        }
        self.state = state;
        self.state_changed_at = now;
        true
    }

    pub(crate) fn idle_deadline(&self) -> Option<Timestamp> {
        let waits = self.state == SessionState::UserTurn && self.requests.is_empty();
        if !waits || self.stopping {
            return None;
        }
        self.policies
            .idle_timeout
            .map(|limit| self.state_changed_at.plus(limit))
    }

    pub(crate) fn view(&self) -> SessionView {
        SessionView {
            state: self.state,
            state_changed_at: self.state_changed_at,
            mode: self.mode.clone(),
            ended: self.ended.clone(),
            store_problem: self.store_problem.clone(),
        }
    }
}
