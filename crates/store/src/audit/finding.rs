//! What can be wrong with a history, each as one sentence.

use std::ops::RangeInclusive;

use super::checkpoint_file::CHECKPOINT_FILE;
use super::key::KEY_FILE;

/// The first thing that is wrong. Where the bad entry cannot be told from its neighbours, the
/// entries that it is among are named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    #[error("Entry {seq} was changed: it does not have the hash that stands with it.")]
    Altered { seq: i64 },

    #[error("Entry {seq} was changed: it cannot be read any more ({detail}).")]
    Unreadable { seq: i64, detail: String },

    #[error("Entry {seq} was changed: the input that belongs to it is missing, or another one.")]
    InputChanged { seq: i64 },

    #[error("{} missing, though later ones are there.", are(*.first, *.last))]
    Missing { first: i64, last: i64 },

    #[error("{} missing: the history begins later, and no signed cut says so.", are(*.first, *.last))]
    NoBeginning { first: i64, last: i64 },

    #[error("Entry {seq} was never written: it stands before the beginning of the history.")]
    NeverWritten { seq: i64 },

    #[error("Entry {seq} was replaced: it does not follow the one before it.")]
    DoesNotFollow { seq: i64 },

    #[error("Entry {first} was replaced: entry {last}, which followed it, follows another one.")]
    Replaced { first: i64, last: i64 },

    #[error(
        "Entry {seq} does not begin this history: it was chained anew, or belongs to another {KEY_FILE}."
    )]
    OtherHistory { seq: i64 },

    #[error(
        "{} not what checkpoint {ordinal} signed: something there was changed, and the hashes were made anew to hide it.",
        are(*.first, *.last)
    )]
    NotSigned { first: i64, last: i64, ordinal: i64 },

    #[error("The end of the history is missing: {} signed, but not there.", were(*.first, *.last))]
    Truncated { first: i64, last: i64 },

    #[error(
        "Nothing vouches for entry 1 and those behind it: the history had {size} entries when its {CHECKPOINT_FILE} was begun, so {KEY_FILE} or an earlier {CHECKPOINT_FILE} was removed."
    )]
    BegunLate { size: i64 },

    #[error(
        "{KEY_FILE} is missing beside a history that has begun, so that nothing vouches for entry 1 and those behind it."
    )]
    KeyMissing,

    #[error(
        "{CHECKPOINT_FILE} is missing or empty beside a history that has begun, so that nothing vouches for entry 1 and those behind it."
    )]
    CheckpointsMissing,

    #[error("Line {line} of {CHECKPOINT_FILE} was changed: it is not a checkpoint.")]
    LineUnreadable { line: u64 },

    #[error("Line {line} of {CHECKPOINT_FILE} was changed or forged: {KEY_FILE} did not sign it.")]
    LineChanged { line: u64 },

    #[error(
        "Line {line} of {CHECKPOINT_FILE} does not follow the one before it: lines are missing or in another order."
    )]
    LinesMissing { line: u64 },

    #[error(
        "The last lines of {CHECKPOINT_FILE} are missing: it ends with checkpoint {last}, and the database knows of number {known}."
    )]
    LastLinesMissing { last: i64, known: i64 },
}

impl Finding {
    /// The entries that the bad one is among; `None` when the checkpoints are what is wrong.
    pub fn entries(&self) -> Option<RangeInclusive<i64>> {
        match self {
            Self::Altered { seq }
            | Self::Unreadable { seq, .. }
            | Self::InputChanged { seq }
            | Self::NeverWritten { seq }
            | Self::DoesNotFollow { seq }
            | Self::OtherHistory { seq } => Some(*seq..=*seq),
            Self::Missing { first, last }
            | Self::NoBeginning { first, last }
            | Self::Replaced { first, last }
            | Self::NotSigned { first, last, .. }
            | Self::Truncated { first, last } => Some(*first..=*last),
            Self::BegunLate { size } => Some(1..=*size),
            Self::KeyMissing | Self::CheckpointsMissing => Some(1..=i64::MAX),
            Self::LineUnreadable { .. }
            | Self::LineChanged { .. }
            | Self::LinesMissing { .. }
            | Self::LastLinesMissing { .. } => None,
        }
    }

    /// The first entry that is bad or may be.
    pub fn first_bad_entry(&self) -> Option<i64> {
        self.entries().map(|entries| *entries.start())
    }
}

fn are(first: i64, last: i64) -> String {
    if first == last {
        format!("Entry {first} is")
    } else {
        format!("Entries {first} to {last} are")
    }
}

fn were(first: i64, last: i64) -> String {
    if first == last {
        format!("entry {first} was")
    } else {
        format!("entries {first} to {last} were")
    }
}
