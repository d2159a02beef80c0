//! The verifier. It is given lines and rows and knows nothing of where they come from, and keeps no
//! more of them than the last.

use super::chain::Hash;
use super::checkpoint::{Checkpoint, CheckpointKind, LineCheck, Start};
use super::finding::Finding;
use super::key::Trust;
use super::record::AuditRow;

/// A history with nothing wrong in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    pub entries: u64,
    /// The first and the last entry that are there.
    pub range: Option<(i64, i64)>,
    /// The hash of the last.
    pub head: Option<Hash>,
    /// The newest entry that a checkpoint vouches for. Whoever can write the database could still
    /// remove or change the ones behind it.
    pub signed: i64,
    pub checkpoints: u64,
    /// How the file of checkpoints begins: a cut and an adoption are worth telling.
    pub begins: Option<Beginning>,
    pub trust: Option<Trust>,
}

/// The first checkpoint, where it is not the plain beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    pub kind: CheckpointKind,
    /// In unix milliseconds.
    pub at: i64,
    /// The newest entry at that time.
    pub size: i64,
    pub first: i64,
}

impl Verified {
    /// Of a folder in which no history has begun.
    pub(crate) fn nothing() -> Self {
        Self {
            entries: 0,
            range: None,
            head: None,
            signed: 0,
            checkpoints: 0,
            begins: None,
            trust: None,
        }
    }
}

/// Takes the rows one by one, in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Verifier<Lines> {
    trust: Trust,
    lines: Lines,
    check: LineCheck,
    /// The first checkpoint whose entry has not been reached.
    next: Option<Checkpoint>,
    start: Start,
    begins: Option<Beginning>,
    entries: u64,
    first: i64,
    last: Option<(i64, Hash)>,
    /// All up to this entry is what was signed.
    vouched: i64,
}

impl<Lines: Iterator<Item = String>> Verifier<Lines> {
    /// `lines` are those of the file, whole ones only.
    pub(crate) fn begin(trust: Trust, mut lines: Lines) -> Result<Self, Finding> {
        let mut check = LineCheck::new(trust.clone());
        let line = lines.next().ok_or(Finding::CheckpointsMissing)?;
        let first = check.next(&line)?;
        let genesis = Start {
            first: 1,
            before: trust.history.genesis(),
        };
        let start = match (first.kind, first.start) {
            (CheckpointKind::Begin, None) if first.size == 0 => genesis,
            (CheckpointKind::Begin, _) => return Err(Finding::BegunLate { size: first.size }),
            (CheckpointKind::Cut | CheckpointKind::Adopted, Some(start)) => start,
            (CheckpointKind::Cut | CheckpointKind::Adopted | CheckpointKind::Head, _) => {
                return Err(Finding::LinesMissing { line: 1 });
            }
        };
        let begins = (first.kind != CheckpointKind::Begin).then_some(Beginning {
            kind: first.kind,
            at: first.at,
            size: first.size,
            first: start.first,
        });
        let mut verifier = Self {
            trust,
            lines,
            check,
            next: Some(first),
            start,
            begins,
            entries: 0,
            first: 0,
            last: None,
            vouched: 0,
        };
        // Of a history that was empty when its file was begun.
        while verifier.next.as_ref().is_some_and(|next| next.size == 0) {
            verifier.advance()?;
        }
        Ok(verifier)
    }

    fn advance(&mut self) -> Result<(), Finding> {
        self.next = match self.lines.next() {
            Some(line) => Some(self.check.next(&line)?),
            None => None,
        };
        Ok(())
    }

    pub(crate) fn entry(&mut self, row: &AuditRow) -> Result<(), Finding> {
        let seq = row.seq;
        self.check_number(seq)?;
        let hash = row.expected_hash();
        if row.hash != hash.0 {
            return Err(Finding::Altered { seq });
        }
        self.check_previous(row)?;
        if seq == self.start.first - 1 {
            if hash != self.start.before {
                return Err(self.not_signed(seq));
            }
            self.vouched = seq;
        }
        self.last = Some((seq, hash));
        self.entries += 1;
        while let Some(next) = &self.next
            && next.size <= seq
        {
            if next.size == seq && next.head != hash {
                return Err(self.not_signed(seq));
            }
            self.vouched = next.size;
            self.advance()?;
        }
        Ok(())
    }

    fn check_number(&mut self, seq: i64) -> Result<(), Finding> {
        match self.last {
            Some((last, _)) if seq == last + 1 => Ok(()),
            Some((last, _)) => Err(Finding::Missing {
                first: last + 1,
                last: seq - 1,
            }),
            None if seq < 1 => Err(Finding::NeverWritten { seq }),
            None if seq > self.start.first => Err(Finding::NoBeginning {
                first: self.start.first,
                last: seq - 1,
            }),
            None => {
                self.first = seq;
                Ok(())
            }
        }
    }

    /// The row is whole in itself, so what does not fit is which row stands here.
    fn check_previous(&self, row: &AuditRow) -> Result<(), Finding> {
        let seq = row.seq;
        match self.last {
            Some((_, hash)) if row.previous == hash.0 => Ok(()),
            Some((last, _)) if last == self.vouched => Err(Finding::DoesNotFollow { seq }),
            Some((last, _)) => Err(Finding::Replaced {
                first: last,
                last: seq,
            }),
            None if seq == self.start.first && row.previous != self.start.before.0 => {
                Err(Finding::OtherHistory { seq })
            }
            // Behind a cut, what was not removed yet is held by the hash that the cut names.
            None => Ok(()),
        }
    }

    fn not_signed(&self, last: i64) -> Finding {
        let ordinal = self.next.as_ref().map(|next| next.ordinal);
        Finding::NotSigned {
            first: self.first.max(self.vouched + 1),
            last,
            ordinal: ordinal.unwrap_or(self.check.last().ordinal),
        }
    }

    /// `known` is the number of the last checkpoint, as the database remembers it.
    pub(crate) fn finish(mut self, known: i64) -> Result<Verified, Finding> {
        let there = self.last.map_or(self.start.first - 1, |(last, _)| last);
        while self.next.is_some() {
            self.advance()?;
        }
        let last = *self.check.last();
        if last.size > there {
            return Err(Finding::Truncated {
                first: there + 1,
                last: last.size,
            });
        }
        if last.ordinal < known {
            return Err(Finding::LastLinesMissing {
                last: last.ordinal,
                known,
            });
        }
        Ok(Verified {
            entries: self.entries,
            range: self.last.map(|(last, _)| (self.first, last)),
            head: self.last.map(|(_, hash)| hash),
            signed: last.size,
            checkpoints: self.check.lines(),
            begins: self.begins,
            trust: Some(self.trust),
        })
    }
}
