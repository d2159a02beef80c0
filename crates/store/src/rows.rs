//! The rows, one struct for each table.
//!
//! Words on which the store's own behaviour depends are enums (`words`). Words that only pass through (agent,
//! state, permission mode, request kind) stay text, so that a new one needs no change here.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Type};

use crate::text::Text;

pub use crate::ids::{ChannelId, DeviceId, MessageId, RequestId, RuleId, SessionId};
pub use crate::words::{DecidedBy, Delivery, Outcome, RequestStatus};

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
    #[sqlx(try_from = "String")]
    pub input: Text,
    pub input_digest: String,
    /// The agent's whole message, verbatim. `{}` if the request was over when it came to be written.
    #[sqlx(try_from = "String")]
    pub raw: Text,
    /// JSON with everything else that is shown. `{}` like `raw`.
    #[sqlx(try_from = "String")]
    pub detail: Text,
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
