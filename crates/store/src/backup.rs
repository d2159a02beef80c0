//! A copy of the database in one file, made while a server may be writing it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::error::OpenError;
use crate::inspect::{has_content, inspect, schema};
use crate::lock::{beside, private};
use crate::log::catch_up;
use crate::open::BUSY_TIMEOUT;

/// What to do with a file that is already where the backup should go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Keep,
    Replace,
}

/// Why there is no backup. Whatever was at its place still is.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("There is no database at {}.", .0.display())]
    NoDatabase(PathBuf),
    #[error("{} is there already.", .0.display())]
    Exists(PathBuf),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("The backup {} cannot be written: {}.", path.display(), words(reason))]
    Io { path: PathBuf, reason: io::Error },
    #[error("The backup cannot be made: {0}.")]
    Database(Box<dyn std::error::Error + Send + Sync>),
}

/// Without the number, which tells people nothing.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split_once(" (os error").map(|(words, _)| words);
    words.map(str::to_owned).unwrap_or(text)
}

/// Copies the database as it is at one moment. Decisions go on meanwhile. The copy is for its owner
/// alone, holds neither key nor checkpoints, and is checked before it gets its name. Gives its size.
pub async fn backup(
    database: &Path,
    target: &Path,
    existing: Existing,
) -> Result<u64, BackupError> {
    if !has_content(database)? {
        return Err(BackupError::NoDatabase(database.to_owned()));
    }
    if existing == Existing::Keep && target.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(target.to_owned()));
    }
    catch_up(database).await;
    let temporary = beside(target, &format!(".{}.part", std::process::id()));
    let result = copy(database, &temporary, target, existing).await;
    if result.is_err() {
        // It may never have been made.
        let _ = fs::remove_file(&temporary);
    }
    result
}

async fn copy(
    database: &Path,
    temporary: &Path,
    target: &Path,
    existing: Existing,
) -> Result<u64, BackupError> {
    let failed = |reason| BackupError::Io {
        path: target.to_owned(),
        reason,
    };
    // Before SQLite would make it readable to everyone.
    let mut options = OpenOptions::new();
    private(options.write(true).create_new(true))
        .open(temporary)
        .map_err(failed)?;
    let name = temporary
        .to_str()
        .ok_or_else(|| failed(io::Error::other("its name is not Unicode")))?;
    let database_failed = |error: sqlx::Error| BackupError::Database(error.into());
    let mut connection = SqliteConnectOptions::new()
        .filename(database)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
        .connect()
        .await
        .map_err(database_failed)?;
    schema(&mut connection, database).await?;
    let copied = sqlx::query("VACUUM INTO $1")
        .bind(name)
        .execute(&mut connection)
        .await;
    connection.close().await.map_err(database_failed)?;
    copied.map_err(database_failed)?;
    inspect(temporary, None).await?;
    let file = File::open(temporary).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    match existing {
        Existing::Replace => fs::rename(temporary, target).map_err(failed)?,
        // A link fails where a rename would replace what came there meanwhile.
        Existing::Keep => {
            fs::hard_link(temporary, target).map_err(failed)?;
            fs::remove_file(temporary).map_err(failed)?;
        }
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed)?;
    Ok(size)
}
