//! What a client says.

use uuid::Uuid;

use super::frame::{self, Frame, FrameError};
use super::{
    Again, AgentSignal, ClientHello, Returned, append_json, read_id, read_json, read_number,
};

const CLIENT_HELLO: u8 = 1;
const ACK: u8 = 2;
const WRITE: u8 = 3;
const CLOSE_INPUT: u8 = 4;
const SIGNAL: u8 = 5;
const STOP: u8 = 6;
const FORGET: u8 = 7;
const BORROW: u8 = 8;
const RETURN: u8 = 9;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToRunner<'a> {
    Hello(ClientHello),
    Ack(u64),
    Write {
        id: Uuid,
        line: &'a [u8],
    },
    CloseInput,
    Signal(AgentSignal),
    Stop,
    Forget,
    /// The client would read and write the agent's pipes itself.
    Borrow,
    Return(Returned),
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
            Self::Borrow => frame::append(buffer, BORROW, |_| {}),
            Self::Return(returned) => frame::append(buffer, RETURN, |buffer| {
                buffer.extend_from_slice(&returned.received.to_le_bytes());
                buffer.push(match returned.again {
                    Again::No => 0,
                    Again::Yes => 1,
                });
            }),
        }
    }

    pub(crate) fn read(frame: Frame<'a>) -> Result<Self, FrameError> {
        let malformed = || FrameError::Malformed(frame.kind);
        Ok(match frame.kind {
            CLIENT_HELLO => Self::Hello(read_json(frame)?),
            ACK => Self::Ack(read_number(frame, 0)?),
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
            BORROW => Self::Borrow,
            RETURN => Self::Return(Returned {
                received: read_number(frame, 0)?,
                again: match frame.body.get(8..) {
                    Some([0]) => Again::No,
                    Some([1]) => Again::Yes,
                    Some(_) | None => return Err(malformed()),
                },
            }),
            kind => return Err(FrameError::UnknownKind(kind)),
        })
    }
}
