//! The agent's process: its own group, its pipes, and the ways to end it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use crate::launch::LaunchOptions;

const STDERR_TAIL_BYTES: usize = 64 * 1024;

#[derive(Debug, Error)]
pub enum LaunchError {
    #[error("the folder {} cannot be used: {source}", .folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("{} cannot be started: {source}", .program.display())]
    Program { program: PathBuf, source: io::Error },
    #[error("the started agent has no {0} pipe")]
    Pipe(&'static str),
}

/// A running agent. Dropping it kills its whole group.
///
/// There is no parent-death signal: setting one needs code between fork and exec, which is unsafe, and it
/// would fire when the spawning thread ends rather than the host. A host that is killed closes the pipes,
/// which ends an idle agent.
#[derive(Debug)]
pub struct AgentProcess {
    child: Box<dyn ChildWrapper>,
    group: Option<Pid>,
    stderr: Arc<Mutex<Tail>>,
    stderr_reader: JoinHandle<()>,
}

#[derive(Debug)]
pub struct AgentPipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
}

pub fn start(options: &LaunchOptions) -> Result<(AgentProcess, AgentPipes), LaunchError> {
    let folder_error = |source| LaunchError::Folder {
        folder: options.cwd.clone(),
        source,
    };
    // Absolute, so that a name with a leading dash is a path and a wrong folder is told from a wrong program.
    let cwd = std::fs::canonicalize(&options.cwd).map_err(folder_error)?;
    if !cwd.is_dir() {
        return Err(folder_error(io::ErrorKind::NotADirectory.into()));
    }
    let program_error = |source| LaunchError::Program {
        program: options.program.clone(),
        source,
    };
    // A bare name is looked up in PATH; a path must not change its meaning with the new folder.
    let program = if options.program.components().count() > 1 {
        std::path::absolute(&options.program).map_err(program_error)?
    } else {
        options.program.clone()
    };
    let mut command = CommandWrap::with_new(program, |command| {
        command
            .args(options.arguments())
            .current_dir(cwd)
            .env_clear()
            .envs(options.environment(std::env::vars_os()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    command.wrap(KillOnDrop).wrap(ProcessGroup::leader());
    let mut child = command.spawn().map_err(program_error)?;
    let stdin = child.stdin().take().ok_or(LaunchError::Pipe("stdin"))?;
    let stdout = child.stdout().take().ok_or(LaunchError::Pipe("stdout"))?;
    let stderr = child.stderr().take().ok_or(LaunchError::Pipe("stderr"))?;
    let tail = Arc::new(Mutex::new(Tail::default()));
    let process = AgentProcess {
        group: child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw),
        child,
        stderr_reader: tokio::spawn(drain(stderr, Arc::clone(&tail))),
        stderr: tail,
    };
    Ok((process, AgentPipes { stdin, stdout }))
}

impl AgentProcess {
    pub fn id(&self) -> Option<u32> {
        self.group
            .map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Safe to cancel and to call again.
    pub async fn wait(&mut self) -> io::Result<Ending> {
        self.child.wait().await.map(Ending::from)
    }

    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Also for what the agent left behind in its group after its own end.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The only failure is a group that is gone already, which is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    pub fn stderr_reader(&mut self) -> &mut JoinHandle<()> {
        &mut self.stderr_reader
    }

    pub fn stderr_tail(&self) -> String {
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail.bytes).into_owned()
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.kill();
        self.stderr_reader.abort();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ending {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let excess = self.bytes.len().saturating_sub(STDERR_TAIL_BYTES);
        self.bytes.drain(..excess);
    }
}

async fn drain(mut stderr: ChildStderr, tail: Arc<Mutex<Tail>>) {
    let mut chunk = vec![0; 8 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        let bytes = chunk.get(..count).unwrap_or_default();
        tail.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(bytes);
    }
}
