use tokio::io::{AsyncRead, AsyncReadExt};

use super::{LineError, LineSplitter, MAX_LINE_BYTES, Received};

const CHUNK_BYTES: usize = 64 * 1024;

/// Reads lines from the agent's output. Never holds more than one line's limit plus one chunk.
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    splitter: LineSplitter,
    chunk: Vec<u8>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub fn new(source: R) -> Self {
        Self::with_limit(source, MAX_LINE_BYTES)
    }

    pub fn with_limit(source: R, limit: usize) -> Self {
        Self {
            source,
            splitter: LineSplitter::with_limit(limit),
            chunk: vec![0; CHUNK_BYTES],
            ended: false,
        }
    }

    /// `None` at the end of the output. Safe to cancel: nothing read is lost.
    pub async fn next(&mut self) -> Result<Option<Received>, LineError> {
        loop {
            if let Some(line) = self.splitter.next_line()? {
                return Ok(Some(line));
            }
            if self.ended {
                return self.splitter.finish();
            }
            let count = self.source.read(&mut self.chunk).await?;
            self.ended = count == 0;
            self.splitter
                .push(self.chunk.get(..count).unwrap_or_default());
        }
    }
}
