//! The file of checkpoints.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::checkpoint::{Checkpoint, LastLine};
use super::key::write_whole;

/// The file's name in the data folder.
pub const CHECKPOINT_FILE: &str = "audit.checkpoints";
/// Far longer than any line that we write.
const LINE_LIMIT: u64 = 4096;

/// Appends whole lines, each on the disk before the next.
#[derive(Debug)]
pub(crate) struct CheckpointFile {
    path: PathBuf,
}

impl CheckpointFile {
    pub(crate) fn of(folder: &Path) -> Self {
        Self {
            path: folder.join(CHECKPOINT_FILE),
        }
    }

    /// Never makes the file: one that vanished is a finding, and stays one.
    pub(crate) fn append(&self, line: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        let length = file.metadata()?.len();
        let written = file
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| file.sync_data());
        if written.is_err() {
            // Half a line would spoil the next one.
            file.set_len(length)?;
        }
        written
    }

    /// Begins the file anew, in one step.
    pub(crate) fn replace(&self, line: &str) -> io::Result<()> {
        write_whole(&self.path, format!("{line}\n").as_bytes())
    }

    /// Keeps the present file under another name, where there is one.
    pub(crate) fn set_aside(&self, suffix: &str) -> io::Result<()> {
        match std::fs::rename(&self.path, crate::lock::beside(&self.path, suffix)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// The end of the file: what its last whole line says, and how many bytes of half a line stand
    /// behind. `None` without a file.
    pub(crate) fn end(&self) -> io::Result<Option<End>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(2 * LINE_LIMIT)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let (lines, rest) = bytes.split_at(whole.map_or(0, |end| end + 1));
        let last = String::from_utf8_lossy(lines)
            .lines()
            .last()
            .and_then(|line| Some(Checkpoint::parse(line)?.last_line(line)));
        Ok(Some(End {
            last,
            length,
            half: rest.len() as u64,
        }))
    }

    /// Takes away half a line at the end.
    pub(crate) fn shorten(&self, length: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(&self.path)?;
        file.set_len(length)?;
        file.sync_all()
    }

    /// Ends half a line at the end, so that the next one stands by itself.
    pub(crate) fn end_line(&self) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(b"\n")
    }

    /// The whole lines, in order. One that is no text or far too long comes as something that is no
    /// checkpoint either. `None` without a file.
    pub(crate) fn lines(&self) -> io::Result<Option<Lines>> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(Lines {
                reader: BufReader::new(file),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) last: Option<LastLine>,
    pub(crate) length: u64,
    pub(crate) half: u64,
}

#[derive(Debug)]
pub(crate) struct Lines {
    reader: BufReader<File>,
}

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let limited = self.reader.by_ref().take(LINE_LIMIT);
        match { limited }.read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(_) if line.ends_with(b"\n") => {
                line.pop();
                Some(String::from_utf8_lossy(&line).into_owned())
            }
            // Half a line: it is being written, or was when the machine lost power.
            Ok(read) if (read as u64) < LINE_LIMIT => None,
            Ok(_) => Some(String::new()),
            Err(error) => {
                tracing::warn!(%error, "the checkpoints cannot be read to their end");
                Some(String::new())
            }
        }
    }
}
