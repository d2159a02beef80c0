//! Checkpoints: signed statements about how long the history is and how it ends.
//!
//! Each is one line of JSON in a file beside the database. A line carries the hash of the one before
//! it, so that none can be taken out or changed without the next one telling.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::chain::{Encoding, Hash, Head, HistoryId};
use super::finding::Finding;
use super::hex;
use super::key::{AuditKey, Trust};

/// What a checkpoint says besides where the history ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// The first line that a key ever signed.
    Begin,
    /// The history is so long by now.
    Head,
    /// Old entries were removed on purpose. Always a file's first line.
    Cut,
    /// A human accepted the history as it was found. Always a file's first line.
    Adopted,
}

impl CheckpointKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Head => "head",
            Self::Cut => "cut",
            Self::Adopted => "adopted",
        }
    }
}

/// Where a history begins that lost its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The first entry that has to be there. Earlier ones may be.
    pub first: i64,
    /// The hash of the entry before it.
    pub before: Hash,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub kind: CheckpointKind,
    /// Counts all lines that the key ever signed, from 1.
    pub ordinal: i64,
    pub history: HistoryId,
    /// The number of the newest entry.
    pub size: i64,
    pub head: Hash,
    /// When the newest entry was made, in unix milliseconds; when it was cut or adopted.
    pub at: i64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<Start>,
    /// The hash of the line before.
    pub previous: Hash,
    signature: SignatureBytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SignatureBytes([u8; 64]);

impl Serialize for SignatureBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for SignatureBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hex::deserialize(deserializer).map(Self)
    }
}

/// The last line of the file, as far as the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastLine {
    pub(crate) ordinal: i64,
    pub(crate) size: i64,
    pub(crate) hash: Hash,
}

impl LastLine {
    pub(crate) const NONE: Self = Self {
        ordinal: 0,
        size: 0,
        hash: Hash([0; 32]),
    };
}

impl Checkpoint {
    /// Signs the statement that follows `last`.
    pub(crate) fn sign(
        key: &AuditKey,
        last: &LastLine,
        kind: CheckpointKind,
        head: &Head,
        start: Option<Start>,
    ) -> Self {
        let mut checkpoint = Self {
            kind,
            ordinal: last.ordinal + 1,
            history: key.history(),
            size: head.seq,
            head: head.hash,
            at: head.at.0,
            start,
            previous: last.hash,
            signature: SignatureBytes([0; 64]),
        };
        checkpoint.signature = SignatureBytes(key.sign(&checkpoint.statement()));
        checkpoint
    }

    /// What is signed: everything but the signature.
    fn statement(&self) -> Hash {
        let mut encoding = Encoding::new("sayso audit checkpoint, version 1");
        encoding.text(self.kind.as_str());
        encoding.number(self.ordinal);
        encoding.bytes(&self.history.0);
        encoding.number(self.size);
        encoding.bytes(&self.head.0);
        encoding.number(self.at);
        match &self.start {
            Some(start) => {
                encoding.number(start.first);
                encoding.bytes(&start.before.0);
            }
            None => encoding.optional_text(None),
        }
        encoding.bytes(&self.previous.0);
        encoding.finish()
    }

    /// Without the line's end.
    pub(crate) fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Only the exact bytes that [`Checkpoint::to_line`] makes are a checkpoint.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let checkpoint: Self = serde_json::from_str(line).ok()?;
        (checkpoint.to_line().ok()? == line).then_some(checkpoint)
    }

    pub(crate) fn last_line(&self, line: &str) -> LastLine {
        let mut encoding = Encoding::new("sayso audit checkpoint line, version 1");
        encoding.text(line);
        LastLine {
            ordinal: self.ordinal,
            size: self.size,
            hash: encoding.finish(),
        }
    }
}

/// Checks lines in their order, each against the key and against the one before.
#[derive(Debug)]
pub(crate) struct LineCheck {
    trust: Trust,
    lines: u64,
    last: LastLine,
}

impl LineCheck {
    pub(crate) fn new(trust: Trust) -> Self {
        Self {
            trust,
            lines: 0,
            last: LastLine::NONE,
        }
    }

    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    pub(crate) fn last(&self) -> &LastLine {
        &self.last
    }

    pub(crate) fn next(&mut self, text: &str) -> Result<Checkpoint, Finding> {
        let line = self.lines + 1;
        let checkpoint = Checkpoint::parse(text).ok_or(Finding::LineUnreadable { line })?;
        let signature = &checkpoint.signature.0;
        if !self.trust.vouches_for(&checkpoint.statement(), signature) {
            return Err(Finding::LineChanged { line });
        }
        let follows = match checkpoint.kind {
            CheckpointKind::Begin => line == 1 && checkpoint.ordinal == 1,
            CheckpointKind::Cut | CheckpointKind::Adopted => line == 1,
            CheckpointKind::Head => {
                line > 1
                    && checkpoint.ordinal == self.last.ordinal + 1
                    && checkpoint.previous == self.last.hash
                    && checkpoint.size >= self.last.size
            }
        };
        if !follows || checkpoint.history != self.trust.history {
            return Err(Finding::LinesMissing { line });
        }
        self.lines = line;
        self.last = checkpoint.last_line(text);
        Ok(checkpoint)
    }
}
