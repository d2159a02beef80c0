//! Waiting for the disk, beside everything else.

use std::fs::File;
use std::io;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

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

/// What the thread is given to do.
#[derive(Debug)]
enum Task {
    Sync(Batch),
    MakeRoom(Arc<File>, Room),
}

/// Each file is given room once.
const MOST_ROOMS: usize = 2;

/// The thread that waits for the disk. What has come meanwhile shares the next wait.
#[derive(Debug)]
pub(super) struct Syncing {
    tasks: blocking::SyncSender<Task>,
    under_way: Arc<AtomicUsize>,
    ended: oneshot::Receiver<()>,
}

impl Syncing {
    /// `most` batches can wait, which is as many as there are jobs: whoever hands one over never waits.
    pub(super) fn start(
        completions: mpsc::Sender<Completion>,
        queue: JobQueue,
        most: usize,
    ) -> io::Result<Self> {
        let (tasks, waiting) = blocking::sync_channel(most + MOST_ROOMS);
        let under_way = Arc::new(AtomicUsize::new(0));
        let busy = Arc::clone(&under_way);
        let (ending, ended) = oneshot::channel();
        thread::Builder::new()
            .name("sayso-disk".to_owned())
            .spawn(move || {
                run(&waiting, &completions, &queue, &busy);
                let _ = ending.send(());
            })?;
        Ok(Self {
            tasks,
            under_way,
            ended,
        })
    }

    /// Whether something waits for the disk that others have to stay behind.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    /// Gives the jobs back when the thread has died.
    pub(super) fn hand_over(&self, batch: Batch) -> Option<Vec<Queued>> {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        match self.tasks.send(Task::Sync(batch)).err()?.0 {
            Task::Sync(batch) => Some(batch.jobs),
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
) {
    while let Ok(first) = waiting.recv() {
        let (mut batches, mut rooms) = (Vec::new(), Vec::new());
        for task in iter::once(first).chain(waiting.try_iter()) {
            match task {
                Task::Sync(batch) => batches.push(batch),
                Task::MakeRoom(file, room) => rooms.push((file, room)),
            }
        }
        let count = batches.len();
        let result = sync(&batches);
        for mut batch in batches {
            if let Err(error) = &result {
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
        under_way.fetch_sub(count, Ordering::SeqCst);
        for (file, room) in rooms {
            room.make(&file);
        }
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
