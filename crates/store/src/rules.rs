//! Decisions that a human wants remembered.

use rusqlite::{Connection, params};
use sqlx::FromRow;

use crate::error::{ReadError, WriteError};
use crate::open::Store;
use crate::rows::{RuleId, SessionId, UnixMillis};
use crate::write::execute;

/// Everywhere, unless it names a session or a project.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct RuleRow {
    pub id: RuleId,
    pub rule: String,
    pub effect: String,
    pub session_id: Option<SessionId>,
    pub project: Option<String>,
    pub uses_left: Option<i64>,
    pub expires_at: Option<UnixMillis>,
    pub reason: Option<String>,
    /// JSON lists of texts.
    pub matches: String,
    pub matches_not: String,
    pub enabled: bool,
    pub created_at: UnixMillis,
    pub client_label: String,
    pub hits: i64,
    pub last_hit_at: Option<UnixMillis>,
}

impl Store {
    /// Oldest first.
    pub async fn rules(&self) -> Result<Vec<RuleRow>, ReadError> {
        Ok(
            sqlx::query_as("SELECT * FROM rules ORDER BY created_at, id")
                .fetch_all(self.reader().await)
                .await?,
        )
    }
}

pub(crate) fn put(connection: &Connection, row: &RuleRow) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO rules (id, rule, effect, session_id, project, uses_left, expires_at, reason, \
             matches, matches_not, enabled, created_at, client_label, hits, last_hit_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
         ON CONFLICT (id) DO UPDATE SET rule = excluded.rule, effect = excluded.effect, \
             session_id = excluded.session_id, project = excluded.project, \
             uses_left = excluded.uses_left, expires_at = excluded.expires_at, \
             reason = excluded.reason, matches = excluded.matches, \
             matches_not = excluded.matches_not, enabled = excluded.enabled, \
             hits = excluded.hits, last_hit_at = excluded.last_hit_at",
        params![
            row.id,
            &row.rule,
            &row.effect,
            row.session_id,
            &row.project,
            row.uses_left,
            row.expires_at,
            &row.reason,
            &row.matches,
            &row.matches_not,
            row.enabled,
            row.created_at,
            &row.client_label,
            row.hits,
            row.last_hit_at
        ],
    )?;
    Ok(())
}

pub(crate) fn count_use(
    connection: &Connection,
    id: RuleId,
    at: UnixMillis,
) -> Result<(), WriteError> {
    execute(
        connection,
        "UPDATE rules SET hits = hits + 1, last_hit_at = ?2, uses_left = max(uses_left - 1, 0) \
         WHERE id = ?1",
        params![id, at],
    )?;
    Ok(())
}

pub(crate) fn remove(connection: &Connection, id: RuleId) -> Result<(), WriteError> {
    execute(connection, "DELETE FROM rules WHERE id = ?1", params![id])?;
    Ok(())
}
