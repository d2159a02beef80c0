//! Looking at a history from outside, read-only, also while a server writes it.

use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow};
use sqlx::{FromRow, Row, TypeInfo, ValueRef};

use super::append::known_ordinal;
use super::checkpoint_file::CheckpointFile;
use super::finding::Finding;
use super::key::{AuditKey, KeyError};
use super::record::AuditRow;
use super::verify::{Verified, Verifier};
use crate::error::{OpenError, ReadError};
use crate::inputs::DIGEST;
use crate::inspect::{has_content, schema};
use crate::log::catch_up;
use crate::open::BUSY_TIMEOUT;
use crate::sha256::sha256;

/// The first schema that has a history.
const FIRST_SCHEMA: i64 = 5;
/// The first that keeps large inputs apart.
const FIRST_WITH_INPUTS: i64 = 13;
/// How often a check begins again because the server signed something meanwhile.
const ATTEMPTS: u32 = 3;

/// Why nothing can be said about a history.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("There is no database at {}.", .0.display())]
    NoDatabase(PathBuf),
    #[error(
        "{} was written by an older Sayso (schema {found}), which kept no history; start this one once to bring it up to date",
        path.display()
    )]
    Older { path: PathBuf, found: i64 },
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("The checkpoints cannot be read: {0}.")]
    Checkpoints(std::io::Error),
}

/// The history in a data folder. It writes nothing but what a killed server left in its log.
#[derive(Debug, Clone)]
pub struct AuditReader {
    pool: SqlitePool,
    folder: PathBuf,
    schema: i64,
}

impl AuditReader {
    /// Opens the history in the database at `path`.
    pub async fn open(path: &Path) -> Result<Self, CheckError> {
        if !has_content(path)? {
            return Err(CheckError::NoDatabase(path.to_owned()));
        }
        catch_up(path).await;
        let failed = |source: sqlx::Error| OpenError::Database {
            path: path.to_owned(),
            source: source.into(),
        };
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .busy_timeout(BUSY_TIMEOUT);
        let pool = SqlitePoolOptions::new()
            .max_connections(2)
            .connect_with(options)
            .await
            .map_err(failed)?;
        let mut connection = pool.acquire().await.map_err(failed)?;
        let found = schema(&mut connection, path).await?;
        drop(connection);
        if found < FIRST_SCHEMA {
            let path = path.to_owned();
            return Err(CheckError::Older { path, found });
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            Some(_) | None => PathBuf::from("."),
        };
        Ok(Self {
            pool,
            folder,
            schema: found,
        })
    }

    /// The history of an open store.
    pub(crate) fn new(pool: SqlitePool, folder: PathBuf) -> Self {
        Self {
            pool,
            folder,
            schema: i64::MAX,
        }
    }

    pub(super) fn keeps_inputs(&self) -> bool {
        self.schema >= FIRST_WITH_INPUTS
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Checks the whole history: each entry, each checkpoint, and that both are complete.
    pub async fn verify(&self) -> Result<Result<Verified, Finding>, CheckError> {
        let file = CheckpointFile::of(&self.folder);
        let mut attempt = 1;
        loop {
            let before = file.end().map_err(CheckError::Checkpoints)?;
            let result = self.verify_once(&file).await?;
            let after = file.end().map_err(CheckError::Checkpoints)?;
            // Entries are removed after the cut is signed: whoever read the one before and the other
            // after has to look again.
            if result.is_ok() || before == after || attempt == ATTEMPTS {
                return Ok(result);
            }
            attempt += 1;
        }
    }

    async fn verify_once(
        &self,
        file: &CheckpointFile,
    ) -> Result<Result<Verified, Finding>, CheckError> {
        // In this order: the file is never behind the number, and the entries never behind the file.
        let mut connection = self.pool.acquire().await.map_err(ReadError::from)?;
        let known = known_ordinal(&mut connection)
            .await
            .map_err(ReadError::from)?;
        let lines = file.lines().map_err(CheckError::Checkpoints)?;
        let mut rows = sqlx::query(match self.keeps_inputs() {
            true => WITH_INPUTS,
            false => "SELECT * FROM audit ORDER BY seq",
        })
        .fetch(&mut *connection);
        let mut row = rows.try_next().await.map_err(ReadError::from)?;
        let Some(key) = AuditKey::load(&self.folder)? else {
            return Ok(if row.is_some() || known > 0 || lines.is_some() {
                Err(Finding::KeyMissing)
            } else {
                Ok(Verified::nothing())
            });
        };
        let Some(lines) = lines else {
            return Ok(if row.is_some() || known > 0 {
                Err(Finding::CheckpointsMissing)
            } else {
                Ok(Verified::nothing())
            });
        };
        let mut verifier = match Verifier::begin(key.trust(), lines) {
            Ok(verifier) => verifier,
            Err(finding) => return Ok(Err(finding)),
        };
        while let Some(found) = row {
            let checked = read(&found).and_then(|row| {
                verifier.entry(&row)?;
                check_input(&found, &row)
            });
            if let Err(finding) = checked {
                return Ok(Err(finding));
            }
            row = rows.try_next().await.map_err(ReadError::from)?;
        }
        Ok(verifier.finish(known))
    }
}

/// Entries as they are stored, and the inputs that some of them refer to.
const WITH_INPUTS: &str = "SELECT seq, at, kind, session_id, request_id, project, tool_name, outcome, \
     actor_kind, actor_label, previous, hash, text, iif(typeof(body) = 'blob', '', body) AS body, \
     iif(typeof(body) = 'blob', body, NULL) AS without_input, \
     (SELECT inputs.text FROM input_uses JOIN inputs ON inputs.number = input_uses.number \
         WHERE typeof(body) = 'blob' AND input_uses.digest = substr(body, 1, 32)) AS input \
     FROM audit ORDER BY seq";

/// The entry vouches for its input by the digest that is part of it.
fn check_input(found: &SqliteRow, row: &AuditRow) -> Result<(), Finding> {
    let Some(digest) = row
        .without_input
        .as_ref()
        .and_then(|stored| stored.get(..DIGEST))
    else {
        return Ok(());
    };
    let input: Option<String> = found.try_get("input").unwrap_or_default();
    match input {
        Some(input) if sha256(input.as_bytes())[..] == *digest => Ok(()),
        Some(_) | None => Err(Finding::InputChanged { seq: row.seq }),
    }
}

/// A row of which every value is of its column's type. SQLite itself would take any.
fn read(row: &SqliteRow) -> Result<AuditRow, Finding> {
    let seq: i64 = row.try_get("seq").unwrap_or(0);
    let unreadable = |detail: String| Finding::Unreadable { seq, detail };
    for column in ["previous", "hash"] {
        let value = row
            .try_get_raw(column)
            .map_err(|error| unreadable(error.to_string()))?;
        if value.type_info().name() != "BLOB" {
            return Err(unreadable(format!("`{column}` is not a hash")));
        }
    }
    AuditRow::from_row(row).map_err(|error| unreadable(error.to_string()))
}
