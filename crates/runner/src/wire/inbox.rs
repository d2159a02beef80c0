use super::frame::{self, Frame, FrameError};

/// How much is read at once: little, because there is one of these for each agent, and more while more comes.
const LEAST_BYTES: usize = 4 * 1024;
const MOST_BYTES: usize = 64 * 1024;

/// Bytes from a socket that become frames. Never holds more than one frame of the limit and what is read at once.
#[derive(Debug)]
pub(crate) struct Inbox {
    buffer: Vec<u8>,
    /// Bytes before this one were given out already.
    start: usize,
    limit: usize,
    read_at_once: usize,
}

impl Inbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            limit,
            read_at_once: LEAST_BYTES,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Where to read to: append to it. Room for the frame that has begun is made in one step, and what was needed for
    /// much is given back when there is little.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        let is_full = self.buffer.len() == self.buffer.capacity() && !self.buffer.is_empty();
        self.read_at_once = match is_full {
            true => MOST_BYTES.min(2 * self.read_at_once),
            false => LEAST_BYTES,
        };
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > self.read_at_once {
            self.buffer = Vec::new();
        }
        let missing = frame::length(&self.buffer).map_or(0, |length| {
            length.min(self.limit).saturating_sub(self.buffer.len())
        });
        self.buffer.reserve(missing.max(self.read_at_once));
        &mut self.buffer
    }

    /// The next whole frame; `None` when more bytes are needed. After an error the connection is of no use.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let bytes = self.buffer.get(self.start..).unwrap_or_default();
        let parsed = frame::parse(bytes, self.limit)?;
        Ok(parsed.map(|(frame, length)| {
            self.start += length;
            frame
        }))
    }
}
