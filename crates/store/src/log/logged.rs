//! A writer whose jobs count as soon as they stand in the log.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::file::{Log, Place};
use super::following::{Backlog, Following};
use super::open_requests::OpenRequests;
use super::record;
use super::sync::{Batch, Syncing};
use crate::error::{ReadError, UnavailableReason, WriteError};
use crate::job::{Queued, WriteJob, behind};
use crate::open::{Durability, Store};
use crate::write::Write;
use crate::writer::{Completion, SubmitError, Writer};

/// A job with more in it than this goes to the database at once.
const LONGEST_RECORD: usize = 1024 * 1024;

/// How much room for records is kept from one flush to the next.
const KEPT_RECORDS: usize = 64 * 1024;

/// The way to the log and, behind it, to the database. Jobs that are submitted wait for [`flush`](Self::flush), which
/// writes all of them in one piece; those that the log does not take go to the database, which reports them later.
#[derive(Debug)]
pub struct LoggedWriter {
    writer: Writer,
    /// `None` for a store in memory.
    log: Option<Log>,
    following: Arc<Following>,
    syncing: Option<Syncing>,
    open: OpenRequests,
    waiting: Vec<Waiting>,
    records: Vec<u8>,
    /// How many records these are.
    recorded: u64,
    queue: usize,
}

/// A job since the last flush.
#[derive(Debug)]
struct Waiting {
    job: WriteJob,
    /// Where among the waiting records its own stands.
    record: Option<Range<usize>>,
}

/// Why there is no writer.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("its thread cannot be started: {0}")]
    Thread(#[from] io::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl LoggedWriter {
    /// Starts what follows the log, and what waits for the disk. `queue` jobs can wait to be written to the database.
    pub async fn start(
        store: Store,
        completions: mpsc::Sender<Completion>,
        queue: usize,
    ) -> Result<Self, StartError> {
        let open = store.open_requests().await?.into_iter();
        let open = open.map(|request| request.id).collect();
        let log = store.take_log();
        let following = Arc::clone(store.following());
        let durability = store.durability();
        let writer = Writer::start(store, completions.clone(), queue)?;
        let syncing = match (&log, durability) {
            (Some(_), Durability::Disk) => {
                Some(Syncing::start(completions, writer.queue().clone())?)
            }
            (Some(_), Durability::Process) | (None, _) => None,
        };
        Ok(Self {
            writer,
            log,
            following,
            syncing,
            open,
            waiting: Vec::new(),
            records: Vec::new(),
            recorded: 0,
            queue,
        })
    }

    /// Takes a job without waiting.
    pub fn submit(&mut self, job: WriteJob) -> Result<(), SubmitError> {
        if self.backlog().jobs + self.waiting.len() >= self.queue {
            return Err(SubmitError::Full(job));
        }
        let record = self.record(&job);
        self.waiting.push(Waiting { job, record });
        Ok(())
    }

    /// What is in the log and not in the database.
    pub fn backlog(&self) -> Backlog {
        self.following.backlog()
    }

    /// Waits until less than this is in the log and not in the database.
    pub async fn followed(&self, most: Backlog) {
        self.following.below(most).await;
    }

    /// Puts the job among the waiting records, if it may stand in the log.
    fn record(&mut self, job: &WriteJob) -> Option<Range<usize>> {
        let log = self.log.as_ref()?;
        if !job.writes.iter().all(is_logged) || !self.open.may_decide(job) {
            return None;
        }
        let seq = log.next_seq() + self.recorded;
        let start = self.records.len();
        if let Err(error) = record::append(&mut self.records, seq, &job.writes) {
            tracing::error!(%error, "a job cannot be written to the log");
            return None;
        }
        if self.records.len() - start > LONGEST_RECORD {
            self.records.truncate(start);
            return None;
        }
        self.open.follow(job);
        self.recorded += 1;
        Some(start..self.records.len())
    }

    /// Writes what was submitted. Gives the jobs that count now or never will; the others are reported later.
    pub fn flush(&mut self) -> Vec<Completion> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        let records = std::mem::take(&mut self.records);
        let mut done = Vec::with_capacity(waiting.len());
        let written = self.write(&records);
        let batch = match written {
            Ok(written) => self.sort(&mut waiting, written, &mut done),
            Err(error) => {
                tracing::warn!(%error, "the log was not written");
                let mut batch = Batch::default();
                for Waiting { job, record } in waiting.drain(..) {
                    match record {
                        Some(_) => done.push(Completion {
                            token: job.token,
                            result: Err(error.clone()),
                        }),
                        None => batch.jobs.push(Queued::direct(job)),
                    }
                }
                batch
            }
        };
        self.hand_over(batch, &mut done);
        self.waiting = waiting;
        self.records = records;
        self.records.clear();
        self.records.shrink_to(KEPT_RECORDS);
        done
    }

    /// The records as one piece at the end of the log. Gives the place of the first and the number it has.
    fn write(&mut self, records: &[u8]) -> Result<Written, WriteError> {
        let count = std::mem::take(&mut self.recorded);
        let Some(log) = self.log.as_mut().filter(|_| count > 0) else {
            return Ok(Written::default());
        };
        if let Some(trouble) = self.following.trouble() {
            return Err(trouble);
        }
        let followed = self.following.safe();
        let left = log.turn(followed);
        if let Some(syncing) = &self.syncing
            && let Some((file, room)) = log.without_room(followed)
        {
            syncing.make_room(file, room);
        }
        let first_seq = log.next_seq();
        let place = log.append(records, count)?;
        Ok(Written {
            first_seq,
            place: Some(place),
            left,
        })
    }

    /// Which jobs count at once, and which wait for the disk or for the database.
    fn sort(
        &self,
        waiting: &mut Vec<Waiting>,
        written: Written,
        done: &mut Vec<Completion>,
    ) -> Batch {
        let mut batch = Batch {
            jobs: Vec::with_capacity(waiting.len()),
            left: written.left,
            ..Batch::default()
        };
        let mut seq = written.first_seq;
        for Waiting { job, record } in waiting.drain(..) {
            let (Some(record), Some(place)) = (record, &written.place) else {
                batch.jobs.push(Queued::direct(job));
                continue;
            };
            let token = job.token;
            if job.decides() && self.syncing.is_some() {
                let offset = place.offset + record.start as u64;
                let file = Arc::clone(&place.file);
                batch.unsynced.push((token, seq, Place { file, offset }));
            } else {
                let result = Ok(());
                done.push(Completion { token, result });
            }
            batch.jobs.push(Queued::logged(job, seq, record.len()));
            seq += 1;
        }
        batch
    }

    fn hand_over(&mut self, batch: Batch, done: &mut Vec<Completion>) {
        if batch.jobs.is_empty() {
            return;
        }
        self.following.queue(behind(&batch.jobs));
        let refused = match &self.syncing {
            Some(syncing) if syncing.is_soon_done(&batch) => match syncing.wait_for(batch) {
                Ok(batch) => {
                    done.extend(batch.unsynced.iter().map(|(token, ..)| Completion {
                        token: *token,
                        result: Ok(()),
                    }));
                    self.writer.queue().hand_over(batch.jobs).err()
                }
                Err(refused) => refused,
            },
            // Behind those that wait for the disk, so that the database gets all in their order.
            Some(syncing)
                if !batch.unsynced.is_empty() || syncing.is_busy() || batch.left.is_some() =>
            {
                syncing.hand_over(batch)
            }
            Some(_) | None => self.writer.queue().hand_over(batch.jobs).err(),
        };
        // Only when its thread has died, of which the process dies too.
        for queued in refused.into_iter().flatten() {
            done.push(Completion {
                token: queued.job.token,
                result: Err(closed()),
            });
        }
    }

    /// Writes what is waiting, lets the database take all of it and empties the log. Completions must be received
    /// meanwhile, or their receiver dropped.
    pub async fn close(mut self) {
        drop(self.flush());
        if let Some(syncing) = self.syncing.take() {
            syncing.close().await;
        }
        self.writer.close().await;
        if self.following.backlog() == Backlog::default()
            && let Some(log) = &self.log
            && let Err(error) = log.clear()
        {
            tracing::warn!(%error, "the log could not be emptied");
        }
    }
}

/// What was written, and where.
#[derive(Debug, Default)]
struct Written {
    first_seq: u64,
    place: Option<Place>,
    left: Option<Arc<std::fs::File>>,
}

/// What happens all the time. The rest is seldom, and the database may refuse it.
fn is_logged(write: &Write) -> bool {
    matches!(
        write,
        Write::PutSession(_)
            | Write::AppendEntry(_)
            | Write::OpenRequest(_)
            | Write::UpdateRequestClock { .. }
            | Write::Decide(_)
            | Write::SetDelivery { .. }
            | Write::UseRule { .. }
            | Write::AppendAudit(_)
    )
}

fn closed() -> WriteError {
    WriteError::Unavailable {
        reason: UnavailableReason::Closed,
        detail: "the writer has stopped".to_owned(),
    }
}
