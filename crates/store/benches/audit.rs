//! What the history costs a decision, and how fast it is checked and searched. Everything in one
//! run, because only the ratios mean something: `cargo bench -p sayso-store --bench audit`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that fails has nothing to say"
)]

mod rows;

use std::path::Path;
use std::time::{Duration, Instant};

use sayso_store::audit::AuditReader;
use sayso_store::{
    AuditActor, AuditCursor, AuditFilter, AuditKind, AuditRecord, Completion, DecidedBy,
    DecisionRow, Delivery, Outcome, RequestId, RequestRow, RequestStatus, SessionId, Store,
    UnixMillis, Write, WriteJob, Writer,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::mpsc;
use uuid::Uuid;

const ROUNDS: usize = 5;
const IN_GROUPS: u64 = 10_000;
const ONE_BY_ONE: u64 = 2_000;
const LONG: u64 = 100_000;

#[derive(Clone, Copy, PartialEq)]
enum Variant {
    Without,
    With,
    /// With an index of words that SQLite keeps up to date by itself.
    WithWords,
}

#[tokio::main]
async fn main() {
    println!("{IN_GROUPS} requests with their decisions in groups, {ONE_BY_ONE} one by one");
    let variants = [
        ("without history", Variant::Without),
        ("with history", Variant::With),
        ("with history and FTS5", Variant::WithWords),
    ];
    let mut times = vec![(Vec::new(), Vec::new()); variants.len()];
    for _ in 0..ROUNDS {
        for (index, (_, variant)) in variants.iter().enumerate() {
            times[index].0.push(run(*variant, IN_GROUPS, 512).await);
            times[index].1.push(run(*variant, ONE_BY_ONE, 1).await);
        }
    }
    let medians: Vec<_> = times
        .into_iter()
        .map(|(groups, single)| (median(groups), median(single)))
        .collect();
    for ((name, _), (groups, single)) in variants.iter().zip(&medians) {
        println!(
            "{name:24} {:6.1} µs each in groups ({:.2}), {:6.1} µs one by one ({:.2})",
            groups.as_secs_f64() * 1e6 / IN_GROUPS as f64,
            groups.as_secs_f64() / medians[0].0.as_secs_f64(),
            single.as_secs_f64() * 1e6 / ONE_BY_ONE as f64,
            single.as_secs_f64() / medians[0].1.as_secs_f64(),
        );
    }
    long_history().await;
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// How long it takes until all are committed, with so many waiting at a time.
async fn run(variant: Variant, count: u64, waiting: u64) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    Store::open(&path).await.unwrap().close().await;
    if variant == Variant::WithWords {
        add_words(&path).await;
    }
    let mut bench = Bench::open(&path).await;
    let start = Instant::now();
    let mut done = 0;
    for number in 1..=count {
        let mut writes = vec![
            Write::OpenRequest(request(number).into()),
            Write::Decide(decision(number)),
        ];
        if variant != Variant::Without {
            writes.push(Write::AppendAudit(record(number)));
        }
        bench.submit(number, writes);
        while number - done >= waiting {
            bench.completed().await;
            done += 1;
        }
    }
    while done < count {
        bench.completed().await;
        done += 1;
    }
    let time = start.elapsed();
    bench.close().await;
    time
}

async fn add_words(path: &Path) {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .unwrap();
    for statement in [
        "CREATE VIRTUAL TABLE words USING fts5 (text, content = '')",
        "CREATE TRIGGER words_of AFTER INSERT ON audit BEGIN \
             INSERT INTO words (rowid, text) VALUES (new.seq, new.text); END",
    ] {
        sqlx::query(statement)
            .execute(&mut connection)
            .await
            .unwrap();
    }
    connection.close().await.unwrap();
}

async fn long_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::open(&path).await;
    for first in (0..LONG).step_by(100) {
        let writes = (first..first + 100).map(|number| Write::AppendAudit(record(number)));
        bench.submit(first, writes.collect());
        bench.completed().await;
    }
    bench.close().await;
    let reader = AuditReader::open(&path).await.unwrap();
    let start = Instant::now();
    let verified = reader.verify().await.unwrap().unwrap();
    let time = start.elapsed();
    println!(
        "checking {} entries: {:.0} ms, {:.0} entries/s",
        verified.entries,
        time.as_secs_f64() * 1e3,
        verified.entries as f64 / time.as_secs_f64(),
    );
    let all = AuditFilter::default();
    let oldest = reader.page(&all, AuditCursor::After(0), 1).await.unwrap();
    let word = |word: &str| AuditFilter {
        search: Some(word.to_owned()),
        ..AuditFilter::default()
    };
    let before_all = AuditFilter {
        until: Some(oldest[0].at),
        ..AuditFilter::default()
    };
    for (what, filter) in [
        ("a word that is everywhere", word("cargo")),
        ("the oldest entry", word("p-000000-")),
        ("a word that is nowhere", word("nowhere-at-all")),
        ("a time before all of them", before_all),
    ] {
        let start = Instant::now();
        let page = reader.page(&filter, AuditCursor::Newest, 50).await.unwrap();
        let time = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "searching them for {what}: {time:.1} ms, {} found",
            page.len()
        );
    }
    let start = Instant::now();
    Store::open(&path).await.unwrap().close().await;
    println!("opening: {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
}

struct Bench {
    store: Store,
    writer: Writer,
    completions: mpsc::Receiver<Completion>,
}

impl Bench {
    async fn open(path: &Path) -> Self {
        let store = Store::open(path).await.unwrap();
        let (sender, completions) = mpsc::channel(4096);
        let writer = Writer::start(store.clone(), sender, 4096).unwrap();
        let mut bench = Self {
            store,
            writer,
            completions,
        };
        bench.submit(
            0,
            vec![Write::PutSession(rows::session(SessionId(id(0))).into())],
        );
        bench.completed().await;
        bench
    }

    fn submit(&mut self, token: u64, writes: Vec<Write>) {
        self.writer.submit(WriteJob { token, writes }).unwrap();
    }

    async fn completed(&mut self) {
        self.completions.recv().await.unwrap().result.unwrap();
    }

    async fn close(self) {
        drop(self.completions);
        self.writer.close().await;
        self.store.close().await;
    }
}

fn id(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
}

/// As long as inputs usually are.
fn input(number: u64) -> String {
    let command = "cargo test --workspace --all-targets && git status; ".repeat(8);
    format!("{{\"command\":\"{command}\",\"description\":\"Runs p-{number:06}-\"}}")
}

fn request(number: u64) -> RequestRow {
    RequestRow {
        id: RequestId(id(number)),
        session_id: SessionId(id(0)),
        native_id: number.to_string(),
        kind: "tool_approval".to_owned(),
        tool_name: "Bash".to_owned(),
        tool_use_id: Some(format!("toolu_{number}")),
        agent_id: None,
        agent_label: None,
        input: input(number).into(),
        input_digest: format!("sha256:{number:064}"),
        raw: format!("{{\"request\":{}}}", input(number)).into(),
        detail: "{}".into(),
        created_at: UnixMillis(number as i64),
        deadline: None,
        held_remaining_ms: None,
        status: RequestStatus::Open,
        held: false,
    }
}

fn decision(number: u64) -> DecisionRow {
    DecisionRow {
        request_id: RequestId(id(number)),
        outcome: Outcome::Allowed,
        decided_by: DecidedBy::Rule,
        client_id: None,
        client_label: None,
        decision: "{\"behavior\":\"allow\"}".to_owned(),
        message: None,
        at: UnixMillis(number as i64),
        delivery: Delivery::Pending,
        delivered_at: None,
    }
}

fn record(number: u64) -> AuditRecord {
    AuditRecord {
        at: UnixMillis(number as i64),
        kind: AuditKind::Decision,
        session_id: Some(SessionId(id(0))),
        request_id: Some(RequestId(id(number))),
        project: Some("/srv/project".to_owned()),
        tool_name: Some("Bash".to_owned()),
        outcome: "allowed".to_owned(),
        actor_kind: AuditActor::Rule,
        actor_label: "Bash(cargo test:*)".to_owned(),
        text: input(number),
        body: format!(
            "{{\"input\":{},\"input_digest\":\"sha256:{number:064}\",\"rule\":\"Bash(cargo test:*)\",\"latency_ms\":3}}",
            input(number)
        ),
    }
}
