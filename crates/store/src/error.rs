//! What can go wrong, sorted by what the caller can do about it.

use std::path::PathBuf;

use crate::audit::KeyError;
use crate::rows::{DecisionRow, RequestId, SessionId};

/// Why a database was not opened. Each is one sentence for the person who started the server, and
/// each means that the file is as it was, but for a schema that may have been brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "{} is in use by another Sayso{}; stop that one, or give this one another data folder",
        path.display(),
        holder.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    InUse { path: PathBuf, holder: Option<u32> },

    #[error(
        "{} is not a Sayso database and was left untouched; move it away or choose another data folder",
        path.display()
    )]
    NotSayso { path: PathBuf },

    #[error(
        "{} is damaged ({detail}) and was left untouched; restore a backup, or move it away to start with an empty history",
        path.display()
    )]
    Corrupt { path: PathBuf, detail: String },

    #[error(
        "{} was written by a newer Sayso (schema {found}, this one knows {known}) and was left untouched; use the newer Sayso or another data folder",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },

    #[error(
        "{} cannot be opened ({source}); check that its folder exists, is writable and has room",
        path.display()
    )]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error(
        "the log {} goes on from a later moment than its database; if the database was put back from a backup, move the log and its other half away",
        path.display()
    )]
    LogAhead { path: PathBuf },

    #[error(
        "the log {} holds something that this Sayso cannot read ({detail}) and was left untouched; start the Sayso that wrote it once more, or move the log away, which loses the last decisions",
        path.display()
    )]
    LogUnreadable { path: PathBuf, detail: String },

    #[error("the history cannot be signed: {0}")]
    Key(#[from] KeyError),

    #[error(
        "{} cannot be opened ({source}); check that its folder is writable and has room",
        path.display()
    )]
    Database {
        path: PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("the store cannot be read now, {reason}: {detail}")]
    Unavailable {
        reason: UnavailableReason,
        detail: String,
    },
    #[error("a stored row cannot be understood: {0}")]
    Unreadable(String),
}

/// Why a job was not written. Nothing of it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WriteError {
    #[error("request {} is already decided", .0.request_id)]
    AlreadyDecided(Box<DecisionRow>),
    #[error("there is no request {0}, or none with a decision")]
    UnknownRequest(RequestId),
    #[error("there is no session {0}")]
    UnknownSession(SessionId),
    /// The job contradicts what is stored; trying again cannot help.
    #[error("the write contradicts what is stored: {0}")]
    Constraint(String),
    /// The job is fine, the place it should go to is not.
    #[error("the store cannot be written now, {reason}: {detail}")]
    Unavailable {
        reason: UnavailableReason,
        detail: String,
    },
}

impl WriteError {
    /// Whether the same job may succeed later without anyone changing it.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unavailable { reason, .. } => match reason {
                UnavailableReason::DiskFull | UnavailableReason::Locked | UnavailableReason::Io => {
                    true
                }
                UnavailableReason::ReadOnly
                | UnavailableReason::Corrupt
                | UnavailableReason::Closed => false,
            },
            Self::AlreadyDecided(_)
            | Self::UnknownRequest(_)
            | Self::UnknownSession(_)
            | Self::Constraint(_) => false,
        }
    }
}

/// What is wrong with the place the rows are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnavailableReason {
    #[error("the disk is full")]
    DiskFull,
    #[error("something else holds its lock")]
    Locked,
    #[error("the device failed")]
    Io,
    #[error("it is read-only")]
    ReadOnly,
    #[error("the file is damaged")]
    Corrupt,
    #[error("it is closed")]
    Closed,
}

impl From<sqlx::Error> for ReadError {
    fn from(error: sqlx::Error) -> Self {
        match Fault::of(&error) {
            Fault::Unavailable(reason) => Self::Unavailable {
                reason,
                detail: error.to_string(),
            },
            Fault::ForeignKey | Fault::Statement => Self::Unreadable(error.to_string()),
        }
    }
}

impl From<ReadError> for WriteError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable { reason, detail } => Self::Unavailable { reason, detail },
            ReadError::Unreadable(detail) => Self::Constraint(detail),
        }
    }
}

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> Self {
        ReadError::from(error).into()
    }
}

impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let reason = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                UnavailableReason::DiskFull
            }
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                UnavailableReason::ReadOnly
            }
            _ => UnavailableReason::Io,
        };
        Self::Unavailable {
            reason,
            detail: error.to_string(),
        }
    }
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        match Fault::of_driver(&error) {
            Fault::Unavailable(reason) => Self::Unavailable {
                reason,
                detail: error.to_string(),
            },
            Fault::ForeignKey | Fault::Statement => Self::Constraint(error.to_string()),
        }
    }
}

/// The drivers' errors by whose fault they are: the place's, or the statement's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Unavailable(UnavailableReason),
    ForeignKey,
    Statement,
}

/// SQLite's code for a row that refers to none.
const FOREIGN_KEY: i32 = rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY;

impl Fault {
    pub(crate) fn of(error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) if error.is_foreign_key_violation() => Self::ForeignKey,
            sqlx::Error::Database(error) => {
                match error.code().and_then(|code| code.parse::<u32>().ok()) {
                    Some(code) => Self::of_sqlite(code),
                    None => Self::Statement,
                }
            }
            sqlx::Error::PoolTimedOut => Self::Unavailable(UnavailableReason::Locked),
            sqlx::Error::PoolClosed => Self::Unavailable(UnavailableReason::Closed),
            sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => {
                Self::Unavailable(UnavailableReason::Io)
            }
            _ => Self::Statement,
        }
    }

    pub(crate) fn of_driver(error: &rusqlite::Error) -> Self {
        match error.sqlite_error() {
            Some(error) if error.extended_code == FOREIGN_KEY => Self::ForeignKey,
            Some(error) => Self::of_sqlite(error.extended_code.unsigned_abs()),
            None => Self::Statement,
        }
    }

    /// The low byte of SQLite's extended result codes is the class of the error
    /// (<https://www.sqlite.org/rescode.html>).
    fn of_sqlite(code: u32) -> Self {
        match code & 0xff {
            5 | 6 => Self::Unavailable(UnavailableReason::Locked),
            8 => Self::Unavailable(UnavailableReason::ReadOnly),
            // Out of memory, an I/O error, a file that cannot be opened.
            7 | 10 | 14 => Self::Unavailable(UnavailableReason::Io),
            11 | 26 => Self::Unavailable(UnavailableReason::Corrupt),
            13 => Self::Unavailable(UnavailableReason::DiskFull),
            _ => Self::Statement,
        }
    }
}
