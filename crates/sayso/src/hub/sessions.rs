//! The sessions the hub knows: those that run and those that have ended.

use foldhash::fast::RandomState;
use futures_util::{StreamExt, TryStreamExt, stream};
use indexmap::IndexMap;
use sayso_broker::{SessionId, SessionState, Timestamp};
use sayso_protocol::{Alert, CommandInfo, ContextUse, ModelInfo, Session as WireSession, Usage};
use sayso_store::{SessionRow, Store, UnixMillis};
use tokio::time::Instant;

use super::clock::TwoClocks;
use super::messages::{Arrival, Sent};
use super::queue::Queued;
use super::rows::UnsavedRow;
use super::transcript::Transcript;
use super::wire;
use crate::config::PolicySettings;

pub(super) use super::run::{Run, Stopped};

/// How many sessions are read at the same time.
const READ_AT_ONCE: usize = 16;

/// One session. Outlives its agent; `run` is there while the agent is.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) title: String,
    /// A human gave the title; the agent's own do not replace it.
    pub(super) title_fixed: bool,
    pub(super) cwd: String,
    pub(super) agent: String,
    pub(super) agent_session_id: Option<String>,
    pub(super) permission_mode: String,
    pub(super) model: Option<String>,
    pub(super) created_at: Timestamp,
    pub(super) state: SessionState,
    pub(super) state_changed_at: Timestamp,
    pub(super) error: Option<String>,
    pub(super) ended_reason: Option<String>,
    pub(super) usage: Usage,
    pub(super) context: Option<ContextUse>,
    pub(super) archived_at: Option<Timestamp>,
    /// The agent runs without the folder's own settings.
    pub(super) restricted: bool,
    pub(super) policies: PolicySettings,
    /// When the mode that asks nothing ends.
    pub(super) bypass_until: Option<TwoClocks>,
    /// A tool ran that nobody allowed, and no human has seen it yet.
    pub(super) alert: Option<Alert>,
    /// The last entry before its agent started.
    pub(super) run_after: u64,
    /// The last line of its agent that is counted in `usage`.
    pub(super) counted_line: u64,
    pub(super) transcript: Transcript,
    /// The disk did not take its row yet.
    pub(super) unsaved_row: Option<UnsavedRow>,
    /// Messages that the agent has not read yet, oldest first.
    pub(super) queue: Vec<Queued>,
    /// Messages in the transcript that may not be with the agent, oldest first.
    pub(super) sent: Vec<Sent>,
    pub(super) features: Features,
    pub(super) run: Option<Run>,
}

/// What the agent reported that it can do.
#[derive(Debug, Default)]
pub(super) struct Features {
    pub(super) commands: Vec<CommandInfo>,
    pub(super) models: Vec<ModelInfo>,
}

impl Session {
    /// Nothing yet but its name.
    pub(super) fn new(id: SessionId, now: Timestamp) -> Self {
        Self {
            id,
            title: String::new(),
            title_fixed: false,
            cwd: String::new(),
            agent: String::new(),
            agent_session_id: None,
            permission_mode: "default".to_owned(),
            model: None,
            created_at: now,
            state: SessionState::Starting,
            state_changed_at: now,
            error: None,
            ended_reason: None,
            usage: Usage::default(),
            context: None,
            archived_at: None,
            restricted: false,
            policies: PolicySettings::default(),
            bypass_until: None,
            alert: None,
            run_after: 0,
            counted_line: 0,
            transcript: Transcript::default(),
            unsaved_row: None,
            queue: Vec::new(),
            sent: Vec::new(),
            features: Features::default(),
            run: None,
        }
    }

    pub(super) fn can_resume(&self) -> bool {
        self.state == SessionState::Dead && self.agent_session_id.is_some()
    }

    pub(super) fn wire(&self) -> WireSession {
        WireSession {
            session_id: self.id.0,
            title: self.title.clone(),
            cwd: self.cwd.clone(),
            agent: self.agent.clone(),
            state: wire::session_state(self.state),
            permission_mode: self.permission_mode.clone(),
            model: self.model.clone(),
            started_at: wire::time(self.created_at),
            state_changed_at: wire::time(self.state_changed_at),
            usage: self.usage.clone(),
            context: self.context,
            archived: self.archived_at.is_some(),
            restricted: self.restricted,
            error: self.error.clone(),
            alert: self.alert.clone(),
            unresponsive: self.run.as_ref().and_then(|run| run.hearing.unresponsive()),
            bypass_until: self.bypass_until.map(|until| wire::time(until.wall)),
            can_resume: self.can_resume(),
            last_seq: self.transcript.durable_seq(),
        }
    }

    pub(super) fn row(&self) -> SessionRow {
        let json = |result: serde_json::Result<String>| result.ok();
        SessionRow {
            id: sayso_store::SessionId(self.id.0),
            title: self.title.clone(),
            cwd: self.cwd.clone(),
            agent: self.agent.clone(),
            agent_session_id: self.agent_session_id.clone(),
            state: wire::state_name(self.state).to_owned(),
            permission_mode: self.permission_mode.clone(),
            model: self.model.clone(),
            created_at: UnixMillis(self.created_at.0),
            state_changed_at: UnixMillis(self.state_changed_at.0),
            ended_reason: self.ended_reason.clone(),
            error: self.error.clone(),
            usage: json(serde_json::to_string(&self.usage)),
            policies: json(serde_json::to_string(&self.policies)),
            archived_at: self.archived_at.map(|at| UnixMillis(at.0)),
            title_fixed: self.title_fixed,
            restricted: self.restricted,
            context: self
                .context
                .and_then(|context| json(serde_json::to_string(&context))),
            alert: self
                .alert
                .as_ref()
                .and_then(|alert| json(serde_json::to_string(alert))),
            run_after: i64::try_from(self.run_after).unwrap_or(i64::MAX),
            counted_line: i64::try_from(self.counted_line).unwrap_or(i64::MAX),
            transcript_bytes: i64::try_from(self.transcript.bytes()).unwrap_or(i64::MAX),
        }
    }

    fn from_row(row: SessionRow, last_seq: u64) -> Self {
        let interrupted = row.ended_reason.as_deref() == Some(SessionRow::SERVER_RESTARTED);
        let error = row.error.or_else(|| {
            interrupted.then(|| "Sayso was stopped while this session was running.".to_owned())
        });
        let read = |text: Option<String>| text.unwrap_or_default();
        Self {
            title: row.title,
            title_fixed: row.title_fixed,
            cwd: row.cwd,
            agent: row.agent,
            agent_session_id: row.agent_session_id,
            permission_mode: row.permission_mode,
            model: row.model,
            state: wire::state_named(&row.state),
            state_changed_at: Timestamp(row.state_changed_at.0),
            error,
            ended_reason: row.ended_reason,
            usage: serde_json::from_str(&read(row.usage)).unwrap_or_default(),
            context: serde_json::from_str(&read(row.context)).ok(),
            alert: serde_json::from_str(&read(row.alert)).ok(),
            run_after: u64::try_from(row.run_after).unwrap_or(0),
            counted_line: u64::try_from(row.counted_line).unwrap_or(0),
            archived_at: row.archived_at.map(|at| Timestamp(at.0)),
            restricted: row.restricted,
            policies: serde_json::from_str(&read(row.policies)).unwrap_or_default(),
            transcript: Transcript::starting_after(
                last_seq,
                u64::try_from(row.transcript_bytes).unwrap_or(0),
            ),
            ..Self::new(SessionId(row.id.0), Timestamp(row.created_at.0))
        }
    }
}

/// All sessions, oldest first.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: IndexMap<SessionId, Session, RandomState>,
}

impl Sessions {
    pub(super) async fn load(store: &Store) -> anyhow::Result<Self> {
        let rows = store.sessions().await?;
        // Of many at the same time: there is one for each session that ever was.
        let read = stream::iter(rows.into_iter().rev())
            .map(|row| async {
                let last_seq = store.last_seq(row.id).await?;
                let session = Session::from_row(row, u64::try_from(last_seq).unwrap_or(0));
                anyhow::Ok((session.id, session))
            })
            .buffered(READ_AT_ONCE);
        let mut sessions: IndexMap<SessionId, Session, RandomState> = read.try_collect().await?;
        for row in store.queued_messages().await? {
            let session = sessions.get_mut(&SessionId(row.session_id.0));
            let (Some(session), Some(queued)) = (session, Queued::from_row(&row)) else {
                continue;
            };
            let entry = store.entry_of_message(row.session_id, row.message_id);
            match entry.await?.and_then(|body| arrival(&body)) {
                None => session.queue.push(queued),
                Some(arrival) => session.sent.push(Sent {
                    id: queued.id,
                    content: queued.content,
                    seq: 0,
                    arrival,
                }),
            }
        }
        Ok(Self { sessions })
    }

    pub(super) fn insert(&mut self, session: Session) {
        self.sessions.insert(session.id, session);
    }

    pub(super) fn remove(&mut self, id: SessionId) -> Option<Session> {
        self.sessions.shift_remove(&id)
    }

    pub(super) fn get(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: SessionId) -> Option<&mut Session> {
        self.sessions.get_mut(&id)
    }

    /// The session that holds this conversation of the agent.
    pub(super) fn of_conversation(&self, conversation: &str) -> Option<SessionId> {
        let mut sessions = self.sessions.values();
        sessions
            .find(|session| session.agent_session_id.as_deref() == Some(conversation))
            .map(|session| session.id)
    }

    pub(super) fn wire(&self) -> Vec<WireSession> {
        self.sessions.values().map(Session::wire).collect()
    }

    pub(super) fn running(&self) -> Vec<SessionId> {
        let running = self
            .sessions
            .values()
            .filter(|session| session.run.is_some());
        running.map(|session| session.id).collect()
    }

    pub(super) fn any_running(&self) -> bool {
        self.sessions.values().any(|session| session.run.is_some())
    }

    pub(super) fn stop_all(&mut self) {
        for session in self.sessions.values_mut() {
            if let Some(run) = &mut session.run {
                run.stopped.get_or_insert(Stopped::Asked);
                run.handle.stop();
            }
        }
    }

    pub(super) fn next_silence(&self) -> Option<Instant> {
        let runs = self
            .sessions
            .values()
            .filter_map(|session| session.run.as_ref());
        runs.filter_map(|run| run.hearing.deadline()).min()
    }

    pub(super) fn bypass_ends(&self) -> impl Iterator<Item = TwoClocks> {
        let sessions = self.sessions.values();
        sessions.filter_map(|session| session.bypass_until)
    }

    pub(super) fn bypass_over(&self, now: TwoClocks) -> Vec<SessionId> {
        let is_over = |session: &&Session| {
            let until = session.bypass_until;
            until.is_some_and(|until| until.is_over(now))
        };
        let over = self.sessions.values().filter(is_over);
        over.map(|session| session.id).collect()
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        let sessions = self.sessions.values();
        let retries = sessions.flat_map(|session| {
            let row = session.unsaved_row.as_ref();
            [session.transcript.retry_at(), row.map(|row| row.retry_at)]
        });
        retries.flatten().min()
    }

    pub(super) fn rows_due(&self, now: Instant) -> Vec<SessionId> {
        let is_due = |session: &&Session| {
            let row = session.unsaved_row.as_ref();
            row.is_some_and(|row| row.retry_at <= now)
        };
        let due = self.sessions.values().filter(is_due);
        due.map(|session| session.id).collect()
    }

    pub(super) fn due_for_retry(&self, now: Instant) -> Vec<SessionId> {
        self.sessions
            .values()
            .filter(|session| session.transcript.retry_at().is_some_and(|at| at <= now))
            .map(|session| session.id)
            .collect()
    }
}

/// What an entry of the transcript says of a message that is still kept: one that waited in the queue is there only
/// once the agent has read it.
fn arrival(entry: &str) -> Option<Arrival> {
    let entry: serde_json::Value = serde_json::from_str(entry).ok()?;
    match (entry["kind"].as_str()?, entry["queued"].as_bool()?) {
        ("user_message", true) => Some(Arrival::Arrived),
        ("user_message", false) => Some(Arrival::Unknown),
        _ => None,
    }
}

/// A title from the first words of a message, or from the folder.
pub(super) fn title(prompt: Option<&str>, cwd: &str) -> String {
    const LENGTH: usize = 60;
    let line = prompt
        .and_then(|prompt| prompt.lines().map(str::trim).find(|line| !line.is_empty()))
        .unwrap_or_else(|| cwd.rsplit('/').find(|part| !part.is_empty()).unwrap_or(cwd));
    let mut title: String = line.chars().take(LENGTH).collect();
    if line.chars().nth(LENGTH).is_some() {
        title.push('…');
    }
    title
}
