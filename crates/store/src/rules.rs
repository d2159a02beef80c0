//! Decisions that a human wants remembered.

use sqlx::{FromRow, SqliteConnection};

use crate::error::{ReadError, WriteError};
use crate::open::Store;
use crate::rows::{RuleId, SessionId, UnixMillis};

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
                .fetch_all(self.reader())
                .await?,
        )
    }
}

pub(crate) async fn put(
    connection: &mut SqliteConnection,
    row: &RuleRow,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO rules (id, rule, effect, session_id, project, uses_left, expires_at, reason, \
             matches, matches_not, enabled, created_at, client_label, hits, last_hit_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
         ON CONFLICT (id) DO UPDATE SET rule = excluded.rule, effect = excluded.effect, \
             session_id = excluded.session_id, project = excluded.project, \
             uses_left = excluded.uses_left, expires_at = excluded.expires_at, \
             reason = excluded.reason, matches = excluded.matches, \
             matches_not = excluded.matches_not, enabled = excluded.enabled, \
             hits = excluded.hits, last_hit_at = excluded.last_hit_at",
    )
    .bind(row.id)
    .bind(&row.rule)
    .bind(&row.effect)
    .bind(row.session_id)
    .bind(&row.project)
    .bind(row.uses_left)
    .bind(row.expires_at)
    .bind(&row.reason)
    .bind(&row.matches)
    .bind(&row.matches_not)
    .bind(row.enabled)
    .bind(row.created_at)
    .bind(&row.client_label)
    .bind(row.hits)
    .bind(row.last_hit_at)
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn remove(
    connection: &mut SqliteConnection,
    id: RuleId,
) -> Result<(), WriteError> {
    sqlx::query("DELETE FROM rules WHERE id = $1")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(())
}
