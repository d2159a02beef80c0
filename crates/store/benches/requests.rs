//! What requests cost the threads that write them down: `cargo bench -p sayso-store --bench requests`.
//!
//! Twenty sessions ask, are allowed and go on, in flushes as the hub makes them. The CPU time is that of each thread, so
//! that it says the same on a machine that does other things too. Then one session decides on its own, and waits for the
//! disk each time.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that fails has nothing to say"
)]

mod rows;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use sayso_store::{
    AuditActor, AuditKind, AuditRecord, Backlog, Completion, DecidedBy, DecisionRow, Delivery,
    Durability, EntryRow, LoggedWriter, Outcome, RequestId, RequestRow, RequestStatus, SessionId,
    Store, UnixMillis, Write, WriteJob,
};
use tokio::sync::mpsc;
use uuid::Uuid;

const SESSIONS: u64 = 20;
/// Requests of each session.
const ROUNDS: u64 = 1_000;
/// How long a round takes, which makes 4,000 requests a second.
const ROUND: Duration = Duration::from_millis(5);
const ON_DISK: u64 = 2_000;
/// By which the kernel counts.
const TICK: Duration = Duration::from_millis(10);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // A name runs only what is called so, such as under a profiler.
    let only = std::env::args()
        .nth(1)
        .filter(|name| !name.starts_with('-'));
    let is_wanted = |name| only.as_deref().is_none_or(|only| only == name);
    for (name, input) in [("small", 150), ("large", 64 * 1024)] {
        if is_wanted(name) {
            many(name, input).await;
        }
    }
    if is_wanted("disk") {
        on_disk().await;
    }
}

/// CPU time of the thread that follows the log, and how long the one that writes it takes.
async fn many(name: &str, input: usize) {
    let mut bench = Bench::open(Durability::Process).await;
    let rounds = if input > 1000 { ROUNDS / 20 } else { ROUNDS };
    let before = Spent::by_the_follower();
    let mut turns = Vec::new();
    for round in 0..rounds {
        let until = Instant::now() + ROUND;
        let mut spent = Duration::ZERO;
        for stage in 0..4 {
            let jobs: Vec<_> = (0..SESSIONS)
                .map(|session| jobs(stage, session, round * SESSIONS + session, input))
                .collect();
            let start = Instant::now();
            // Several sessions have something to say in each turn of the hub.
            for (turn, jobs) in (1..).zip(jobs) {
                for writes in jobs {
                    bench.submit(writes);
                }
                if turn % 3 == 0 {
                    bench.writer.flush();
                }
            }
            bench.writer.flush();
            spent += start.elapsed();
        }
        turns.push(spent);
        let most = Backlog {
            jobs: 8192,
            bytes: 8 << 20,
        };
        bench.writer.followed(most).await;
        tokio::time::sleep(until.saturating_duration_since(Instant::now())).await;
    }
    bench.writer.followed(Backlog { jobs: 1, bytes: 1 }).await;
    turns.sort();
    let each = |spent: Duration, requests: u64| spent.as_secs_f64() * 1e6 / requests as f64;
    let spent = Spent::by_the_follower();
    let requests = rounds * SESSIONS;
    println!(
        "{name:6} {:6.1} µs of the follower, {:6.1} µs of the hub for each request",
        each(spent.cpu - before.cpu, requests),
        each(turns[turns.len() / 2], SESSIONS),
    );
    let share = |after: u64, before: u64| (after - before) as f64 / requests as f64;
    println!(
        "       {:6.2} writes of {:.0} bytes in all, {:.2} reads; {:.0} % of it in the kernel",
        share(spent.writes, before.writes),
        share(spent.written, before.written),
        share(spent.reads, before.reads),
        100.0 * (spent.kernel - before.kernel).as_secs_f64()
            / (spent.cpu - before.cpu).as_secs_f64(),
    );
    drop(bench.completions);
    bench.writer.close().await;
    bench.store.close().await;
    sizes(&bench.folder.path().join("sayso.db"), requests);
}

/// What each table and index takes of the file.
fn sizes(database: &Path, requests: u64) {
    let connection = rusqlite::Connection::open(database).unwrap();
    let mut statement = connection
        .prepare("SELECT name, sum(pgsize), sum(pgsize - unused) FROM dbstat GROUP BY name ORDER BY 2 DESC")
        .unwrap();
    let mut rows = statement.query([]).unwrap();
    let requests = requests as i64;
    let mut all = 0;
    while let Some(row) = rows.next().unwrap() {
        let (name, bytes, used): (String, i64, i64) = (
            row.get(0).unwrap(),
            row.get(1).unwrap(),
            row.get(2).unwrap(),
        );
        all += bytes;
        if bytes >= requests {
            println!(
                "       {:6} bytes ({:.0} %) {name}",
                bytes / requests,
                100.0 * used as f64 / bytes as f64
            );
        }
    }
    println!("       {:6} bytes in all", all / requests);
}

/// From the decision's flush until it is on the disk.
async fn on_disk() {
    let mut bench = Bench::open(Durability::Disk).await;
    let mut times = Vec::new();
    for number in 0..ON_DISK {
        for stage in 0..4 {
            for writes in jobs(stage, 0, number, 150) {
                bench.submit(writes);
            }
            let start = Instant::now();
            bench.writer.flush();
            if stage == 1 {
                bench.completions.recv().await.unwrap().result.unwrap();
                times.push(start.elapsed());
            }
        }
        tokio::time::sleep(Duration::from_micros(300)).await;
    }
    times.sort();
    let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e6;
    println!(
        "disk   {:6.1} µs until a decision is on the disk ({:.1} of a hundredth)",
        at(50),
        at(99)
    );
    bench.close().await;
}

struct Bench {
    folder: tempfile::TempDir,
    store: Store,
    writer: LoggedWriter,
    completions: mpsc::Receiver<Completion>,
    token: u64,
}

impl Bench {
    async fn open(durability: Durability) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_with(folder.path().join("sayso.db"), durability)
            .await
            .unwrap();
        let (sender, completions) = mpsc::channel(4096);
        let writer = LoggedWriter::start(store.clone(), sender, 65_536)
            .await
            .unwrap();
        let mut bench = Self {
            folder,
            store,
            writer,
            completions,
            token: 0,
        };
        for session in 0..SESSIONS {
            bench.submit(vec![Write::PutSession(
                rows::session(session_id(session)).into(),
            )]);
        }
        bench.writer.flush();
        // Whoever reads waits until the follower is there.
        bench.store.sessions().await.unwrap();
        bench
    }

    fn submit(&mut self, writes: Vec<Write>) {
        self.token += 1;
        let token = self.token;
        self.writer.submit(WriteJob { token, writes }).unwrap();
    }

    async fn close(self) {
        drop(self.completions);
        self.writer.close().await;
        self.store.close().await;
    }
}

/// What a thread took so far.
struct Spent {
    cpu: Duration,
    /// The part of it that was in the kernel.
    kernel: Duration,
    /// System calls, and the bytes of those that write.
    writes: u64,
    written: u64,
    reads: u64,
}

impl Spent {
    fn by_the_follower() -> Self {
        let mut threads = fs::read_dir("/proc/self/task").unwrap();
        let follower = threads.find_map(|thread| {
            let thread = thread.unwrap().path();
            let name = fs::read_to_string(thread.join("comm")).unwrap();
            (name.trim() == "sayso-writer").then_some(thread)
        });
        Self::by(&follower.unwrap())
    }

    fn by(thread: &Path) -> Self {
        let schedstat = fs::read_to_string(thread.join("schedstat")).unwrap();
        let nanos = schedstat.split(' ').next().unwrap();
        let io = fs::read_to_string(thread.join("io")).unwrap();
        let count = |name: &str| {
            let line = io.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap().trim().parse().unwrap()
        };
        let stat = fs::read_to_string(thread.join("stat")).unwrap();
        let ticks = stat.rsplit(')').next().unwrap().split(' ').nth(13).unwrap();
        Self {
            cpu: Duration::from_nanos(nanos.parse().unwrap()),
            kernel: TICK * ticks.parse().unwrap(),
            writes: count("syscw:"),
            written: count("wchar:"),
            reads: count("syscr:"),
        }
    }
}

/// What one request leads to, in the turns of the hub in which it does.
fn jobs(stage: u64, session: u64, number: u64, input: usize) -> Vec<Vec<Write>> {
    let entry = |part: u64| Write::AppendEntry(entry_row(session, number, part, input));
    match stage {
        0 => vec![
            vec![entry(0)],
            vec![Write::OpenRequest(
                request_row(session, number, input).into(),
            )],
        ],
        1 => vec![vec![
            Write::Decide(decision_row(number)),
            Write::AppendAudit(audit_record(session, number, input)),
        ]],
        2 => vec![
            vec![Write::SetDelivery {
                request_id: request_id(number),
                delivery: Delivery::Sent,
                at: Some(UnixMillis(number as i64)),
            }],
            vec![entry(1)],
        ],
        _ => vec![
            vec![Write::AppendAudit(AuditRecord {
                kind: AuditKind::Outcome,
                outcome: "ran".to_owned(),
                actor_kind: AuditActor::Agent,
                actor_label: String::new(),
                text: String::new(),
                body: format!(r#"{{"tool_use_id":"toolu_{number:020}"}}"#),
                ..audit_record(session, number, 0)
            })],
            vec![entry(2)],
        ],
    }
}

fn session_id(number: u64) -> SessionId {
    SessionId(Uuid::from_u128(
        0x0198_a7b0_0000_7000 << 64 | u128::from(number),
    ))
}

/// Ids come from a clock and chance, as the server makes them.
fn request_id(number: u64) -> RequestId {
    let chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    RequestId(Uuid::from_u128(
        u128::from(number) << 80 | u128::from(chance),
    ))
}

/// JSON of about this length, of which no two are the same.
fn text(number: u64, length: usize) -> String {
    let rest = "x".repeat(length.saturating_sub(20));
    format!(r#"{{"command":"{number:020}{rest}"}}"#)
}

fn entry_row(session: u64, number: u64, part: u64, input: usize) -> EntryRow {
    EntryRow {
        session_id: session_id(session),
        seq: (number * 3 + part) as i64 + 1,
        at: UnixMillis(number as i64),
        body: match part {
            0 => format!(
                r#"{{"seq":{number},"at":"2026-11-16T10:00:00.123Z","parent_tool_use_id":null,"type":"tool_use","tool_use_id":"toolu_{number:020}","name":"Bash","input":{},"message_id":"msg_{number:020}"}}"#,
                text(number, input)
            ),
            _ => text(number, 200),
        },
        line: Some(number as i64),
        part: Some(part as i64),
    }
}

fn request_row(session: u64, number: u64, input: usize) -> RequestRow {
    RequestRow {
        id: request_id(number),
        session_id: session_id(session),
        native_id: format!("\"{}\"", Uuid::from_u128(number.into())),
        kind: "tool_approval".to_owned(),
        tool_name: "Bash".to_owned(),
        tool_use_id: Some(format!("toolu_{number:020}")),
        agent_id: None,
        agent_label: None,
        input: text(number, input).into(),
        input_digest: format!("sha256:{number:064}"),
        raw: format!(
            r#"{{"type":"control_request","request_id":"{number:036}","request":{{"subtype":"can_use_tool","tool_name":"Bash","input":{},"permission_suggestions":[],"tool_use_id":"toolu_{number:020}"}}}}"#,
            text(number, input)
        )
        .into(),
        detail: SHOWN.into(),
        created_at: UnixMillis(number as i64),
        deadline: Some(UnixMillis(number as i64 + 300_000)),
        held_remaining_ms: None,
        held: false,
        status: RequestStatus::Open,
    }
}

fn decision_row(number: u64) -> DecisionRow {
    DecisionRow {
        request_id: request_id(number),
        outcome: Outcome::Allowed,
        decided_by: DecidedBy::Human,
        client_id: Some("0198a7b0-0000-7000-8000-000000000001".to_owned()),
        client_label: Some("Firefox on Linux".to_owned()),
        decision: DECISION.to_owned(),
        message: None,
        at: UnixMillis(number as i64),
        delivery: Delivery::Pending,
        delivered_at: None,
    }
}

fn audit_record(session: u64, number: u64, input: usize) -> AuditRecord {
    AuditRecord {
        at: UnixMillis(number as i64),
        kind: AuditKind::Decision,
        session_id: Some(session_id(session)),
        request_id: Some(request_id(number)),
        project: Some("/srv/project".to_owned()),
        tool_name: Some("Bash".to_owned()),
        outcome: "allowed".to_owned(),
        actor_kind: AuditActor::Human,
        actor_label: "Firefox on Linux".to_owned(),
        text: text(number, input.min(16 * 1024)),
        body: format!(
            r#"{{"form":2,"request":{{"request_type":"tool_approval","tool_name":"Bash","tool_input":{},"input_digest":"sha256:{number:064}","tool_use_id":"toolu_{number:020}","created_at":"2026-11-16T10:00:00.123Z"}},"shown":{SHOWN},"decision":{DECISION},"outcome":"allowed","by":"human","client":{{"client_id":"0198a7b0-0000-7000-8000-000000000001","label":"Firefox on Linux"}},"latency_ms":1234}}"#,
            text(number, input)
        ),
    }
}

/// Beside the input.
const SHOWN: &str = r#"{"input_faithful":true}"#;

const DECISION: &str = r#"{"behavior":"allow"}"#;
