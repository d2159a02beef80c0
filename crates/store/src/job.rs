//! What is to be written, on its way to the database.

use std::sync::mpsc as blocking;

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

/// The way to the writing thread, for whoever is in front of it.
#[derive(Debug, Clone)]
pub(crate) struct JobQueue {
    pub(crate) jobs: blocking::SyncSender<Vec<Queued>>,
}

impl JobQueue {
    /// Jobs in their order. Gives them back when the thread has ended.
    pub(crate) fn hand_over(&self, jobs: Vec<Queued>) -> Result<(), Vec<Queued>> {
        self.jobs.send(jobs).map_err(|refused| refused.0)
    }
}

/// What these jobs are of the backlog.
pub(crate) fn behind(jobs: &[Queued]) -> Backlog {
    Backlog {
        jobs: jobs.len(),
        bytes: jobs.iter().map(|job| job.bytes).sum(),
    }
}
