//! The files of a journal.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const PREFIX: &str = "journal-";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// The number of its first line.
    pub(super) first: u64,
    pub(super) bytes: u64,
}

pub(super) fn path(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{PREFIX}{first:020}"))
}

/// Not append-only: a write that failed half-way is written again over itself. A file that is there already
/// can only be left from such a failure.
pub(super) fn create(folder: &Path, first: u64) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path(folder, first))
}

pub(super) fn open(folder: &Path, first: u64) -> io::Result<File> {
    File::open(path(folder, first))
}

pub(super) fn delete(folder: &Path, first: u64) {
    // A file that stays costs room, not truth: its lines are acknowledged.
    let _ = fs::remove_file(path(folder, first));
}

/// What is on disk, oldest first.
pub(super) fn list(folder: &Path) -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if let Some(first) = number.and_then(|number| number.parse().ok()) {
            let bytes = entry.metadata()?.len();
            segments.push(Segment { first, bytes });
        }
    }
    segments.sort_by_key(|segment| segment.first);
    Ok(segments)
}
