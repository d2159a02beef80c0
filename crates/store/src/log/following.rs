//! How far the database has followed the log.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::error::WriteError;

/// A reader that has waited this long sees what is there.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is in the log and not in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    pub jobs: usize,
    pub bytes: usize,
}

impl Backlog {
    pub fn is_below(self, most: Self) -> bool {
        self.jobs < most.jobs && self.bytes < most.bytes
    }
}

/// Shared by whoever writes the log, whoever follows it and whoever reads the database.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// Jobs that were handed over, and those of them that are done.
    queued: AtomicU64,
    done: AtomicU64,
    /// Of those that are not done.
    bytes: AtomicUsize,
    /// Records up to this number need not be in the log any more.
    safe: AtomicU64,
    /// Somebody waits for all that is queued.
    hurry: Mutex<bool>,
    hurried: Condvar,
    /// Why the database does not follow.
    trouble: Mutex<Option<WriteError>>,
    changed: Notify,
}

impl Following {
    pub(crate) fn queue(&self, more: Backlog) {
        self.bytes.fetch_add(more.bytes, Ordering::SeqCst);
        self.queued.fetch_add(more.jobs as u64, Ordering::SeqCst);
    }

    pub(crate) fn done(&self, less: Backlog) {
        self.bytes.fetch_sub(less.bytes, Ordering::SeqCst);
        self.done.fetch_add(less.jobs as u64, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(crate) fn backlog(&self) -> Backlog {
        let done = self.done.load(Ordering::SeqCst);
        let queued = self.queued.load(Ordering::SeqCst);
        Backlog {
            jobs: usize::try_from(queued.saturating_sub(done)).unwrap_or(usize::MAX),
            bytes: self.bytes.load(Ordering::SeqCst),
        }
    }

    /// Waits until less than this is behind.
    pub(crate) async fn below(&self, most: Backlog) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.backlog().is_below(most) {
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
                self.hurry();
                changed.await;
            }
        };
        if timeout(PATIENCE, settling).await.is_err() {
            tracing::warn!("the database is far behind its log");
        }
    }

    fn hurry(&self) {
        *self.hurry.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.hurried.notify_one();
    }

    /// Whether somebody waits, or does so before the time is over; said once for each time.
    pub(crate) fn take_hurry(&self, patience: Duration) -> bool {
        let hurry = self.hurry.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .hurried
            .wait_timeout_while(hurry, patience, |hurry| !*hurry);
        let (mut hurry, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut hurry)
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
