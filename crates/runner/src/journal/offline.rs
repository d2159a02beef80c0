//! Reading what a runner left behind.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::segment::{self, Segment};
use crate::ending::Exited;
use crate::folder::Folder;
use crate::wire::{Inbox, LineFrame};

/// One line of an agent's output, without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    pub seq: u64,
    /// The output ended in the middle of it.
    pub fragment: bool,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Error)]
pub enum JournalError {
    #[error("the journal in {} cannot be read: {source}", .folder.display())]
    Io { folder: PathBuf, source: io::Error },
    #[error("the journal in {} is damaged after line {after}", .folder.display())]
    Damaged { folder: PathBuf, after: u64 },
}

/// The lines of a journal whose runner is dead, one at a time. A record that the runner could not finish is the
/// end; one before that is damage and an error. Reads files, so it blocks.
#[derive(Debug)]
pub struct JournalReader {
    folder: PathBuf,
    segments: std::vec::IntoIter<Segment>,
    open: Option<File>,
    inbox: Inbox,
    after_seq: u64,
    last_seq: Option<u64>,
    first_seq: Option<u64>,
    /// What the next line's number has to be, once a file is open.
    next_seq: Option<u64>,
    exited: Option<Exited>,
}

/// Opens the journal of a dead runner: [`crate::clean_up`] says whether it is.
pub fn read_journal(folder: &Path, after_seq: u64) -> Result<JournalReader, JournalError> {
    let failed = |source| JournalError::Io {
        folder: folder.to_owned(),
        source,
    };
    let exited = Folder::new(folder).exited().map_err(failed)?;
    let mut segments = segment::list(folder).map_err(failed)?;
    let wanted = segments
        .iter()
        .rposition(|segment| segment.first <= after_seq.saturating_add(1));
    segments.drain(..wanted.unwrap_or(0));
    Ok(JournalReader {
        folder: folder.to_owned(),
        first_seq: segments.first().map(|segment| segment.first),
        segments: segments.into_iter(),
        open: None,
        inbox: Inbox::new(0),
        after_seq,
        last_seq: None,
        next_seq: None,
        exited,
    })
}

impl JournalReader {
    /// No line before this one is there; `None` when there is no line at all.
    pub fn first_seq(&self) -> Option<u64> {
        self.first_seq
    }

    /// How the agent ended, if the runner lived to see it: then nothing is missing from the lines.
    pub fn exited(&self) -> Option<&Exited> {
        self.exited.as_ref()
    }

    fn failed(&self, source: io::Error) -> JournalError {
        JournalError::Io {
            folder: self.folder.clone(),
            source,
        }
    }

    fn damaged(&self) -> JournalError {
        JournalError::Damaged {
            folder: self.folder.clone(),
            after: self.last_seq.unwrap_or(self.after_seq),
        }
    }

    fn next_line(&mut self) -> Result<Option<JournalLine>, JournalError> {
        loop {
            match self
                .inbox
                .next_frame()
                .map(|frame| frame.map(LineFrame::read))
            {
                Ok(Some(Some(line))) => {
                    let line = JournalLine {
                        seq: line.seq,
                        fragment: line.fragment,
                        bytes: line.bytes.to_vec(),
                    };
                    if self.next_seq != Some(line.seq) {
                        return Err(self.damaged());
                    }
                    self.last_seq = Some(line.seq);
                    self.next_seq = line.seq.checked_add(1);
                    if line.seq > self.after_seq {
                        return Ok(Some(line));
                    }
                }
                Ok(Some(None)) | Err(_) => return self.torn(),
                Ok(None) => {
                    if !self.read_on()? && !self.next_segment()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// False at the end of the file.
    fn read_on(&mut self) -> Result<bool, JournalError> {
        let Some(file) = &mut self.open else {
            return Ok(false);
        };
        let space = self.inbox.space();
        let room = (space.capacity() - space.len()) as u64;
        match file.take(room).read_to_end(space) {
            Ok(count) => Ok(count > 0),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// False when there is none. What is left of the one before was never finished, so nothing may follow it.
    fn next_segment(&mut self) -> Result<bool, JournalError> {
        let unfinished = !self.inbox.space().is_empty();
        let Some(next) = self.segments.next() else {
            let missing =
                |exited: &Exited| self.last_seq.is_some_and(|last| last < exited.last_seq);
            if self.exited.as_ref().is_some_and(missing) {
                return Err(self.damaged());
            }
            return Ok(false);
        };
        let follows = self.next_seq.is_none_or(|seq| seq == next.first);
        if unfinished || !follows {
            return Err(self.damaged());
        }
        // Whatever limit the runner had, no line is longer than its file.
        self.inbox = Inbox::new(usize::try_from(next.bytes).unwrap_or(usize::MAX));
        let file = segment::open(&self.folder, next.first).map_err(|source| self.failed(source))?;
        self.open = Some(file);
        self.next_seq = Some(next.first);
        Ok(true)
    }

    /// A record that cannot be read: the runner died while it wrote it, unless there is more behind.
    fn torn(&mut self) -> Result<Option<JournalLine>, JournalError> {
        self.open = None;
        if self.segments.next().is_some() || self.exited.is_some() {
            return Err(self.damaged());
        }
        self.inbox = Inbox::new(0);
        Ok(None)
    }
}

impl Iterator for JournalReader {
    type Item = Result<JournalLine, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.next_line().transpose();
        if let Some(Err(_)) = line {
            // Said once; there is nothing to go on with.
            self.segments = Vec::new().into_iter();
            self.open = None;
            self.inbox = Inbox::new(0);
            self.exited = None;
        }
        line
    }
}
