//! A request on its way: being written, open, being decided, being delivered.

use std::sync::Arc;

use crate::clock::{Clock, ClockView};
use crate::{Ask, OnTimeout, ReplyTo, Resolution, SessionId, Timestamp};

/// Lives from `Event::Asked` until it is closed.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) session: SessionId,
    pub(crate) ask: Arc<Ask>,
    pub(crate) created_at: Timestamp,
    pub(crate) clock: Clock,
    pub(crate) on_timeout: OnTimeout,
    pub(crate) free_text: bool,
    pub(crate) phase: Phase,
    /// After a failed write, automatic decisions wait until then.
    pub(crate) quiet_until: Option<Timestamp>,
    /// Of no meaning until it is shown.
    pub(crate) place: Place,
}

/// A request's place on every screen: where a client puts it that sees it open. Not by the clock alone, which can
/// be set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Counts what this server has shown; zero for what an earlier one had.
    pub(crate) number: u64,
    pub(crate) since: Timestamp,
}

/// Small while the request is only open, which may be for long.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// Being written; nobody has seen it. `then` is what happened meanwhile.
    Opening {
        then: Then,
    },
    /// Could not be written; tried again.
    Unrecorded {
        retry_at: Timestamp,
        then: Then,
    },
    Open,
    /// The decision is being written. The agent has not heard it.
    Deciding(Box<Deciding>),
    /// The decision is on disk and on its way to the agent.
    Delivering(Box<Deciding>),
}

#[derive(Clone, Debug)]
pub(crate) enum Then {
    Show,
    Withdraw,
    Resolve(Box<Resolution>),
}

#[derive(Clone, Debug)]
pub(crate) struct Deciding {
    pub(crate) resolution: Resolution,
    /// Who made the decision and waits to hear that it stands.
    pub(crate) reply: Option<ReplyTo>,
    /// Who decided later and waits to hear how the first one ended.
    pub(crate) later: Vec<ReplyTo>,
    /// The agent took the request back meanwhile.
    pub(crate) withdrawn: bool,
    /// The request itself is written in the same step and was never shown.
    pub(crate) unseen: bool,
}

/// What the rest of Sayso may see of a request. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestView {
    pub session: SessionId,
    pub ask: Arc<Ask>,
    pub created_at: Timestamp,
    pub clock: ClockView,
    pub on_timeout: OnTimeout,
    pub free_text: bool,
}

impl Request {
    /// Whoever needs it again finds it on record. Where somebody holds the ask at the moment, it stays.
    pub(crate) fn forget_message(&mut self) {
        if let Some(ask) = Arc::get_mut(&mut self.ask) {
            ask.raw = None;
        }
    }

    pub(crate) fn view(&self) -> RequestView {
        RequestView {
            session: self.session,
            ask: Arc::clone(&self.ask),
            created_at: self.created_at,
            clock: self.clock.view(),
            on_timeout: self.on_timeout,
            free_text: self.free_text,
        }
    }

    /// Clients see it: it was shown and is not closed.
    pub(crate) fn is_shown(&self) -> bool {
        match &self.phase {
            Phase::Open => true,
            Phase::Deciding(deciding) | Phase::Delivering(deciding) => !deciding.unseen,
            Phase::Opening { .. } | Phase::Unrecorded { .. } => false,
        }
    }
}
