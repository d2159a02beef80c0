//! A runner's folder: one for each life of a runner, and nobody else's (mode 0700).
//!
//! | file | what | written by |
//! |---|---|---|
//! | `lock` | locked as long as the runner lives | runner |
//! | `socket` | where it listens (mode 0600) | runner |
//! | `runner.json` | [`Record`]: who it is and whom it runs | runner, once |
//! | `journal-…` | the agent's output | runner |
//! | `exited.json` | how the agent ended; there when the journal is complete | runner, once |
//! | `runner.log` | its standard error, bounded | runner |

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ending::Exited;
use crate::mark::Mark;

/// Who a runner is, for whoever finds its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What it speaks on its socket.
    pub protocol_version: u32,
    pub pid: u32,
    /// Also the id of the agent's process group.
    pub agent_pid: u32,
    /// Milliseconds since 1970.
    pub started_at_ms: u64,
    /// What tells the agent from a later process with its number; `None` where the system does not say.
    pub agent_identity: Option<ProcessIdentity>,
    /// What all that the agent starts carries in its environment.
    #[serde(default)]
    pub agent_mark: Option<Mark>,
}

/// A process number is used again one day; together with these it is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub boot_id: String,
    /// In the kernel's ticks since the boot.
    pub start_ticks: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("socket")
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Makes it if it is not there, with its parents, and closes it to others in any case.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.path)?;
        fs::set_permissions(&self.path, Permissions::from_mode(0o700))
    }

    pub(crate) fn log(&self) -> io::Result<File> {
        create_private(&self.path.join("runner.log"))
    }

    /// Held until the file is closed, which the system does however the process ends. `None` when somebody else
    /// holds it.
    pub(crate) fn lock(&self) -> io::Result<Option<File>> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.lock_file())?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn has_lock_file(&self) -> bool {
        self.lock_file().exists()
    }

    /// Whether a runner holds the lock. Takes it for a moment to see that.
    pub(crate) fn is_locked(&self) -> io::Result<bool> {
        let file = match File::open(self.lock_file()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn record(&self) -> io::Result<Option<Record>> {
        read_json(&self.path.join("runner.json"))
    }

    pub(crate) fn write_record(&self, record: &Record) -> io::Result<()> {
        self.write_json("runner.json", record)
    }

    pub(crate) fn exited(&self) -> io::Result<Option<Exited>> {
        read_json(&self.path.join("exited.json"))
    }

    pub(crate) fn write_exited(&self, exited: &Exited) -> io::Result<()> {
        self.write_json("exited.json", exited)
    }

    /// All or nothing: written beside and moved.
    fn write_json(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        let beside = self.path.join(format!("{name}.new"));
        let mut file = create_private(&beside)?;
        file.write_all(&serde_json::to_vec(value)?)?;
        fs::rename(beside, self.path.join(name))
    }

    /// Deletes the folder and what a runner puts there. The lock goes last, so that what is half deleted is
    /// still found.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let lock = self.lock_file();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            if path != lock {
                fs::remove_file(path)?;
            }
        }
        match fs::remove_file(lock) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        fs::remove_dir(&self.path)
    }
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
