//! What a client and a runner say to each other. What is frequent is binary; what is said once (greetings, the
//! agent's end) is JSON, so that a field can be added without a new version.

pub(crate) mod frame;
mod from_runner;
mod inbox;
mod to_runner;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

pub(crate) use from_runner::FromRunner;
pub(crate) use inbox::Inbox;
pub(crate) use to_runner::ToRunner;

use frame::{Frame, FrameError};

/// A runner speaks exactly this version; it is also in `runner.json`, so that a newer server knows what to speak
/// with a runner that it finds.
pub const PROTOCOL_VERSION: u32 = 1;

pub(crate) const LINE: u8 = 66;

/// The output ended in the middle of this line.
const FRAGMENT: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientHello {
    pub(crate) version: u32,
    pub(crate) after_seq: u64,
}

/// What a runner says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub version: u32,
    pub agent_pid: u32,
    /// What the next line that the agent writes will be.
    pub next_seq: u64,
    /// Lines before this one were acknowledged and are gone.
    pub first_available_seq: u64,
    /// The longest line that it passes in either direction.
    pub line_bytes: usize,
    /// Whether it would [lend](crate::Handle::borrow) its pipes; an earlier build cannot.
    #[serde(default)]
    pub lends: bool,
}

/// A signal to the agent's whole process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentSignal {
    Terminate,
    Kill,
}

/// Why a line did not reach the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WriteFailure {
    /// Nothing was taken: the same id may be tried again.
    #[error("too much waits for an agent that does not read its input")]
    Overloaded,
    #[error("the agent's input is closed")]
    InputClosed,
    #[error("the agent has ended")]
    AgentEnded,
}

/// What a borrower starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lent {
    /// What the next line that the agent writes will be; some of it may have been read already.
    pub(crate) next_seq: u64,
    /// How many lines for the agent came over this connection before.
    pub(crate) writes: u64,
    /// How much may be unacknowledged before the pipes have to be given back.
    pub(crate) room: u64,
}

/// What a borrower leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Returned {
    /// The last line that was handed out.
    pub(crate) received: u64,
    pub(crate) again: Again,
}

/// Whether a client that gives the pipes back would have them again as soon as may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineFrame<'a> {
    pub(crate) seq: u64,
    pub(crate) fragment: bool,
    pub(crate) bytes: &'a [u8],
}

impl<'a> LineFrame<'a> {
    pub(crate) fn append(self, buffer: &mut Vec<u8>) {
        frame::append(buffer, LINE, |buffer| {
            buffer.extend_from_slice(&self.seq.to_le_bytes());
            buffer.push(if self.fragment { FRAGMENT } else { 0 });
            buffer.extend_from_slice(self.bytes);
        });
    }

    pub(crate) fn read(frame: Frame<'a>) -> Option<Self> {
        let seq = frame::array(frame.body, 0).filter(|_| frame.kind == LINE)?;
        let flags = frame.body.get(8)?;
        Some(Self {
            seq: u64::from_le_bytes(seq),
            fragment: flags & FRAGMENT != 0,
            bytes: frame.body.get(9..)?,
        })
    }

    /// The sequence number in bytes that begin with a line's frame, which need not be whole.
    pub(crate) fn peek_seq(bytes: &[u8]) -> Option<u64> {
        frame::array(bytes, frame::PREFIX_BYTES + 1).map(u64::from_le_bytes)
    }
}

fn append_json(buffer: &mut Vec<u8>, kind: u8, value: &impl Serialize) {
    frame::append(buffer, kind, |buffer| {
        // Plain structs into memory cannot fail; an empty body would be refused by the other side.
        let _ = serde_json::to_writer(buffer, value);
    });
}

fn read_json<T: for<'de> Deserialize<'de>>(frame: Frame<'_>) -> Result<T, FrameError> {
    serde_json::from_slice(frame.body).map_err(|_| FrameError::Malformed(frame.kind))
}

fn read_id(frame: Frame<'_>) -> Result<(Uuid, &[u8]), FrameError> {
    let id = frame::array(frame.body, 0).ok_or(FrameError::Malformed(frame.kind))?;
    Ok((
        Uuid::from_bytes(id),
        frame.body.get(16..).unwrap_or_default(),
    ))
}

fn read_number(frame: Frame<'_>, at: usize) -> Result<u64, FrameError> {
    let number = frame::array(frame.body, at).ok_or(FrameError::Malformed(frame.kind))?;
    Ok(u64::from_le_bytes(number))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
