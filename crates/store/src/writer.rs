//! The one thread that writes to the database.
//!
//! It takes what has queued up while it was busy and commits it as one transaction, because a commit
//! costs far more than the rows in it. What nobody waits for stays a moment for what somebody does, and what stands in
//! the log already stays longer.

use std::io;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::audit::{self, Head};
use crate::error::WriteError;
use crate::group::{needed, write};
use crate::log::{Backlog, Following};
use crate::open::{Durability, Store};
use crate::write::Write;

/// How many jobs one transaction may hold. More would make the first wait for the last.
const JOBS_PER_COMMIT: usize = 256;

/// How much it may hold where nobody waits.
const PER_COMMIT: Backlog = Backlog {
    jobs: 4096,
    bytes: 8 * 1024 * 1024,
};

/// How long after a job was written to the log the database follows.
pub(crate) const FOLLOW_AFTER: Duration = Duration::from_millis(50);
/// How often it is looked meanwhile whether somebody waits. Nobody is woken for a job that can wait.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long after the database did not take what is in the log it is tried again.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(100);

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
    pub(crate) fn decides(&self) -> bool {
        let decides = |write: &Write| matches!(write, Write::Decide(_));
        self.writes.iter().any(decides)
    }
}

/// A job on its way to the database.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) job: WriteJob,
    /// Its number in the log. Without one it counts when it is committed, and is reported then.
    pub(crate) seq: Option<u64>,
    bytes: usize,
}

impl Queued {
    pub(crate) fn direct(job: WriteJob) -> Self {
        let (seq, bytes) = (None, 0);
        Self { job, seq, bytes }
    }

    pub(crate) fn logged(job: WriteJob, seq: u64, bytes: usize) -> Self {
        let seq = Some(seq);
        Self { job, seq, bytes }
    }

    fn can_wait(&self) -> bool {
        self.seq.is_some() || self.job.can_wait()
    }
}

/// The way to the writing thread, for whoever is in front of it.
#[derive(Debug, Clone)]
pub(crate) struct JobQueue {
    jobs: blocking::SyncSender<Vec<Queued>>,
}

impl JobQueue {
    /// Jobs in their order. Gives them back when the thread has ended.
    pub(crate) fn hand_over(&self, jobs: Vec<Queued>) -> Result<(), Vec<Queued>> {
        self.jobs.send(jobs).map_err(|refused| refused.0)
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
    queue: JobQueue,
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
            queue: JobQueue { jobs },
            ended,
            signing,
        })
    }

    /// Queues a job without waiting.
    pub fn submit(&self, job: WriteJob) -> Result<(), SubmitError> {
        let jobs = vec![Queued::direct(job)];
        self.queue.jobs.try_send(jobs).map_err(|error| match error {
            blocking::TrySendError::Full(mut jobs) => match jobs.pop() {
                Some(queued) => SubmitError::Full(queued.job),
                None => SubmitError::Closed,
            },
            blocking::TrySendError::Disconnected(_) => SubmitError::Closed,
        })
    }

    pub(crate) fn queue(&self) -> JobQueue {
        self.queue.clone()
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

fn run(
    store: &Store,
    queued: &blocking::Receiver<Vec<Queued>>,
    completions: &mpsc::Sender<Completion>,
    heads: &watch::Sender<Option<Head>>,
    linger: Duration,
) {
    let following = store.following();
    let mut jobs = Vec::with_capacity(JOBS_PER_COMMIT);
    let mut unsynced = 0;
    loop {
        let ended = !take(queued, &mut jobs);
        // What is urgent and has come during the last commit is from agents that do not wait for each other.
        let crowd = jobs.iter().any(|job| !job.can_wait());
        if jobs.is_empty() {
            match queued.recv() {
                Ok(batch) => jobs.extend(batch),
                Err(_) => return,
            }
        }
        gather(queued, &mut jobs, following, linger, crowd);
        unsynced += behind(&jobs).bytes;
        let durability = needed(store, &jobs, unsynced);
        let results = write(store, durability, &jobs);
        if let Some(head) = store.tail().head {
            heads.send_if_modified(|known| known.replace(head) != Some(head));
        }
        let before = behind(&jobs);
        let last = jobs.iter().filter_map(|job| job.seq).max();
        let trouble = report(&mut jobs, results, completions);
        let left = behind(&jobs);
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

/// What these jobs are of the backlog.
pub(crate) fn behind(jobs: &[Queued]) -> Backlog {
    Backlog {
        jobs: jobs.len(),
        bytes: jobs.iter().map(|job| job.bytes).sum(),
    }
}

/// What is queued, as far as one transaction holds it. False when no more will come.
fn take(queued: &blocking::Receiver<Vec<Queued>>, jobs: &mut Vec<Queued>) -> bool {
    while behind(jobs).is_below(most(jobs)) {
        match queued.try_recv() {
            Ok(batch) => jobs.extend(batch),
            Err(blocking::TryRecvError::Empty) => return true,
            Err(blocking::TryRecvError::Disconnected) => return false,
        }
    }
    true
}

fn most(jobs: &[Queued]) -> Backlog {
    match jobs.iter().all(|job| job.seq.is_some()) {
        true => PER_COMMIT,
        false => Backlog {
            jobs: JOBS_PER_COMMIT,
            ..PER_COMMIT
        },
    }
}

/// Tells who waits. Leaves the jobs of the log that the database did not take, and gives the reason.
fn report(
    jobs: &mut Vec<Queued>,
    results: Vec<Result<(), WriteError>>,
    completions: &mpsc::Sender<Completion>,
) -> Option<WriteError> {
    let mut trouble = None;
    let mut left = Vec::new();
    for (queued, result) in jobs.drain(..).zip(results) {
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
    *jobs = left;
    trouble
}

/// All that is queued. What only tells what happened also waits for what is waited for next, if that comes soon.
fn gather(
    queued: &blocking::Receiver<Vec<Queued>>,
    jobs: &mut Vec<Queued>,
    following: &Following,
    linger: Duration,
    crowd: bool,
) {
    let now = Instant::now();
    while jobs.iter().all(|job| job.seq.is_some()) {
        let waited = now.elapsed();
        let is_due = waited >= FOLLOW_AFTER || !behind(jobs).is_below(PER_COMMIT);
        let goes_on = take(queued, jobs);
        if is_due || !goes_on || following.take_hurry() {
            break;
        }
        thread::sleep(LOOK_EVERY);
    }
    let mut until = now + linger;
    let mut urgent = jobs.iter().any(|job| !job.can_wait());
    while jobs.len() < JOBS_PER_COMMIT && jobs.iter().any(|job| job.seq.is_none()) {
        let next = match queued.try_recv() {
            Ok(batch) => Ok(batch),
            Err(_) if urgent && !crowd => return,
            Err(_) => {
                if urgent {
                    until = until.min(now + GATHER);
                }
                queued.recv_timeout(until.saturating_duration_since(Instant::now()))
            }
        };
        let Ok(batch) = next else { return };
        urgent |= batch.iter().any(|job| !job.can_wait());
        jobs.extend(batch);
    }
}
