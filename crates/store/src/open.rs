//! Opening: lock, look, and only then touch.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use sqlx::{ConnectOptions, Connection as _};
use uuid::Uuid;

use crate::audit::{self, AuditKey, AuditReader, CHECKPOINT_FILE, Head, HistoryId, Signer, Tail};
use crate::connection::{NotWritten, WriteConnection};
pub use crate::durability::Durability;
use crate::error::{OpenError, WriteError};
use crate::inspect::{Looked, has_content, inspect};
use crate::lock::DatabaseLock;
use crate::log::{self, Following, Log};
use crate::place::{make_private, prepare_folder};

pub(crate) static MIGRATOR: Migrator = sqlx::migrate!();

/// Nothing of ours waits this long; it covers a backup tool that looks in.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const READ_CONNECTIONS: u32 = 4;
/// How long a start may look for damage. A large database takes seconds to read, and open requests wait meanwhile.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// The open database. Clones share it. Closing it, or the end of the last of them, releases it for another process.
#[derive(Debug, Clone)]
pub struct Store {
    connections: Arc<Connections>,
}

#[derive(Debug)]
struct Connections {
    read: SqlitePool,
    write: WriteConnection,
    durability: Durability,
    looked: Looked,
    database: PathBuf,
    folder: PathBuf,
    history: HistoryId,
    /// None for a store in memory.
    signer: Option<Signer>,
    /// The end of the history, for whoever holds the write connection. None: to be looked up.
    head: Mutex<Option<Head>>,
    /// For the one who writes. None for a store in memory.
    log: Mutex<Option<Log>>,
    following: Arc<Following>,
    /// Until the store is closed: whoever still has a clone of it keeps nobody out.
    lock: Mutex<Option<DatabaseLock>>,
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
        let looked = match has_content(&path)? {
            true => inspect(&path, Some(FIRST_LOOK)).await?,
            false => Looked::AtAll,
        };
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
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        migrate(&options)
            .await
            .map_err(|source| OpenError::Database {
                path: path.clone(),
                source,
            })?;
        let write = WriteConnection::open(&path).map_err(|source| OpenError::Database {
            path: path.clone(),
            source: source.into(),
        })?;
        let key = AuditKey::kept_in(path.parent().unwrap_or(Path::new(".")))?;
        let history = key.history();
        let log = log::take_over(&path, &write, history)?;
        let read = pool(READ_CONNECTIONS)
            .connect_with(options.pragma("query_only", "ON"))
            .await
            .map_err(failed)?;
        let signer = signer(&path, key, &read, &write).await?;
        Ok(Self::from_parts(Connections {
            read,
            write,
            durability,
            looked,
            database: path.clone(),
            folder: path.parent().unwrap_or(Path::new(".")).to_owned(),
            history,
            signer: Some(signer),
            head: Mutex::new(None),
            log: Mutex::new(Some(log)),
            following: Arc::default(),
            lock: Mutex::new(Some(lock)),
        }))
    }

    /// A store that is gone when it is dropped, for tests.
    pub async fn in_memory() -> Result<Self, OpenError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| OpenError::Database {
            path: PathBuf::from(":memory:"),
            source,
        };
        // All connections of this process that give the name share the database.
        let name = format!("/{}", Uuid::new_v4());
        let options = SqliteConnectOptions::new()
            .filename(&name)
            .vfs("memdb")
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        let write = WriteConnection::in_memory(&format!("file:{name}?vfs=memdb"))
            .map_err(|source| failed(source.into()))?;
        migrate(&options).await.map_err(failed)?;
        let read = pool(1)
            .connect_with(options)
            .await
            .map_err(|source| failed(source.into()))?;
        Ok(Self::from_parts(Connections {
            read,
            write,
            durability: Durability::default(),
            looked: Looked::AtAll,
            database: PathBuf::new(),
            folder: PathBuf::new(),
            history: AuditKey::random()?.history(),
            signer: None,
            head: Mutex::new(None),
            log: Mutex::new(None),
            following: Arc::default(),
            lock: Mutex::new(None),
        }))
    }

    /// Looks at what there was no time for at the start. An error means that the database is damaged.
    pub async fn look_at_the_rest(&self) -> Result<(), OpenError> {
        match self.connections.looked {
            Looked::AtAll => Ok(()),
            Looked::AtSome => inspect(&self.connections.database, None).await.map(drop),
        }
    }

    /// Waits for reads under way, moves the write-ahead log into the database and closes it. The
    /// [`Writer`](crate::Writer) has to be closed before.
    pub async fn close(&self) {
        self.connections.read.close().await;
        self.connections.write.close().await;
        let lock = &self.connections.lock;
        drop(lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// The history, to be read and checked, with all that was written to the log.
    pub async fn audit(&self) -> AuditReader {
        self.connections.following.settled().await;
        AuditReader::new(
            self.connections.read.clone(),
            self.connections.folder.clone(),
        )
    }

    /// The connections that read, once the database has all that was written to the log.
    pub(crate) async fn reader(&self) -> &SqlitePool {
        self.connections.following.settled().await;
        &self.connections.read
    }

    pub(crate) fn following(&self) -> &Arc<Following> {
        &self.connections.following
    }

    /// The log is for one writer.
    pub(crate) fn take_log(&self) -> Option<Log> {
        let log = &self.connections.log;
        log.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn write_connection(&self) -> &WriteConnection {
        &self.connections.write
    }

    pub(crate) fn durability(&self) -> Durability {
        self.connections.durability
    }

    /// Writes and extends the history, all or nothing. Waits for the disk.
    pub(crate) fn transact<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection, &mut Tail) -> Result<T, WriteError>,
    ) -> Result<T, NotWritten> {
        let mut tail = self.tail();
        // Only a commit makes it known again.
        self.set_head(None);
        let done = self
            .connections
            .write
            .transact(durability, |connection| work(connection, &mut tail))?;
        self.set_head(tail.head);
        Ok(done)
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
    fn set_head(&self, head: Option<Head>) {
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
async fn signer(
    path: &Path,
    key: AuditKey,
    read: &SqlitePool,
    write: &WriteConnection,
) -> Result<Signer, OpenError> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| OpenError::Database {
        path: path.to_owned(),
        source,
    };
    let mut connection = read.acquire().await.map_err(|error| failed(error.into()))?;
    let known = audit::known_ordinal(&mut connection)
        .await
        .map_err(|error| failed(error.into()))?;
    let head = audit::head_of(&mut connection, key.history())
        .await
        .map_err(|error| failed(error.into()))?;
    drop(connection);
    let folder = path.parent().unwrap_or(Path::new("."));
    let signer = Signer::open(path, folder, key, known, &head).map_err(|source| OpenError::Io {
        path: folder.join(CHECKPOINT_FILE),
        source,
    })?;
    audit::remember_signed(write, signer.ordinal())
        .await
        .map_err(|error| failed(error.into()))?;
    Ok(signer)
}

/// Brings the schema up to date, through a connection of its own.
async fn migrate(
    options: &SqliteConnectOptions,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut connection = options.connect().await?;
    MIGRATOR.run(&mut connection).await?;
    connection.close().await?;
    Ok(())
}

/// Connections live as long as the store: one that lives in memory would lose its content, and a
/// new one would cost a read its prepared statements.
fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .idle_timeout(None)
        .max_lifetime(None)
}
