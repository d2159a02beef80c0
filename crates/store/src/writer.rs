//! The one thread that writes.
//!
//! It takes what has queued up while it was busy and commits it as one transaction, because a commit
//! costs far more than the rows in it. What nobody waits for stays a moment for what somebody does.

use std::io;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::audit::{self, Head};
use crate::connection::NotWritten;
use crate::error::WriteError;
use crate::open::{Durability, Store};
use crate::write::{Write, apply};

/// How many jobs one transaction may hold. More would make the first wait for the last.
const JOBS_PER_COMMIT: usize = 256;

/// How long a job that no agent waits for waits for one that some agent does.
const LINGER: Duration = Duration::from_millis(10);

/// How long jobs wait for more of their kind when several agents ask at the same time. Each of them waits a little
/// longer, and all of them get their turn sooner.
const GATHER: Duration = Duration::from_micros(500);

/// Writes that are made together or not at all. The token is the caller's, to know the job again.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteJob {
    pub token: u64,
    pub writes: Vec<Write>,
}

impl WriteJob {
    /// What an agent or a client waits for cannot. The rest tells what happened or how things are now.
    fn can_wait(&self) -> bool {
        let can_wait = |write: &Write| {
            matches!(
                write,
                Write::AppendEntry(_)
                    | Write::AppendAudit(_)
                    | Write::PutSession(_)
                    | Write::SetDelivery { .. }
                    | Write::UpdateRequestClock { .. }
                    | Write::UseRule { .. }
                    | Write::DeviceSeen { .. }
            )
        };
        !self.writes.is_empty() && self.writes.iter().all(can_wait)
    }

    /// An agent acts on a decision, so it must not be forgotten. What was only asked is gone with the
    /// agent when the machine loses power.
    fn decides(&self) -> bool {
        let decides = |write: &Write| matches!(write, Write::Decide(_));
        self.writes.iter().any(decides)
    }
}

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
    jobs: blocking::SyncSender<WriteJob>,
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
        let (jobs, queued) = blocking::sync_channel(queue.max(1));
        let (heads, committed) = watch::channel(None);
        let (ending, ended) = oneshot::channel();
        let signed = store.clone();
        thread::Builder::new()
            .name("sayso-writer".to_owned())
            .spawn(move || {
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
            jobs,
            ended,
            signing,
        })
    }

    /// Queues a job without waiting.
    pub fn submit(&self, job: WriteJob) -> Result<(), SubmitError> {
        self.jobs.try_send(job).map_err(|error| match error {
            blocking::TrySendError::Full(job) => SubmitError::Full(job),
            blocking::TrySendError::Disconnected(_) => SubmitError::Closed,
        })
    }

    /// Ends as a killed process does: what is committed stays, what is not signed is not.
    #[cfg(test)]
    pub(crate) async fn abort(self) {
        drop(self.jobs);
        if let Some(signing) = self.signing {
            signing.abort();
        }
        self.ended.await.ok();
    }

    /// Writes what is queued, signs the history and stops. Completions must be received meanwhile, or their receiver
    /// dropped: the thread waits for room to report each job.
    pub async fn close(self) {
        drop(self.jobs);
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

fn run(
    store: &Store,
    queued: &blocking::Receiver<WriteJob>,
    completions: &mpsc::Sender<Completion>,
    heads: &watch::Sender<Option<Head>>,
    linger: Duration,
) {
    let mut jobs = Vec::with_capacity(JOBS_PER_COMMIT);
    loop {
        jobs.extend(queued.try_iter().take(JOBS_PER_COMMIT));
        // What is urgent and has come during the last commit is from agents that do not wait for each other.
        let crowd = jobs.iter().any(|job| !job.can_wait());
        if jobs.is_empty() {
            match queued.recv() {
                Ok(job) => jobs.push(job),
                Err(_) => return,
            }
        }
        gather(queued, &mut jobs, linger, crowd);
        let results = write(store, &jobs);
        if let Some(head) = store.tail().head {
            heads.send_if_modified(|known| known.replace(head) != Some(head));
        }
        for (job, result) in jobs.drain(..).zip(results) {
            if let Err(error) = &result {
                tracing::warn!(token = job.token, %error, "a write failed");
            }
            let completion = Completion {
                token: job.token,
                result,
            };
            // With nobody left to tell, what is queued is still worth keeping.
            completions.blocking_send(completion).ok();
        }
    }
}

/// All that is queued. What only tells what happened also waits for what is waited for next, if that comes soon.
fn gather(
    queued: &blocking::Receiver<WriteJob>,
    jobs: &mut Vec<WriteJob>,
    linger: Duration,
    crowd: bool,
) {
    let now = Instant::now();
    let mut until = now + linger;
    let mut urgent = jobs.iter().any(|job| !job.can_wait());
    while jobs.len() < JOBS_PER_COMMIT {
        let next = match queued.try_recv() {
            Ok(job) => Ok(job),
            Err(_) if urgent && !crowd => return,
            Err(_) => {
                if urgent {
                    until = until.min(now + GATHER);
                }
                queued.recv_timeout(until.saturating_duration_since(Instant::now()))
            }
        };
        let Ok(job) = next else { return };
        urgent |= !job.can_wait();
        jobs.push(job);
    }
}

/// One result for each job, in order.
fn write(store: &Store, jobs: &[WriteJob]) -> Vec<Result<(), WriteError>> {
    match transact(store, jobs) {
        Ok(()) => vec![Ok(()); jobs.len()],
        Err(NotWritten::Begin(error)) => vec![Err(error); jobs.len()],
        Err(NotWritten::Work(error)) if jobs.len() == 1 => vec![Err(error)],
        Err(NotWritten::Work(_)) => one_by_one(store, jobs),
    }
}

/// Finds the job that spoiled its group, and keeps it from spoiling the others.
fn one_by_one(store: &Store, jobs: &[WriteJob]) -> Vec<Result<(), WriteError>> {
    let mut results = Vec::with_capacity(jobs.len());
    for job in jobs {
        match transact(store, std::slice::from_ref(job)) {
            Ok(()) => results.push(Ok(())),
            Err(NotWritten::Work(error)) => results.push(Err(error)),
            Err(NotWritten::Begin(error)) => {
                results.resize(jobs.len(), Err(error));
                break;
            }
        }
    }
    results
}

fn transact(store: &Store, jobs: &[WriteJob]) -> Result<(), NotWritten> {
    let durability = match store.durability() {
        Durability::Disk if jobs.iter().any(WriteJob::decides) => Durability::Disk,
        Durability::Disk | Durability::Process => Durability::Process,
    };
    store.transact(durability, |connection, tail| {
        let mut writes = jobs.iter().flat_map(|job| &job.writes);
        writes.try_for_each(|write| apply(connection, tail, write))
    })
}
