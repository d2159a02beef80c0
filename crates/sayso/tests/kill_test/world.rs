//! One data folder, five agents, and one server after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use sayso_store::{AuditCursor, AuditFilter, AuditKind, DecidedRequest, Outcome, PageStart, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::ledger::Account;
use crate::support::{self, TOKEN};

const AGENTS: usize = 5;
/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    folder: TempDir,
    random: u64,
    api: reqwest::Client,
    account: Account,
    slowest: Duration,
}

struct Server {
    child: Child,
    url: String,
}

impl World {
    pub(crate) async fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "ledgers", "data"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut world = Self {
            folder,
            random: seed | 1,
            api: reqwest::Client::builder().no_proxy().build().unwrap(),
            account: Account::default(),
            slowest: Duration::ZERO,
        };
        world.write_agent();
        // Should this test not come to its end, what it started does.
        std::fs::write(world.configuration(), "unclaimed_timeout = \"2m\"\n").unwrap();
        let server = world.start().await;
        for _ in 0..AGENTS {
            let body = json!({
                "cwd": world.folder.path().join("project"), "agent": "claude", "prompt": "go",
                "policies": {"tool_timeout": "never", "idle_timeout": "never"},
            });
            let url = format!("{}/api/sessions", server.url);
            let start = world.api.post(url).bearer_auth(TOKEN).json(&body);
            let started: Value = start.send().await.unwrap().json().await.unwrap();
            assert!(started["session_id"].is_string(), "{started}");
        }
        while world.account.asked.len() < AGENTS * 10 {
            world.all_shown(&server).await;
        }
        world.kill(server).await;
        world
    }

    /// The program that is started as the agent; each of its processes has a ledger of its own.
    fn write_agent(&self) {
        let test = std::env::current_exe().unwrap();
        let ledgers = self.folder.path().join("ledgers");
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 0.0.0; exit; fi\n\
             SAYSO_TEST_LEDGER='{}'/$$ exec '{}' --exact ledger_agent --ignored --nocapture\n",
            ledgers.display(),
            test.display()
        );
        let path = self.agent();
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    }

    fn configuration(&self) -> PathBuf {
        self.folder.path().join("sayso.toml")
    }

    fn agent(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    /// Kills a server while it starts, or while it answers, and looks at what the next one makes of it.
    pub(crate) async fn cycle(&mut self, cycle: u32) {
        if self.chance(4) {
            let mut child = self.spawn();
            let pause = Duration::from_micros(self.next() % 200_000);
            tokio::time::sleep(pause).await;
            child.kill().await.unwrap();
        }
        let started = Instant::now();
        let server = self.start().await;
        let shown = self.all_shown(&server).await;
        self.slowest = self.slowest.max(started.elapsed());
        assert_eq!(self.account.doubled, Vec::<String>::new(), "cycle {cycle}");
        let mut answering = Vec::new();
        for request in &shown {
            if self.chance(2) {
                answering.push(self.decide(&server, request));
            }
        }
        let pause = Duration::from_micros(self.next() % 100_000);
        tokio::time::sleep(pause).await;
        self.kill(server).await;
        for answer in answering {
            answer.abort();
        }
    }

    /// Answers everything, and holds the ledgers against the records.
    pub(crate) async fn finish(mut self) {
        let server = self.start().await;
        self.all_shown(&server).await;
        let stop: Vec<Value> = self.get(&server, "/api/sessions", "sessions").await;
        for session in stop {
            let id = session["session_id"].as_str().unwrap();
            let url = format!("{}/api/sessions/{id}/stop", server.url);
            let stopped = self.api.post(url).bearer_auth(TOKEN).json(&json!({}));
            assert!(stopped.send().await.unwrap().status().is_success());
        }
        let deadline = Instant::now() + PATIENCE;
        let agents = self.folder.path().join("data/agents");
        while std::fs::read_dir(&agents).unwrap().count() > 0 {
            assert!(Instant::now() < deadline, "agents are left");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.kill(server).await;
        self.account.read(&self.folder.path().join("ledgers"));
        self.compare().await;
        println!(
            "{} asked, {} answered; the slowest restart showed everything {:?} after its process began",
            self.account.asked.len(),
            self.account.heard.len(),
            self.slowest
        );
    }

    async fn compare(&self) {
        let account = &self.account;
        assert_eq!(account.doubled, Vec::<String>::new());
        let store = Store::open(&self.folder.path().join("data/sayso.db"))
            .await
            .unwrap();
        let records = all_decisions(&store).await;
        let mut recorded = BTreeMap::new();
        for record in &records {
            let ask = command(record);
            assert!(
                recorded.insert(ask.clone(), outcome(record)).is_none(),
                "{ask} was recorded twice"
            );
        }
        let heard = account.asked.iter().map(|ask| {
            let outcome = match account.heard.get(ask).map(String::as_str) {
                Some("allow") => "allowed",
                Some("deny") => "denied",
                None => "withdrawn",
                Some(other) => panic!("{ask} heard {other}"),
            };
            (ask.clone(), outcome.to_owned())
        });
        let heard: BTreeMap<String, String> = heard.collect();
        assert!(
            recorded == heard,
            "every ask is on record as it was heard, and nothing else: {}",
            difference(&recorded, &heard)
        );
        let history = told(&store).await;
        assert!(
            history == heard,
            "the history tells the same: {}",
            difference(&history, &heard)
        );
        let verified = store.audit().await.verify().await.unwrap();
        assert!(verified.is_ok(), "the history is whole: {verified:?}");
        store.close().await;
    }

    async fn start(&self) -> Server {
        let mut child = self.spawn();
        let url = support::printed_url(child.stdout.take().unwrap()).await;
        Server { child, url }
    }

    fn spawn(&self) -> Child {
        Command::new(env!("CARGO_BIN_EXE_sayso"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--token",
                TOKEN,
                "--claude",
            ])
            .arg(self.agent())
            .arg("--config")
            .arg(self.configuration())
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    async fn kill(&self, mut server: Server) {
        server.child.kill().await.unwrap();
    }

    /// Waits until what is shown is what the agents wait for, one by one. What was decided before the kill is heard
    /// meanwhile, and an agent that heard something asks for something new.
    async fn all_shown(&mut self, server: &Server) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let shown = self.get(server, "/api/requests", "pending_requests").await;
            self.account.read(&self.folder.path().join("ledgers"));
            let asks = shown
                .iter()
                .filter_map(|request| request["tool_input"]["command"].as_str());
            let asks: BTreeSet<&str> = asks.collect();
            let open = &self.account.open;
            if asks.len() == open.len() && asks.iter().all(|ask| open.contains(*ask)) {
                return shown;
            }
            assert!(
                Instant::now() < deadline,
                "shown: {asks:?}, waited for: {open:?}"
            );
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    async fn get(&self, server: &Server, path: &str, field: &str) -> Vec<Value> {
        let url = format!("{}{path}", server.url);
        let answer = self.api.get(url).bearer_auth(TOKEN).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        answer[field].as_array().unwrap().clone()
    }

    fn decide(&self, server: &Server, request: &Value) -> tokio::task::JoinHandle<()> {
        let id = request["request_id"].as_str().unwrap();
        let even = id.bytes().map(u32::from).sum::<u32>() % 2 == 0;
        let behavior = if even { "allow" } else { "deny" };
        let body = json!({
            "input_digest": request["input_digest"], "decision": {"behavior": behavior},
        });
        let url = format!("{}/api/requests/{id}/decision", server.url);
        let answer = self.api.post(url).bearer_auth(TOKEN).json(&body);
        // Whether the answer comes back is not this one's to know.
        tokio::spawn(async move { drop(answer.send().await) })
    }

    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.next().is_multiple_of(one_in)
    }
}

fn command(record: &DecidedRequest) -> String {
    let input: Value = serde_json::from_str(&record.request.input).unwrap();
    input["command"].as_str().unwrap().to_owned()
}

fn outcome(record: &DecidedRequest) -> String {
    match record.decision.outcome {
        Outcome::Allowed => "allowed".to_owned(),
        Outcome::Denied => "denied".to_owned(),
        Outcome::Withdrawn => "withdrawn".to_owned(),
        other => panic!("{} ended as {other:?}", command(record)),
    }
}

/// How each ask ended, as the history has it.
async fn told(store: &Store) -> BTreeMap<String, String> {
    let filter = AuditFilter {
        kind: Some(AuditKind::Decision.as_str().to_owned()),
        ..AuditFilter::default()
    };
    let mut told = BTreeMap::new();
    let mut after = 0;
    loop {
        let cursor = AuditCursor::After(after);
        let page = store.audit_page(&filter, cursor, 500).await.unwrap();
        let Some(last) = page.last() else {
            return told;
        };
        after = last.seq;
        for row in page {
            let body: Value = serde_json::from_str(&row.body).unwrap();
            let ask = body["request"]["tool_input"]["command"].as_str().unwrap();
            let before = told.insert(ask.to_owned(), row.outcome);
            assert_eq!(before, None, "{ask} is told twice");
        }
    }
}

fn difference(left: &BTreeMap<String, String>, right: &BTreeMap<String, String>) -> String {
    let left: BTreeSet<_> = left.iter().collect();
    let right: BTreeSet<_> = right.iter().collect();
    format!(
        "{:?}",
        left.symmetric_difference(&right).collect::<Vec<_>>()
    )
}

async fn all_decisions(store: &Store) -> Vec<DecidedRequest> {
    let mut all = Vec::new();
    let mut start = PageStart::Newest;
    loop {
        let page = store.decisions(start, 500).await.unwrap();
        let Some(last) = page.last() else {
            return all;
        };
        start = PageStart::Before(last.decision.cursor());
        all.extend(page);
    }
}
