//! The rows, one struct for each table, and the words their columns are made of.
//!
//! Words on which the store's own behaviour depends are enums. Words that only pass through (agent,
//! state, permission mode, request kind) stay text, so that a new one needs no change here.

use std::fmt;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value, ValueRef};
use serde::{Deserialize, Serialize};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, FromRow, Type};
use uuid::Uuid;

macro_rules! uuid_as_text {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(formatter)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl<DB: Database> Type<DB> for $name
        where
            String: Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                String::type_info()
            }

            fn compatible(info: &DB::TypeInfo) -> bool {
                String::compatible(info)
            }
        }

        impl<'q, DB: Database> Encode<'q, DB> for $name
        where
            String: Encode<'q, DB>,
        {
            fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
                self.to_string().encode(buffer)
            }
        }

        impl<'r, DB: Database> Decode<'r, DB> for $name
        where
            String: Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
                Ok(Self(Uuid::try_parse(&String::decode(value)?)?))
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Owned(Value::Text(self.to_string())))
            }
        }
    };
}

/// Words of a column, for both ways to the database.
macro_rules! stored_word {
    ($name:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $name {
            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Borrowed(self.word().into()))
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(FromSqlError::InvalidType),
                }
            }
        }

        impl<DB: Database> Type<DB> for $name
        where
            String: Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                String::type_info()
            }

            fn compatible(info: &DB::TypeInfo) -> bool {
                String::compatible(info)
            }
        }

        impl<'q, DB: Database> Encode<'q, DB> for $name
        where
            String: Encode<'q, DB>,
        {
            fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
                self.word().to_owned().encode(buffer)
            }
        }

        impl<'r, DB: Database> Decode<'r, DB> for $name
        where
            String: Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
                match String::decode(value)?.as_str() {
                    $($word => Ok(Self::$variant),)+
                    other => Err(format!("{other:?} is no {}", stringify!($name)).into()),
                }
            }
        }
    };
}

uuid_as_text! {
    /// Sayso's own name for a session; it stays when the agent begins a new conversation.
    SessionId
}

uuid_as_text! {
    /// A browser or a script that may come in.
    DeviceId
}

uuid_as_text! {
    /// Where notifications go.
    ChannelId
}

uuid_as_text! {
    /// Sayso's own name for a request; the agent's is in [`RequestRow::native_id`].
    RequestId
}

uuid_as_text! {
    /// The name of a message of the human, as the agent knows it too.
    MessageId
}

uuid_as_text! {
    RuleId
}

/// Milliseconds since 1970 in UTC. The store never asks what time it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Type, Serialize, Deserialize,
)]
#[sqlx(transparent)]
pub struct UnixMillis(pub i64);

impl ToSql for UnixMillis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for UnixMillis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

/// One agent at work, or its memory.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, Deserialize)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: String,
    pub cwd: String,
    pub agent: String,
    /// The agent's own name for the conversation; a new one after it was cleared.
    pub agent_session_id: Option<String>,
    pub state: String,
    pub permission_mode: String,
    pub model: Option<String>,
    pub created_at: UnixMillis,
    pub state_changed_at: UnixMillis,
    pub ended_reason: Option<String>,
    pub error: Option<String>,
    /// JSON.
    pub usage: Option<String>,
    /// JSON.
    pub policies: Option<String>,
    pub archived_at: Option<UnixMillis>,
    /// A human gave the title.
    pub title_fixed: bool,
    /// The agent runs without the folder's own settings.
    pub restricted: bool,
    /// JSON.
    pub context: Option<String>,
    /// JSON: a tool ran that nobody allowed.
    pub alert: Option<String>,
    /// The last entry before its agent started.
    pub run_after: i64,
    /// The last line of its agent that is counted in `usage`.
    pub counted_line: i64,
    /// Of its entries; those of the last moments may be missing.
    pub transcript_bytes: i64,
}

impl SessionRow {
    /// The one state the store itself writes, when it recovers.
    pub const DEAD: &'static str = "dead";
    /// Why a session ended that was alive when the server stopped.
    pub const SERVER_RESTARTED: &'static str = "server_restarted";
}

/// One line of a session's transcript. Numbers begin at 1 and are the caller's to give.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, Deserialize)]
pub struct EntryRow {
    pub session_id: SessionId,
    pub seq: i64,
    pub at: UnixMillis,
    /// JSON, verbatim.
    pub body: String,
    /// The line of the agent's output that it comes from, and which of that line's entries it is.
    pub line: Option<i64>,
    pub part: Option<i64>,
}

/// What an agent asked. Written once; only its clock and its status change afterwards.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, Deserialize)]
pub struct RequestRow {
    pub id: RequestId,
    pub session_id: SessionId,
    /// The agent's own id as JSON: some number their requests, some name them.
    pub native_id: String,
    pub kind: String,
    pub tool_name: String,
    pub tool_use_id: Option<String>,
    pub agent_id: Option<String>,
    pub agent_label: Option<String>,
    /// JSON, verbatim: what the human is shown and what the digest is of.
    pub input: String,
    pub input_digest: String,
    /// The agent's whole message, verbatim.
    pub raw: String,
    /// JSON with everything else that is shown.
    pub detail: String,
    pub created_at: UnixMillis,
    /// None: no limit, or the clock is stopped.
    pub deadline: Option<UnixMillis>,
    /// What was left on the clock when it was stopped.
    pub held_remaining_ms: Option<i64>,
    /// A human stopped it.
    pub held: bool,
    pub status: RequestStatus,
}

/// How a request ended. At most one for each request, never changed but for its delivery.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, Deserialize)]
pub struct DecisionRow {
    pub request_id: RequestId,
    pub outcome: Outcome,
    pub decided_by: DecidedBy,
    pub client_id: Option<String>,
    pub client_label: Option<String>,
    /// JSON: the whole decision with changed input, answers, message and what to remember.
    pub decision: String,
    pub message: Option<String>,
    pub at: UnixMillis,
    pub delivery: Delivery,
    pub delivered_at: Option<UnixMillis>,
}

impl DecisionRow {
    /// Where the page after this row begins.
    pub fn cursor(&self) -> DecisionCursor {
        DecisionCursor {
            at: self.at,
            request_id: self.request_id,
        }
    }
}

/// A place in the history. The id is part of it because two decisions can share a millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionCursor {
    pub at: UnixMillis,
    pub request_id: RequestId,
}

/// Whether a request still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RequestStatus {
    Open,
    Decided,
    Withdrawn,
    Orphaned,
}

stored_word!(RequestStatus {
    Open = "open",
    Decided = "decided",
    Withdrawn = "withdrawn",
    Orphaned = "orphaned",
});

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    Allowed,
    Denied,
    Answered,
    Expired,
    Withdrawn,
    Orphaned,
}

stored_word!(Outcome {
    Allowed = "allowed",
    Denied = "denied",
    Answered = "answered",
    Expired = "expired",
    Withdrawn = "withdrawn",
    Orphaned = "orphaned",
});

impl Outcome {
    /// The status a request has once it ended so.
    pub fn status(self) -> RequestStatus {
        match self {
            Self::Allowed | Self::Denied | Self::Answered | Self::Expired => RequestStatus::Decided,
            Self::Withdrawn => RequestStatus::Withdrawn,
            Self::Orphaned => RequestStatus::Orphaned,
        }
    }
}

/// Who or what ended a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DecidedBy {
    Human,
    Rule,
    Mode,
    Timeout,
    Policy,
    Agent,
}

stored_word!(DecidedBy {
    Human = "human",
    Rule = "rule",
    Mode = "mode",
    Timeout = "timeout",
    Policy = "policy",
    Agent = "agent",
});

/// Whether the agent got the decision. A decision is final without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Delivery {
    Pending,
    Sent,
    TooLate,
    Failed,
    /// There is nobody to deliver to.
    None,
}

stored_word!(Delivery {
    Pending = "pending",
    Sent = "sent",
    TooLate = "too_late",
    Failed = "failed",
    None = "none",
});
