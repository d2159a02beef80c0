//! Messages that wait for an agent.

use rusqlite::{Connection, params};
use sqlx::FromRow;

use crate::error::{ReadError, WriteError};
use crate::open::Store;
use crate::rows::{MessageId, SessionId, UnixMillis};
use crate::write::{execute, needs_session};

/// A message of the human that the agent has not read yet.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct QueuedRow {
    pub message_id: MessageId,
    pub session_id: SessionId,
    pub at: UnixMillis,
    /// JSON.
    pub content: String,
}

impl Store {
    /// Of all sessions, in the order in which they were written.
    pub async fn queued_messages(&self) -> Result<Vec<QueuedRow>, ReadError> {
        Ok(
            sqlx::query_as("SELECT * FROM queued_messages ORDER BY ordinal")
                .fetch_all(self.reader().await)
                .await?,
        )
    }

    /// The body of the transcript's entry that holds a message, if there is one.
    pub async fn entry_of_message(
        &self,
        session_id: SessionId,
        message_id: MessageId,
    ) -> Result<Option<String>, ReadError> {
        // A message is no input, so it is whole where it stands.
        Ok(sqlx::query_scalar(
            "SELECT body FROM entries \
             WHERE typeof(body) = 'text' AND session = (SELECT number FROM sessions WHERE id = $1) AND instr(body, $2) > 0 \
             ORDER BY seq DESC LIMIT 1",
        )
        .bind(session_id)
        .bind(format!("\"message_id\":\"{message_id}\""))
        .fetch_optional(self.reader().await)
        .await?)
    }
}

pub(crate) fn put(connection: &Connection, row: &QueuedRow) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO queued_messages (message_id, session_id, at, content) \
         VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (message_id) DO UPDATE SET content = excluded.content",
        params![row.message_id, row.session_id, row.at, &row.content],
    )
    .map_err(|error| needs_session(error, row.session_id))?;
    Ok(())
}

/// One that is gone already is no fault: the agent may have read it meanwhile.
pub(crate) fn remove(connection: &Connection, id: MessageId) -> Result<(), WriteError> {
    execute(
        connection,
        "DELETE FROM queued_messages WHERE message_id = ?1",
        params![id],
    )?;
    Ok(())
}
