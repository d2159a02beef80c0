//! Keeps a second server off a database that one already uses.
//!
//! SQLite itself would let both in, and each would hold requests the other has decided.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::OpenError;

/// Held as long as the database is open. The kernel lets go of it when the process ends, however it
/// ends; the file stays, because removing it would race with the next server's lock.
#[derive(Debug)]
pub(crate) struct DatabaseLock {
    _file: File,
}

/// A process that a killed server was just starting has the server's files for a moment, and with them its lock.
const UNTIL_FREE: Duration = Duration::from_secs(1);
/// The same where the one who took the lock is gone for sure, and the machine may be too busy to end the rest of it.
const UNTIL_THE_REST_IS_GONE: Duration = Duration::from_secs(10);
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

impl DatabaseLock {
    pub(crate) async fn take_patiently(database: &Path) -> Result<Self, OpenError> {
        let began = Instant::now();
        loop {
            match Self::take(database) {
                Err(OpenError::InUse { holder, .. }) if began.elapsed() < patience(holder) => {
                    tokio::time::sleep(BETWEEN_TRIES).await;
                }
                taken => return taken,
            }
        }
    }

    pub(crate) fn take(database: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io {
            path: database.to_owned(),
            source,
        };
        let mut file = private(OpenOptions::new().read(true).write(true).create(true))
            .truncate(false)
            .open(beside(database, ".lock"))
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::InUse {
                    path: database.to_owned(),
                    holder: holder(&mut file),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

fn patience(holder: Option<u32>) -> Duration {
    let is_gone = |id: u32| {
        let processes = Path::new("/proc");
        let is_known = processes.join("self").exists();
        is_known && !processes.join(id.to_string()).exists()
    };
    match holder.is_some_and(is_gone) {
        true => UNTIL_THE_REST_IS_GONE,
        false => UNTIL_FREE,
    }
}

/// Only to make the message better, so any doubt is "unknown".
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// The path with something appended to the file's name, as SQLite does it for its own side files.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Files made with these options are for their owner alone: transcripts hold secrets.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
