//! Room in a file before it is needed.
//!
//! Waiting for the disk takes nearly twice as long when the file has grown: then its new blocks are to be written down,
//! too. So a file that is not in use is filled with zeros, which are the end of the log to whoever reads it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::file::FILE_BYTES;

/// How much is written at once.
const STEP: usize = 256 * 1024;

/// Shared by the log and whoever makes room in its files.
#[derive(Debug, Clone, Default)]
pub(super) struct Room(Arc<AtomicU8>);

const GROWS: u8 = 0;
const BEING_MADE: u8 = 1;
const MADE: u8 = 2;
const CANNOT_BE_MADE: u8 = 3;

impl Room {
    pub(super) fn is_made(&self) -> bool {
        self.0.load(Ordering::SeqCst) == MADE
    }

    /// Nobody else may write to the file meanwhile.
    pub(super) fn is_being_made(&self) -> bool {
        self.0.load(Ordering::SeqCst) == BEING_MADE
    }

    /// Whether it was not tried before. From now on it is being made.
    pub(super) fn begin(&self) -> bool {
        let begun = self
            .0
            .compare_exchange(GROWS, BEING_MADE, Ordering::SeqCst, Ordering::SeqCst);
        begun.is_ok()
    }

    /// Waits for the disk. A file without room still does, it is only slower.
    pub(super) fn make(&self, file: &File) {
        let made = fill(file).or_else(|error| {
            tracing::warn!(%error, "there is no room for the log before it is needed");
            file.set_len(0).and(Err(error))
        });
        let state = match made {
            Ok(()) => MADE,
            Err(_) => CANNOT_BE_MADE,
        };
        self.0.store(state, Ordering::SeqCst);
    }
}

fn fill(file: &File) -> io::Result<()> {
    let zeros = vec![0; STEP];
    for offset in (0..FILE_BYTES).step_by(STEP) {
        file.write_all_at(&zeros, offset)?;
    }
    file.sync_data()
}
