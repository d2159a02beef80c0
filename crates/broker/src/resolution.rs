//! Decisions, how they ended a request, and why one was refused.

use crate::{ClientId, Json, Mode, RuleRef, Timestamp};

/// What a human decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow(Allowance),
    Deny {
        message: Option<String>,
        interrupt: bool,
    },
    Answer(Answers),
    Submit(Json),
}

/// A yes, and what goes with it. Plain when empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Replaces the input; `None` runs the input as it was asked.
    pub updated_input: Option<Json>,
    /// Indexes of the agent's suggestions.
    pub remember: Vec<usize>,
    /// The mode that follows a plan; `None` goes back to the one before it.
    pub mode: Option<Mode>,
    /// A program said so, and nobody looked.
    pub automatic: bool,
}

/// By the question's text, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    pub answers: Vec<(String, AnswerValue)>,
    /// What the human adds to an answer.
    pub notes: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerValue {
    Text(String),
    Labels(Vec<String>),
}

/// How a request ended. Final from the moment it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub outcome: OutcomeKind,
    pub by: DecidedBy,
    /// The decision that is delivered; `None` when there is nothing to deliver.
    pub decision: Option<Decision>,
    pub at: Timestamp,
    pub delivery: Delivery,
}

impl Resolution {
    /// The reason of a refusal, when one was given.
    pub fn message(&self) -> Option<&str> {
        match &self.decision {
            Some(Decision::Deny { message, .. }) => message.as_deref(),
            Some(Decision::Allow(_) | Decision::Answer(_) | Decision::Submit(_)) | None => None,
        }
    }

    pub fn edited(&self) -> bool {
        matches!(
            &self.decision,
            Some(Decision::Allow(Allowance {
                updated_input: Some(_),
                ..
            }))
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    Allowed,
    Denied,
    Answered,
    Expired,
    Withdrawn,
    /// The agent was lost while it waited.
    Orphaned,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    Human(ClientRef),
    Rule(RuleRef),
    Mode(Mode),
    Timeout,
    /// A setting; the text says which.
    Policy(&'static str),
    Agent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRef {
    pub id: ClientId,
    pub label: String,
}

/// Deciding and delivering are two things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    Pending,
    Sent,
    /// The agent had withdrawn the request in the meantime.
    TooLate,
    Failed,
    /// There was nothing to deliver.
    None,
}

/// Why a client's wish was not carried out. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("There is no open request with this id.")]
    UnknownRequest,
    #[error("This request is already decided.")]
    AlreadyDecided(Box<Resolution>),
    #[error(
        "The decision names another input than the one that is open. Look at the request again."
    )]
    DigestMismatch,
    #[error("{0}")]
    InvalidAnswer(String),
    #[error("{0}")]
    NotSupported(String),
    #[error("This session is answered from another client ({0}). Open it here to take it over.")]
    SessionTaken(String),
    #[error("The decision could not be recorded, so nothing was decided: {0}")]
    StoreUnavailable(String),
}
