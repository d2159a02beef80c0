//! The agents that an earlier server left: those that live are taken over with their open requests.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sayso_broker::{
    ClockView, Event, Mode, RestoredRequest, RestoredSession, SessionId, SessionSpec, Timestamp,
};
use sayso_claude::{AgentEvent, ControlSession, PermissionMode, RawJson};
use sayso_protocol::RequestDetail;
use sayso_runner::{Connection, RunnerState, clean_up};
use sayso_store::{RequestWithDecision, UnixMillis};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

use super::progress::Progress;
use super::sessions::Run;
use super::silence::Hearing;
use super::transcript::Place;
use super::watchdog::Watch;
use super::{Hub, records};
use crate::agents::claude;
use crate::agents::link::{self, Destination};

/// Where runners have their folders, below the data folder.
pub(super) const RUNNERS: &str = "agents";

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

/// What there is of earlier servers' agents.
#[derive(Debug, Default)]
pub(super) struct Found {
    living: Vec<Living>,
}

#[derive(Debug)]
struct Living {
    session: SessionId,
    /// When its runner started, in milliseconds since 1970.
    started_at: i64,
    folder: PathBuf,
    connection: Connection,
}

impl Found {
    pub(super) fn living(&self) -> Vec<sayso_store::SessionId> {
        let sessions = self.living.iter();
        sessions
            .map(|living| sayso_store::SessionId(living.session.0))
            .collect()
    }
}

/// Connects to every agent that lives, and makes sure that the others are dead.
pub(super) async fn find(data_dir: &Path) -> Found {
    let folder = data_dir.join(RUNNERS);
    let runners = tokio::task::spawn_blocking(move || sayso_runner::find(&folder)).await;
    let runners = match runners {
        Ok(Ok(runners)) => runners,
        Ok(Err(error)) => {
            tracing::error!(%error, "the agents of earlier servers could not be looked for");
            Vec::new()
        }
        Err(_) => Vec::new(),
    };
    let mut found = Found::default();
    for runner in runners {
        let folder = runner.folder;
        let session = session_of(&folder);
        if let (RunnerState::Alive, Some(session)) = (runner.state, session) {
            match Connection::connect(&folder, 0).await {
                Ok(connection) => {
                    let started = runner.record.map_or(0, |record| record.started_at_ms);
                    found.living.push(Living {
                        session,
                        started_at: i64::try_from(started).unwrap_or(i64::MAX),
                        folder,
                        connection,
                    });
                    continue;
                }
                Err(error) => tracing::error!(%error, "an agent could not be reached"),
            }
        }
        let _ = tokio::task::spawn_blocking(move || bury(&folder)).await;
    }
    // Of two for one session the later one is its agent; the other has ended and waits to be forgotten.
    found
        .living
        .sort_by_key(|living| std::cmp::Reverse(living.started_at));
    found
}

fn bury(folder: &Path) {
    let buried = clean_up(folder).and_then(|_| sayso_runner::remove(folder));
    if let Err(error) = buried {
        tracing::warn!(%error, folder = %folder.display(), "what an agent left could not be removed");
    }
}

impl Hub {
    pub(super) async fn take_over(&mut self, found: Found) -> anyhow::Result<()> {
        for living in found.living {
            let session = living.session;
            let known = self.sessions.get(session).is_some();
            if !known
                || self
                    .sessions
                    .get(session)
                    .is_some_and(|known| known.run.is_some())
            {
                // Nobody would ever hear of it.
                tracing::warn!(%session, "an agent without a session is ended");
                let _ = living
                    .connection
                    .handle
                    .signal(sayso_runner::AgentSignal::Kill);
                continue;
            }
            self.take_over_one(living).await?;
        }
        Ok(())
    }

    async fn take_over_one(&mut self, living: Living) -> anyhow::Result<()> {
        let Living {
            session: id,
            started_at,
            folder,
            connection,
        } = living;
        let row_id = sayso_store::SessionId(id.0);
        let Some(known) = self.sessions.get(id) else {
            return Ok(());
        };
        let first_line = i64::try_from(connection.welcome.first_available_seq).unwrap_or(i64::MAX);
        let run_after = i64::try_from(known.run_after).unwrap_or(i64::MAX);
        let stored = self.store.entries_of_lines(row_id, run_after, first_line);
        let stored: Vec<Place> = stored.await?.into_iter().filter_map(place).collect();
        let since = UnixMillis(started_at);
        let known_requests = self.store.native_ids(row_id, since).await?;
        let unfinished = self.store.unfinished_requests(row_id).await?;

        // Ids that the server before cannot have in flight.
        let mut session =
            ControlSession::with_id_prefix(format!("sayso-{}", Uuid::new_v4().simple()));
        let ready = known.state != sayso_broker::SessionState::Starting;
        if !ready {
            session = ControlSession::new();
        }
        let cwd = PathBuf::from(&known.cwd);
        let requests = unfinished
            .into_iter()
            .filter_map(|unfinished| restore(&mut session, &cwd, unfinished))
            .collect();
        let restored = RestoredSession {
            spec: SessionSpec {
                policies: known.policies.policies(),
                mode: Mode::new(&known.permission_mode),
            },
            state: known.state,
            state_changed_at: known.state_changed_at,
            requests,
        };
        let allows_bypass =
            PermissionMode::from_wire(&known.permission_mode) == PermissionMode::BypassPermissions;
        self.next_run += 1;
        let number = self.next_run;
        let destination = Destination {
            session: id,
            run: number,
            hub: self.to_hub.clone(),
            busy: Arc::clone(&self.links),
        };
        let adapter = claude::Adapter::new(cwd);
        let handle = link::take_over(folder, connection, session, ready, adapter, destination);
        if let Some(known) = self.sessions.get_mut(id) {
            known.run = Some(Run {
                number,
                handle,
                allows_bypass,
                cost_before: known.usage.cost_usd,
                stopped: None,
                watch: Watch::default(),
                hearing: Hearing::default(),
                allowed: HashMap::new(),
                progress: Progress::taken_over(stored, known_requests),
            });
        }
        tracing::info!(session = %id, "an agent was taken over");
        let restored = Box::new(restored);
        self.dispatch(Event::SessionRestored {
            session: id,
            restored,
        });
        self.hand_over_denials(id);
        self.send_unread(id);
        Ok(())
    }
}

fn place((line, part): (i64, i64)) -> Option<Place> {
    Some(Place {
        line: u64::try_from(line).ok()?,
        part: u32::try_from(part).ok()?,
    })
}

/// A request as the agent made it, open again for both sides. `None` when it cannot be read: then the agent
/// waits for an answer that only stopping it can replace, and its session says so.
fn restore(
    session: &mut ControlSession,
    cwd: &Path,
    unfinished: RequestWithDecision,
) -> Option<RestoredRequest> {
    let RequestWithDecision { request, decision } = unfinished;
    let native_id: String = serde_json::from_str(&request.native_id).ok()?;
    let detail: RequestDetail = serde_json::from_str(&request.detail).unwrap_or_default();
    let raw = RawJson::parse_text(request.raw.clone()).ok()?;
    let event: AgentEvent = session.restore(&native_id, &raw, detail.input_faithful)?;
    let mut ask = claude::restored(event, &request, cwd)?;
    ask.id = sayso_broker::RequestId(request.id.0);
    ask.digest.clone_from(&request.input_digest);
    ask.detail = sayso_broker::Json::new(&request.detail);
    let remaining = request
        .held_remaining_ms
        .and_then(|left| u64::try_from(left).ok());
    Some(RestoredRequest {
        ask: Box::new(ask),
        created_at: Timestamp(request.created_at.0),
        clock: ClockView {
            deadline: request.deadline.map(|at| Timestamp(at.0)),
            remaining: remaining.map(Duration::from_millis),
            held: request.held,
        },
        decided: decision.and_then(|row| records::resolution(&row)),
    })
}
