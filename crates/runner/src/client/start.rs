use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::folder::Folder;
use crate::readiness::{FailureKind, Readiness};
use crate::run::{SocketPathError, check_socket_path};
use crate::spec::LaunchSpec;

/// A runner has little to do before it is ready, but a machine may be busy.
const UNTIL_READY: Duration = Duration::from_secs(30);

/// No runner says as much in its one line.
const READINESS_BYTES: u64 = 64 * 1024;

/// A runner that is ready: connect to its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub runner_pid: u32,
    pub agent_pid: u32,
}

#[derive(Debug, Error)]
pub enum StartError {
    #[error("{0}")]
    SocketPath(#[from] SocketPathError),
    #[error("the runner's folder {} cannot be used: {source}", .folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("{} cannot be started: {source}", .program.display())]
    Spawn { program: PathBuf, source: io::Error },
    #[error("the runner cannot be spoken to: {0}")]
    Speak(#[source] io::Error),
    #[error("the runner was not ready within {} seconds", .0.as_secs())]
    NotReadyInTime(Duration),
    #[error("the runner ended before it was ready: {0}")]
    Ended(String),
    /// What the runner says itself; the kind tells a wrong folder from a wrong program.
    #[error("{error}")]
    Refused { error: String, kind: FailureKind },
}

/// Starts a runner in a folder of its own, which is made, and waits until its agent runs. `program` and
/// `leading_arguments` are this binary and its hidden subcommand; the folder is added.
///
/// The runner is not a child that ends with its parent: it has a session of its own, nothing of the parent's
/// environment and none of its files. As long as this process lives, its end is waited for, so that it does not
/// stay behind as a zombie. When it does not get ready, nothing of it is left.
pub async fn start(
    program: &Path,
    leading_arguments: &[OsString],
    folder: &Path,
    spec: &LaunchSpec,
) -> Result<Started, StartError> {
    let unusable = |source| StartError::Folder {
        folder: folder.to_owned(),
        source,
    };
    let path = std::path::absolute(folder).map_err(unusable)?;
    let folder = Folder::new(&path);
    check_socket_path(&folder.socket())?;
    if folder.has_lock_file() {
        return Err(unusable(io::ErrorKind::AlreadyExists.into()));
    }
    folder.prepare().map_err(unusable)?;
    let log = folder.log().map_err(unusable)?;
    let child = Command::new(program)
        .args(leading_arguments)
        .arg(folder.path())
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(|source| {
            let _ = folder.remove();
            StartError::Spawn {
                program: program.to_owned(),
                source,
            }
        })?;
    let mut starting = Starting {
        child: Some(child),
        folder,
    };
    let started = timeout(UNTIL_READY, starting.agent_runs(spec)).await;
    let started = started.unwrap_or(Err(StartError::NotReadyInTime(UNTIL_READY)))?;
    starting.leave_alone();
    Ok(started)
}

/// A runner until it is ready. Dropped before that, which also happens when nobody waits any more, it is killed
/// and its folder removed.
struct Starting {
    child: Option<Child>,
    folder: Folder,
}

impl Starting {
    async fn agent_runs(&mut self, spec: &LaunchSpec) -> Result<Started, StartError> {
        let missing = || StartError::Speak(io::ErrorKind::BrokenPipe.into());
        let child = self.child.as_mut().ok_or_else(missing)?;
        let runner_pid = child.id().ok_or_else(missing)?;
        let mut stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let text = serde_json::to_vec(spec).map_err(|error| StartError::Speak(error.into()))?;
        // A runner that ends early has said why, so what is not taken does not matter.
        let _ = stdin.write_all(&text).await;
        drop(stdin);
        let mut answer = String::new();
        stdout
            .take(READINESS_BYTES)
            .read_to_string(&mut answer)
            .await
            .map_err(StartError::Speak)?;
        match serde_json::from_str(&answer) {
            Ok(Readiness::Ready { agent_pid, .. }) => Ok(Started {
                runner_pid,
                agent_pid,
            }),
            Ok(Readiness::Failed { error, kind }) => Err(StartError::Refused { error, kind }),
            Err(_) => Err(StartError::Ended(self.last_words())),
        }
    }

    fn last_words(&self) -> String {
        let log = std::fs::read(self.folder.path().join("runner.log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        log.trim()
            .lines()
            .next_back()
            .unwrap_or_default()
            .to_owned()
    }

    fn leave_alone(&mut self) {
        if let Some(child) = self.child.take() {
            reap(child);
        }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        // Whether it has an agent is not known; a killed runner's agent is found by its record.
        let _ = child.start_kill();
        let folder = self.folder.clone();
        let clean = move || {
            let _ = super::clean_up(folder.path());
            let _ = folder.remove();
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                let _ = child.wait().await;
                let _ = tokio::task::spawn_blocking(clean).await;
            })),
            Err(_) => clean(),
        }
    }
}

fn reap(mut child: Child) {
    tokio::spawn(async move { child.wait().await });
}
