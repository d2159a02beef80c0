//! What a runner says.

use uuid::Uuid;

use super::frame::{self, Frame, FrameError};
use super::{
    LINE, Lent, LineFrame, Welcome, WriteFailure, append_json, read_id, read_json, read_number,
};
use crate::ending::Exited;

const RUNNER_HELLO: u8 = 65;
const WRITTEN: u8 = 67;
const WRITE_FAILED: u8 = 68;
const EXITED: u8 = 69;
const REPLACED: u8 = 70;
const INPUT_STALLED: u8 = 71;
const INPUT_WAITS: u8 = 72;
const INPUT_TAKEN: u8 = 73;
const REMEMBERED: u8 = 74;
const LENT: u8 = 75;
const RECALL: u8 = 76;

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
    /// The ids that are remembered, 16 bytes each: a line with one of them is not for a borrower to write.
    Remembered(&'a [u8]),
    /// The agent's pipes are the client's until it gives them back. They come along with this.
    Lent(Lent),
    /// The pipes are to be given back.
    Recall,
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
            Self::Remembered(ids) => frame::append(buffer, REMEMBERED, |buffer| {
                buffer.extend_from_slice(ids);
            }),
            Self::Lent(lent) => frame::append(buffer, LENT, |buffer| {
                for number in [lent.next_seq, lent.writes, lent.room] {
                    buffer.extend_from_slice(&number.to_le_bytes());
                }
            }),
            Self::Recall => frame::append(buffer, RECALL, |_| {}),
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
            REMEMBERED => Self::Remembered(frame.body),
            LENT => Self::Lent(Lent {
                next_seq: read_number(frame, 0)?,
                writes: read_number(frame, 8)?,
                room: read_number(frame, 16)?,
            }),
            RECALL => Self::Recall,
            kind => return Err(FrameError::UnknownKind(kind)),
        })
    }
}
