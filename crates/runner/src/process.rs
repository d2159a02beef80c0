//! The agent's process: its own group, its pipes, and the ways to end it. Also what tells one process from a
//! later one with the same number.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;

use crate::folder::ProcessIdentity;
use crate::mark::{self, Mark};
use crate::spec::LaunchSpec;

#[derive(Debug, Error)]
pub(crate) enum LaunchError {
    #[error("the folder {} cannot be used: {source}", .folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("{} cannot be started: {source}", .program.display())]
    Program { program: PathBuf, source: io::Error },
}

/// A running agent, leader of its own group. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Agent {
    child: Child,
    id: u32,
    /// `None` once the agent was waited for: then its number may be somebody else's.
    group: Option<Pid>,
    mark: Mark,
}

/// None of them makes the runner wait.
#[derive(Debug)]
pub(crate) struct AgentPipes {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Status {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl Status {
    /// Then it had the time to see to all that it started.
    fn is_in_order(self) -> bool {
        self.code == Some(0)
    }
}

impl From<ExitStatus> for Status {
    fn from(status: ExitStatus) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

pub(crate) fn start(spec: &LaunchSpec) -> Result<(Agent, AgentPipes), LaunchError> {
    let folder_error = |source| LaunchError::Folder {
        folder: spec.folder.clone(),
        source,
    };
    // Absolute, so that a wrong folder is told from a wrong program.
    let folder = std::fs::canonicalize(&spec.folder).map_err(folder_error)?;
    if !folder.is_dir() {
        return Err(folder_error(io::ErrorKind::NotADirectory.into()));
    }
    let program_error = |source| LaunchError::Program {
        program: spec.program.clone(),
        source,
    };
    let mark = Mark::new();
    let mut child = Command::new(&spec.program)
        .args(&spec.arguments)
        .current_dir(folder)
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .env(mark::VARIABLE, mark.value())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(program_error)?;
    let id = child.id();
    let pipes = take_pipes(&mut child).map_err(program_error);
    let agent = Agent {
        child,
        id,
        group: i32::try_from(id).ok().and_then(Pid::from_raw),
        mark,
    };
    Ok((agent, pipes?))
}

fn take_pipes(child: &mut Child) -> io::Result<AgentPipes> {
    let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    let pipes = AgentPipes {
        stdin: stdin.into(),
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    for pipe in [&pipes.stdin, &pipes.stdout, &pipes.stderr] {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    Ok(pipes)
}

impl Agent {
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn mark(&self) -> Mark {
        self.mark
    }

    /// `None` as long as the agent lives. Also ends what it left behind in its group, in the same moment in which
    /// its number becomes free, and what it left elsewhere if it could not see to that itself.
    pub(crate) fn ended(&mut self) -> Option<Status> {
        // An error means that there is nobody to wait for.
        let status = self.child.try_wait().map_or_else(
            |_| Some(Status::default()),
            |status| status.map(Status::from),
        )?;
        self.kill();
        self.group = None;
        if !status.is_in_order() {
            self.mark.kill_all();
        }
        Some(status)
    }

    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The only failure is a group that is gone already, which is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `None` where there is no `/proc`, or no such process.
pub(crate) fn identity(pid: u32) -> Option<ProcessIdentity> {
    Some(ProcessIdentity {
        boot_id: boot_id()?,
        start_ticks: ProcessState::read(pid)?.start_ticks,
    })
}

pub(crate) fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// What `/proc/<pid>/stat` says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessState {
    pub(crate) zombie: bool,
    pub(crate) group: u32,
    pub(crate) session: u32,
    pub(crate) start_ticks: u64,
}

impl ProcessState {
    pub(crate) fn read(pid: u32) -> Option<Self> {
        // The name may hold anything but is the only thing in brackets; it need not be UTF-8.
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        Some(Self {
            zombie: matches!(*fields.first()?, "Z" | "X"),
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start_ticks: fields.get(19)?.parse().ok()?,
        })
    }

    /// All processes that this one may see.
    pub(crate) fn all() -> impl Iterator<Item = (u32, Self)> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, Self::read(pid)?))
        })
    }
}
