use super::frame::{self, Frame, FrameError};

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A buffer that grew for one long frame is given back afterwards.
const KEPT_CAPACITY: usize = 256 * 1024;

/// Bytes from a socket that become frames. Never holds more than one frame of the limit and one chunk.
#[derive(Debug)]
pub(crate) struct Inbox {
    buffer: Vec<u8>,
    /// Bytes before this one were given out already.
    start: usize,
    limit: usize,
}

impl Inbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            limit,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Where to read to: append to it. Room for the frame that has begun is made in one step.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.capacity() > KEPT_CAPACITY && self.buffer.len() < KEPT_CAPACITY {
            self.buffer.shrink_to(KEPT_CAPACITY);
        }
        let missing = frame::length(&self.buffer).map_or(0, |length| {
            length.min(self.limit).saturating_sub(self.buffer.len())
        });
        self.buffer.reserve(missing.max(CHUNK_BYTES));
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
