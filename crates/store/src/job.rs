//! What is to be written, on its way to the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::time::Duration;

use crate::log::Backlog;
use crate::write::Write;

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
    pub(crate) bytes: usize,
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

    pub(crate) fn can_wait(&self) -> bool {
        self.seq.is_some() || self.job.can_wait()
    }
}

/// The way to the writing thread, for whoever is in front of it. Places for all jobs that may ever wait would be more
/// than a megabyte in an idle server, so whoever hands over bounds them, and a place is made for each that comes.
#[derive(Debug, Clone)]
pub(crate) struct JobQueue {
    jobs: blocking::Sender<Vec<Queued>>,
    waiting: Arc<AtomicUsize>,
}

/// Where the writing thread gets them.
#[derive(Debug)]
pub(crate) struct WaitingJobs {
    jobs: blocking::Receiver<Vec<Queued>>,
    waiting: Arc<AtomicUsize>,
}

pub(crate) fn queue() -> (JobQueue, WaitingJobs) {
    let (sender, receiver) = blocking::channel();
    let waiting = Arc::default();
    let queue = JobQueue {
        jobs: sender,
        waiting: Arc::clone(&waiting),
    };
    let jobs = receiver;
    (queue, WaitingJobs { jobs, waiting })
}

impl JobQueue {
    /// Jobs in their order. Gives them back when the thread has ended.
    pub(crate) fn hand_over(&self, jobs: Vec<Queued>) -> Result<(), Vec<Queued>> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.jobs.send(jobs).map_err(|refused| refused.0)
    }

    /// True when fewer than `most` were waiting, and one more may be handed over.
    pub(crate) fn has_room(&self, most: usize) -> bool {
        self.waiting.load(Ordering::SeqCst) < most
    }
}

impl WaitingJobs {
    pub(crate) fn try_recv(&self) -> Result<Vec<Queued>, blocking::TryRecvError> {
        self.jobs.try_recv().inspect(|_| self.one_less())
    }

    pub(crate) fn recv(&self) -> Result<Vec<Queued>, blocking::RecvError> {
        self.jobs.recv().inspect(|_| self.one_less())
    }

    pub(crate) fn recv_timeout(
        &self,
        patience: Duration,
    ) -> Result<Vec<Queued>, blocking::RecvTimeoutError> {
        let received = self.jobs.recv_timeout(patience);
        received.inspect(|_| self.one_less())
    }

    fn one_less(&self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What these jobs are of the backlog.
pub(crate) fn behind(jobs: &[Queued]) -> Backlog {
    Backlog {
        jobs: jobs.len(),
        bytes: jobs.iter().map(|job| job.bytes).sum(),
    }
}
