//! The two files, and where in them the next record goes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::SUFFIXES;
use super::record::{COUNTS, HEAD, NoRecord, Record, STATE, TAKEN_BACK, read};
use super::room::Room;
use crate::lock::{beside, private};

/// What is in a file that is longer than this is followed by what is in the other one.
pub(super) const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The end of the log. Owned by whoever writes; the files themselves are shared with what waits for the disk.
#[derive(Debug)]
pub(crate) struct Log {
    files: [LogFile; 2],
    /// The one that is being filled.
    current: usize,
    next_seq: u64,
}

#[derive(Debug)]
struct LogFile {
    file: Arc<File>,
    end: u64,
    last_seq: u64,
    /// What stands at its end may look like a record and is none: a write failed there.
    spoilt: bool,
    room: Room,
}

/// Where a record stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) file: Arc<File>,
    pub(super) offset: u64,
}

impl Place {
    /// The record does not count any more, however often it is read.
    pub(super) fn take_back(&self) -> io::Result<()> {
        self.file.write_all_at(&[TAKEN_BACK], self.offset + STATE)
    }
}

impl Log {
    /// Two empty files beside the database.
    pub(crate) fn begin(database: &Path, next_seq: u64) -> io::Result<Self> {
        let open = |suffix: &str| -> io::Result<LogFile> {
            let file = private(OpenOptions::new().read(true).write(true).create(true))
                .truncate(true)
                .open(beside(database, suffix))?;
            Ok(LogFile {
                file: Arc::new(file),
                end: 0,
                last_seq: 0,
                spoilt: false,
                room: Room::default(),
            })
        };
        Ok(Self {
            files: [open(SUFFIXES[0])?, open(SUFFIXES[1])?],
            current: 0,
            next_seq,
        })
    }

    /// The number that the next record gets.
    pub(super) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Turns to the other file when this one is long, or has no room while the other has. All in the other has to be
    /// in the database, as far as `followed` says. Gives the file that was left: what stands in it may not be on the
    /// disk yet.
    pub(super) fn turn(&mut self, followed: u64) -> Option<Arc<File>> {
        let other = 1 - self.current;
        let (file, next) = (&self.files[self.current], &self.files[other]);
        let is_wanted = file.end >= FILE_BYTES || (next.room.is_made() && !file.room.is_made());
        if !is_wanted || next.last_seq > followed || next.room.is_being_made() {
            return None;
        }
        let left = Arc::clone(&file.file);
        self.current = other;
        self.files[other].end = 0;
        Some(left)
    }

    /// The file that is not in use, once, when nothing in it is needed any more: it is not turned to before its room is
    /// made.
    pub(super) fn without_room(&self, followed: u64) -> Option<(Arc<File>, Room)> {
        let other = &self.files[1 - self.current];
        let begins = other.last_seq <= followed && other.room.begin();
        begins.then(|| (Arc::clone(&other.file), other.room.clone()))
    }

    /// Writes records that follow each other, all or nothing. Gives the place of the first.
    pub(super) fn append(&mut self, records: &[u8], count: u64) -> io::Result<Place> {
        let current = &mut self.files[self.current];
        if current.spoilt {
            // What looks like a record behind a failed write would be read after a crash.
            current.file.write_all_at(&[0; HEAD], current.end)?;
            current.spoilt = false;
        }
        let place = Place {
            file: Arc::clone(&current.file),
            offset: current.end,
        };
        if let Err(error) = current.file.write_all_at(records, current.end) {
            current.spoilt = current.file.write_all_at(&[0; HEAD], current.end).is_err();
            return Err(error);
        }
        current.end += records.len() as u64;
        self.next_seq += count;
        current.last_seq = self.next_seq - 1;
        Ok(place)
    }

    /// Everything is in the database: nothing is left to read again, nor for anybody else to find.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.files.iter().try_for_each(|file| file.file.set_len(0))
    }
}

/// All records of one file, up to the first that is none.
pub(super) fn records(bytes: &[u8]) -> Result<Vec<Record>, NoRecord> {
    let mut records: Vec<Record> = Vec::new();
    let mut rest = bytes;
    loop {
        match read(rest) {
            // Behind the last record stands what an earlier turn of the file left.
            Ok((record, _))
                if records
                    .last()
                    .is_some_and(|last| record.seq != last.seq + 1) =>
            {
                return Ok(records);
            }
            Ok((record, length)) => {
                records.push(record);
                rest = &rest[length..];
            }
            Err(NoRecord::End) => return Ok(records),
            Err(unreadable) => return Err(unreadable),
        }
    }
}

const _: () = assert!(COUNTS != 0 && TAKEN_BACK != 0, "zeros are no record");
