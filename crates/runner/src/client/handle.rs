use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::{Shutdown, shutdown};
use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::sleep;
use uuid::Uuid;

use super::socket::Socket;
use crate::wire::{AgentSignal, ToRunner};

/// How much may wait for a runner that does not read. It reads all the time, so this is for moments.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

/// How long what was said last may take to be sent after the connection was closed on this side.
const UNTIL_SENT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    #[error("too much waits for the runner")]
    Overloaded,
    #[error("the line is longer than {limit} bytes")]
    TooLong { limit: usize },
    /// It would be two lines, or the half of one.
    #[error("the line has a line end in it")]
    NotOneLine,
    #[error("the connection to the runner is closed")]
    Closed,
}

/// The way to tell a runner something. Clones share one connection, which lives as long as its
/// [`Events`](super::Events). Nothing here waits: what the socket does not take at once is sent by a task.
#[derive(Debug, Clone)]
pub struct Handle {
    outbox: Arc<Outbox>,
}

impl Handle {
    pub(super) fn outbox(&self) -> Arc<Outbox> {
        Arc::clone(&self.outbox)
    }

    pub(super) fn new(socket: Arc<Socket>, line_bytes: usize) -> Self {
        let outbox = Arc::new(Outbox {
            state: Mutex::new(State::default()),
            changed: Notify::new(),
            socket,
            line_bytes,
        });
        tokio::spawn(send_what_waits(Arc::clone(&outbox)));
        Self { outbox }
    }

    /// A line for the agent, without its line end. It is written once for an id, however often and over however
    /// many connections it is sent; [`Event::Written`](super::Event::Written) or
    /// [`Event::WriteFailed`](super::Event::WriteFailed) tells what became of it.
    pub fn write(&self, id: Uuid, line: &[u8]) -> Result<(), SendError> {
        let limit = self.outbox.line_bytes;
        if line.len() > limit {
            return Err(SendError::TooLong { limit });
        }
        if memchr::memchr(b'\n', line).is_some() {
            return Err(SendError::NotOneLine);
        }
        self.outbox.send(&ToRunner::Write { id, line })
    }

    /// All lines up to this one are stored. Say so for all that came before waiting for more: an agent may be
    /// waiting for the room.
    pub fn acknowledge(&self, seq: u64) -> Result<(), SendError> {
        self.outbox.send(&ToRunner::Ack(seq))
    }

    /// After the lines that were sent before.
    pub fn close_input(&self) -> Result<(), SendError> {
        self.outbox.send(&ToRunner::CloseInput)
    }

    pub fn signal(&self, signal: AgentSignal) -> Result<(), SendError> {
        self.outbox.send(&ToRunner::Signal(signal))
    }

    /// Ends the agent in order: close its input, wait, ask to end, wait, kill. The runner sees to all of it.
    pub fn stop(&self) -> Result<(), SendError> {
        self.outbox.send(&ToRunner::Stop)
    }

    /// The agent has ended and all it said is stored: the runner deletes its files and goes.
    pub fn forget(&self) -> Result<(), SendError> {
        self.outbox.send(&ToRunner::Forget)
    }
}

/// Frames on their way to a runner.
#[derive(Debug)]
pub(super) struct Outbox {
    state: Mutex<State>,
    changed: Notify,
    socket: Arc<Socket>,
    line_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    /// What the socket has not taken. While there is some, everything queues behind it.
    waiting: Vec<u8>,
    /// The task is writing what was waiting.
    busy: bool,
    closed: bool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, message: &ToRunner<'_>) -> Result<(), SendError> {
        let mut state = self.lock();
        if state.closed {
            return Err(SendError::Closed);
        }
        // What is short is taken even then: it may be what makes the agent read again, or end.
        if state.waiting.len() > WAITING_BYTES && matches!(message, ToRunner::Write { .. }) {
            return Err(SendError::Overloaded);
        }
        message.append(&mut state.waiting);
        if state.busy {
            return Ok(());
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
        Ok(())
    }

    /// Nothing more is taken; what was taken is still sent.
    pub(super) fn close(&self) {
        let mut state = self.lock();
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
