//! Signs how the history ends, beside the way of the decisions and never in it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::append;
use super::chain::Head;
use super::checkpoint::{Checkpoint, CheckpointKind, LastLine, Start};
use super::checkpoint_file::CheckpointFile;
use super::key::AuditKey;
use crate::lock::beside;
use crate::open::Store;

/// After this long without a new entry, what is there is signed.
const QUIET: Duration = Duration::from_secs(1);
/// Nothing waits longer than this for its signature, however busy it is.
const LONGEST: Duration = Duration::from_secs(5);
/// Nor are there ever many more entries without one.
const MOST: i64 = 1000;

/// The key, the file and its last line. Shared by all that signs, one at a time.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    database: PathBuf,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    key: AuditKey,
    file: CheckpointFile,
    last: LastLine,
}

impl Signer {
    /// Makes the file fit for its next line. `known` is the number of the last checkpoint as the
    /// database remembers it, and `head` where the history ends.
    pub(crate) fn open(
        database: &Path,
        folder: &Path,
        key: AuditKey,
        known: i64,
        head: &Head,
    ) -> io::Result<Self> {
        let file = CheckpointFile::of(folder);
        let last = match file.end()? {
            Some(end) => {
                let last = end.last.unwrap_or(LastLine::NONE);
                if end.half > 0 && last.ordinal >= known {
                    // The machine lost power while it was written, and nobody was told of it.
                    file.shorten(end.length - end.half)?;
                } else if end.half > 0 {
                    file.end_line()?;
                }
                if end.length == 0 { None } else { Some(last) }
            }
            None => None,
        };
        let last = match last {
            Some(last) => last,
            None => {
                // Only the very first file begins with number 1: one that was removed is missed.
                let before = LastLine {
                    ordinal: known,
                    ..LastLine::NONE
                };
                let begin = Checkpoint::sign(&key, &before, CheckpointKind::Begin, head, None);
                let line = begin.to_line()?;
                file.replace(&line)?;
                begin.last_line(&line)
            }
        };
        Ok(Self {
            database: database.to_owned(),
            inner: Arc::new(Mutex::new(Inner { key, file, last })),
        })
    }

    pub(crate) fn ordinal(&self) -> i64 {
        self.lock().last.ordinal
    }

    /// Signs that the history ends with `head`. Gives the checkpoint's number, or nothing where that
    /// was signed before.
    pub(crate) async fn sign_head(&self, head: Head) -> io::Result<Option<i64>> {
        self.in_background(move |inner| {
            if inner.last.size >= head.seq {
                return Ok(None);
            }
            let checkpoint = inner.sign(CheckpointKind::Head, &head, None);
            let line = checkpoint.to_line()?;
            inner.file.append(&line)?;
            inner.last = checkpoint.last_line(&line);
            Ok(Some(inner.last.ordinal))
        })
        .await
    }

    /// Begins the file anew with a statement about where the history begins.
    pub(crate) async fn sign_start(
        &self,
        kind: CheckpointKind,
        head: Head,
        start: Start,
    ) -> io::Result<i64> {
        self.in_background(move |inner| {
            let checkpoint = inner.sign(kind, &head, Some(start));
            let line = checkpoint.to_line()?;
            if kind == CheckpointKind::Adopted {
                let suffix = format!(".before-{}", checkpoint.ordinal);
                inner.file.set_aside(&suffix)?;
            }
            inner.file.replace(&line)?;
            inner.last = checkpoint.last_line(&line);
            Ok(inner.last.ordinal)
        })
        .await
    }

    async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Inner) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let signer = self.clone();
        let task = move || {
            // What is signed must not be ahead of the disk, or losing power would look like a
            // truncated history.
            match std::fs::File::open(beside(&signer.database, "-wal")) {
                Ok(log) => log.sync_data()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            work(&mut signer.lock())
        };
        tokio::task::spawn_blocking(task)
            .await
            .map_err(io::Error::other)?
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // Each change of it is a single assignment, so it is whole even after a panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn sign(&self, kind: CheckpointKind, head: &Head, start: Option<Start>) -> Checkpoint {
        Checkpoint::sign(&self.key, &self.last, kind, head, start)
    }
}

/// Signs until the sender of heads is gone, and then once more.
pub(crate) async fn run(store: Store, signer: Signer, mut heads: watch::Receiver<Option<Head>>) {
    let mut signed = signer.lock().last.size;
    let mut failed = false;
    loop {
        let changed = heads.changed();
        let open = match failed {
            false => changed.await.is_ok(),
            true => timeout(LONGEST, changed)
                .await
                .is_ok_and(|changed| changed.is_ok()),
        };
        let open = open || (failed && heads.has_changed().is_ok());
        if open && !failed {
            settle(&mut heads, signed).await;
        }
        let head = *heads.borrow_and_update();
        if let Some(head) = head {
            match sign(&store, &signer, head).await {
                Ok(()) => {
                    signed = head.seq;
                    failed = false;
                }
                Err(error) => {
                    tracing::error!(%error, "the history could not be signed; it will be tried again");
                    failed = true;
                }
            }
        }
        if !open {
            return;
        }
    }
}

/// Waits for a quiet moment, but neither too long nor for too many entries.
async fn settle(heads: &mut watch::Receiver<Option<Head>>, signed: i64) {
    let end = Instant::now() + LONGEST;
    loop {
        let many = |head: &Option<Head>| head.is_some_and(|head| head.seq - signed >= MOST);
        if many(&heads.borrow_and_update()) {
            return;
        }
        let quiet = (Instant::now() + QUIET).min(end);
        tokio::select! {
            () = sleep_until(quiet) => return,
            changed = heads.changed() => if changed.is_err() { return },
        }
    }
}

async fn sign(store: &Store, signer: &Signer, head: Head) -> io::Result<()> {
    if let Some(ordinal) = signer.sign_head(head).await? {
        append::remember_signed(store.write_connection(), ordinal)
            .await
            .map_err(io::Error::other)?;
    }
    Ok(())
}
