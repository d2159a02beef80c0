//! Where notifications go.

use rusqlite::{Connection, params};
use sqlx::FromRow;

use crate::error::{ReadError, WriteError};
use crate::open::Store;
use crate::rows::{ChannelId, DeviceId, UnixMillis};
use crate::write::execute;

#[derive(Clone, PartialEq, FromRow)]
pub struct ChannelRow {
    pub id: ChannelId,
    pub kind: String,
    /// Of a push subscription; it goes with its device.
    pub device_id: Option<DeviceId>,
    pub name: String,
    /// JSON, with secrets.
    pub target: String,
    /// JSON.
    pub settings: String,
    pub created_at: UnixMillis,
    /// JSON.
    pub last_result: Option<String>,
}

/// Without the target: its secrets have no business in a log.
impl std::fmt::Debug for ChannelRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ChannelRow")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Oldest first.
    pub async fn channels(&self) -> Result<Vec<ChannelRow>, ReadError> {
        Ok(
            sqlx::query_as("SELECT * FROM notification_channels ORDER BY created_at, id")
                .fetch_all(self.reader().await)
                .await?,
        )
    }
}

/// The last result stays as it is: it is told by itself.
pub(crate) fn put(connection: &Connection, row: &ChannelRow) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO notification_channels (id, kind, device_id, name, target, settings, \
             created_at, last_result) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, target = excluded.target, \
             settings = excluded.settings",
        params![
            row.id,
            &row.kind,
            row.device_id,
            &row.name,
            &row.target,
            &row.settings,
            row.created_at,
            &row.last_result
        ],
    )?;
    Ok(())
}

/// Of a channel that is gone nothing is kept.
pub(crate) fn set_result(
    connection: &Connection,
    id: ChannelId,
    result: &str,
) -> Result<(), WriteError> {
    execute(
        connection,
        "UPDATE notification_channels SET last_result = ?2 WHERE id = ?1",
        params![id, result],
    )?;
    Ok(())
}

pub(crate) fn remove(connection: &Connection, id: ChannelId) -> Result<(), WriteError> {
    execute(
        connection,
        "DELETE FROM notification_channels WHERE id = ?1",
        params![id],
    )?;
    Ok(())
}
