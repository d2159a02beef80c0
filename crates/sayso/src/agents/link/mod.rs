//! An agent behind its runner: what the agent writes comes in as Sayso's own terms, what Sayso says goes out
//! once.
//!
//! The runner keeps what the agent wrote until it is acknowledged, so that a new server finds what the one
//! before it had not stored. A line is acknowledged when what it led to is on disk (the hub says so) and, if it
//! asked for something, when that request is on disk or its answer is with the agent.

mod ending;
mod left;
mod state;
mod streaming;
mod task;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sayso_broker::SessionId;
use sayso_claude::{AgentInput, ControlSession, SendError};
use sayso_runner::{Connection, JournalReader, LaunchSpec};
use tokio::sync::{Notify, mpsc};
use uuid::Uuid;

use super::AgentOutput;
use super::claude::Adapter;
pub use left::bury;
use state::State;
use task::Task;

/// Output of one run of one session's agent.
#[derive(Debug)]
pub struct FromAgent {
    pub session: SessionId,
    pub run: u64,
    pub outputs: Vec<AgentOutput>,
}

/// Where an agent's output goes.
#[derive(Debug, Clone)]
pub struct Destination {
    pub session: SessionId,
    pub run: u64,
    pub hub: mpsc::Sender<FromAgent>,
    /// Held as long as there is something left to do for the agent.
    pub busy: Arc<()>,
}

/// A runner that is to be started for a new agent.
#[derive(Debug)]
pub struct Launch {
    /// This binary and what makes it a runner.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    pub spec: LaunchSpec,
}

/// What there is of an agent that an earlier server started.
#[derive(Debug)]
pub enum Earlier {
    /// Its runner, which lives.
    Living(Connection),
    /// What a dead runner wrote down.
    Left(JournalReader),
}

impl Earlier {
    /// The first line that can still be had; `None` when there is no line at all.
    pub fn first_line(&self) -> Option<u64> {
        match self {
            Self::Living(connection) => Some(connection.welcome.first_available_seq),
            Self::Left(journal) => journal.first_seq(),
        }
    }
}

/// How the agent comes to be there.
enum Origin {
    Started(Box<Launch>),
    Found {
        folder: PathBuf,
        connection: Box<Connection>,
    },
    Left {
        folder: PathBuf,
        journal: Box<JournalReader>,
    },
}

/// The way to talk to one agent. Clones share it. An agent goes on when all of them are gone.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Something for the task to look at.
    changed: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts an agent. Returns at once; what is said before it runs waits for it.
pub fn start(launch: Launch, adapter: Adapter, destination: Destination) -> AgentHandle {
    let mut session = ControlSession::new();
    let first_line = session.initialize();
    let mut state = State::new(session);
    state.put(first_line_id(), first_line);
    spawn(
        state,
        Origin::Started(Box::new(launch)),
        adapter,
        destination,
    )
}

/// Takes over an agent that an earlier server started. `session` knows what is still open. Of one whose runner is
/// dead it is heard what is on record, and then that it has ended.
pub fn take_over(
    folder: PathBuf,
    earlier: Earlier,
    mut session: ControlSession,
    ready: bool,
    adapter: Adapter,
    destination: Destination,
) -> AgentHandle {
    let first_line = (!ready).then(|| session.initialize());
    let mut state = State::new(session);
    let origin = match earlier {
        Earlier::Living(connection) => {
            // The runner knows whether it was written already.
            if let Some(line) = first_line {
                state.put(first_line_id(), line);
            }
            let connection = Box::new(connection);
            Origin::Found { folder, connection }
        }
        Earlier::Left(journal) => {
            state.gone();
            let journal = Box::new(journal);
            Origin::Left { folder, journal }
        }
    };
    spawn(state, origin, adapter, destination)
}

fn first_line_id() -> Uuid {
    sayso_claude::answer_id("initialize")
}

fn spawn(state: State, origin: Origin, adapter: Adapter, destination: Destination) -> AgentHandle {
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        changed: Notify::new(),
    });
    let task = Task::new(Arc::clone(&shared), adapter, destination);
    tokio::spawn(task.run(origin));
    AgentHandle { shared }
}

impl AgentHandle {
    /// Never blocks. On an error nothing was sent and nothing changed; `Overloaded` may be tried again. The id
    /// comes back in [`AgentOutput::Written`] or [`AgentOutput::NotWritten`].
    pub fn try_send(&self, input: AgentInput) -> Result<Uuid, SendError> {
        self.shared.lock().send(input)
    }

    /// The request with the agent's own id is on disk.
    pub fn recorded(&self, request_id: &str) {
        self.shared.lock().settle(request_id);
    }

    /// What all lines up to this one led to is on disk.
    pub fn acknowledge(&self, line: u64) {
        if self.shared.lock().stored(line) {
            self.shared.changed.notify_one();
        }
    }

    /// Ends the agent in order. [`AgentOutput::Ended`] tells when it is done.
    pub fn stop(&self) {
        let mut state = self.shared.lock();
        state.asked_to_end = true;
        let interrupt = state.interrupt();
        state.put(Uuid::new_v4(), interrupt);
        state.with_runner(|runner| runner.stop());
        drop(state);
        self.shared.changed.notify_one();
    }

    /// Ends the agent and all it started, now. Nobody waits for what it still has to say.
    pub fn kill(&self) {
        let mut state = self.shared.lock();
        state.asked_to_end = true;
        state.forgotten = true;
        state.kill();
        drop(state);
        self.shared.changed.notify_one();
    }

    /// The same for an agent that does not listen and whose end is of interest: [`AgentOutput::Ended`] tells it.
    pub fn end(&self) {
        let mut state = self.shared.lock();
        state.asked_to_end = true;
        state.kill();
        drop(state);
        self.shared.changed.notify_one();
    }

    /// The agent has ended and all it said is stored.
    pub fn forget(&self) {
        self.shared.lock().forgotten = true;
        self.shared.changed.notify_one();
    }
}
