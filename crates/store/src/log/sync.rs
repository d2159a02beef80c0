//! Waiting for the disk, beside everything else.

use std::fs::File;
use std::io;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::file::Place;
use super::room::Room;
use crate::error::WriteError;
use crate::job::{JobQueue, Queued};
use crate::writer::Completion;

/// How long after a record could not be taken back it is tried again.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Jobs that were written to the log in one piece, on their way to the database.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) jobs: Vec<Queued>,
    /// Those that count only when they are on the disk: token, number and place.
    pub(super) unsynced: Vec<(u64, u64, Place)>,
    /// The file that was full. All in it stands before all in the next one, on the disk too.
    pub(super) left: Option<Arc<File>>,
}

/// A disk that took no longer than this the last time is waited for on the spot: waking a thread for it and being woken
/// by that takes about half as long.
const AT_ONCE: Duration = Duration::from_micros(200);

/// What the thread is given to do.
#[derive(Debug)]
enum Task {
    Sync(Batch),
    /// Of which the disk has said already that it does not keep it.
    TakeBack(Batch, WriteError),
    MakeRoom(Arc<File>, Room),
}

/// The thread that waits for the disk. What has come meanwhile shares the next wait.
#[derive(Debug)]
pub(super) struct Syncing {
    tasks: blocking::Sender<Task>,
    under_way: Arc<AtomicUsize>,
    /// How long the disk took the last time.
    took: Arc<Took>,
    ended: oneshot::Receiver<()>,
}

#[derive(Debug)]
struct Took(AtomicU64);

impl Took {
    fn measure<T>(&self, wait: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = wait();
        let nanoseconds = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.store(nanoseconds, Ordering::Relaxed);
        result
    }

    fn last(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl Syncing {
    /// Whoever hands over a batch never waits. Not more of them wait than there are jobs, of which the caller takes no
    /// more than it said, and each file is given room once.
    pub(super) fn start(
        completions: mpsc::Sender<Completion>,
        queue: JobQueue,
    ) -> io::Result<Self> {
        let (tasks, waiting) = blocking::channel();
        let under_way = Arc::new(AtomicUsize::new(0));
        let busy = Arc::clone(&under_way);
        // Until it is known the thread waits.
        let took = Arc::new(Took(AtomicU64::new(u64::MAX)));
        let measured = Arc::clone(&took);
        let (ending, ended) = oneshot::channel();
        thread::Builder::new()
            .name("sayso-disk".to_owned())
            .spawn(move || {
                run(&waiting, &completions, &queue, &busy, &measured);
                let _ = ending.send(());
            })?;
        Ok(Self {
            tasks,
            under_way,
            took,
            ended,
        })
    }

    /// Whether something waits for the disk that others have to stay behind.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    /// Whether one decision is sooner on the disk when nobody else is told to wait for it. Several share a wait that
    /// others do not have to wait for.
    pub(super) fn is_soon_done(&self, batch: &Batch) -> bool {
        batch.unsynced.len() == 1 && !self.is_busy() && self.took.last() <= AT_ONCE
    }

    /// Waits for the disk. Gives the jobs back when they are there, for the database.
    pub(super) fn wait_for(&self, batch: Batch) -> Result<Batch, Option<Vec<Queued>>> {
        let batches = [batch];
        let result = self.took.measure(|| sync(&batches));
        let [batch] = batches;
        match result {
            Ok(()) => Ok(batch),
            Err(error) => Err(self.give(Task::TakeBack(batch, error))),
        }
    }

    /// Gives the jobs back when the thread has died.
    pub(super) fn hand_over(&self, batch: Batch) -> Option<Vec<Queued>> {
        self.give(Task::Sync(batch))
    }

    fn give(&self, task: Task) -> Option<Vec<Queued>> {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        match self.tasks.send(task).err()?.0 {
            Task::Sync(batch) | Task::TakeBack(batch, _) => Some(batch.jobs),
            Task::MakeRoom(..) => None,
        }
    }

    /// When nothing else is waiting.
    pub(super) fn make_room(&self, file: Arc<File>, room: Room) {
        if self.tasks.send(Task::MakeRoom(file, room)).is_err() {
            tracing::error!("what waits for the disk has stopped");
        }
    }

    pub(super) async fn close(self) {
        drop(self.tasks);
        if self.ended.await.is_err() {
            tracing::error!("what waits for the disk ended before its queue was empty");
        }
    }
}

fn run(
    waiting: &blocking::Receiver<Task>,
    completions: &mpsc::Sender<Completion>,
    queue: &JobQueue,
    under_way: &AtomicUsize,
    took: &Took,
) {
    while let Ok(first) = waiting.recv() {
        let (mut batches, mut refused, mut rooms) = (Vec::new(), Vec::new(), Vec::new());
        for task in iter::once(first).chain(waiting.try_iter()) {
            match task {
                Task::Sync(batch) => batches.push(batch),
                Task::TakeBack(batch, error) => refused.push((batch, error)),
                Task::MakeRoom(file, room) => rooms.push((file, room)),
            }
        }
        let count = batches.len() + refused.len();
        // Whoever waited for the disk itself did so before the others were given to this thread.
        for (batch, error) in refused {
            finish(batch, &Err(error), completions, queue);
        }
        if !batches.is_empty() {
            let result = took.measure(|| sync(&batches));
            for batch in batches {
                finish(batch, &result, completions, queue);
            }
        }
        under_way.fetch_sub(count, Ordering::SeqCst);
        for (file, room) in rooms {
            room.make(&file);
        }
    }
}

/// Tells what became of a batch, and lets the database have it.
fn finish(
    mut batch: Batch,
    result: &Result<(), WriteError>,
    completions: &mpsc::Sender<Completion>,
    queue: &JobQueue,
) {
    if let Err(error) = result {
        take_back(&mut batch, error);
    }
    for (token, ..) in &batch.unsynced {
        let completion = Completion {
            token: *token,
            result: result.clone(),
        };
        completions.blocking_send(completion).ok();
    }
    if queue.hand_over(batch.jobs).is_err() {
        tracing::error!("the writer has stopped before all was written");
    }
}

/// One wait for each file, however many batches are in it.
fn sync(batches: &[Batch]) -> Result<(), WriteError> {
    let mut synced: Vec<&Arc<File>> = Vec::new();
    for batch in batches {
        let places = batch.unsynced.iter().map(|(_, _, place)| &place.file);
        for file in batch.left.iter().chain(places) {
            if !synced.iter().any(|known| Arc::ptr_eq(known, file)) {
                file.sync_data()?;
                synced.push(file);
            }
        }
    }
    Ok(())
}

/// What is not on the disk does not count: neither now nor when the log is read again.
fn take_back(batch: &mut Batch, error: &WriteError) {
    tracing::error!(%error, "the disk does not keep the log");
    for (_, seq, place) in &batch.unsynced {
        while let Err(error) = place.take_back() {
            tracing::error!(%error, "a refused decision still stands in the log");
            thread::sleep(TRY_AGAIN_AFTER);
        }
        for queued in &mut batch.jobs {
            if queued.seq == Some(*seq) {
                queued.job.writes.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{self, WriteJob};
    use crate::{RuleId, UnixMillis, Write};
    use uuid::Uuid;

    /// One job that counts when the file is on the disk.
    fn batch(file: File) -> Batch {
        let write = Write::UseRule {
            id: RuleId(Uuid::nil()),
            at: UnixMillis(0),
        };
        let job = WriteJob {
            token: 7,
            writes: vec![write],
        };
        let file = Arc::new(file);
        Batch {
            jobs: vec![Queued::logged(job, 1, 0)],
            unsynced: vec![(7, 1, Place { file, offset: 0 })],
            left: None,
        }
    }

    fn waits_itself(syncing: &Syncing) -> Batch {
        let file = tempfile::tempfile().unwrap();
        syncing.took.0.store(0, Ordering::Relaxed);
        let batch = batch(file);
        assert!(syncing.is_soon_done(&batch));
        batch
    }

    #[tokio::test]
    async fn a_fast_disk_is_waited_for_on_the_spot_and_a_slow_one_is_not() {
        let (completed, mut completions) = mpsc::channel(4);
        let (jobs, _written) = job::queue();
        let syncing = Syncing::start(completed, jobs).unwrap();
        let unknown = batch(tempfile::tempfile().unwrap());
        assert!(!syncing.is_soon_done(&unknown), "nobody knows how fast");
        let batch = syncing.wait_for(waits_itself(&syncing)).unwrap();
        assert_eq!(batch.jobs[0].job.writes.len(), 1);
        assert!(completions.try_recv().is_err(), "the caller tells");
        syncing.took.0.store(u64::MAX, Ordering::Relaxed);
        assert!(!syncing.is_soon_done(&batch));
    }

    #[tokio::test]
    async fn what_the_disk_does_not_keep_is_taken_back_whoever_waited() {
        let (completed, mut completions) = mpsc::channel(4);
        let (jobs, written) = job::queue();
        let syncing = Syncing::start(completed, jobs).unwrap();
        // It takes every byte and keeps none, and says so when it is asked to.
        let nothing = || File::options().write(true).open("/dev/null").unwrap();
        assert!(syncing.wait_for(batch(nothing())).unwrap_err().is_none());
        assert!(syncing.hand_over(batch(nothing())).is_none());
        for _ in 0..2 {
            let completion = completions.recv().await.unwrap();
            assert_eq!(completion.token, 7);
            assert!(completion.result.is_err());
            let jobs = written.recv().unwrap();
            assert_eq!(jobs.len(), 1);
            assert!(jobs[0].job.writes.is_empty(), "the database gets nothing");
        }
    }
}
