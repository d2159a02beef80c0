//! Appending: in the transaction of what an entry records.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension};
use sqlx::SqliteConnection;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::chain::{Hash, Head, HistoryId};
use super::record::AuditRecord;
use crate::connection::WriteConnection;
use crate::error::WriteError;
use crate::inputs::Inputs;
use crate::insert::Table;
use crate::open::Durability;
use crate::rows::UnixMillis;
use crate::write::execute;

/// The end of the chain within one transaction. The store keeps it from one commit to the next, so
/// that no append has to look for it; after anything that failed it is looked up again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) history: HistoryId,
    pub(crate) head: Option<Head>,
}

static AUDIT: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        "audit",
        &[
            "seq",
            "at",
            "kind",
            "session_id",
            "request_id",
            "project",
            "tool_name",
            "outcome",
            "actor_kind",
            "actor_label",
            "previous",
            "hash",
            "text",
            "body",
        ],
    )
});

pub(crate) fn append(
    connection: &Connection,
    tail: &mut Tail,
    record: &AuditRecord,
) -> Result<(), WriteError> {
    let mut inputs = Inputs::new(connection);
    append_all(connection, tail, &mut inputs, &[record])?;
    Ok(inputs.keep()?)
}

/// In their order, each behind the one before.
pub(crate) fn append_all(
    connection: &Connection,
    tail: &mut Tail,
    inputs: &mut Inputs<'_>,
    records: &[&AuditRecord],
) -> Result<(), WriteError> {
    let mut head = match tail.head {
        Some(head) => head,
        None => head_in(connection, tail.history)?,
    };
    AUDIT.insert(connection, records, |values, record| {
        let (mut session, mut request) = ([0; Hyphenated::LENGTH], [0; Hyphenated::LENGTH]);
        let session = record.session_id.map(|id| text(id.0, &mut session));
        let request = record.request_id.map(|id| text(id.0, &mut request));
        let previous = head.hash;
        let body = inputs.record(record)?;
        head = Head {
            seq: head.seq + 1,
            hash: record.hash(head.seq + 1, &previous, session, request, &body),
            at: record.at,
        };
        values.put(head.seq)?;
        values.put(record.at)?;
        values.put(record.kind.as_str())?;
        values.put(session)?;
        values.put(request)?;
        values.put(&record.project)?;
        values.put(&record.tool_name)?;
        values.put(&record.outcome)?;
        values.put(record.actor_kind.as_str())?;
        values.put(&record.actor_label)?;
        values.put(&previous.0[..])?;
        values.put(&head.hash.0[..])?;
        values.put(&record.text)?;
        values.put(body)
    })?;
    tail.head = Some(head);
    Ok(())
}

fn text(id: Uuid, buffer: &mut [u8; Hyphenated::LENGTH]) -> &str {
    id.hyphenated().encode_lower(buffer)
}

/// Where the history ends, as it is stored.
pub(crate) async fn head_of(
    connection: &mut SqliteConnection,
    history: HistoryId,
) -> Result<Head, sqlx::Error> {
    let last = sqlx::query_as(NEWEST).fetch_optional(connection).await?;
    Ok(head(last, history))
}

/// The same through the connection that writes.
pub(crate) fn head_in(connection: &Connection, history: HistoryId) -> rusqlite::Result<Head> {
    let last = connection
        .prepare_cached(NEWEST)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(head(last, history))
}

const NEWEST: &str = "SELECT seq, at, hash FROM audit ORDER BY seq DESC LIMIT 1";

fn head(last: Option<(i64, UnixMillis, Vec<u8>)>, history: HistoryId) -> Head {
    match last {
        // A hash that is none was not written by us. The chain goes on behind it, and the check
        // names the entry.
        Some((seq, at, hash)) => Head {
            seq,
            hash: Hash::from_slice(&hash).unwrap_or(Hash([0; 32])),
            at,
        },
        None => Head::of_nothing(history),
    }
}

/// The number of the last checkpoint that the database was told of, 0 before the first.
pub(crate) async fn known_ordinal(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let known: Option<i64> = sqlx::query_scalar("SELECT ordinal FROM audit_signed")
        .fetch_optional(connection)
        .await?;
    Ok(known.unwrap_or(0))
}

/// Written only after the checkpoint is on the disk, so that the file is never behind.
pub(crate) async fn remember_signed(
    connection: &WriteConnection,
    ordinal: i64,
) -> Result<(), WriteError> {
    connection
        .transact_aside(Durability::Process, move |connection| {
            execute(
                connection,
                "INSERT INTO audit_signed (only, ordinal) VALUES (1, ?1) \
                 ON CONFLICT (only) DO UPDATE SET ordinal = excluded.ordinal \
                     WHERE excluded.ordinal > audit_signed.ordinal",
                [ordinal],
            )?;
            Ok(())
        })
        .await
}
