//! What waits for one client: the hub fills it, the socket empties it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How many frames may wait for one client.
const FRAMES: usize = 1024;
/// How many bytes may wait for one client; a larger frame goes alone.
const BYTES: usize = 16 * 1024 * 1024;
/// How many of them may wait while the client takes nothing.
const STUCK_BYTES: usize = 2 * 1024 * 1024;
/// A client takes nothing when its socket has been full for this long. Hub and sockets share a thread, and the
/// client's own may be busy: for less than this nobody can tell who is to blame.
const STUCK_AFTER: Duration = Duration::from_millis(10);
/// How many bytes of history may wait beside them, so that reading back does
/// not push out what happens now.
const HISTORY_BYTES: usize = 2 * 1024 * 1024;

/// The sending half of a client's queue. A client that does not keep up is
/// marked as lagging instead of being waited for.
#[derive(Clone, Debug)]
pub struct Outbox {
    frames: mpsc::Sender<Frame>,
    room: Arc<Semaphore>,
    history_room: Arc<Semaphore>,
    state: Arc<State>,
    closing: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    lagging: AtomicBool,
    /// Since when the socket is full.
    full_since: Mutex<Option<Instant>>,
}

/// One text frame. Its share of the client's room is free again when it is dropped.
#[derive(Debug)]
pub struct Frame {
    pub text: Utf8Bytes,
    _share: OwnedSemaphorePermit,
}

/// A queue for one client.
pub fn outbox() -> (Outbox, mpsc::Receiver<Frame>) {
    let (frames, receiver) = mpsc::channel(FRAMES);
    let outbox = Outbox {
        frames,
        room: Arc::new(Semaphore::new(BYTES)),
        history_room: Arc::new(Semaphore::new(HISTORY_BYTES)),
        closing: CancellationToken::new(),
        state: Arc::default(),
    };
    (outbox, receiver)
}

impl Outbox {
    /// Queues without waiting. `false` means that the client lags.
    pub(super) fn try_send(&self, text: Utf8Bytes) -> bool {
        if self.is_lagging() {
            return false;
        }
        let sent = !self.is_stuck_before(text.len()) && self.queue(text);
        if !sent {
            self.state.lagging.store(true, Ordering::Release);
        }
        sent
    }

    fn queue(&self, text: Utf8Bytes) -> bool {
        let share = u32::try_from(text.len().min(BYTES)).unwrap_or(u32::MAX);
        let Ok(share) = Arc::clone(&self.room).try_acquire_many_owned(share) else {
            return false;
        };
        let frame = Frame {
            text,
            _share: share,
        };
        self.frames.try_send(frame).is_ok()
    }

    /// Whether so many bytes more are too many for a client that takes nothing.
    fn is_stuck_before(&self, more: usize) -> bool {
        let waiting = BYTES.saturating_sub(self.room.available_permits());
        if waiting == 0 || waiting + more <= STUCK_BYTES {
            return false;
        }
        let full_since = *self.full_since();
        full_since.is_some_and(|since| since.elapsed() >= STUCK_AFTER)
    }

    /// Waits for room; for history, which may be large. `false` when the client has gone.
    pub async fn send(&self, text: Utf8Bytes) -> bool {
        let share = u32::try_from(text.len().min(HISTORY_BYTES)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.history_room);
        let Ok(share) = room.acquire_many_owned(share).await else {
            return false;
        };
        self.frames
            .send(Frame {
                text,
                _share: share,
            })
            .await
            .is_ok()
    }

    /// Gives frames to the socket, and knows meanwhile since when that is full. It is tried again when the socket has
    /// taken something. That happens also when the client says something: whoever talks without end and never reads
    /// can fill all the room, as others can by reading slowly.
    pub async fn giving<T>(&self, giving: impl Future<Output = T>) -> T {
        let mut giving = pin!(giving);
        let given = poll_fn(|context| {
            let polled = giving.as_mut().poll(context);
            *self.full_since() = polled.is_pending().then(Instant::now);
            polled
        });
        given.await
    }

    fn full_since(&self) -> MutexGuard<'_, Option<Instant>> {
        let since = self.state.full_since.lock();
        since.unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_lagging(&self) -> bool {
        self.state.lagging.load(Ordering::Acquire)
    }

    /// Ends when the server says goodbye.
    pub async fn closed(&self) {
        self.closing.cancelled().await;
    }

    pub(super) fn close(&self) {
        self.closing.cancel();
    }

    pub(super) fn caught_up(&self) {
        self.state.lagging.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::task::{Context, Waker};

    use super::*;

    const KILOBYTES: usize = 64 * 1024;

    fn large() -> Utf8Bytes {
        "x".repeat(KILOBYTES).into()
    }

    /// How many bytes are queued before the client lags.
    fn fill(outbox: &Outbox) -> usize {
        let mut bytes = 0;
        while outbox.try_send(large()) {
            bytes += KILOBYTES;
        }
        bytes
    }

    /// As a socket does that is tried once.
    fn give(outbox: &Outbox, socket: impl Future<Output = ()>) {
        let giving = pin!(outbox.giving(socket));
        let _ = giving.poll(&mut Context::from_waker(Waker::noop()));
    }

    #[tokio::test(start_paused = true)]
    async fn little_waits_for_a_client_that_takes_nothing() {
        let (outbox, _queued) = outbox();
        give(&outbox, pending());
        tokio::time::advance(STUCK_AFTER).await;
        assert_eq!(fill(&outbox), STUCK_BYTES);
        assert!(outbox.is_lagging());
    }

    #[tokio::test(start_paused = true)]
    async fn much_waits_for_one_that_had_no_time_to_take_it() {
        let (outbox, _queued) = outbox();
        give(&outbox, pending());
        assert_eq!(fill(&outbox), BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn much_waits_for_one_that_takes_something_all_the_time() {
        let (outbox, _queued) = outbox();
        give(&outbox, pending());
        tokio::time::advance(STUCK_AFTER).await;
        give(&outbox, pending());
        assert_eq!(fill(&outbox), BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_taken_all_is_not_stuck() {
        let (outbox, _queued) = outbox();
        give(&outbox, pending());
        give(&outbox, ready(()));
        tokio::time::advance(STUCK_AFTER).await;
        assert_eq!(fill(&outbox), BYTES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_that_is_larger_than_all_room_goes_alone() {
        let (outbox, mut queued) = outbox();
        give(&outbox, pending());
        tokio::time::advance(STUCK_AFTER).await;
        assert!(outbox.try_send("x".repeat(2 * STUCK_BYTES).into()));
        assert!(!outbox.try_send("x".into()));
        outbox.caught_up();
        drop(queued.try_recv().unwrap());
        assert!(outbox.try_send("x".into()));
    }
}
