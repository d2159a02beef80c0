//! What a client and a runner say to each other. What is frequent is binary; what is said once (greetings, the
//! agent's end) is JSON, so that a field can be added without a new version.

pub(crate) mod frame;
mod inbox;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

pub(crate) use inbox::Inbox;

use crate::ending::Exited;
use frame::{Frame, FrameError};

/// A runner speaks exactly this version; it is also in `runner.json`, so that a newer server knows what to speak
/// with a runner that it finds.
pub const PROTOCOL_VERSION: u32 = 1;

const CLIENT_HELLO: u8 = 1;
const ACK: u8 = 2;
const WRITE: u8 = 3;
const CLOSE_INPUT: u8 = 4;
const SIGNAL: u8 = 5;
const STOP: u8 = 6;
const FORGET: u8 = 7;

const RUNNER_HELLO: u8 = 65;
pub(crate) const LINE: u8 = 66;
const WRITTEN: u8 = 67;
const WRITE_FAILED: u8 = 68;
const EXITED: u8 = 69;
const REPLACED: u8 = 70;
const INPUT_STALLED: u8 = 71;
const INPUT_WAITS: u8 = 72;
const INPUT_TAKEN: u8 = 73;

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToRunner<'a> {
    Hello(ClientHello),
    Ack(u64),
    Write { id: Uuid, line: &'a [u8] },
    CloseInput,
    Signal(AgentSignal),
    Stop,
    Forget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FromRunner<'a> {
    Hello(Welcome),
    Line(LineFrame<'a>),
    Written(Uuid),
    WriteFailed(Uuid, WriteFailure),
    Exited(Box<Exited>),
    /// Somebody else has connected; nothing more comes on this connection.
    Replaced,
    /// Lines have waited for a moment.
    InputWaits,
    /// The agent has read some of them after all.
    InputTaken,
    /// Lines have waited for too long. They still wait.
    InputStalled,
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

impl<'a> ToRunner<'a> {
    pub(crate) fn append(&self, buffer: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => append_json(buffer, CLIENT_HELLO, hello),
            Self::Ack(seq) => frame::append(buffer, ACK, |buffer| {
                buffer.extend_from_slice(&seq.to_le_bytes());
            }),
            Self::Write { id, line } => frame::append(buffer, WRITE, |buffer| {
                buffer.extend_from_slice(id.as_bytes());
                buffer.extend_from_slice(line);
            }),
            Self::CloseInput => frame::append(buffer, CLOSE_INPUT, |_| {}),
            Self::Signal(signal) => frame::append(buffer, SIGNAL, |buffer| {
                buffer.push(match signal {
                    AgentSignal::Terminate => 15,
                    AgentSignal::Kill => 9,
                });
            }),
            Self::Stop => frame::append(buffer, STOP, |_| {}),
            Self::Forget => frame::append(buffer, FORGET, |_| {}),
        }
    }

    pub(crate) fn read(frame: Frame<'a>) -> Result<Self, FrameError> {
        let malformed = || FrameError::Malformed(frame.kind);
        Ok(match frame.kind {
            CLIENT_HELLO => Self::Hello(read_json(frame)?),
            ACK => {
                let seq = frame::array(frame.body, 0).ok_or_else(malformed)?;
                Self::Ack(u64::from_le_bytes(seq))
            }
            WRITE => {
                let (id, line) = read_id(frame)?;
                Self::Write { id, line }
            }
            CLOSE_INPUT => Self::CloseInput,
            SIGNAL => Self::Signal(match frame.body {
                [15] => AgentSignal::Terminate,
                [9] => AgentSignal::Kill,
                _ => return Err(malformed()),
            }),
            STOP => Self::Stop,
            FORGET => Self::Forget,
            kind => return Err(FrameError::UnknownKind(kind)),
        })
    }
}

impl<'a> FromRunner<'a> {
    pub(crate) fn append(&self, buffer: &mut Vec<u8>) {
        match self {
            Self::Hello(welcome) => append_json(buffer, RUNNER_HELLO, welcome),
            Self::Line(line) => line.append(buffer),
            Self::Written(id) => frame::append(buffer, WRITTEN, |buffer| {
                buffer.extend_from_slice(id.as_bytes());
            }),
            Self::WriteFailed(id, failure) => frame::append(buffer, WRITE_FAILED, |buffer| {
                buffer.extend_from_slice(id.as_bytes());
                buffer.push(match failure {
                    WriteFailure::Overloaded => 0,
                    WriteFailure::InputClosed => 1,
                    WriteFailure::AgentEnded => 2,
                });
            }),
            Self::Exited(exited) => append_json(buffer, EXITED, exited),
            Self::Replaced => frame::append(buffer, REPLACED, |_| {}),
            Self::InputWaits => frame::append(buffer, INPUT_WAITS, |_| {}),
            Self::InputTaken => frame::append(buffer, INPUT_TAKEN, |_| {}),
            Self::InputStalled => frame::append(buffer, INPUT_STALLED, |_| {}),
        }
    }

    pub(crate) fn read(frame: Frame<'a>) -> Result<Self, FrameError> {
        let malformed = || FrameError::Malformed(frame.kind);
        Ok(match frame.kind {
            RUNNER_HELLO => Self::Hello(read_json(frame)?),
            LINE => Self::Line(LineFrame::read(frame).ok_or_else(malformed)?),
            WRITTEN => Self::Written(read_id(frame)?.0),
            WRITE_FAILED => {
                let (id, rest) = read_id(frame)?;
                let failure = match rest {
                    [0] => WriteFailure::Overloaded,
                    [1] => WriteFailure::InputClosed,
                    [2] => WriteFailure::AgentEnded,
                    _ => return Err(malformed()),
                };
                Self::WriteFailed(id, failure)
            }
            EXITED => Self::Exited(Box::new(read_json(frame)?)),
            REPLACED => Self::Replaced,
            INPUT_WAITS => Self::InputWaits,
            INPUT_TAKEN => Self::InputTaken,
            INPUT_STALLED => Self::InputStalled,
            kind => return Err(FrameError::UnknownKind(kind)),
        })
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

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
