//! The agents that an earlier server left: those that live are taken over with their open requests, and the last
//! words of the others are heard.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use sayso_broker::{Event, Mode, RestoredSession, SessionId, SessionSpec, SessionState};
use sayso_claude::ControlSession;
use sayso_runner::{
    AgentSignal, CleanUp, ConnectError, Connection, RunnerState, end, read_journal,
};
use sayso_store::UnixMillis;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::progress::Progress;
use super::restored::Records;
use super::run::Run;
use super::{Hub, restored};
use crate::agents::claude;
use crate::agents::link::{self, Earlier, bury};

/// Where runners have their folders, below the data folder.
pub(super) const RUNNERS: &str = "agents";

/// How long a start may take for what dead runners left. What is not heard by then comes while clients look on.
const UNTIL_HEARD: Duration = Duration::from_secs(10);
/// How long a runner that lives is tried.
const UNTIL_REACHED: Duration = Duration::from_secs(5);
/// How many runners are talked to at the same time.
const AT_ONCE: usize = 32;
/// Of how many the records are read at the same time.
const READ_AT_ONCE: usize = 8;
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Names the folder of one agent: whose it is, and which of that session's agents.
pub(super) fn folder_of(data_dir: &Path, session: SessionId) -> PathBuf {
    let own = Uuid::new_v4().simple().to_string();
    let own = own.get(..8).unwrap_or_default();
    data_dir
        .join(RUNNERS)
        .join(format!("{}-{own}", session.0.simple()))
}

fn session_of(folder: &Path) -> Option<SessionId> {
    let name = folder.file_name()?.to_str()?;
    let (session, _) = name.split_once('-')?;
    Uuid::try_parse(session).ok().map(SessionId)
}

/// What there is of earlier servers' agents, the latest first.
#[derive(Debug, Default)]
pub(super) struct Found {
    agents: Vec<FoundAgent>,
}

#[derive(Debug)]
struct FoundAgent {
    session: SessionId,
    /// When its runner started, in milliseconds since 1970.
    started_at: i64,
    folder: PathBuf,
    earlier: Earlier,
}

impl Found {
    /// Those of which there is more to hear.
    pub(super) fn sessions(&self) -> Vec<sayso_store::SessionId> {
        let agents = self.agents.iter();
        agents
            .map(|agent| sayso_store::SessionId(agent.session.0))
            .collect()
    }
}

/// Connects to every agent that lives, makes sure that the others are dead, and finds what they left.
pub(super) async fn find(data_dir: &Path) -> Found {
    let folder = data_dir.join(RUNNERS);
    let runners = spawn_blocking(move || sayso_runner::find(&folder)).await;
    let runners = match runners {
        Ok(Ok(runners)) => runners,
        Ok(Err(error)) => {
            tracing::error!(%error, "the agents of earlier servers could not be looked for");
            Vec::new()
        }
        Err(_) => Vec::new(),
    };
    // At the same time, so that one that does not answer holds up no other.
    let agents: Vec<Option<FoundAgent>> = stream::iter(runners)
        .map(find_one)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let mut found = Found {
        agents: agents.into_iter().flatten().collect(),
    };
    // Of two for one session the later one is its agent; the other has ended and waits to be forgotten.
    found
        .agents
        .sort_by_key(|agent| std::cmp::Reverse(agent.started_at));
    found
}

async fn find_one(runner: sayso_runner::Found) -> Option<FoundAgent> {
    // One without a record never had an agent.
    let agent = session_of(&runner.folder).zip(runner.record.as_ref());
    let earlier = match agent {
        Some(_) => earlier(&runner.folder, runner.state).await,
        None => None,
    };
    match agent.zip(earlier) {
        Some(((session, record), earlier)) => Some(FoundAgent {
            session,
            started_at: i64::try_from(record.started_at_ms).unwrap_or(i64::MAX),
            folder: runner.folder,
            earlier,
        }),
        None => {
            bury_soon(runner.folder).await;
            None
        }
    }
}

async fn earlier(folder: &Path, state: RunnerState) -> Option<Earlier> {
    if state == RunnerState::Alive {
        match reach(folder).await {
            Ok(connection) => return Some(Earlier::Living(connection)),
            Err(error) => tracing::error!(%error, "an agent could not be reached"),
        }
    }
    let path = folder.to_owned();
    // One that lives and cannot be talked to would keep its agent running beside the session's next one.
    let journal = spawn_blocking(move || match end(&path) {
        Ok(CleanUp::Dead | CleanUp::Killed) => Some(read_journal(&path, 0)),
        Ok(CleanUp::Alive) | Err(_) => None,
    });
    match journal.await.ok()?? {
        Ok(journal) => Some(Earlier::Left(journal)),
        Err(error) => {
            tracing::error!(%error, "what an agent said last is lost");
            None
        }
    }
}

/// A runner makes its socket anew when somebody removed it; one that was stopped does not answer at all.
async fn reach(folder: &Path) -> Result<Connection, ConnectError> {
    let until = Instant::now() + UNTIL_REACHED;
    loop {
        let connecting = Connection::connect(folder, 0);
        match timeout_at(until, connecting).await {
            Ok(Err(_)) if Instant::now() < until => tokio::time::sleep(TRY_AGAIN_AFTER).await,
            Ok(reached) => return reached,
            Err(_) => return Err(ConnectError::NoAnswer(UNTIL_REACHED)),
        }
    }
}

async fn bury_soon(folder: PathBuf) {
    let _ = spawn_blocking(move || bury(&folder)).await;
}

impl Hub {
    pub(super) async fn take_over(&mut self, found: Found) -> anyhow::Result<()> {
        let mut left = Vec::new();
        // Of all at the same time: a session that asked much has much to read.
        let read = stream::iter(found.agents)
            .map(|agent| async {
                let records = self.records_of(&agent).await?;
                anyhow::Ok((agent, records))
            })
            .buffered(READ_AT_ONCE);
        let agents: Vec<(FoundAgent, Records)> = read.try_collect().await?;
        for (agent, records) in agents {
            let known = self.sessions.get(agent.session);
            let is_its_agent = known.is_some_and(|known| known.run.is_none());
            // Then all that it said was stored before.
            let is_over = known.is_some_and(|known| known.state == SessionState::Dead);
            match &agent.earlier {
                Earlier::Living(connection) if !is_its_agent => {
                    // Nobody would ever hear of it.
                    tracing::warn!(session = %agent.session, "an agent without a session is ended");
                    let _ = connection.handle.signal(AgentSignal::Kill);
                }
                Earlier::Left(_) if !is_its_agent || is_over => bury_soon(agent.folder).await,
                Earlier::Living(_) => self.take_over_one(agent, records),
                Earlier::Left(_) => {
                    left.push(agent.session);
                    self.take_over_one(agent, records);
                }
            }
        }
        let heard = self.hear_out(&left);
        if tokio::time::timeout(UNTIL_HEARD, heard).await.is_err() {
            tracing::warn!("agents left more than could be read before the start");
        }
        Ok(())
    }

    async fn records_of(&self, agent: &FoundAgent) -> anyhow::Result<Records> {
        let Some(known) = self.sessions.get(agent.session) else {
            return Ok(Records::default());
        };
        let since = UnixMillis(agent.started_at);
        let first_line = agent.earlier.first_line();
        Records::read(&self.store, known, since, first_line).await
    }

    /// Nobody should be shown a request as open whose agent is gone.
    async fn hear_out(&mut self, left: &[SessionId]) {
        while left.iter().any(|session| self.run_of(*session).is_some()) {
            tokio::select! {
                Some(completion) = self.completions.recv() => self.completed(completion),
                Some(output) = self.from_agents.recv(), if self.has_room() => {
                    self.agent_output(output);
                }
            }
        }
    }

    fn take_over_one(&mut self, agent: FoundAgent, records: Records) {
        let FoundAgent {
            session: id,
            folder,
            earlier,
            ..
        } = agent;
        let Records {
            stored,
            asked,
            unfinished,
            under_way,
        } = records;
        let Some(known) = self.sessions.get(id) else {
            return;
        };
        // Ids that the server before cannot have in flight.
        let mut session =
            ControlSession::with_id_prefix(format!("sayso-{}", Uuid::new_v4().simple()));
        let ready = known.state != SessionState::Starting;
        if !ready {
            session = ControlSession::new();
        }
        let cwd = PathBuf::from(&known.cwd);
        let requests = unfinished
            .into_iter()
            .filter_map(|unfinished| restored::request(&mut session, &cwd, unfinished))
            .collect();
        for tool in &under_way {
            restored::edit(&mut session, tool);
        }
        let restored = RestoredSession {
            spec: SessionSpec {
                policies: known.policies.policies(),
                mode: Mode::new(&known.permission_mode),
            },
            state: known.state,
            state_changed_at: known.state_changed_at,
            requests,
        };
        let lives = matches!(earlier, Earlier::Living(_));
        let destination = self.next_run_of(id);
        let number = destination.run;
        let native_ids: Vec<String> = asked.iter().map(|(id, _)| id.clone()).collect();
        let adapter = claude::Adapter::new(cwd).after(native_ids.iter().cloned());
        let handle = link::take_over(folder, earlier, session, ready, adapter, destination);
        if let Some(known) = self.sessions.get_mut(id) {
            let progress = Progress::taken_over(stored, native_ids);
            let mut run = Run::new(number, handle, known, progress);
            run.allowed = under_way.iter().filter_map(restored::allowed).collect();
            for tool_use_id in asked
                .iter()
                .filter_map(|(_, tool_use_id)| tool_use_id.as_ref())
            {
                run.watch.asked_about(tool_use_id);
            }
            known.run = Some(run);
        }
        tracing::info!(session = %id, lives, "an agent was taken over");
        let restored = Box::new(restored);
        self.dispatch(Event::SessionRestored {
            session: id,
            restored,
        });
        if lives {
            self.hand_over_denials(id);
            self.send_unread(id);
            self.ask_whether_it_lives(id);
        }
    }
}
