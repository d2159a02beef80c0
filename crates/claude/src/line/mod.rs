//! Framing: bytes from the agent become checked lines, with bounded memory.

mod inspect;
mod reader;
mod splitter;

use thiserror::Error;

pub use reader::LineReader;
pub use splitter::{LineSplitter, classify, classify_owned};

/// A whole file in a tool call arrives as one line, three times, so the cap must be far above any file an
/// agent sensibly writes; it only stops an agent that never ends a line.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// serde_json refuses the 128th level; what gets past the framing must be readable by everything behind it.
pub const MAX_DEPTH: usize = 127;

/// How much of a line that is not JSON is kept for the human to see.
pub const MAX_NOISE_BYTES: usize = 1024;

/// One JSON line of the agent, without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// True when unpaired surrogate escapes were replaced, so that the text is not what the agent wrote.
    pub repaired: bool,
}

impl Line {
    /// Checks a line that was framed by somebody else.
    pub fn check(text: String) -> Result<Self, LineError> {
        let findings = inspect::inspect(text.as_bytes())?;
        Ok(inspect::repair(text, &findings))
    }
}

/// What the framing found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    Json(Line),
    /// A line that is not a JSON object (some builds print debug text), cut to [`MAX_NOISE_BYTES`].
    Noise(String),
}

#[derive(Debug, Error)]
pub enum LineError {
    #[error("the agent sent a line longer than {limit} bytes")]
    TooLong { limit: usize },
    #[error("the agent sent a line that is not UTF-8 (bad byte at position {position})")]
    NotUtf8 { position: usize },
    #[error("the agent's output ended in the middle of a line, after {bytes} bytes of it")]
    Truncated { bytes: usize },
    #[error("the agent sent JSON nested deeper than {limit} levels")]
    TooDeep { limit: usize },
    #[error("the agent's output could not be read: {0}")]
    Io(#[from] std::io::Error),
}
