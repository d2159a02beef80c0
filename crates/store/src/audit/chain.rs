//! The chain: what is hashed, and how.
//!
//! An entry's hash covers every column and the hash before it. Fields are tagged and carry their
//! length, so that no text can be moved from one column to the next without another hash.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::hex;
use super::record::{AuditRecord, AuditRow};
use crate::inputs::Stored;
use crate::rows::UnixMillis;
use crate::sha256::Hasher;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hash({self})")
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hex::deserialize(deserializer).map(Self)
    }
}

/// The random name of a history. It is made with the key, so that the first entry already belongs to
/// one key and to no other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HistoryId(pub [u8; 16]);

impl HistoryId {
    /// What stands in the place of a hash before the first entry.
    pub fn genesis(self) -> Hash {
        let mut encoding = Encoding::new("sayso audit genesis, version 1");
        encoding.bytes(&self.0);
        encoding.finish()
    }
}

impl fmt::Display for HistoryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for HistoryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HistoryId({self})")
    }
}

impl Serialize for HistoryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HistoryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hex::deserialize(deserializer).map(Self)
    }
}

/// The newest entry, as far as the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// 0 before the first.
    pub(crate) seq: i64,
    pub(crate) hash: Hash,
    pub(crate) at: UnixMillis,
}

impl Head {
    pub(crate) fn of_nothing(history: HistoryId) -> Self {
        Self {
            seq: 0,
            hash: history.genesis(),
            at: UnixMillis(0),
        }
    }
}

/// Hashes fields so that no two lists of fields are the same bytes.
pub(crate) struct Encoding(Hasher);

impl Encoding {
    /// The purpose keeps a hash made for one thing from being taken for another.
    pub(crate) fn new(purpose: &str) -> Self {
        let mut encoding = Self(Hasher::new());
        encoding.bytes(purpose.as_bytes());
        encoding
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&[1]);
        self.0.update(&(bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    /// What was bytes where others are a text.
    fn stored(&mut self, bytes: &[u8]) {
        self.0.update(&[3]);
        self.0.update(&(bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn optional_text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.0.update(&[0]),
        }
    }

    pub(crate) fn number(&mut self, number: i64) {
        self.0.update(&[2]);
        self.0.update(&number.to_be_bytes());
    }

    pub(crate) fn finish(self) -> Hash {
        Hash(self.0.finish())
    }
}

/// Every column but the entry's own hash, borrowed from a record or from a row.
struct Fields<'a> {
    seq: i64,
    at: UnixMillis,
    kind: &'a str,
    session_id: Option<&'a str>,
    request_id: Option<&'a str>,
    project: Option<&'a str>,
    tool_name: Option<&'a str>,
    outcome: &'a str,
    actor_kind: &'a str,
    actor_label: &'a str,
    previous: &'a [u8],
    text: &'a str,
    body: Body<'a>,
}

/// With another tag each, so that neither passes for the other.
enum Body<'a> {
    Whole(&'a str),
    /// The digest of an input stands for it.
    WithoutInput(&'a [u8]),
}

impl Fields<'_> {
    fn hash(&self) -> Hash {
        let mut encoding = Encoding::new("sayso audit entry, version 1");
        encoding.number(self.seq);
        encoding.number(self.at.0);
        encoding.text(self.kind);
        encoding.optional_text(self.session_id);
        encoding.optional_text(self.request_id);
        encoding.optional_text(self.project);
        encoding.optional_text(self.tool_name);
        encoding.text(self.outcome);
        encoding.text(self.actor_kind);
        encoding.text(self.actor_label);
        encoding.text(self.text);
        match self.body {
            Body::Whole(text) => encoding.text(text),
            Body::WithoutInput(bytes) => encoding.stored(bytes),
        }
        encoding.bytes(self.previous);
        encoding.finish()
    }
}

impl AuditRecord {
    /// The hash that the record has as entry `seq` behind `previous`. The ids are given as the text
    /// that is stored.
    pub(crate) fn hash(
        &self,
        seq: i64,
        previous: &Hash,
        session_id: Option<&str>,
        request_id: Option<&str>,
        body: &Stored<'_>,
    ) -> Hash {
        Fields {
            seq,
            at: self.at,
            kind: self.kind.as_str(),
            session_id,
            request_id,
            project: self.project.as_deref(),
            tool_name: self.tool_name.as_deref(),
            outcome: &self.outcome,
            actor_kind: self.actor_kind.as_str(),
            actor_label: &self.actor_label,
            previous: &previous.0,
            text: &self.text,
            body: match body {
                Stored::Whole(text) => Body::Whole(text),
                Stored::WithoutInput(bytes) => Body::WithoutInput(bytes),
            },
        }
        .hash()
    }
}

impl AuditRow {
    /// The hash that the row should have, given all else it says. For rows that were read to be checked.
    pub fn expected_hash(&self) -> Hash {
        Fields {
            seq: self.seq,
            at: self.at,
            kind: &self.kind,
            session_id: self.session_id.as_deref(),
            request_id: self.request_id.as_deref(),
            project: self.project.as_deref(),
            tool_name: self.tool_name.as_deref(),
            outcome: &self.outcome,
            actor_kind: &self.actor_kind,
            actor_label: &self.actor_label,
            previous: &self.previous,
            text: &self.text,
            body: match &self.without_input {
                Some(bytes) => Body::WithoutInput(bytes),
                None => Body::Whole(&self.body),
            },
        }
        .hash()
    }
}
