use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::segment::{self, Segment};
use super::{Journal, Position};
use crate::wire::{LineFrame, frame};

/// How much is read from a file at once, for a client that has fallen behind.
const CHUNK_BYTES: usize = 64 * 1024;

/// How far one client has been sent the journal. It counts bytes and not lines: a frame that a socket took in
/// parts goes on where it stopped, and needs no buffer meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    position: Position,
    /// Of the journal, up to here.
    passed: u64,
    /// Of the frame at the position that is sent in part.
    unfinished: usize,
    /// The last line that was at least begun.
    seq: u64,
    /// Of the position's segment, once it had to be read.
    file: Option<(u64, File)>,
    chunk: Vec<u8>,
    /// Of the chunk, what was sent already.
    used: usize,
}

impl Cursor {
    /// After this line, or as near to it as the journal goes.
    pub(crate) fn seek(journal: &Journal, after_seq: u64) -> io::Result<Self> {
        let after_seq = after_seq.clamp(journal.first_available() - 1, journal.last_seq());
        let wanted = journal
            .segments
            .iter()
            .rposition(|segment| segment.first <= after_seq + 1);
        let index = wanted.unwrap_or(0);
        let mut cursor = Self {
            seq: after_seq,
            passed: journal.written - journal.retained,
            ..Self::default()
        };
        let Some(segment) = journal.segments.get(index) else {
            return Ok(cursor);
        };
        cursor.position.segment = segment.first;
        cursor.passed += journal
            .segments
            .iter()
            .take(index)
            .map(|segment| segment.bytes)
            .sum::<u64>();
        cursor.pass_lines(journal, segment, after_seq)?;
        Ok(cursor)
    }

    /// From the start of a segment to the end of the line.
    fn pass_lines(
        &mut self,
        journal: &Journal,
        segment: &Segment,
        after_seq: u64,
    ) -> io::Result<()> {
        let file = segment::open(&journal.folder, segment.first)?;
        let mut header = vec![0; CHUNK_BYTES];
        let mut read_at = 0;
        let mut filled = 0;
        while self.position.offset < segment.bytes {
            // The headers of short lines come many at a time; a long line is jumped over.
            let within = usize::try_from(self.position.offset - read_at).unwrap_or(usize::MAX);
            let bytes = header.get(within..filled).unwrap_or_default();
            let known = LineFrame::peek_seq(bytes).zip(frame::length(bytes));
            let Some((seq, length)) = known else {
                read_at = self.position.offset;
                let room = segment.bytes - read_at;
                let wanted = usize::try_from(room)
                    .unwrap_or(CHUNK_BYTES)
                    .min(CHUNK_BYTES);
                let part = header.get_mut(..wanted).unwrap_or_default();
                file.read_exact_at(part, read_at)?;
                filled = wanted;
                if LineFrame::peek_seq(part).is_none() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                continue;
            };
            if seq > after_seq {
                break;
            }
            self.position.offset += length as u64;
            self.passed += length as u64;
        }
        self.file = Some((segment.first, file));
        Ok(())
    }

    pub(crate) fn is_at_end(&self, journal: &Journal) -> bool {
        self.passed == journal.written
    }

    /// True where something else than the journal may be sent.
    pub(crate) fn is_between_frames(&self) -> bool {
        self.unfinished == 0
    }

    /// The last line that was sent as a whole.
    pub(crate) fn sent_seq(&self) -> u64 {
        if self.is_between_frames() {
            self.seq
        } else {
            self.seq - 1
        }
    }

    /// What was just committed at `start` was sent from memory, as far as `sent` bytes of `bytes`. Only for a
    /// cursor that was at the end before.
    pub(crate) fn follow(&mut self, start: Position, bytes: &[u8], sent: usize) {
        self.position = start;
        self.walk(bytes, sent);
    }

    /// The client has this line from elsewhere.
    pub(crate) fn pass_over(&mut self, seq: u64) {
        self.seq = self.seq.max(seq);
    }

    /// The next bytes to send, from the file; none at the end.
    pub(crate) fn peek(&mut self, journal: &Journal) -> io::Result<&[u8]> {
        if self.used == self.chunk.len() {
            self.fill(journal)?;
        }
        Ok(self.chunk.get(self.used..).unwrap_or_default())
    }

    fn fill(&mut self, journal: &Journal) -> io::Result<()> {
        self.used = 0;
        if self.is_at_end(journal) {
            self.chunk = Vec::new();
            return Ok(());
        }
        let left = loop {
            let here = journal
                .segments
                .iter()
                .find(|segment| segment.first == self.position.segment);
            match here.and_then(|segment| segment.bytes.checked_sub(self.position.offset)) {
                Some(left @ 1..) => break left,
                Some(0) | None => self.next_segment(journal)?,
            }
        };
        let file = match &mut self.file {
            Some((segment, file)) if *segment == self.position.segment => file,
            other => {
                let file = segment::open(&journal.folder, self.position.segment)?;
                &mut other.insert((self.position.segment, file)).1
            }
        };
        let wanted = usize::try_from(left)
            .unwrap_or(CHUNK_BYTES)
            .min(CHUNK_BYTES);
        self.chunk.resize(wanted, 0);
        if let Err(error) = file.read_exact_at(&mut self.chunk, self.position.offset) {
            self.chunk.clear();
            return Err(error);
        }
        // Up to the end of a frame where there is one, so that other frames can go between.
        let whole = self.whole_frames();
        self.chunk.truncate(if whole > 0 { whole } else { wanted });
        Ok(())
    }

    fn next_segment(&mut self, journal: &Journal) -> io::Result<()> {
        let next = journal
            .segments
            .iter()
            .find(|segment| segment.first > self.position.segment);
        let next = next.ok_or(io::ErrorKind::NotFound)?;
        self.position = Position {
            segment: next.first,
            offset: 0,
        };
        Ok(())
    }

    fn whole_frames(&self) -> usize {
        let mut end = self.unfinished;
        if end > self.chunk.len() {
            return 0;
        }
        while let Some(length) = self.chunk.get(end..).and_then(frame::length) {
            if end + length > self.chunk.len() {
                break;
            }
            end += length;
        }
        end
    }

    /// This much of what [`peek`](Self::peek) gave was sent.
    pub(crate) fn advance(&mut self, sent: usize) {
        let chunk = std::mem::take(&mut self.chunk);
        self.walk(chunk.get(self.used..).unwrap_or_default(), sent);
        self.chunk = chunk;
        self.used += sent;
    }

    /// `bytes` begin at the position; the frames in the first `sent` of them are passed.
    fn walk(&mut self, bytes: &[u8], sent: usize) {
        self.position.offset += sent as u64;
        self.passed += sent as u64;
        let mut end = self.unfinished;
        while end < sent {
            let rest = bytes.get(end..).unwrap_or_default();
            // A header that is cut off cannot be: whoever sends part of a frame had all its header.
            let Some((seq, length)) = LineFrame::peek_seq(rest).zip(frame::length(rest)) else {
                break;
            };
            self.seq = seq;
            end += length;
        }
        self.unfinished = end.saturating_sub(sent);
    }
}
