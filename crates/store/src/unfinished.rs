//! What a server reads of a session whose agent has outlived the one before.

use crate::audit::AuditKind;
use crate::columns::{decision_columns, request_columns, requests_of_sessions};
use crate::error::ReadError;
use crate::open::Store;
use crate::read::RequestWithDecision;
use crate::rows::{Delivery, Outcome, SessionId, UnixMillis};

impl Store {
    /// Which entries the lines from `first_line` on have led to, of the agent that started after entry
    /// `after_seq`.
    pub async fn entries_of_lines(
        &self,
        session_id: SessionId,
        after_seq: i64,
        first_line: i64,
    ) -> Result<Vec<(i64, i64)>, ReadError> {
        Ok(sqlx::query_as(
            "SELECT line, part FROM entries \
             WHERE session = (SELECT number FROM sessions WHERE id = $1) \
             AND seq > $2 AND line >= $3 AND part IS NOT NULL",
        )
        .bind(session_id)
        .bind(after_seq)
        .bind(first_line)
        .fetch_all(self.reader().await)
        .await?)
    }

    /// The agent's own ids of a session's requests, each with the tool use that it is about, in order. `since`
    /// is when the agent started: others before it may have used the same ids.
    pub async fn native_ids(
        &self,
        session_id: SessionId,
        since: UnixMillis,
    ) -> Result<Vec<(String, Option<String>)>, ReadError> {
        Ok(sqlx::query_as(
            "SELECT native_id, tool_use_id FROM requests \
             WHERE session = (SELECT number FROM sessions WHERE id = $1) \
             AND created_at >= $2 ORDER BY ordinal",
        )
        .bind(session_id)
        .bind(since)
        .fetch_all(self.reader().await)
        .await?)
    }

    /// Requests of an agent for tools that it may use, as it was told or is being told, and of which the history
    /// does not say yet what became of them. `since` is when the agent started.
    pub async fn tools_under_way(
        &self,
        session_id: SessionId,
        since: UnixMillis,
    ) -> Result<Vec<RequestWithDecision>, ReadError> {
        Ok(sqlx::query_as(concat!(
            "SELECT ",
            request_columns!(),
            ", ",
            decision_columns!(),
            " FROM ",
            requests_of_sessions!(),
            " WHERE sessions.id = $1 AND requests.created_at >= $2 \
             AND tool_use_id IS NOT NULL AND outcome = $3 AND delivery IN ($4, $5) \
             AND requests.id NOT IN (SELECT unhex(request_id, '-') FROM audit \
                 WHERE session_id = $1 AND kind = $6 AND request_id IS NOT NULL) \
             ORDER BY ordinal",
        ))
        .bind(session_id)
        .bind(since)
        .bind(Outcome::Allowed)
        .bind(Delivery::Sent)
        .bind(Delivery::Pending)
        .bind(AuditKind::Outcome.as_str())
        .fetch_all(self.reader().await)
        .await?)
    }

    /// A session's requests that are not over: open, or decided and perhaps not delivered.
    pub async fn unfinished_requests(
        &self,
        session_id: SessionId,
    ) -> Result<Vec<RequestWithDecision>, ReadError> {
        // In the words of the index that holds them.
        Ok(sqlx::query_as(concat!(
            "SELECT ",
            request_columns!(),
            ", ",
            decision_columns!(),
            " FROM ",
            requests_of_sessions!(),
            " WHERE sessions.id = $1 AND (status = 'open' OR delivery = 'pending') \
             ORDER BY ordinal",
        ))
        .bind(session_id)
        .fetch_all(self.reader().await)
        .await?)
    }
}
