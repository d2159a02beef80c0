//! The agent's output: its standard output, cut into lines, and the end of its standard error.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use thiserror::Error;

use crate::journal::Journal;

/// As much as a pipe usually holds.
const CHUNK_BYTES: usize = 64 * 1024;

const STDERR_TAIL_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    GoesOn,
    /// Nothing is there at the moment.
    Dry,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the agent wrote a line longer than {limit} bytes")]
pub(super) struct LineTooLong {
    pub(super) limit: usize,
}

/// Bytes that become lines of the journal. Holds what is not a whole line yet.
#[derive(Debug)]
pub(super) struct Lines {
    partial: Vec<u8>,
    /// Bytes before this one hold no line end.
    searched: usize,
    limit: usize,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            partial: Vec::new(),
            searched: 0,
            limit,
        }
    }

    /// Where to read to: append to it.
    pub(super) fn space(&mut self) -> &mut Vec<u8> {
        self.partial.reserve(CHUNK_BYTES);
        &mut self.partial
    }

    /// Stages every whole line.
    pub(super) fn cut(&mut self, journal: &mut Journal) -> Result<(), LineTooLong> {
        let mut start = 0;
        let unsearched = self.partial.get(self.searched..).unwrap_or_default();
        for offset in memchr::memchr_iter(b'\n', unsearched) {
            let end = self.searched + offset;
            self.within_limit(end - start)?;
            let line = self.partial.get(start..end).unwrap_or_default();
            journal.stage(line, false);
            start = end + 1;
        }
        self.within_limit(self.partial.len() - start)?;
        self.partial.drain(..start);
        self.searched = self.partial.len();
        if self.partial.len() < CHUNK_BYTES {
            self.partial.shrink_to(CHUNK_BYTES);
        }
        Ok(())
    }

    fn within_limit(&self, length: usize) -> Result<(), LineTooLong> {
        if length > self.limit {
            return Err(LineTooLong { limit: self.limit });
        }
        Ok(())
    }

    /// At the end of the output: what is left has no line end.
    pub(super) fn finish(&mut self, journal: &mut Journal) {
        if !self.partial.is_empty() {
            journal.stage(&self.partial, true);
        }
        self.discard();
    }

    pub(super) fn discard(&mut self) {
        self.partial = Vec::new();
        self.searched = 0;
    }
}

/// The pipe from the agent, until it has ended.
#[derive(Debug)]
pub(super) struct Output {
    pipe: Option<OwnedFd>,
    lines: Lines,
}

impl Output {
    pub(super) fn new(pipe: OwnedFd, limit: usize) -> Self {
        Self {
            pipe: Some(pipe),
            lines: Lines::new(limit),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads once and stages what became whole.
    pub(super) fn read(&mut self, journal: &mut Journal) -> Result<Reading, LineTooLong> {
        let Some(pipe) = &self.pipe else {
            return Ok(Reading::Ended);
        };
        match read(pipe, spare_capacity(self.lines.space())) {
            Ok(1..) => self.lines.cut(journal).map(|()| Reading::GoesOn),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Reading::Dry),
            // An error can only mean that there is nothing more to read.
            Ok(0) | Err(_) => {
                self.pipe = None;
                Ok(Reading::Ended)
            }
        }
    }

    /// The pipe, and what has been read of the next line, where that is not much.
    pub(super) fn lendable(&self, most: usize) -> Option<(BorrowedFd<'_>, &[u8])> {
        let partial = &self.lines.partial;
        self.pipe()
            .filter(|_| partial.len() <= most)
            .zip(Some(partial))
    }

    /// What has been read of the next line is somebody else's now.
    pub(super) fn forget_partial(&mut self) {
        self.lines.discard();
    }

    /// Goes on after what somebody else has read.
    pub(super) fn go_on_after(
        &mut self,
        read: &[u8],
        journal: &mut Journal,
    ) -> Result<(), LineTooLong> {
        self.lines.space().extend_from_slice(read);
        self.lines.cut(journal)
    }

    /// No more is read; what has no line end is staged as a fragment.
    pub(super) fn finish(&mut self, journal: &mut Journal) {
        self.pipe = None;
        self.lines.finish(journal);
    }

    /// No more is read, and what is not a line is of no use.
    pub(super) fn abandon(&mut self) {
        self.pipe = None;
        self.lines.discard();
    }
}

/// The agent's standard error. Nothing in it is meant for a program, so only its end is kept.
#[derive(Debug)]
pub(super) struct Errors {
    pipe: Option<OwnedFd>,
    tail: Vec<u8>,
}

impl Errors {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe: Some(pipe),
            tail: Vec::new(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn read(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let mut chunk = [0; 8 * 1024];
        match read(pipe, &mut chunk) {
            Ok(count @ 1..) => {
                self.tail
                    .extend_from_slice(chunk.get(..count).unwrap_or_default());
                // Not at every read: moving the rest costs as much as it is long.
                if self.tail.len() > 2 * STDERR_TAIL_BYTES {
                    self.shorten();
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(0) | Err(_) => self.pipe = None,
        }
    }

    fn shorten(&mut self) {
        let excess = self.tail.len().saturating_sub(STDERR_TAIL_BYTES);
        self.tail.drain(..excess);
    }

    pub(super) fn finish(&mut self) -> String {
        self.pipe = None;
        self.shorten();
        String::from_utf8_lossy(&std::mem::take(&mut self.tail)).into_owned()
    }
}

pub(super) fn is_patience(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
