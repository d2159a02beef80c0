//! What a broker wants done. Effects are carried out in their order.

use crate::{
    Allowance, Answers, Delivery, Json, Refusal, ReplyTo, RequestId, RequestView, Resolution,
    SessionId,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Write to disk, then report `Event::Recorded` or `Event::RecordFailed`.
    Record {
        record: RecordId,
        request: RequestView,
        /// The request itself is new.
        open: bool,
        resolution: Option<Resolution>,
    },
    /// Write to disk; nothing waits for it.
    Note {
        request: RequestView,
        resolution: Resolution,
    },
    NoteClock {
        request: RequestView,
    },
    NoteDelivery {
        request: RequestId,
        delivery: Delivery,
    },
    /// Answer the agent, then report `Event::Delivered`.
    Deliver {
        session: SessionId,
        request: RequestId,
        native_id: Json,
        answer: AgentAnswer,
    },
    /// Say this to the agent without starting a turn.
    FollowUp(FollowUp),
    Broadcast(Broadcast),
    Reply {
        to: ReplyTo,
        result: Result<(), Refusal>,
    },
    StopAgent {
        session: SessionId,
        reason: StopReason,
    },
}

/// Names a write that the broker waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub u64);

/// An answer in terms that each agent's adapter can translate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentAnswer {
    Allow(Allowance),
    Deny { message: String, interrupt: bool },
    Answers(Answers),
    Submit(Json),
}

/// A refusal that stops the turn loses its reason on the way; this brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowUp {
    /// The request whose refusal it explains. For one request there is one text.
    pub request: RequestId,
    pub session: SessionId,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broadcast {
    SessionChanged(SessionId),
    Opened(RequestView),
    Updated(RequestView),
    Closed {
        request: RequestView,
        resolution: Resolution,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    Idle,
    /// It used a request id twice, so no answer could be told apart.
    RepeatedRequest,
}
