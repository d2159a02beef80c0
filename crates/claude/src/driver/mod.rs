//! Moves lines between a [`ControlSession`] and an agent. The loop that reads never waits for a human: an ask
//! becomes an event, and its answer comes back later through [`AgentHandle::try_send`].

mod ending;
mod supervise;
mod traffic;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};

use crate::event::AgentEvent;
use crate::input::{AgentInput, SendError};
use crate::launch::LaunchOptions;
use crate::line::{LineError, MAX_LINE_BYTES};
use crate::process::{self, AgentProcess, LaunchError};
use crate::session::{ControlSession, ProtocolError};

pub use ending::EndedAgent;

/// How many lines may wait for an agent that does not read its input.
const QUEUED_LINES: usize = 256;

/// What went wrong with an agent, as a sentence for a human.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AgentFault {
    /// The agent said itself why it does not start.
    #[error("The agent refused to start: {0}")]
    StartRefused(String),
    #[error("The agent ended before it was ready{}", .0.as_deref().map(|text| format!(": {text}")).unwrap_or_default())]
    EndedBeforeReady(Option<String>),
    #[error("The agent did not get ready within {0} seconds")]
    NotReadyInTime(u64),
    #[error("The agent was stopped because it broke the protocol: {0}")]
    Protocol(String),
    #[error("The agent was stopped because its output could not be used: {0}")]
    Output(String),
    #[error("The agent was stopped because it no longer reads its input")]
    InputStalled,
    #[error("The agent ended unexpectedly with {0}")]
    Crashed(String),
    /// For a host that is not always there.
    #[error("The agent was stopped because nobody was there for it for too long")]
    Unclaimed,
    #[error("The agent was lost: {0}")]
    Lost(String),
}

impl From<ProtocolError> for AgentFault {
    fn from(error: ProtocolError) -> Self {
        match error {
            ProtocolError::StartRefused { errors } => Self::StartRefused(errors.join("; ")),
            other => Self::Protocol(other.to_string()),
        }
    }
}

impl From<LineError> for AgentFault {
    fn from(error: LineError) -> Self {
        Self::Output(error.to_string())
    }
}

/// The waits of a connection, apart so that tests can shorten them.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub line_bytes: usize,
    pub until_ready: Duration,
    /// After closing the agent's input, and again after asking it to end.
    pub until_ended: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: MAX_LINE_BYTES,
            until_ready: Duration::from_secs(60),
            until_ended: Duration::from_secs(5),
        }
    }
}

/// What the owner wants of an agent. Only ever grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wanted {
    Running,
    Stopped,
    Killed,
}

/// The way to talk to one agent. Clones share it; when the last one is dropped the agent is stopped.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    session: Arc<Mutex<ControlSession>>,
    lines: mpsc::Sender<String>,
    wanted: Arc<watch::Sender<Wanted>>,
    process_id: Option<u32>,
}

impl AgentHandle {
    /// Never blocks. On an error nothing was sent and nothing changed; `Overloaded` may be tried again.
    pub fn try_send(&self, input: AgentInput) -> Result<(), SendError> {
        // The place in the queue comes first: once the session has noted an answer it must be written.
        let place = self.lines.try_reserve().map_err(|error| match error {
            mpsc::error::TrySendError::Full(()) => SendError::Overloaded,
            mpsc::error::TrySendError::Closed(()) => SendError::Closed,
        })?;
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let line = session.send(input)?;
        place.send(line);
        Ok(())
    }

    /// Ends the agent in order: interrupt, close its input, wait, ask to end, wait, kill. Returns at once;
    /// [`AgentEvent::Exited`] tells when it is done.
    pub fn stop(&self) {
        self.want(Wanted::Stopped);
    }

    /// Ends the agent and all it started, now.
    pub fn kill(&self) {
        self.want(Wanted::Killed);
    }

    fn want(&self, wanted: Wanted) {
        self.wanted.send_if_modified(|current| {
            let grows = wanted > *current;
            *current = wanted.max(*current);
            grows
        });
    }

    /// Also the id of the agent's process group. `None` for an agent behind a connection.
    pub fn process_id(&self) -> Option<u32> {
        self.process_id
    }

    pub fn agent_session_id(&self) -> Option<String> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.agent_session_id().map(str::to_owned)
    }
}

/// Starts an agent. Its events end with exactly one [`AgentEvent::Exited`]; a dropped receiver kills it.
pub fn spawn(
    options: &LaunchOptions,
    events: mpsc::Sender<AgentEvent>,
) -> Result<AgentHandle, LaunchError> {
    spawn_with(options, events, Limits::default())
}

pub fn spawn_with(
    options: &LaunchOptions,
    events: mpsc::Sender<AgentEvent>,
    limits: Limits,
) -> Result<AgentHandle, LaunchError> {
    let (process, pipes) = process::start(options)?;
    Ok(run(
        pipes.stdout,
        pipes.stdin,
        Some(process),
        events,
        limits,
        ControlSession::new(),
    ))
}

/// Drives an agent that somebody else started, over any pair of streams.
pub fn connect<R, W>(
    reader: R,
    writer: W,
    events: mpsc::Sender<AgentEvent>,
    limits: Limits,
    session: ControlSession,
) -> AgentHandle
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    run(reader, writer, None, events, limits, session)
}

fn run<R, W>(
    reader: R,
    writer: W,
    process: Option<AgentProcess>,
    events: mpsc::Sender<AgentEvent>,
    limits: Limits,
    mut session: ControlSession,
) -> AgentHandle
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (lines, queue) = mpsc::channel(QUEUED_LINES);
    let (wanted, wanted_changes) = watch::channel(Wanted::Running);
    let first_line = session.initialize();
    let session = Arc::new(Mutex::new(session));
    let process_id = process.as_ref().and_then(AgentProcess::id);
    let supervisor = supervise::Supervisor::start(
        supervise::Connection {
            reader,
            writer,
            first_line,
            queue,
            replies: lines.downgrade(),
            session: Arc::clone(&session),
            events,
            limits,
        },
        process,
        wanted_changes,
    );
    tokio::spawn(supervisor.run());
    AgentHandle {
        session,
        lines,
        wanted: Arc::new(wanted),
        process_id,
    }
}
