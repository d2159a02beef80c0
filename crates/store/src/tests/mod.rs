//! Everything is tested through [`Bench`]: a store with its writer, and rows made from small numbers.

mod audit;
mod backup;
mod channels;
mod crash;
mod devices;
mod facts;
mod faults;
mod group;
mod history;
mod inputs;
mod log;
mod log_files;
mod merge;
mod migrations;
mod opening;
mod queue;
mod recovery;
mod rules;

use std::path::Path;

use sqlx::SqliteConnection;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::*;

struct Bench {
    store: Store,
    writer: Writer,
    completions: mpsc::Receiver<Completion>,
}

impl Bench {
    async fn in_memory() -> Self {
        Self::on(Store::in_memory().await.unwrap())
    }

    async fn at(path: &Path) -> Self {
        Self::on(Store::open(path).await.unwrap())
    }

    fn on(store: Store) -> Self {
        let (sender, completions) = mpsc::channel(4096);
        let writer = Writer::start(store.clone(), sender, 4096).unwrap();
        Self {
            store,
            writer,
            completions,
        }
    }

    /// Submits the jobs while the writer is held up, so that all but the first can be one group.
    async fn jobs(
        &mut self,
        jobs: impl IntoIterator<Item = Vec<Write>>,
    ) -> Vec<Result<(), WriteError>> {
        let mut tokens = Vec::new();
        let held_up = self.store.write_connection().hold();
        for (token, writes) in (0..).zip(jobs) {
            self.writer.submit(WriteJob { token, writes }).unwrap();
            tokens.push(token);
        }
        drop(held_up);
        let mut results = Vec::new();
        for token in tokens {
            let completion = self.completions.recv().await.unwrap();
            assert_eq!(completion.token, token, "completions are out of order");
            results.push(completion.result);
        }
        results
    }

    async fn write(&mut self, writes: impl IntoIterator<Item = Write>) -> Result<(), WriteError> {
        let job = writes.into_iter().collect();
        self.jobs([job]).await.remove(0)
    }

    /// Does something behind the writer's back, through its own connection.
    fn spoil(&self, statements: &str) {
        self.store
            .write_connection()
            .with(|connection| connection.execute_batch(statements))
            .unwrap();
    }

    async fn close(self) {
        drop(self.completions);
        self.writer.close().await;
        self.store.close().await;
    }

    /// All that is stored, to compare one moment with another.
    async fn everything(&self) -> Everything {
        let sessions = self.store.sessions().await.unwrap();
        let mut entries = Vec::new();
        for session in &sessions {
            let mut after = 0;
            while let page = self.store.entries(session.id, after, 1000).await.unwrap()
                && let Some(last) = page.last()
            {
                after = last.seq;
                entries.extend(page);
            }
        }
        Everything {
            sessions,
            entries,
            requests: self
                .store
                .requests(RequestFilter::All, 100_000)
                .await
                .unwrap(),
            decisions: self
                .store
                .decisions(PageStart::Newest, 100_000)
                .await
                .unwrap(),
        }
    }
}

#[derive(Debug, PartialEq)]
struct Everything {
    sessions: Vec<SessionRow>,
    entries: Vec<EntryRow>,
    requests: Vec<RequestRow>,
    decisions: Vec<DecidedRequest>,
}

async fn pragma(connection: &mut SqliteConnection, statement: &'static str) {
    sqlx::query(statement).execute(connection).await.unwrap();
}

/// Order, spacing, escapes and big numbers that a parser would not give back as they were.
const VERBATIM: &str = "{ \"z\":1.0,\"a\" : 12345678901234567890, \"t\":\"\\u0000 \\ud83d\\ude00 😀 ' $1 \",\n\"z\":2 }";

fn session_id(number: u128) -> SessionId {
    SessionId(Uuid::from_u128(number))
}

fn request_id(number: u128) -> RequestId {
    RequestId(Uuid::from_u128(number))
}

fn session(number: u128) -> SessionRow {
    SessionRow {
        id: session_id(number),
        title: format!("session {number} — „Grüße“"),
        cwd: "/srv/project".to_owned(),
        agent: "claude".to_owned(),
        agent_session_id: Some("5d0c".to_owned()),
        state: "assistant_turn".to_owned(),
        permission_mode: "default".to_owned(),
        model: None,
        created_at: UnixMillis(1_000 + number as i64),
        state_changed_at: UnixMillis(2_000),
        ended_reason: None,
        error: None,
        usage: Some(VERBATIM.to_owned()),
        policies: None,
        archived_at: None,
        title_fixed: false,
        restricted: false,
        context: None,
        alert: None,
        run_after: 0,
        counted_line: 0,
        transcript_bytes: 0,
    }
}

fn entry(session: u128, seq: i64) -> EntryRow {
    EntryRow {
        session_id: session_id(session),
        seq,
        at: UnixMillis(3_000 + seq),
        body: VERBATIM.to_owned(),
        line: None,
        part: None,
    }
}

fn request(session: u128, number: u128) -> RequestRow {
    RequestRow {
        id: request_id(number),
        session_id: session_id(session),
        native_id: format!("\"native-{number}\""),
        kind: "tool_approval".to_owned(),
        tool_name: "Bash".to_owned(),
        tool_use_id: Some("toolu_1".to_owned()),
        agent_id: None,
        agent_label: Some("explorer".to_owned()),
        input: VERBATIM.into(),
        input_digest: "sha256:00".to_owned(),
        raw: VERBATIM.into(),
        detail: "{}".into(),
        created_at: UnixMillis(4_000),
        deadline: Some(UnixMillis(304_000)),
        held_remaining_ms: None,
        held: false,
        status: RequestStatus::Open,
    }
}

fn decision(number: u128, outcome: Outcome) -> DecisionRow {
    DecisionRow {
        request_id: request_id(number),
        outcome,
        decided_by: DecidedBy::Human,
        client_id: Some("client-1".to_owned()),
        client_label: Some("phone".to_owned()),
        decision: VERBATIM.to_owned(),
        message: Some("go on".to_owned()),
        at: UnixMillis(5_000),
        delivery: Delivery::Pending,
        delivered_at: None,
    }
}

/// A request whose agent has its answer, or never will: what it said is not needed again.
fn over(request: RequestRow, status: RequestStatus) -> RequestRow {
    RequestRow {
        raw: "{}".into(),
        detail: "{}".into(),
        ..ended(request, status)
    }
}

/// A request as it reads once it is decided.
fn ended(request: RequestRow, status: RequestStatus) -> RequestRow {
    RequestRow { status, ..request }
}

fn history_line(session: SessionRow, request: RequestRow, decision: DecisionRow) -> DecidedRequest {
    DecidedRequest {
        decision,
        request: RequestSummary {
            session_id: session.id,
            session_title: session.title,
            kind: request.kind,
            tool_name: request.tool_name,
            agent_label: request.agent_label,
            input: request.input.to_string(),
            input_digest: request.input_digest,
            created_at: request.created_at,
        },
    }
}
