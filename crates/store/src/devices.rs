//! Who may come in, and the password before risky actions.

use sqlx::{FromRow, SqliteConnection};

use crate::error::{ReadError, WriteError};
use crate::open::Store;
use crate::rows::{DeviceId, UnixMillis};

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
                .fetch_all(self.reader())
                .await?,
        )
    }

    /// The hash of the password, when there is one.
    pub async fn password(&self) -> Result<Option<String>, ReadError> {
        Ok(sqlx::query_scalar("SELECT hash FROM password")
            .fetch_optional(self.reader())
            .await?)
    }
}

pub(crate) async fn put(
    connection: &mut SqliteConnection,
    row: &DeviceRow,
) -> Result<(), WriteError> {
    sqlx::query(
        "INSERT INTO devices (id, kind, name, secret_hash, scopes, created_at, last_seen_at, \
             expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, scopes = excluded.scopes, \
             last_seen_at = excluded.last_seen_at, expires_at = excluded.expires_at",
    )
    .bind(row.id)
    .bind(&row.kind)
    .bind(&row.name)
    .bind(&row.secret_hash)
    .bind(&row.scopes)
    .bind(row.created_at)
    .bind(row.last_seen_at)
    .bind(row.expires_at)
    .execute(connection)
    .await?;
    Ok(())
}

/// Only for a device that is still there: one that was revoked does not come back.
pub(crate) async fn seen(
    connection: &mut SqliteConnection,
    id: DeviceId,
    at: UnixMillis,
    expires_at: Option<UnixMillis>,
) -> Result<(), WriteError> {
    sqlx::query("UPDATE devices SET last_seen_at = $2, expires_at = $3 WHERE id = $1")
        .bind(id)
        .bind(at)
        .bind(expires_at)
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn remove(
    connection: &mut SqliteConnection,
    id: DeviceId,
) -> Result<(), WriteError> {
    sqlx::query("DELETE FROM devices WHERE id = $1")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn set_password(
    connection: &mut SqliteConnection,
    hash: Option<&str>,
) -> Result<(), WriteError> {
    let query = match hash {
        Some(hash) => sqlx::query(
            "INSERT INTO password (only, hash) VALUES (1, $1) \
             ON CONFLICT (only) DO UPDATE SET hash = excluded.hash",
        )
        .bind(hash),
        None => sqlx::query("DELETE FROM password"),
    };
    query.execute(connection).await?;
    Ok(())
}
