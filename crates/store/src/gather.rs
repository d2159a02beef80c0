//! Which jobs share a transaction.

use std::sync::mpsc as blocking;
use std::time::{Duration, Instant};

use crate::job::{Queued, WaitingJobs};
use crate::log::{Backlog, Following};

/// How many jobs one transaction may hold. More would make the first wait for the last.
const JOBS_PER_COMMIT: usize = 256;

/// How much it may hold where nobody waits. Where the database is far behind, agents wait for one of these.
const PER_COMMIT: Backlog = Backlog {
    jobs: 3072,
    bytes: 8 * 1024 * 1024,
};

/// So much is worth a transaction of its own, and is as much as may wait: the files of the log take turns.
const WORTH_A_COMMIT: Backlog = Backlog {
    jobs: PER_COMMIT.jobs,
    bytes: 1024 * 1024,
};

/// How long after a job was written to the log the database follows.
pub(crate) const FOLLOW_AFTER: Duration = Duration::from_millis(50);
/// The same while much is written. Then a page that changes all the time is written once for four times as many
/// requests, and more of them are over when they are written.
const FOLLOW_MANY_AFTER: Duration = Duration::from_millis(200);
/// So many jobs in one transaction are many.
const MANY: usize = 256;
/// How often it is looked meanwhile how much there is. Nobody is woken for a job that can wait, but for whoever waits.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a job that no agent waits for waits for one that some agent does.
pub(crate) const LINGER: Duration = Duration::from_millis(10);

/// How long jobs wait for more of their kind when several agents ask at the same time. Each of them waits a little
/// longer, and all of them get their turn sooner.
const GATHER: Duration = Duration::from_micros(500);

/// The jobs of one transaction, and what is known of them together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    jobs: Vec<Queued>,
    bytes: usize,
    /// Those that do not stand in the log.
    direct: usize,
    /// Those of them that somebody waits for.
    urgent: usize,
    /// The group before had many jobs.
    follows_many: bool,
}

impl Group {
    pub(crate) fn add(&mut self, jobs: Vec<Queued>) {
        for job in &jobs {
            self.bytes += job.bytes;
            self.direct += usize::from(job.seq.is_none());
            self.urgent += usize::from(!job.can_wait());
        }
        match self.jobs.is_empty() {
            true => self.jobs = jobs,
            false => self.jobs.extend(jobs),
        }
    }

    pub(crate) fn jobs(&self) -> &[Queued] {
        &self.jobs
    }

    /// The jobs, and an empty group.
    pub(crate) fn take_all(&mut self) -> Vec<Queued> {
        let next = Self {
            follows_many: self.jobs.len() >= MANY,
            ..Self::default()
        };
        std::mem::replace(self, next).jobs
    }

    pub(crate) fn is_urgent(&self) -> bool {
        self.urgent > 0
    }

    /// What the jobs are of the backlog.
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog {
            jobs: self.jobs.len(),
            bytes: self.bytes,
        }
    }

    fn is_full(&self) -> bool {
        let most = match self.direct {
            0 => PER_COMMIT,
            _ => Backlog {
                jobs: JOBS_PER_COMMIT,
                ..PER_COMMIT
            },
        };
        !self.backlog().is_below(most)
    }

    /// Adds what is queued, as far as one transaction holds it. False when no more will come.
    pub(crate) fn take(&mut self, queued: &WaitingJobs) -> bool {
        while !self.is_full() {
            match queued.try_recv() {
                Ok(jobs) => self.add(jobs),
                Err(blocking::TryRecvError::Empty) => return true,
                Err(blocking::TryRecvError::Disconnected) => return false,
            }
        }
        true
    }

    /// Adds all that is queued. What only tells what happened also waits for what is waited for next, if that comes
    /// soon. In a crowd what is urgent waits a little, too.
    pub(crate) fn gather(
        &mut self,
        queued: &WaitingJobs,
        following: &Following,
        linger: Duration,
        crowd: bool,
    ) {
        let now = Instant::now();
        let patience = match self.follows_many {
            true => FOLLOW_MANY_AFTER,
            false => FOLLOW_AFTER,
        };
        let mut hurry = false;
        while self.direct == 0 {
            let is_due = now.elapsed() >= patience || !self.backlog().is_below(WORTH_A_COMMIT);
            let goes_on = self.take(queued);
            if is_due || !goes_on || hurry {
                break;
            }
            hurry = following.take_hurry(LOOK_EVERY);
        }
        let mut until = now + linger;
        while self.jobs.len() < JOBS_PER_COMMIT && self.direct > 0 {
            let next = match queued.try_recv() {
                Ok(jobs) => Ok(jobs),
                Err(_) if self.is_urgent() && !crowd => return,
                Err(_) => {
                    if self.is_urgent() {
                        until = until.min(now + GATHER);
                    }
                    queued.recv_timeout(until.saturating_duration_since(Instant::now()))
                }
            };
            let Ok(jobs) = next else { return };
            self.add(jobs);
        }
    }
}
