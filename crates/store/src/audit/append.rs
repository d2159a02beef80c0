//! Appending: one statement for each entry, in the transaction of what it records.

use sqlx::{SqliteConnection, SqlitePool};

use super::chain::{Hash, Head, HistoryId};
use super::record::AuditRecord;
use crate::error::WriteError;
use crate::rows::UnixMillis;

/// The end of the chain within one transaction. The store keeps it from one commit to the next, so
/// that no append has to look for it; after anything that failed it is looked up again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) history: HistoryId,
    pub(crate) head: Option<Head>,
}

pub(crate) async fn append(
    connection: &mut SqliteConnection,
    tail: &mut Tail,
    record: &AuditRecord,
) -> Result<(), WriteError> {
    let head = match tail.head {
        Some(head) => head,
        None => head_of(connection, tail.history).await?,
    };
    let seq = head.seq + 1;
    let session_id = record.session_id.map(|id| id.to_string());
    let request_id = record.request_id.map(|id| id.to_string());
    let hash = record.hash(
        seq,
        &head.hash,
        session_id.as_deref(),
        request_id.as_deref(),
    );
    sqlx::query(
        "INSERT INTO audit (seq, at, kind, session_id, request_id, project, tool_name, outcome, \
             actor_kind, actor_label, previous, hash, text, body) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    )
    .bind(seq)
    .bind(record.at)
    .bind(record.kind.as_str())
    .bind(session_id)
    .bind(request_id)
    .bind(&record.project)
    .bind(&record.tool_name)
    .bind(&record.outcome)
    .bind(record.actor_kind.as_str())
    .bind(&record.actor_label)
    .bind(&head.hash.0[..])
    .bind(&hash.0[..])
    .bind(&record.text)
    .bind(&record.body)
    .execute(connection)
    .await?;
    let at = record.at;
    tail.head = Some(Head { seq, hash, at });
    Ok(())
}

/// Where the history ends, as it is stored.
pub(crate) async fn head_of(
    connection: &mut SqliteConnection,
    history: HistoryId,
) -> Result<Head, sqlx::Error> {
    let last: Option<(i64, UnixMillis, Vec<u8>)> =
        sqlx::query_as("SELECT seq, at, hash FROM audit ORDER BY seq DESC LIMIT 1")
            .fetch_optional(connection)
            .await?;
    Ok(match last {
        // A hash that is none was not written by us. The chain goes on behind it, and the check
        // names the entry.
        Some((seq, at, hash)) => Head {
            seq,
            hash: Hash::from_slice(&hash).unwrap_or(Hash([0; 32])),
            at,
        },
        None => Head::of_nothing(history),
    })
}

/// The number of the last checkpoint that the database was told of, 0 before the first.
pub(crate) async fn known_ordinal(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let known: Option<i64> = sqlx::query_scalar("SELECT ordinal FROM audit_signed")
        .fetch_optional(connection)
        .await?;
    Ok(known.unwrap_or(0))
}

/// Written only after the checkpoint is on the disk, so that the file is never behind.
pub(crate) async fn remember_signed(pool: &SqlitePool, ordinal: i64) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO audit_signed (only, ordinal) VALUES (1, $1) \
         ON CONFLICT (only) DO UPDATE SET ordinal = excluded.ordinal \
             WHERE excluded.ordinal > audit_signed.ordinal",
    )
    .bind(ordinal)
    .execute(pool)
    .await?;
    Ok(())
}
