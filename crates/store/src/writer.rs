//! The one thread that writes to the database.
//!
//! It takes what has queued up while it was busy and commits it as one transaction, because a commit
//! costs far more than the rows in it. What nobody waits for stays a moment for what somebody does, and what stands in
//! the log already stays longer.

use std::io;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::audit::{self, Head};
use crate::error::WriteError;
use crate::gather::{Group, LINGER};
use crate::group::{needed, write};
use crate::job::{self, JobQueue, Queued, WaitingJobs, WriteJob};
use crate::log::Backlog;
use crate::open::{Durability, Store};

/// How long after the database did not take what is in the log it is tried again.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A burst of jobs is over when none has come for so long.
const QUIET: Duration = Duration::from_secs(2);

/// By how much the thread gives way to others. Agents wait for the log and not for the database, so where there is more
/// to do than the processors can, answers come first.
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 10;

/// What became of a job. After `Ok` it outlives what the store's [`Durability`] says.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    pub token: u64,
    pub result: Result<(), WriteError>,
}

/// Why a job was not even queued.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SubmitError {
    /// The job comes back, to be submitted again after a completion has made room.
    #[error("the queue of writes is full")]
    Full(WriteJob),
    #[error("the writer has stopped")]
    Closed,
}

/// The way to the writing thread. Dropping it lets the thread finish what is queued; [`Writer::close`]
/// also waits for that.
#[derive(Debug)]
pub struct Writer {
    queue: JobQueue,
    /// How many jobs may wait that [`submit`](Self::submit) takes.
    most: usize,
    ended: oneshot::Receiver<()>,
    /// Signs the history from time to time, and once more at the end.
    signing: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. `queue` jobs can wait; every job's completion is sent in the order of
    /// submission, and a receiver that does not keep up slows the writer down. The channel ends
    /// after the last completion.
    pub fn start(
        store: Store,
        completions: mpsc::Sender<Completion>,
        queue: usize,
    ) -> io::Result<Self> {
        Self::start_with(store, completions, queue, LINGER)
    }

    pub(crate) fn start_with(
        store: Store,
        completions: mpsc::Sender<Completion>,
        queue: usize,
        linger: Duration,
    ) -> io::Result<Self> {
        let (jobs, queued) = job::queue();
        let (heads, committed) = watch::channel(None);
        let (ending, ended) = oneshot::channel();
        let signed = store.clone();
        thread::Builder::new()
            .name("sayso-writer".to_owned())
            .spawn(move || {
                give_way();
                run(&store, &queued, &completions, &heads, linger);
                // Whoever closes the store must not find it in use.
                drop(store);
                let _ = ending.send(());
            })?;
        let signing = signed
            .signer()
            .cloned()
            .map(|signer| tokio::spawn(audit::sign_heads(signed, signer, committed)));
        Ok(Self {
            queue: jobs,
            most: queue.max(1),
            ended,
            signing,
        })
    }

    /// Queues a job without waiting.
    pub fn submit(&self, job: WriteJob) -> Result<(), SubmitError> {
        if !self.queue.has_room(self.most) {
            return Err(SubmitError::Full(job));
        }
        let jobs = vec![Queued::direct(job)];
        let handed_over = self.queue.hand_over(jobs);
        handed_over.map_err(|_| SubmitError::Closed)
    }

    pub(crate) fn queue(&self) -> &JobQueue {
        &self.queue
    }

    /// Ends as a killed process does: what is committed stays, what is not signed is not.
    #[cfg(test)]
    pub(crate) async fn abort(self) {
        drop(self.queue);
        if let Some(signing) = self.signing {
            signing.abort();
        }
        self.ended.await.ok();
    }

    /// Writes what is queued, signs the history and stops. Completions must be received meanwhile, or their receiver
    /// dropped: the thread waits for room to report each job.
    pub async fn close(self) {
        drop(self.queue);
        if self.ended.await.is_err() {
            tracing::error!("the writer ended before its queue was empty");
        }
        if let Some(signing) = self.signing
            && let Err(error) = signing.await
        {
            tracing::error!(%error, "the end of the history was not signed");
        }
    }
}

/// Only on Linux has each thread a priority of its own.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(GIVES_WAY) {
        tracing::debug!(%error, "the writer keeps the priority of the others");
    }
}

fn run(
    store: &Store,
    queued: &WaitingJobs,
    completions: &mpsc::Sender<Completion>,
    heads: &watch::Sender<Option<Head>>,
    linger: Duration,
) {
    let following = store.following();
    let mut group = Group::default();
    let mut unsynced = 0;
    loop {
        let ended = !group.take(queued);
        // What is urgent and has come during the last commit is from agents that do not wait for each other.
        let crowd = group.is_urgent();
        if group.jobs().is_empty() {
            match next(store, queued) {
                Some(jobs) => group.add(jobs),
                None => return,
            }
        }
        group.gather(queued, following, linger, crowd);
        unsynced += group.backlog().bytes;
        let durability = needed(store, group.jobs(), unsynced);
        let results = write(store, durability, group.jobs());
        if let Some(head) = store.tail().head {
            heads.send_if_modified(|known| known.replace(head) != Some(head));
        }
        let before = group.backlog();
        let last = group.jobs().iter().filter_map(|job| job.seq).max();
        let (left, trouble) = report(group.take_all(), results, completions);
        group.add(left);
        let left = group.backlog();
        following.done(Backlog {
            jobs: before.jobs - left.jobs,
            bytes: before.bytes - left.bytes,
        });
        if let Some(error) = trouble {
            tracing::error!(%error, "the database does not follow its log");
            following.set_trouble(Some(error));
            if ended {
                // They are read again from the log by the next server.
                return;
            }
            thread::sleep(TRY_AGAIN_AFTER);
            continue;
        }
        following.set_trouble(None);
        if let Some(last) = last
            && (durability == Durability::Disk || store.durability() == Durability::Process)
        {
            following.set_safe(last);
            unsynced = 0;
        }
    }
}

/// What comes next. When nothing has come for a while, the memory that many jobs needed is given back.
fn next(store: &Store, queued: &WaitingJobs) -> Option<Vec<Queued>> {
    match queued.recv_timeout(QUIET) {
        Ok(jobs) => return Some(jobs),
        Err(blocking::RecvTimeoutError::Disconnected) => return None,
        Err(blocking::RecvTimeoutError::Timeout) => store.write_connection().shrink(),
    }
    queued.recv().ok()
}

/// Tells who waits. Gives the jobs of the log that the database did not take, and the reason.
fn report(
    jobs: Vec<Queued>,
    results: Vec<Result<(), WriteError>>,
    completions: &mpsc::Sender<Completion>,
) -> (Vec<Queued>, Option<WriteError>) {
    let mut trouble = None;
    let mut left = Vec::new();
    for (queued, result) in jobs.into_iter().zip(results) {
        let token = queued.job.token;
        match (queued.seq, result) {
            (Some(_), Ok(())) => {}
            (Some(_), Err(error)) => {
                trouble = Some(error);
                left.push(queued);
            }
            (None, result) => {
                if let Err(error) = &result {
                    tracing::warn!(token, %error, "a write failed");
                }
                // With nobody left to tell, what is queued is still worth keeping.
                completions.blocking_send(Completion { token, result }).ok();
            }
        }
    }
    (left, trouble)
}
