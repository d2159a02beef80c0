//! Named errors. A code is part of the protocol; the message is for people.

use serde::{Deserialize, Serialize};

/// What went wrong, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The frame is not a JSON object, or a field is missing, unknown or of the wrong type.
    InvalidMessage,
    /// The `type` is not one that clients send.
    UnknownType,
    /// The frame or body is larger than the server takes.
    MessageTooLarge,
    UnknownSession,
    UnknownRequest,
    /// Somebody or something decided first; `outcome` says who and what.
    AlreadyDecided,
    /// The decision names another input than the one that is open.
    DigestMismatch,
    /// The decision does not fit the request: a missing answer, an unknown option.
    InvalidAnswer,
    /// The agent cannot express this; nothing was sent.
    NotSupported,
    /// Another client is the session's active one (`responders = "active"`).
    SessionTaken,
    /// The session's agent has ended.
    SessionEnded,
    FolderNotFound,
    /// The folder would run something by itself; `trust` says what, and
    /// `start_session` with `trust` decides.
    FolderNotTrusted,
    /// The agent has read this message already; it cannot be changed any more.
    AlreadySent,
    UnknownConversation,
    /// The rule cannot be read, or does not do what its samples say.
    InvalidRule,
    /// The rule is wider than it looks; `confirm_broad` takes it all the same.
    RuleTooBroad,
    UnknownRule,
    /// A rule denies what the human changed a call to; the text names it.
    DeniedByRule,
    /// The agent's program is not there or did not start.
    AgentUnavailable,
    /// The agent refused or did not answer in time.
    AgentError,
    /// No credential, or one that is not known or no longer holds.
    Unauthorized,
    /// This credential may not do that, or not from there.
    Forbidden,
    /// The password is asked for first: `POST /api/prove`.
    ProofRequired,
    /// Too many wrong tries; `retry_after_seconds` says when the next one counts.
    TooManyAttempts,
    /// The link was used, or its time is over.
    PairingOver,
    UnknownDevice,
    /// There is no such channel for notifications.
    UnknownChannel,
    /// The button was used, or what it was for is over.
    ActionOver,
    NotFound,
    /// Too much is queued; try again.
    Overloaded,
    /// The record could not be written, so nothing was decided.
    StoreUnavailable,
    ShuttingDown,
    Internal,
}
