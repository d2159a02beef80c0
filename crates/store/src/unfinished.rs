//! What a server reads of a session whose agent has outlived the one before.

use crate::audit::AuditKind;
use crate::error::ReadError;
use crate::open::Store;
use crate::read::RequestWithDecision;
use crate::rows::{Delivery, Outcome, RequestStatus, SessionId, UnixMillis};

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
             WHERE session_id = $1 AND seq > $2 AND line >= $3 AND part IS NOT NULL",
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
             WHERE session_id = $1 AND created_at >= $2 ORDER BY ordinal",
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
        Ok(sqlx::query_as(
            "SELECT requests.*, decisions.* FROM requests \
             JOIN decisions ON decisions.request_id = requests.id \
             WHERE requests.session_id = $1 AND requests.created_at >= $2 \
             AND requests.tool_use_id IS NOT NULL \
             AND decisions.outcome = $3 AND decisions.delivery IN ($4, $5) \
             AND requests.id NOT IN (SELECT request_id FROM audit \
                 WHERE session_id = $1 AND kind = $6 AND request_id IS NOT NULL) \
             ORDER BY requests.ordinal",
        )
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
        Ok(sqlx::query_as(
            "SELECT requests.*, decisions.* FROM requests \
             LEFT JOIN decisions ON decisions.request_id = requests.id \
             WHERE requests.session_id = $1 AND (requests.status = $2 OR decisions.delivery = $3) \
             ORDER BY requests.ordinal",
        )
        .bind(session_id)
        .bind(RequestStatus::Open)
        .bind(Delivery::Pending)
        .fetch_all(self.reader().await)
        .await?)
    }
}
