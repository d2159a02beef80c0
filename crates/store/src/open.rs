//! Opening: lock, look, and only then touch.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use crate::audit::{self, AuditKey, AuditReader, CHECKPOINT_FILE, Head, HistoryId, Signer, Tail};
use crate::error::OpenError;
use crate::inspect::{has_content, inspect};
use crate::lock::{DatabaseLock, private};

pub(crate) static MIGRATOR: Migrator = sqlx::migrate!();

/// Nothing of ours waits this long; it covers a backup tool that looks in.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const READ_CONNECTIONS: u32 = 4;
/// The write-ahead log is cut back to this size once its content is in the database.
const LOG_SIZE_LIMIT: &str = "67108864";

/// What a committed write outlives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The death of this process, `kill -9` included: a commit is with the operating system. The
    /// default, because no answer then waits for the disk. Losing power never damages the file, but
    /// can lose the last moments: a tool may have run whose decision is no longer on record.
    #[default]
    Crash,
    /// Losing power too: a commit is on the disk.
    PowerLoss,
}

/// The open database. Clones share it; the last one to go releases it for another process.
#[derive(Debug, Clone)]
pub struct Store {
    connections: Arc<Connections>,
}

#[derive(Debug)]
struct Connections {
    read: SqlitePool,
    /// One connection: SQLite has one writer anyway, and queueing for it is the pool's work.
    write: SqlitePool,
    folder: PathBuf,
    history: HistoryId,
    /// None for a store in memory.
    signer: Option<Signer>,
    /// The end of the history, for whoever holds the write connection. None: to be looked up.
    head: Mutex<Option<Head>>,
    _lock: Option<DatabaseLock>,
}

impl Store {
    /// Opens the database at `path`, making it and its folder where they are missing.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(path, Durability::default()).await
    }

    pub async fn open_with(
        path: impl AsRef<Path>,
        durability: Durability,
    ) -> Result<Self, OpenError> {
        let path = prepare_folder(path.as_ref())?;
        let lock = DatabaseLock::take_patiently(&path).await?;
        if has_content(&path)? {
            inspect(&path).await?;
        }
        make_private(&path).map_err(|source| OpenError::Io {
            path: path.clone(),
            source,
        })?;

        let failed = |source: sqlx::Error| OpenError::Database {
            path: path.clone(),
            source: source.into(),
        };
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(match durability {
                Durability::Crash => SqliteSynchronous::Normal,
                Durability::PowerLoss => SqliteSynchronous::Full,
            })
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("journal_size_limit", LOG_SIZE_LIMIT);
        let write = pool(1)
            .connect_with(options.clone())
            .await
            .map_err(failed)?;
        MIGRATOR
            .run(&write)
            .await
            .map_err(|source| OpenError::Database {
                path: path.clone(),
                source: source.into(),
            })?;
        let key = AuditKey::kept_in(path.parent().unwrap_or(Path::new(".")))?;
        let history = key.history();
        let signer = signer(&path, key, &write).await?;
        let read = pool(READ_CONNECTIONS)
            .connect_with(options.pragma("query_only", "ON"))
            .await
            .map_err(failed)?;
        Ok(Self::from_parts(Connections {
            read,
            write,
            folder: path.parent().unwrap_or(Path::new(".")).to_owned(),
            history,
            signer: Some(signer),
            head: Mutex::new(None),
            _lock: Some(lock),
        }))
    }

    /// A store that is gone when it is dropped, for tests.
    pub async fn in_memory() -> Result<Self, OpenError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| OpenError::Database {
            path: PathBuf::from(":memory:"),
            source,
        };
        let options = SqliteConnectOptions::new()
            .in_memory(true)
            .foreign_keys(true);
        let only = pool(1)
            .connect_with(options)
            .await
            .map_err(|source| failed(source.into()))?;
        MIGRATOR
            .run(&only)
            .await
            .map_err(|source| failed(source.into()))?;
        Ok(Self::from_parts(Connections {
            read: only.clone(),
            write: only,
            folder: PathBuf::new(),
            history: AuditKey::random()?.history(),
            signer: None,
            head: Mutex::new(None),
            _lock: None,
        }))
    }

    /// Waits for reads under way, moves the write-ahead log into the database and closes it. The
    /// [`Writer`](crate::Writer) has to be closed before.
    pub async fn close(&self) {
        self.connections.read.close().await;
        self.connections.write.close().await;
    }

    /// The history, to be read and checked.
    pub fn audit(&self) -> AuditReader {
        AuditReader::new(
            self.connections.read.clone(),
            self.connections.folder.clone(),
        )
    }

    pub(crate) fn reader(&self) -> &SqlitePool {
        &self.connections.read
    }

    pub(crate) fn writer(&self) -> &SqlitePool {
        &self.connections.write
    }

    pub(crate) fn signer(&self) -> Option<&Signer> {
        self.connections.signer.as_ref()
    }

    /// The end of the history, to be extended in a transaction.
    pub(crate) fn tail(&self) -> Tail {
        Tail {
            history: self.connections.history,
            head: *self.head(),
        }
    }

    /// After a commit the end of the history is known. After anything else it is not.
    pub(crate) fn set_head(&self, head: Option<Head>) {
        *self.head() = head;
    }

    fn head(&self) -> std::sync::MutexGuard<'_, Option<Head>> {
        let head = &self.connections.head;
        head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn from_parts(connections: Connections) -> Self {
        Self {
            connections: Arc::new(connections),
        }
    }
}

/// What signs the history, with its file in order.
async fn signer(path: &Path, key: AuditKey, write: &SqlitePool) -> Result<Signer, OpenError> {
    let failed = |source: sqlx::Error| OpenError::Database {
        path: path.to_owned(),
        source: source.into(),
    };
    let mut connection = write.acquire().await.map_err(failed)?;
    let known = audit::known_ordinal(&mut connection)
        .await
        .map_err(failed)?;
    let head = audit::head_of(&mut connection, key.history())
        .await
        .map_err(failed)?;
    drop(connection);
    let folder = path.parent().unwrap_or(Path::new("."));
    let signer = Signer::open(path, folder, key, known, &head).map_err(|source| OpenError::Io {
        path: folder.join(CHECKPOINT_FILE),
        source,
    })?;
    audit::remember_signed(write, signer.ordinal())
        .await
        .map_err(failed)?;
    Ok(signer)
}

/// Connections live as long as the store: one that lives in memory would lose its content, and a
/// new one would cost a read its prepared statements.
fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .idle_timeout(None)
        .max_lifetime(None)
}

/// The folder, and the path by its one true name: the lock of two names for one file must be one.
fn prepare_folder(path: &Path) -> Result<PathBuf, OpenError> {
    let resolve = || -> io::Result<PathBuf> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder)?;
        match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(folder.canonicalize()?.join(name))
            }
            resolved => resolved,
        }
    };
    resolve().map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Makes the file if it is missing, before SQLite would make it readable to everyone. SQLite gives
/// its side files the mode of this one.
fn make_private(path: &Path) -> io::Result<()> {
    let file = private(OpenOptions::new().write(true).create(true))
        .truncate(false)
        .open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}
