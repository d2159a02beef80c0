//! What happens to a broker. Time comes beside each event.

use std::time::Duration;

use crate::{
    Ask, ClientId, ClientRef, ClockView, Decision, Delivery, Json, Mode, Policies, RecordId,
    RequestId, Resolution, Ruling, SessionId, SessionState, Timestamp,
};

#[derive(Clone, Debug)]
pub enum Event {
    /// A session starts, or starts again after its agent ended.
    SessionStarted {
        session: SessionId,
        spec: SessionSpec,
    },
    /// A session whose agent has outlived the server before this one.
    SessionRestored {
        session: SessionId,
        restored: Box<RestoredSession>,
    },
    AgentActive {
        session: SessionId,
        activity: AgentActivity,
    },
    /// The agent says which mode it is in. Settles nothing.
    AgentMode {
        session: SessionId,
        mode: Mode,
    },
    /// A human asked for this mode and the agent took it.
    ModeConfirmed {
        session: SessionId,
        mode: Mode,
    },
    /// The agent must start again for this mode: whatever is open is refused.
    Restarting {
        session: SessionId,
        mode: Mode,
    },
    AgentEnded {
        session: SessionId,
        reason: EndReason,
    },
    SessionRemoved {
        session: SessionId,
    },
    Asked {
        session: SessionId,
        ask: Box<Ask>,
        /// A rule that covers it.
        ruling: Option<Ruling>,
    },
    /// A new rule covers an open request.
    Ruled {
        request: RequestId,
        ruling: Ruling,
    },
    /// The agent takes a request back.
    Withdrawn {
        session: SessionId,
        native_id: Json,
    },
    Decided {
        request: RequestId,
        client: ClientRef,
        digest: String,
        decision: Decision,
        reply: ReplyTo,
    },
    SetHeld {
        request: RequestId,
        held: bool,
        reply: ReplyTo,
    },
    Extended {
        request: RequestId,
        by: Duration,
        reply: ReplyTo,
    },
    /// The answer of an `Effect::Deliver` went out, or could not.
    Delivered {
        request: RequestId,
        delivery: Delivery,
    },
    /// An `Effect::Record` is on disk.
    Recorded {
        record: RecordId,
    },
    RecordFailed {
        record: RecordId,
        reason: String,
    },
    ClientConnected {
        client: ClientId,
        label: String,
    },
    ClientDisconnected {
        client: ClientId,
    },
    /// The client opened the session or wrote to it.
    ClientAttached {
        client: ClientId,
        session: SessionId,
    },
    /// Time has passed; see `Broker::next_wakeup`.
    Tick,
    ShutDown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSpec {
    pub policies: Policies,
    pub mode: Mode,
}

/// What an earlier server wrote of a session that goes on.
#[derive(Clone, Debug)]
pub struct RestoredSession {
    pub spec: SessionSpec,
    pub state: SessionState,
    pub state_changed_at: Timestamp,
    /// In the order in which they were asked.
    pub requests: Vec<RestoredRequest>,
}

/// A request that is not over.
#[derive(Clone, Debug)]
pub struct RestoredRequest {
    pub ask: Box<Ask>,
    pub created_at: Timestamp,
    pub clock: ClockView,
    /// It was decided, and the agent may not have heard it.
    pub decided: Option<Resolution>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentActivity {
    Working,
    Idle,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// It was told to, or finished by itself.
    Finished,
    /// It waited too long for its human.
    Idle,
    Failed(String),
    /// It did not end by its own doing, and could go on where it was.
    Lost(String),
}

/// Where the answer to a client's message goes; opaque to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReplyTo(pub u64);
