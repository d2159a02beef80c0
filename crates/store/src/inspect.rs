//! Looks at a database before it is opened for writing. One that is not ours, is damaged or is from
//! a newer version is refused here, while nothing can change it yet.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection as _, SqliteConnection};

use crate::error::{Fault, OpenError, UnavailableReason};
use crate::lock::beside;
use crate::log;
use crate::open::{BUSY_TIMEOUT, MIGRATOR};

/// How many steps of SQLite's go by between two looks at the clock.
const PROGRESS: i32 = 1000;

/// Whether there is a database to look at. An empty file is what a server leaves that was killed
/// at its very first start.
pub(crate) fn has_content(path: &Path) -> Result<bool, OpenError> {
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let length = |path: &Path| match path.metadata() {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    };
    let read = || -> io::Result<(u64, u64, Vec<u8>)> {
        let mut start = Vec::new();
        let database = length(path)?;
        if database > 0 {
            File::open(path)?.take(16).read_to_end(&mut start)?;
        }
        let mut logs = length(&beside(path, "-wal"))?;
        for suffix in log::SUFFIXES {
            logs += length(&beside(path, suffix))?;
        }
        Ok((database, logs, start))
    };
    let path = path.to_owned();
    match read() {
        Err(source) => Err(OpenError::Io { path, source }),
        Ok((0, 0, _)) => Ok(false),
        // SQLite would throw its log away, and ours would begin a history in the middle.
        Ok((0, _, _)) => Err(OpenError::Corrupt {
            path,
            detail: "it is empty, but its log is not".to_owned(),
        }),
        Ok((_, _, start)) if start == MAGIC => Ok(true),
        Ok(_) => Err(OpenError::NotSayso { path }),
    }
}

/// How much of a database was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looked {
    AtAll,
    /// The time was over. Nothing was found so far.
    AtSome,
}

/// Whether this is a database of ours and whole, as far as can be told in the time that is given.
pub(crate) async fn inspect(path: &Path, time: Option<Duration>) -> Result<Looked, OpenError> {
    let failed = |source: sqlx::Error| failure(path, source);
    let looked = check_pages(path, time).await?;
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .connect()
        .await
        .map_err(failed)?;
    let result = check_schema(&mut connection, path, failed).await;
    connection.close().await.map_err(failed)?;
    result.map(|_| looked)
}

/// Reads every page, without being able to change it.
async fn check_pages(path: &Path, time: Option<Duration>) -> Result<Looked, OpenError> {
    let file = path.to_owned();
    let check = move || -> rusqlite::Result<String> {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        if let Some(time) = time {
            let until = Instant::now() + time;
            connection.progress_handler(PROGRESS, Some(move || Instant::now() > until))?;
        }
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
    };
    let checked = tokio::task::spawn_blocking(check).await;
    let failed = |source| OpenError::Database {
        path: path.to_owned(),
        source,
    };
    let corrupt = |detail: &str| OpenError::Corrupt {
        path: path.to_owned(),
        // It comes in lines, and belongs into a sentence.
        detail: detail.lines().collect::<Vec<_>>().join(" "),
    };
    match checked.map_err(|error| failed(error.into()))? {
        Ok(finding) if finding == "ok" => Ok(Looked::AtAll),
        Ok(finding) => Err(corrupt(&finding)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            Ok(Looked::AtSome)
        }
        Err(error) => match Fault::of_driver(&error) {
            Fault::Unavailable(UnavailableReason::Corrupt) => Err(corrupt(&error.to_string())),
            Fault::Unavailable(_) | Fault::ForeignKey | Fault::Statement => {
                Err(failed(error.into()))
            }
        },
    }
}

/// The schema of a database that is ours and not newer than this program; 0 for an empty one.
pub(crate) async fn schema(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<i64, OpenError> {
    check_schema(connection, path, |source| failure(path, source)).await
}

fn failure(path: &Path, source: sqlx::Error) -> OpenError {
    let path = path.to_owned();
    match Fault::of(&source) {
        Fault::Unavailable(UnavailableReason::Corrupt) => OpenError::Corrupt {
            path,
            detail: source.to_string(),
        },
        Fault::Unavailable(_) | Fault::ForeignKey | Fault::Statement => OpenError::Database {
            path,
            source: source.into(),
        },
    }
}

async fn check_schema(
    connection: &mut SqliteConnection,
    path: &Path,
    failed: impl Fn(sqlx::Error) -> OpenError,
) -> Result<i64, OpenError> {
    let not_sayso = || OpenError::NotSayso {
        path: path.to_owned(),
    };
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table'")
            .fetch_all(&mut *connection)
            .await
            .map_err(&failed)?;
    if tables.is_empty() {
        return Ok(0);
    }
    if !tables.iter().any(|table| table == "_sqlx_migrations") {
        return Err(not_sayso());
    }
    let applied: Vec<(i64, Vec<u8>)> =
        sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations ORDER BY version DESC")
            .fetch_all(&mut *connection)
            .await
            .map_err(&failed)?;
    let known = MIGRATOR.iter().map(|step| step.version).max().unwrap_or(0);
    if let Some(&(found, _)) = applied.first()
        && found > known
    {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known,
        });
    }
    let ours = |(version, checksum): &(i64, Vec<u8>)| {
        MIGRATOR
            .iter()
            .any(|step| step.version == *version && *step.checksum == **checksum)
    };
    if applied.iter().all(ours) {
        Ok(applied.first().map_or(0, |(version, _)| *version))
    } else {
        Err(not_sayso())
    }
}
