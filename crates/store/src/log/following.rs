//! How far the database has followed the log.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::error::WriteError;

/// A reader that has waited this long sees what is there.
const PATIENCE: Duration = Duration::from_secs(2);

/// Shared by whoever writes the log, whoever follows it and whoever reads the database.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// Jobs that were handed over, and those of them that are done.
    queued: AtomicU64,
    done: AtomicU64,
    /// Records up to this number need not be in the log any more.
    safe: AtomicU64,
    /// Somebody waits for all that is queued.
    hurry: AtomicBool,
    /// Why the database does not follow.
    trouble: Mutex<Option<WriteError>>,
    changed: Notify,
}

impl Following {
    pub(crate) fn queue(&self, jobs: usize) {
        self.queued.fetch_add(jobs as u64, Ordering::SeqCst);
    }

    pub(crate) fn done(&self, jobs: usize) {
        self.done.fetch_add(jobs as u64, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(crate) fn backlog(&self) -> usize {
        let done = self.done.load(Ordering::SeqCst);
        let queued = self.queued.load(Ordering::SeqCst);
        usize::try_from(queued.saturating_sub(done)).unwrap_or(usize::MAX)
    }

    /// Waits until fewer jobs than this are behind.
    pub(crate) async fn below(&self, backlog: usize) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.backlog() < backlog {
                return;
            }
            changed.await;
        }
    }

    /// Waits until the database has all that was written before.
    pub(crate) async fn settled(&self) {
        let target = self.queued.load(Ordering::SeqCst);
        let settling = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if self.done.load(Ordering::SeqCst) >= target || self.trouble().is_some() {
                    return;
                }
                self.hurry.store(true, Ordering::SeqCst);
                changed.await;
            }
        };
        if timeout(PATIENCE, settling).await.is_err() {
            tracing::warn!("the database is far behind its log");
        }
    }

    /// Whether somebody waits; asked once for each time.
    pub(crate) fn take_hurry(&self) -> bool {
        self.hurry.swap(false, Ordering::SeqCst)
    }

    pub(crate) fn safe(&self) -> u64 {
        self.safe.load(Ordering::SeqCst)
    }

    pub(crate) fn set_safe(&self, seq: u64) {
        self.safe.fetch_max(seq, Ordering::SeqCst);
    }

    pub(crate) fn trouble(&self) -> Option<WriteError> {
        self.lock().clone()
    }

    pub(crate) fn set_trouble(&self, trouble: Option<WriteError>) {
        *self.lock() = trouble;
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Option<WriteError>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
