//! The one task that writes.
//!
//! It takes what has queued up while it was busy and commits it as one transaction, because a commit
//! costs far more than the rows in it. What nobody waits for stays a moment for what somebody does.

use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::audit::{self, Head};
use crate::error::WriteError;
use crate::open::Store;
use crate::transaction;
use crate::write::{Write, apply};
use sqlx::SqliteConnection;

/// How many jobs one transaction may hold. More would make the first wait for the last.
const JOBS_PER_COMMIT: usize = 256;

/// How long a job that no agent waits for waits for one that some agent does.
const LINGER: Duration = Duration::from_millis(10);

/// Writes that are made together or not at all. The token is the caller's, to know the job again.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteJob {
    pub token: u64,
    pub writes: Vec<Write>,
}

impl WriteJob {
    /// What an agent or a client waits for cannot.
    fn can_wait(&self) -> bool {
        let can_wait =
            |write: &Write| matches!(write, Write::AppendEntry(_) | Write::SetDelivery { .. });
        !self.writes.is_empty() && self.writes.iter().all(can_wait)
    }
}

/// What became of a job. After `Ok` it outlives the process.
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

/// The way to the writing task. Dropping it lets the task finish what is queued; [`Writer::close`]
/// also waits for that.
#[derive(Debug)]
pub struct Writer {
    jobs: mpsc::Sender<WriteJob>,
    task: JoinHandle<()>,
    /// Signs the history from time to time, and once more at the end.
    signing: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the task. `queue` jobs can wait; every job's completion is sent in the order of
    /// submission, and a receiver that does not keep up slows the writer down. The channel ends
    /// after the last completion.
    pub fn start(store: Store, completions: mpsc::Sender<Completion>, queue: usize) -> Self {
        let (jobs, queued) = mpsc::channel(queue.max(1));
        let (heads, committed) = watch::channel(None);
        let signing = store
            .signer()
            .cloned()
            .map(|signer| tokio::spawn(audit::sign_heads(store.clone(), signer, committed)));
        let task = tokio::spawn(run(store, queued, completions, heads));
        Self {
            jobs,
            task,
            signing,
        }
    }

    /// Queues a job without waiting.
    pub fn submit(&self, job: WriteJob) -> Result<(), SubmitError> {
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(job) => SubmitError::Full(job),
            TrySendError::Closed(_) => SubmitError::Closed,
        })
    }

    /// Ends as a killed process does: what is committed stays, what is not signed is not.
    #[cfg(test)]
    pub(crate) fn abort(self) {
        self.task.abort();
        if let Some(signing) = self.signing {
            signing.abort();
        }
    }

    /// Writes what is queued, signs the history and stops. Completions must be received meanwhile, or their receiver
    /// dropped: the task waits for room to report each job.
    pub async fn close(self) {
        drop(self.jobs);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the writer ended before its queue was empty");
        }
        if let Some(signing) = self.signing
            && let Err(error) = signing.await
        {
            tracing::error!(%error, "the end of the history was not signed");
        }
    }
}

async fn run(
    store: Store,
    mut queued: mpsc::Receiver<WriteJob>,
    completions: mpsc::Sender<Completion>,
    heads: watch::Sender<Option<Head>>,
) {
    let mut jobs = Vec::with_capacity(JOBS_PER_COMMIT);
    while queued.recv_many(&mut jobs, JOBS_PER_COMMIT).await > 0 {
        gather(&mut queued, &mut jobs).await;
        let results = write(&store, &jobs).await;
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
            completions.send(completion).await.ok();
        }
    }
}

/// What only tells what happened goes into the commit of what is waited for next, if that comes soon.
async fn gather(queued: &mut mpsc::Receiver<WriteJob>, jobs: &mut Vec<WriteJob>) {
    let until = Instant::now() + LINGER;
    while jobs.len() < JOBS_PER_COMMIT && jobs.iter().all(WriteJob::can_wait) {
        let room = JOBS_PER_COMMIT - jobs.len();
        match timeout_at(until, queued.recv_many(jobs, room)).await {
            // The time is over, or nothing more will come.
            Err(_) | Ok(0) => return,
            Ok(_) => {}
        }
    }
}

/// One result for each job, in order.
async fn write(store: &Store, jobs: &[WriteJob]) -> Vec<Result<(), WriteError>> {
    let mut connection = match store.writer().acquire().await {
        Ok(connection) => connection,
        Err(error) => return vec![Err(error.into()); jobs.len()],
    };
    match transact(store, &mut connection, jobs).await {
        Ok(()) => vec![Ok(()); jobs.len()],
        Err(NotWritten::Begin(error)) => vec![Err(error); jobs.len()],
        Err(NotWritten::Jobs(error)) if jobs.len() == 1 => vec![Err(error)],
        Err(NotWritten::Jobs(_)) => one_by_one(store, &mut connection, jobs).await,
    }
}

/// Finds the job that spoiled its group, and keeps it from spoiling the others.
async fn one_by_one(
    store: &Store,
    connection: &mut SqliteConnection,
    jobs: &[WriteJob],
) -> Vec<Result<(), WriteError>> {
    let mut results = Vec::with_capacity(jobs.len());
    for job in jobs {
        match transact(store, connection, std::slice::from_ref(job)).await {
            Ok(()) => results.push(Ok(())),
            Err(NotWritten::Jobs(error)) => results.push(Err(error)),
            Err(NotWritten::Begin(error)) => {
                results.resize(jobs.len(), Err(error));
                break;
            }
        }
    }
    results
}

/// Where a transaction failed. One that could not begin is no job's fault, and trying the jobs
/// apart would only wait for the same lock once for each.
enum NotWritten {
    Begin(WriteError),
    Jobs(WriteError),
}

async fn transact(
    store: &Store,
    connection: &mut SqliteConnection,
    jobs: &[WriteJob],
) -> Result<(), NotWritten> {
    if let Err(error) = transaction::begin(connection).await {
        return Err(NotWritten::Begin(error.into()));
    }
    let mut tail = store.tail();
    // Only a commit makes it known again.
    store.set_head(None);
    for write in jobs.iter().flat_map(|job| &job.writes) {
        if let Err(error) = apply(connection, &mut tail, write).await {
            transaction::rollback(connection).await;
            return Err(NotWritten::Jobs(error));
        }
    }
    transaction::commit(connection)
        .await
        .map_err(|error| NotWritten::Jobs(error.into()))?;
    store.set_head(tail.head);
    Ok(())
}
