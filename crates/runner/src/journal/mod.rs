//! The agent's output on disk, from the moment it is read until a client has stored it.
//!
//! Lines get numbers from 1 and go to the end of the newest of some segment files, each named by its first
//! number. A line is one [frame](crate::wire::frame) and never divided between two files. Nothing is synced:
//! the journal survives the death of processes, not that of the machine, and neither does the agent.
//!
//! The bound is on whole files: what is on disk counts until its file is deleted, which is when its last line
//! is acknowledged.

mod cursor;
#[cfg(test)]
mod fuzz;
mod offline;
mod segment;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(crate) use cursor::Cursor;
pub use offline::{JournalError, JournalLine, JournalReader, read_journal};
use segment::Segment;

use crate::spec::Limits;
use crate::wire::LineFrame;

/// A buffer that grew for one long line is given back afterwards.
const KEPT_CAPACITY: usize = 128 * 1024;

/// A place between two bytes of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Position {
    /// By its first line's number.
    segment: u64,
    offset: u64,
}

#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    /// Oldest first; the last one is written to.
    segments: VecDeque<Segment>,
    /// Of the last segment.
    file: Option<File>,
    /// Frames that are numbered, but not in a file yet.
    staged: Vec<u8>,
    next_staged: u64,
    /// The number after the last line in a file.
    next_seq: u64,
    acknowledged: u64,
    /// In all files that exist.
    retained: u64,
    /// In all files that ever were.
    written: u64,
    segment_bytes: u64,
    journal_bytes: u64,
}

impl Journal {
    pub(crate) fn new(folder: &Path, limits: &Limits) -> Self {
        Self {
            folder: folder.to_owned(),
            segments: VecDeque::new(),
            file: None,
            staged: Vec::new(),
            next_staged: 1,
            next_seq: 1,
            acknowledged: 0,
            retained: 0,
            written: 0,
            segment_bytes: limits.segment_bytes.min(limits.journal_bytes),
            journal_bytes: limits.journal_bytes,
        }
    }

    /// Numbers a line. It is in the journal after the next [`commit`](Self::commit).
    pub(crate) fn stage(&mut self, bytes: &[u8], fragment: bool) {
        let line = LineFrame {
            seq: self.next_staged,
            fragment,
            bytes,
        };
        line.append(&mut self.staged);
        self.next_staged += 1;
    }

    pub(crate) fn staged(&self) -> &[u8] {
        &self.staged
    }

    /// Writes what is staged in one step and says where it begins. After an error it is still staged and nothing
    /// of it counts; the next attempt writes to the same place.
    pub(crate) fn commit(&mut self) -> io::Result<Position> {
        if self
            .segments
            .back()
            .is_none_or(|last| last.bytes >= self.segment_bytes)
        {
            self.file = None;
        }
        let file = match &mut self.file {
            Some(file) => file,
            missing => {
                let file = segment::create(&self.folder, self.next_seq)?;
                self.segments.push_back(Segment {
                    first: self.next_seq,
                    bytes: 0,
                });
                missing.insert(file)
            }
        };
        let Some(last) = self.segments.back_mut() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        file.write_all_at(&self.staged, last.bytes)?;
        let start = Position {
            segment: last.first,
            offset: last.bytes,
        };
        let bytes = self.staged.len() as u64;
        last.bytes += bytes;
        self.retained += bytes;
        self.written += bytes;
        self.next_seq = self.next_staged;
        Ok(start)
    }

    /// Once what was committed has been used.
    pub(crate) fn clear_staged(&mut self) {
        self.staged.clear();
        self.staged.shrink_to(KEPT_CAPACITY);
    }

    /// The client has stored all lines up to this one. Files with nothing else in them are deleted.
    pub(crate) fn acknowledge(&mut self, seq: u64) {
        self.acknowledged = seq.min(self.last_seq()).max(self.acknowledged);
        while let Some(first) = self.segments.front() {
            let acknowledged = match self.segments.get(1) {
                Some(second) => second.first <= self.acknowledged + 1,
                // The last one goes when nothing more would be written to it or its room is needed.
                None => {
                    self.acknowledged == self.last_seq()
                        && (first.bytes >= self.segment_bytes || self.is_over_bound())
                }
            };
            if !acknowledged {
                break;
            }
            segment::delete(&self.folder, first.first);
            self.retained -= first.bytes;
            self.segments.pop_front();
            if self.segments.is_empty() {
                self.file = None;
            }
        }
    }

    /// A client that read from the agent itself has stored all lines up to this one, which were never here.
    pub(crate) fn pass_over(&mut self, seq: u64) {
        if seq < self.next_seq || !self.staged.is_empty() {
            return self.acknowledge(seq);
        }
        for segment in self.segments.drain(..) {
            segment::delete(&self.folder, segment.first);
        }
        self.file = None;
        self.retained = 0;
        self.acknowledged = seq;
        self.next_seq = seq + 1;
        self.next_staged = self.next_seq;
    }

    /// How much more may be kept.
    pub(crate) fn room(&self) -> u64 {
        self.journal_bytes.saturating_sub(self.retained)
    }

    fn is_over_bound(&self) -> bool {
        self.retained >= self.journal_bytes
    }

    /// Nothing more should be read from the agent until something is acknowledged.
    pub(crate) fn is_full(&self) -> bool {
        self.is_over_bound() && self.acknowledged < self.last_seq()
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Of all lines, also those that are not in a file yet.
    pub(crate) fn last_staged(&self) -> u64 {
        self.next_staged - 1
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.next_seq - 1
    }

    pub(crate) fn first_available(&self) -> u64 {
        self.segments
            .front()
            .map_or(self.next_seq, |segment| segment.first)
    }
}
