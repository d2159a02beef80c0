//! Looks at a database before it is opened for writing. One that is not ours, is damaged or is from
//! a newer version is refused here, while nothing can change it yet.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::error::{Fault, OpenError, UnavailableReason};
use crate::lock::beside;
use crate::open::{BUSY_TIMEOUT, MIGRATOR};

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
        Ok((database, length(&beside(path, "-wal"))?, start))
    };
    let path = path.to_owned();
    match read() {
        Err(source) => Err(OpenError::Io { path, source }),
        Ok((0, 0, _)) => Ok(false),
        // SQLite would throw the log away.
        Ok((0, _, _)) => Err(OpenError::Corrupt {
            path,
            detail: "it is empty, but its write-ahead log is not".to_owned(),
        }),
        Ok((_, _, start)) if start == MAGIC => Ok(true),
        Ok(_) => Err(OpenError::NotSayso { path }),
    }
}

/// Reads the whole file once, without being able to change it.
pub(crate) async fn inspect(path: &Path) -> Result<(), OpenError> {
    let failed = |source: sqlx::Error| failure(path, source);
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .connect()
        .await
        .map_err(failed)?;
    let result = async {
        let finding: String = sqlx::query_scalar("PRAGMA quick_check(1)")
            .fetch_one(&mut connection)
            .await
            .map_err(failed)?;
        if finding != "ok" {
            return Err(OpenError::Corrupt {
                path: path.to_owned(),
                // It comes in lines, and belongs into a sentence.
                detail: finding.lines().collect::<Vec<_>>().join(" "),
            });
        }
        check_schema(&mut connection, path, failed).await.map(drop)
    }
    .await;
    connection.close().await.map_err(failed)?;
    result
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
