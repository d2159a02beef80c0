//! The agent's pipes in the client's hands.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::{Errno, pread, read, writev};
use rustix::pipe::{SpliceFlags, splice};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use uuid::Uuid;

use super::lines::Lines;
use super::socket::watch;
use crate::loan::{Files, HEADER_BYTES, Pipes, Record, TOLD_BYTES, WAY_BYTES};
use crate::wire::Lent;

/// More than a pipe usually holds.
const AT_ONCE: usize = 256 * 1024;

/// How much of `said` is between two places from which the runner could go on.
const BETWEEN_MARKS: u64 = 64 * 1024;

/// How much is worth a system call to be given back.
const WORTH_FREEING: u64 = 16 * 1024;

/// What became of a line for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrote {
    Whole,
    /// The runner has to finish it.
    InPart,
    /// The runner has to write it.
    Nothing,
}

/// What became of a look at the agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// There may be more.
    Something,
    /// That was all, at the moment.
    All,
    /// The agent has closed it, or the runner has taken it back.
    Ended,
}

/// Both directions, until they are given back. Whoever holds it does one thing at a time.
#[derive(Debug)]
pub(super) struct Loan {
    stdin: OwnedFd,
    stdout: Arc<AsyncFd<OwnedFd>>,
    files: Files,
    lines: Lines,
    /// The first line that is not the runner's.
    first_seq: u64,
    /// The last line that was handed out.
    received: u64,
    acknowledged: u64,
    said_bytes: u64,
    told_bytes: u64,
    /// `said` has nothing before this any more.
    passed: u64,
    /// Lines, and where in `said` each of them ends.
    marks: VecDeque<(u64, u64)>,
    room: u64,
}

impl Loan {
    /// `None` when what should have come along did not.
    pub(super) fn new(lent: &Lent, files: Vec<OwnedFd>, line_bytes: usize) -> Option<Self> {
        let (Pipes { stdin, stdout }, files) = Files::received(files)?;
        let mut loan = Self {
            stdin,
            stdout: Arc::new(watch(stdout, Interest::READABLE).ok()?),
            lines: Lines::new(line_bytes),
            first_seq: lent.next_seq,
            received: lent.next_seq.checked_sub(1)?,
            acknowledged: 0,
            said_bytes: 0,
            told_bytes: 0,
            passed: 0,
            marks: VecDeque::new(),
            room: lent.room,
            files,
        };
        // The beginning of a line that the runner had read.
        let bytes = loan.files.said.metadata().ok()?.len();
        loan.take_in(bytes).ok()?;
        Some(loan)
    }

    /// Where to wait for the agent.
    pub(super) fn stdout(&self) -> Arc<AsyncFd<OwnedFd>> {
        Arc::clone(&self.stdout)
    }

    pub(super) fn received(&self) -> u64 {
        self.received
    }

    pub(super) fn has_line(&mut self) -> bool {
        self.lines.has_line()
    }

    /// The next line, which is then handed out.
    pub(super) fn next_line(&mut self) -> Option<(u64, Vec<u8>)> {
        let bytes = self.lines.next_line()?;
        self.received += 1;
        let end = self.end_of_received();
        let last = self.marks.back().map_or(self.passed, |(_, offset)| *offset);
        if end - last >= BETWEEN_MARKS {
            self.marks.push_back((self.received, end));
        }
        Some((self.received, bytes))
    }

    fn end_of_received(&self) -> u64 {
        self.said_bytes - self.lines.rest() as u64
    }

    /// Nothing more can be done with it, or not without more room.
    pub(super) fn is_used_up(&self) -> bool {
        self.lines.is_too_long()
            || self.said_bytes - self.passed >= self.room
            || self.told_bytes >= TOLD_BYTES
    }

    /// Takes what the agent has said. What is in the file is the client's, and what is not still in the pipe.
    pub(super) fn hear(&mut self) -> Heard {
        let mut end = self.said_bytes;
        let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
        let stdout = self.stdout.get_ref();
        match splice(
            stdout,
            None,
            &self.files.said,
            Some(&mut end),
            AT_ONCE,
            flags,
        ) {
            Ok(0) => Heard::Ended,
            Ok(count) => match self.take_in(count as u64) {
                Ok(()) if count < AT_ONCE => Heard::All,
                Ok(()) => Heard::Something,
                Err(_) => Heard::Ended,
            },
            Err(Errno::AGAIN) => Heard::All,
            Err(Errno::INTR) => Heard::Something,
            Err(_) => Heard::Ended,
        }
    }

    fn take_in(&mut self, bytes: u64) -> io::Result<()> {
        let end = self.said_bytes + bytes;
        while self.said_bytes < end {
            let missing = usize::try_from(end - self.said_bytes).unwrap_or(AT_ONCE);
            let space = spare_capacity(self.lines.space(missing));
            match pread(&self.files.said, space, self.said_bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.said_bytes += count as u64,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    pub(super) fn write(&mut self, id: Uuid, line: &[u8]) -> Wrote {
        let with_end = line.len() + 1;
        if with_end + HEADER_BYTES > WAY_BYTES {
            return Wrote::Nothing;
        }
        let parts = [&b"\n"[..], id.as_bytes(), line, b"\n"].map(IoSlice::new);
        if writev(&self.files.way_in, &parts) != Ok(with_end + HEADER_BYTES) {
            return Wrote::Nothing;
        }
        // Until now it does not count, and from now on it does.
        if self.note(Record::Written(id)).is_err() {
            return Wrote::Nothing;
        }
        if read(&self.files.way_out, &mut [0; HEADER_BYTES]) != Ok(HEADER_BYTES) {
            return Wrote::InPart;
        }
        let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
        match splice(
            &self.files.way_out,
            None,
            &self.stdin,
            None,
            with_end,
            flags,
        ) {
            Ok(count) if count == with_end => Wrote::Whole,
            Ok(_) | Err(_) => Wrote::InPart,
        }
    }

    fn note(&mut self, record: Record) -> io::Result<()> {
        let bytes = record.bytes();
        self.files.told.write_all_at(&bytes, self.told_bytes)?;
        self.told_bytes += bytes.len() as u64;
        Ok(())
    }

    /// False for a line that was the runner's: then it has to hear of it.
    pub(super) fn acknowledge(&mut self, seq: u64) -> bool {
        if seq < self.first_seq {
            return false;
        }
        let seq = seq.min(self.received);
        if seq > self.acknowledged && self.note(Record::Acknowledged(seq)).is_ok() {
            self.acknowledged = seq;
            self.free();
        }
        true
    }

    /// Gives back the memory of what is acknowledged, when there is enough of it.
    fn free(&mut self) {
        let mut upto = None;
        while let Some(mark) = self
            .marks
            .pop_front_if(|(seq, _)| *seq <= self.acknowledged)
        {
            upto = Some(mark);
        }
        if self.acknowledged == self.received {
            upto = Some((self.received, self.end_of_received()));
        }
        let Some((seq, offset)) = upto.filter(|(_, end)| end - self.passed >= WORTH_FREEING) else {
            return;
        };
        // Noted first: whoever takes over must not look for it.
        if self.note(Record::Passed { seq, offset }).is_ok() {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let bytes = offset - self.passed;
            // What cannot be given back now goes with the file.
            let _ = fallocate(&self.files.said, flags, self.passed, bytes);
            self.passed = offset;
        }
    }

    /// The runner has taken everything back, and goes on from what it found.
    pub(super) fn is_taken(&self) -> bool {
        self.files.is_sealed()
    }
}
