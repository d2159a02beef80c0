//! What a killed server left in its log goes to the database before anybody looks into it.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use tokio::task::spawn_blocking;

use super::SUFFIXES;
use super::file::{Log, records};
use super::record::{NoRecord, Record};
use crate::audit::{HistoryId, Tail};
use crate::connection::{NotWritten, WriteConnection};
use crate::error::{OpenError, WriteError};
use crate::gather::FOLLOW_AFTER;
use crate::lock::{DatabaseLock, beside};
use crate::merge::Merged;
use crate::open::{Durability, Store};
use crate::write::{all_or_nothing, apply_whole, execute, salvage};

/// How far the database has followed the log.
fn applied(connection: &Connection) -> rusqlite::Result<u64> {
    let seq: Option<i64> = connection
        .prepare_cached("SELECT seq FROM log_applied")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(seq.and_then(|seq| u64::try_from(seq).ok()).unwrap_or(0))
}

pub(crate) fn set_applied(connection: &Connection, seq: u64) -> rusqlite::Result<()> {
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    execute(connection, "UPDATE log_applied SET seq = ?1", [seq])?;
    Ok(())
}

/// Writes all that stands in the log and not in the database, in one step, and begins a new log.
pub(crate) fn take_over(
    database: &Path,
    connection: &WriteConnection,
    history: HistoryId,
) -> Result<Log, OpenError> {
    let failed = |error: NotWritten| OpenError::Database {
        path: database.to_owned(),
        source: error.into_error().into(),
    };
    let applied = connection
        .transact(Durability::Process, |connection| Ok(applied(connection)?))
        .map_err(failed)?;
    let left = left(database, applied)?;
    let last = left.last().map_or(applied, |record| record.seq);
    if last > applied {
        let mut tail = Tail {
            history,
            head: None,
        };
        connection
            .transact(Durability::Disk, |connection| {
                replay(connection, &mut tail, &left)?;
                Ok(set_applied(connection, last)?)
            })
            .map_err(failed)?;
    }
    Log::begin(database, last + 1).map_err(|source| OpenError::Io {
        path: beside(database, SUFFIXES[0]),
        source,
    })
}

/// As the writer would have done it: together where that is possible.
fn replay(connection: &Connection, tail: &mut Tail, records: &[Record]) -> Result<(), WriteError> {
    let jobs = || records.iter().filter_map(|record| record.writes.as_deref());
    if let Some(merged) = Merged::of(jobs().flatten()) {
        match all_or_nothing(connection, tail, |tail| merged.apply(connection, tail)) {
            Ok(()) => return Ok(()),
            Err(error @ WriteError::Unavailable { .. }) => return Err(error),
            Err(error) => tracing::debug!(%error, "what is left in the log is written one by one"),
        }
    }
    for writes in jobs() {
        match apply_whole(connection, tail, writes) {
            Ok(()) => {}
            Err(error @ WriteError::Unavailable { .. }) => return Err(error),
            Err(error) => salvage(connection, tail, writes, &error)?,
        }
    }
    Ok(())
}

/// The records that the database has not followed, in their order.
fn left(database: &Path, applied: u64) -> Result<Vec<Record>, OpenError> {
    let mut found = Vec::new();
    for suffix in SUFFIXES {
        let path = beside(database, suffix);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(OpenError::Io { path, source }),
        };
        match records(&bytes) {
            Ok(records) => found.extend(records.into_iter().filter(|record| record.seq > applied)),
            Err(NoRecord::Unreadable { seq, why }) => {
                let detail = format!("record {seq}: {why}");
                return Err(OpenError::LogUnreadable { path, detail });
            }
            Err(NoRecord::End) => {}
        }
    }
    found.sort_by_key(|record| record.seq);
    if let Some(first) = found.first()
        && first.seq > applied + 1
    {
        return Err(OpenError::LogAhead {
            path: beside(database, SUFFIXES[0]),
        });
    }
    // Behind a gap stands what was never on the disk as a whole: the machine lost power, and nobody was told of it.
    let whole = (applied + 1..)
        .zip(&found)
        .take_while(|(seq, record)| record.seq == *seq)
        .count();
    found.truncate(whole);
    Ok(found)
}

/// For whoever reads a database without being its server: what a killed one left is brought in first. Where a server
/// runs it does so itself, and where nothing may be written what is in the database has to do.
pub(crate) async fn catch_up(database: &Path) {
    let has_log = SUFFIXES
        .iter()
        .any(|suffix| fs::metadata(beside(database, suffix)).is_ok_and(|file| file.len() > 0));
    if !has_log {
        return;
    }
    let brought_in = match DatabaseLock::take(database) {
        Ok(free) => {
            drop(free);
            let path = database.to_owned();
            let handle = tokio::runtime::Handle::current();
            // Opening waits for the disk in places, and is not made to be waited for from everywhere.
            let opened = spawn_blocking(move || handle.block_on(Store::open(path))).await;
            opened.unwrap_or_else(|error| {
                Err(OpenError::Io {
                    path: database.to_owned(),
                    source: error.into(),
                })
            })
        }
        Err(error) => Err(error),
    };
    match brought_in {
        Ok(store) => store.close().await,
        Err(OpenError::InUse { .. }) => tokio::time::sleep(2 * FOLLOW_AFTER).await,
        Err(error) => tracing::warn!(%error, "what the last server left was not brought in"),
    }
}
