//! One data folder, one demo agent that wants to make a file, and one server after the other.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, prlimit};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::support::{self, TOKEN, bash};

/// A test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) api: reqwest::Client,
}

pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn pid(&self) -> Pid {
        let pid = self.child.id().expect("the server runs");
        Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
    }

    /// Gives the running server less of something, or more again.
    pub(crate) fn limit(&self, resource: Resource, current: Option<u64>) {
        limit(self.pid(), resource, current);
    }
}

pub(crate) fn limit(process: Pid, resource: Resource, current: Option<u64>) {
    let maximum = getrlimit(resource).maximum;
    prlimit(Some(process), resource, Rlimit { current, maximum }).unwrap();
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "data", "faults"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        // Should a test not come to its end, what it started does.
        let settings = "unclaimed_timeout = \"2m\"\n[policies]\nunattended_grace = \"1s\"\n";
        std::fs::write(folder.path().join("sayso.toml"), settings).unwrap();
        let api = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { folder, api }
    }

    pub(crate) async fn start(&self) -> Server {
        self.start_as(Command::new(env!("CARGO_BIN_EXE_sayso")))
            .await
    }

    /// `command` runs the server's program with the arguments that it is given here.
    pub(crate) async fn start_as(&self, mut command: Command) -> Server {
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut child = command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--token",
                TOKEN,
                "--claude",
                "no-such-agent",
            ])
            .arg("--config")
            .arg(self.folder.path().join("sayso.toml"))
            .arg("--data-dir")
            .arg(self.data())
            .env("SAYSO_TEST_FAULTS", self.folder.path().join("faults"))
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = support::printed_url(child.stdout.take().unwrap()).await;
        Server { child, url }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Makes a fault happen, until it is [over](Self::over).
    pub(crate) fn provoke(&self, fault: &str, content: &str) {
        std::fs::write(self.folder.path().join("faults").join(fault), content).unwrap();
    }

    pub(crate) fn over(&self, fault: &str) {
        std::fs::remove_file(self.folder.path().join("faults").join(fault)).unwrap();
    }

    pub(crate) fn made(&self, file: &str) -> bool {
        self.folder.path().join("project").join(file).exists()
    }

    pub(crate) async fn get(&self, server: &Server, path: &str) -> (u16, Value) {
        let url = format!("{}{path}", server.url);
        Self::sent(self.api.get(url)).await
    }

    pub(crate) async fn post(&self, server: &Server, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}{path}", server.url);
        Self::sent(self.api.post(url).json(&body)).await
    }

    async fn sent(request: reqwest::RequestBuilder) -> (u16, Value) {
        let answer = request.bearer_auth(TOKEN).timeout(PATIENCE).send().await;
        let answer = answer.expect("the server answers");
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    /// Starts an agent that wants to make `file`, and waits until it asks.
    pub(crate) async fn asked(&self, server: &Server, file: &str) -> Value {
        let started = self.begin(server, &bash(&format!("touch {file}"))).await;
        self.open(server, |request| request["session_id"] == started)
            .await
    }

    pub(crate) async fn begin(&self, server: &Server, script: &Value) -> Value {
        let body = json!({
            "cwd": self.folder.path().join("project"), "agent": "demo", "prompt": script.to_string(),
        });
        let (_, started) = self.post(server, "/api/sessions", body).await;
        assert!(started["session_id"].is_string(), "{started}");
        started["session_id"].clone()
    }

    /// Waits until a request that fits is open.
    pub(crate) async fn open(&self, server: &Server, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (_, shown) = self.get(server, "/api/requests").await;
            let shown = shown["pending_requests"].as_array().cloned();
            let mut shown = shown.unwrap_or_default().into_iter();
            if let Some(request) = shown.find(&fits) {
                return request;
            }
            assert!(Instant::now() < deadline, "no request: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn allow(&self, server: &Server, request: &Value) -> (u16, Value) {
        let id = request["request_id"].as_str().unwrap();
        let body = json!({
            "input_digest": request["input_digest"], "decision": {"behavior": "allow"},
        });
        let path = format!("/api/requests/{id}/decision");
        self.post(server, &path, body).await
    }

    /// The same request is open, and once it is allowed the agent makes its file.
    pub(crate) async fn goes_on(&self, server: &Server, request: &Value, file: &str) {
        assert!(!self.made(file), "it ran before it was allowed");
        let same = |shown: &Value| shown["request_id"] == request["request_id"];
        let request = self.open(server, same).await;
        let (status, answer) = self.allow(server, &request).await;
        assert_eq!(status, 200, "{answer}");
        self.until("the file is made", || self.made(file)).await;
    }

    /// Waits until the database takes what it is given again.
    pub(crate) async fn follows(&self, server: &Server) {
        let deadline = Instant::now() + PATIENCE;
        let rule = json!({"rule": "Bash(ls)", "effect": "ask", "scope": {"kind": "everywhere"}});
        while self.post(server, "/api/rules", rule.clone()).await.0 != 200 {
            assert!(Instant::now() < deadline, "{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds() {
            assert!(Instant::now() < deadline, "{what}: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The process groups of all agents.
    pub(crate) fn agents(&self) -> Vec<Pid> {
        let found = sayso_runner::find(&self.data().join("agents")).unwrap_or_default();
        let pids = found
            .iter()
            .filter_map(|runner| Some(runner.record.as_ref()?.agent_pid));
        pids.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
            .collect()
    }

    pub(crate) fn signal_agents(&self, signal: Signal) {
        for agent in self.agents() {
            // It may have ended by itself.
            let _ = kill_process_group(agent, signal);
        }
    }
}

/// Runners end with their agents, and a test that failed leaves none of either.
impl Drop for World {
    fn drop(&mut self) {
        self.signal_agents(Signal::KILL);
    }
}
