use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::{Shutdown, shutdown};
use tokio::sync::Notify;
use tokio::time::sleep;
use uuid::Uuid;

use super::borrowing::Borrowing;
use super::handle::SendError;
use super::socket::Socket;
use crate::wire::{Again, ToRunner, Welcome};

/// How much may wait for a runner that does not read. It reads all the time, so this is for moments.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

/// How long what was said last may take to be sent after the connection was closed on this side.
const UNTIL_SENT: Duration = Duration::from_secs(5);

/// Frames on their way to a runner.
#[derive(Debug)]
pub(super) struct Outbox {
    state: Mutex<State>,
    changed: Notify,
    /// Something for whoever takes the events to look at.
    pub(super) news: Notify,
    socket: Arc<Socket>,
    pub(super) line_bytes: usize,
    pub(super) runner_lends: bool,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// What the socket has not taken. While there is some, everything queues behind it.
    waiting: Vec<u8>,
    /// The task is writing what was waiting.
    busy: bool,
    pub(super) closed: bool,
    pub(super) borrowing: Borrowing,
}

impl Outbox {
    pub(super) fn open(socket: Arc<Socket>, welcome: &Welcome) -> Arc<Self> {
        let outbox = Arc::new(Self {
            state: Mutex::new(State::default()),
            changed: Notify::new(),
            news: Notify::new(),
            socket,
            line_bytes: welcome.line_bytes,
            runner_lends: welcome.lends,
        });
        tokio::spawn(send_what_waits(Arc::clone(&outbox)));
        outbox
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, message: &ToRunner<'_>) -> Result<(), SendError> {
        let mut state = self.lock();
        if state.closed {
            return Err(SendError::Closed);
        }
        self.push(&mut state, message);
        Ok(())
    }

    pub(super) fn write(&self, id: Uuid, line: &[u8]) -> Result<(), SendError> {
        let mut state = self.lock();
        if state.closed {
            return Err(SendError::Closed);
        }
        if self.write_to_agent(&mut state, id, line) {
            return Ok(());
        }
        // What is short is taken even then: it may be what makes the agent read again, or end.
        if state.waiting.len() > WAITING_BYTES {
            return Err(SendError::Overloaded);
        }
        state.borrowing.leave_to_runner(id, line);
        self.push(&mut state, &ToRunner::Write { id, line });
        Ok(())
    }

    pub(super) fn push(&self, state: &mut State, message: &ToRunner<'_>) {
        message.append(&mut state.waiting);
        if state.busy {
            return;
        }
        // Straight to the socket, which saves waking the task up.
        if let Ok(sent) = self.socket.write(&state.waiting) {
            state.waiting.drain(..sent);
        }
        if state.waiting.is_empty() {
            state.waiting.shrink_to(WAITING_BYTES / 128);
        } else {
            state.busy = true;
            self.changed.notify_one();
        }
    }

    /// Nothing more is taken; what was taken is still sent.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        self.give_back(&mut state, Again::No);
        state.closed = true;
        if state.busy {
            self.changed.notify_one();
        } else {
            self.shut_down();
        }
    }

    fn shut_down(&self) {
        // The only failure is a connection that is down already.
        let _ = shutdown(&*self.socket, Shutdown::Both);
        self.changed.notify_one();
    }

    async fn has_been_closed_for_too_long(&self) {
        while !self.lock().closed {
            self.changed.notified().await;
        }
        sleep(UNTIL_SENT).await;
    }
}

/// Everything that waits goes in one write. Ends when that fails or the connection is closed.
async fn send_what_waits(outbox: Arc<Outbox>) {
    loop {
        let (waiting, closed) = {
            let mut state = outbox.lock();
            let waiting = std::mem::take(&mut state.waiting);
            state.busy = !waiting.is_empty();
            (waiting, state.closed)
        };
        if !waiting.is_empty() {
            let sent = tokio::select! {
                sent = outbox.socket.write_all(&waiting) => sent.is_ok(),
                () = outbox.has_been_closed_for_too_long() => false,
            };
            if !sent {
                outbox.lock().closed = true;
                return outbox.shut_down();
            }
        } else if closed {
            return outbox.shut_down();
        } else {
            outbox.changed.notified().await;
        }
    }
}
