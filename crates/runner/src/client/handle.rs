use std::sync::Arc;

use thiserror::Error;
use uuid::Uuid;

use super::outbox::Outbox;
use super::socket::Socket;
use crate::wire::{AgentSignal, ToRunner, Welcome};

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

    pub(super) fn new(socket: Arc<Socket>, welcome: &Welcome) -> Self {
        let outbox = Outbox::open(socket, welcome);
        Self { outbox }
    }

    /// From now on this side reads and writes the agent's pipes itself whenever the runner can lend them, which saves
    /// a process on the way of each line. Nothing else changes for whoever uses the connection, as long as its
    /// [`Events`](super::Events) are taken all the time: while they are not, nobody reads what the agent writes.
    ///
    /// Does nothing where a runner cannot lend.
    pub fn borrow(&self) -> Result<(), SendError> {
        self.outbox.borrow()
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
        self.outbox.write(id, line)
    }

    /// All lines up to this one are stored. Say so for all that came before waiting for more: an agent may be
    /// waiting for the room.
    pub fn acknowledge(&self, seq: u64) -> Result<(), SendError> {
        self.outbox.acknowledge(seq)
    }

    /// After the lines that were sent before.
    pub fn close_input(&self) -> Result<(), SendError> {
        self.outbox.send_last(&ToRunner::CloseInput)
    }

    pub fn signal(&self, signal: AgentSignal) -> Result<(), SendError> {
        self.outbox.send(&ToRunner::Signal(signal))
    }

    /// Ends the agent in order: close its input, wait, ask to end, wait, kill. The runner sees to all of it.
    pub fn stop(&self) -> Result<(), SendError> {
        self.outbox.send_last(&ToRunner::Stop)
    }

    /// The agent has ended and all it said is stored: the runner deletes its files and goes.
    pub fn forget(&self) -> Result<(), SendError> {
        self.outbox.send(&ToRunner::Forget)
    }
}
