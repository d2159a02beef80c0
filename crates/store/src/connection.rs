//! The one connection that writes.
//!
//! Its statements run where they are called, on a thread that may wait: handing each of them to another thread costs
//! more than the statement.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OpenFlags};

use crate::error::{UnavailableReason, WriteError};
use crate::open::{BUSY_TIMEOUT, Durability};

/// How many statements are kept ready; there are fewer.
const STATEMENTS: usize = 64;
/// The log is moved into the database when it has this many pages: seldom enough that a page that changes all the
/// time is moved once for many changes.
const LOG_PAGES: i64 = 4000;
/// So many changed pages stay in memory until their commit, which is more than a group of jobs changes: most of those
/// that are written before it would be written again by it. Whoever deletes a long session still does with less memory.
const PAGES_OF_A_GROUP: i64 = 8192;
/// Pages that are kept at hand, in KiB: those to which every request adds something. They are given back after a burst.
const KEPT_PAGES: i64 = 4 * 1024;
/// The log is cut back to this size once its content is in the database.
const LOG_SIZE_LIMIT: i64 = 64 * 1024 * 1024;

/// Shared by all that writes, one at a time.
#[derive(Debug, Clone)]
pub(crate) struct WriteConnection {
    open: Arc<Mutex<Option<Open>>>,
}

#[derive(Debug)]
struct Open {
    connection: Connection,
    /// Of the last transaction.
    durability: Durability,
}

impl WriteConnection {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT)?;
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
        Self::prepared(connection)
    }

    /// The other connections of this process find the same database by its address.
    pub(crate) fn in_memory(address: &str) -> rusqlite::Result<Self> {
        Self::prepared(Connection::open_with_flags(
            address,
            OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI,
        )?)
    }

    fn prepared(connection: Connection) -> rusqlite::Result<Self> {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "synchronous", "normal")?;
        // Less than nothing means KiB.
        connection.pragma_update(None, "cache_size", -KEPT_PAGES)?;
        connection.pragma_update(None, "cache_spill", PAGES_OF_A_GROUP)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Self {
            open: Arc::new(Mutex::new(Some(Open {
                connection,
                durability: Durability::Process,
            }))),
        })
    }

    /// Does all of `work` or nothing of it. Waits for the disk, and for whoever writes at the moment.
    pub(crate) fn transact<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, WriteError>,
    ) -> Result<T, NotWritten> {
        let mut open = self.lock();
        let Some(open) = open.as_mut() else {
            return Err(NotWritten::Begin(closed()));
        };
        open.begin(durability)
            .map_err(|error| NotWritten::Begin(error.into()))?;
        let result = work(&open.connection);
        match result {
            Ok(done) => open
                .commit()
                .map(|()| done)
                .map_err(|error| NotWritten::Work(error.into())),
            Err(error) => {
                open.rollback();
                Err(NotWritten::Work(error))
            }
        }
    }

    /// The same for a caller that may not wait.
    pub(crate) async fn transact_aside<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, WriteError> + Send + 'static,
    ) -> Result<T, WriteError> {
        let connection = self.clone();
        let done = tokio::task::spawn_blocking(move || connection.transact(durability, work)).await;
        match done {
            Ok(result) => result.map_err(NotWritten::into_error),
            Err(error) => Err(WriteError::Unavailable {
                reason: UnavailableReason::Closed,
                detail: error.to_string(),
            }),
        }
    }

    /// Gives back what is kept in memory only to be at hand.
    pub(crate) fn shrink(&self) {
        if let Some(open) = self.lock().as_ref()
            && let Err(error) = open.connection.execute_batch("PRAGMA shrink_memory")
        {
            tracing::debug!(%error, "memory is kept that nobody needs");
        }
    }

    pub(crate) async fn close(&self) {
        let open = self.lock().take();
        // The last connection moves the log into the database, which takes a moment.
        if let Err(error) = tokio::task::spawn_blocking(move || drop(open)).await {
            tracing::error!(%error, "the database was not closed in order");
        }
    }

    /// As it is, to spoil it.
    #[cfg(test)]
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        work(&self.lock().as_ref().unwrap().connection)
    }

    /// Nothing is written until it is dropped.
    #[cfg(test)]
    pub(crate) fn hold(&self) -> impl Drop + use<'_> {
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        // A transaction that a panic left behind is undone by the next.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Transactions are begun and ended by plain statements, because SQLite ends one by itself when the disk is full.
impl Open {
    /// Begins as a writer at once, so that a lock held elsewhere shows here and not in the middle.
    fn begin(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if !self.connection.is_autocommit() {
            self.rollback();
        }
        if self.durability != durability {
            let value = match durability {
                Durability::Process => "normal",
                Durability::Disk => "full",
            };
            self.connection.pragma_update(None, "synchronous", value)?;
            self.durability = durability;
        }
        self.execute("BEGIN IMMEDIATE")
    }

    fn commit(&mut self) -> rusqlite::Result<()> {
        let result = self.execute("COMMIT");
        if result.is_err() {
            self.rollback();
            self.erase();
        }
        result
    }

    /// What a commit has written before the disk failed would be taken for committed after a crash. The next write to
    /// the log takes its place, so there has to be one, however little it says.
    fn erase(&mut self) {
        self.durability = Durability::Process;
        let erased = self
            .connection
            .execute_batch("PRAGMA synchronous = normal; PRAGMA user_version = 0");
        if let Err(error) = erased {
            tracing::error!(%error, "the rest of a failed commit may be in the log");
        }
    }

    /// Fails only when SQLite has rolled back already, which is what was wanted.
    fn rollback(&mut self) {
        if let Err(error) = self.execute("ROLLBACK") {
            tracing::debug!(%error, "nothing left to roll back");
        }
    }

    fn execute(&self, statement: &'static str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute([])?;
        Ok(())
    }
}

/// Where a transaction failed. One that could not begin is nobody's fault, and trying its parts
/// apart would only wait for the same lock once for each.
#[derive(Debug)]
pub(crate) enum NotWritten {
    Begin(WriteError),
    Work(WriteError),
}

impl NotWritten {
    pub(crate) fn into_error(self) -> WriteError {
        match self {
            Self::Begin(error) | Self::Work(error) => error,
        }
    }
}

fn closed() -> WriteError {
    WriteError::Unavailable {
        reason: UnavailableReason::Closed,
        detail: "the store was closed".to_owned(),
    }
}
