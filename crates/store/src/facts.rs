//! What is remembered beside sessions: trusted folders, and what agents said of themselves.

use rusqlite::{Connection, params};
use sqlx::FromRow;

use crate::error::{ReadError, WriteError};
use crate::open::Store;
use crate::rows::UnixMillis;
use crate::write::execute;

/// A folder whose own settings the human accepted.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct TrustedFolderRow {
    pub path: String,
    /// Of the settings as they were shown. Others are not trusted.
    pub digest: String,
    pub trusted_at: UnixMillis,
    pub client_label: String,
}

/// What an agent said of itself when it last ran.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct AgentFactsRow {
    pub agent: String,
    /// JSON.
    pub models: String,
}

impl Store {
    pub async fn trusted_folder(&self, path: &str) -> Result<Option<TrustedFolderRow>, ReadError> {
        Ok(
            sqlx::query_as("SELECT * FROM trusted_folders WHERE path = $1")
                .bind(path)
                .fetch_optional(self.reader().await)
                .await?,
        )
    }

    pub async fn agent_facts(&self) -> Result<Vec<AgentFactsRow>, ReadError> {
        Ok(sqlx::query_as("SELECT * FROM agent_facts ORDER BY agent")
            .fetch_all(self.reader().await)
            .await?)
    }
}

pub(crate) fn trust_folder(
    connection: &Connection,
    row: &TrustedFolderRow,
) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO trusted_folders (path, digest, trusted_at, client_label) \
         VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, \
             trusted_at = excluded.trusted_at, client_label = excluded.client_label",
        params![&row.path, &row.digest, row.trusted_at, &row.client_label],
    )?;
    Ok(())
}

pub(crate) fn put_agent_facts(
    connection: &Connection,
    row: &AgentFactsRow,
) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO agent_facts (agent, models) VALUES (?1, ?2) \
         ON CONFLICT (agent) DO UPDATE SET models = excluded.models",
        params![&row.agent, &row.models],
    )?;
    Ok(())
}
