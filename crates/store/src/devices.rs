//! Who may come in, and the password before risky actions.

use rusqlite::{Connection, params};
use sqlx::FromRow;

use crate::error::{ReadError, WriteError};
use crate::open::Store;
use crate::rows::{DeviceId, UnixMillis};
use crate::write::execute;

#[derive(Clone, PartialEq, FromRow)]
pub struct DeviceRow {
    pub id: DeviceId,
    pub kind: String,
    pub name: String,
    pub secret_hash: Vec<u8>,
    /// Words with spaces between them.
    pub scopes: String,
    pub created_at: UnixMillis,
    pub last_seen_at: UnixMillis,
    pub expires_at: Option<UnixMillis>,
    /// Where an extension comes from.
    pub origin: Option<String>,
}

/// Without the hash: it has no business in a log.
impl std::fmt::Debug for DeviceRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DeviceRow")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Oldest first.
    pub async fn devices(&self) -> Result<Vec<DeviceRow>, ReadError> {
        Ok(
            sqlx::query_as("SELECT * FROM devices ORDER BY created_at, id")
                .fetch_all(self.reader().await)
                .await?,
        )
    }

    /// The hash of the password, when there is one.
    pub async fn password(&self) -> Result<Option<String>, ReadError> {
        Ok(sqlx::query_scalar("SELECT hash FROM password")
            .fetch_optional(self.reader().await)
            .await?)
    }
}

pub(crate) fn put(connection: &Connection, row: &DeviceRow) -> Result<(), WriteError> {
    execute(
        connection,
        "INSERT INTO devices (id, kind, name, secret_hash, scopes, created_at, last_seen_at, \
             expires_at, origin) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, scopes = excluded.scopes, \
             last_seen_at = excluded.last_seen_at, expires_at = excluded.expires_at",
        params![
            row.id,
            &row.kind,
            &row.name,
            &row.secret_hash,
            &row.scopes,
            row.created_at,
            row.last_seen_at,
            row.expires_at,
            &row.origin
        ],
    )?;
    Ok(())
}

/// Only for a device that is still there: one that was revoked does not come back.
pub(crate) fn seen(
    connection: &Connection,
    id: DeviceId,
    at: UnixMillis,
    expires_at: Option<UnixMillis>,
) -> Result<(), WriteError> {
    execute(
        connection,
        "UPDATE devices SET last_seen_at = ?2, expires_at = ?3 WHERE id = ?1",
        params![id, at, expires_at],
    )?;
    Ok(())
}

pub(crate) fn remove(connection: &Connection, id: DeviceId) -> Result<(), WriteError> {
    execute(connection, "DELETE FROM devices WHERE id = ?1", params![id])?;
    Ok(())
}

pub(crate) fn set_password(connection: &Connection, hash: Option<&str>) -> Result<(), WriteError> {
    match hash {
        Some(hash) => execute(
            connection,
            "INSERT INTO password (only, hash) VALUES (1, ?1) \
             ON CONFLICT (only) DO UPDATE SET hash = excluded.hash",
            [hash],
        )?,
        None => execute(connection, "DELETE FROM password", [])?,
    };
    Ok(())
}
