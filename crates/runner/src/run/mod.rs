//! The process half: what happens inside a runner.

mod client;
mod clients;
mod door;
mod input;
mod left;
mod lending;
#[cfg(target_os = "linux")]
mod loan;
#[cfg(not(target_os = "linux"))]
#[path = "no_loan.rs"]
mod loan;
mod log;
mod output;
mod peer;
mod serve;
mod signals;
mod stage;
#[cfg(test)]
mod tests;
mod time;
mod wait;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thiserror::Error;

use self::door::Door;
use self::serve::Server;
use self::signals::Signals;
use crate::folder::{Folder, Record};
use crate::process::{self, LaunchError};
use crate::readiness::{FailureKind, Readiness};
use crate::spec::LaunchSpec;
use crate::wire::PROTOCOL_VERSION;

/// How often the lock is tried, a little apart: whoever looks whether it is held holds it for a moment.
const LOCK_ATTEMPTS: u32 = 50;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

/// Why a runner did not start. Whoever started it has read the same on its standard output.
#[derive(Debug, Error)]
pub enum RunError {
    #[error("what to run cannot be read: {0}")]
    Spec(#[source] io::Error),
    #[error("the runner's folder {} cannot be used: {source}", .folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("the runner's folder {} was used before", .0.display())]
    Used(PathBuf),
    #[error("{0}")]
    Socket(#[from] SocketPathError),
    #[error("the runner cannot run: {0}")]
    System(#[source] io::Error),
    #[error("the folder {} cannot be used: {source}", .folder.display())]
    AgentFolder { folder: PathBuf, source: io::Error },
    #[error("{} cannot be started: {source}", .program.display())]
    AgentProgram { program: PathBuf, source: io::Error },
}

#[derive(Debug, Error)]
#[error("{} is too long for a socket: choose a data folder with a shorter path", .0.display())]
pub struct SocketPathError(PathBuf);

impl RunError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::AgentFolder { .. } => FailureKind::Folder,
            Self::AgentProgram { .. } => FailureKind::Program,
            Self::Spec(_)
            | Self::Folder { .. }
            | Self::Used(_)
            | Self::Socket(_)
            | Self::System(_) => FailureKind::Runner,
        }
    }
}

impl From<LaunchError> for RunError {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Folder { folder, source } => Self::AgentFolder { folder, source },
            LaunchError::Program { program, source } => Self::AgentProgram { program, source },
        }
    }
}

/// The system's own limit, which differs, asked before anything is made.
pub(crate) fn check_socket_path(path: &Path) -> Result<(), SocketPathError> {
    match std::os::unix::net::SocketAddr::from_pathname(path) {
        Ok(_) => Ok(()),
        Err(_) => Err(SocketPathError(path.to_owned())),
    }
}

/// Runs an agent until it has ended and its end is known or nobody wants to know it.
///
/// This is the whole life of a process: it reads the [`LaunchSpec`] from standard input, says one line on
/// standard output, hears the process's signals and closes every other file that was open. So it must be the first
/// thing that the process does.
pub fn run(folder: &Path) -> Result<(), RunError> {
    close_inherited_files();
    // Away from the terminal and from the server's group. It fails for the leader of a group, which is one that
    // somebody started by hand.
    let _ = rustix::process::setsid();
    match prepare(folder) {
        Ok(prepared) => {
            report(&Readiness::Ready {
                ready: true,
                agent_pid: prepared.server.agent.id(),
            });
            prepared.server.run();
            drop(prepared.lock);
            Ok(())
        }
        Err(error) => {
            report(&Readiness::Failed {
                error: error.to_string(),
                kind: error.kind(),
            });
            Err(error)
        }
    }
}

/// What the server was started with and could not know of, a pipe of its supervisor's for example: the runner
/// would keep it open for days, and the agent could use it.
fn close_inherited_files() {
    // A copy of the list, because reading it opens a file, too.
    let numbers: Vec<i32> = std::fs::read_dir("/dev/fd")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The one of the list itself is closed already.
        let _ = nix::unistd::close(number);
    }
}

struct Prepared {
    server: Server,
    lock: File,
}

fn prepare(path: &Path) -> Result<Prepared, RunError> {
    let spec = read_spec().map_err(RunError::Spec)?;
    let unusable = |source| RunError::Folder {
        folder: path.to_owned(),
        source,
    };
    // Absolute, because whoever finds the socket may be elsewhere.
    let folder = Folder::new(&std::path::absolute(path).map_err(unusable)?);
    check_socket_path(&folder.socket())?;
    folder.prepare().map_err(unusable)?;
    let lock = lock(&folder).map_err(unusable)?;
    if folder.record().map_err(unusable)?.is_some() {
        return Err(RunError::Used(path.to_owned()));
    }
    let signals = Signals::new().map_err(RunError::System)?;
    let door = Door::open(folder.socket()).map_err(unusable)?;
    let started = process::start(&spec).inspect_err(|_| door.remove())?;
    let record = Record {
        protocol_version: PROTOCOL_VERSION,
        pid: std::process::id(),
        agent_pid: started.0.id(),
        started_at_ms: milliseconds_since_1970(),
        agent_identity: process::identity(started.0.id()),
        agent_mark: Some(started.0.mark()),
    };
    folder.write_record(&record).map_err(unusable)?;
    Ok(Prepared {
        server: Server::new(folder, spec.limits, started, door, signals),
        lock,
    })
}

fn read_spec() -> io::Result<LaunchSpec> {
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn lock(folder: &Folder) -> io::Result<File> {
    for _ in 0..LOCK_ATTEMPTS {
        if let Some(lock) = folder.lock()? {
            return Ok(lock);
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

fn milliseconds_since_1970() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.ok()
        .and_then(|time| u64::try_from(time.as_millis()).ok())
        .unwrap_or_default()
}

/// The only thing ever said there; then both ends of the conversation with whoever started it are closed.
fn report(readiness: &Readiness) {
    if let Ok(mut line) = serde_json::to_vec(readiness) {
        line.push(b'\n');
        // Whoever started the runner may be gone already; then the next one finds it.
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
}
