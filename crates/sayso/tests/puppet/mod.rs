//! An agent that says exactly what a test writes down for it, and a server for it that can be killed.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared by several tests, each of which uses a part; a failure fails the test"
)]

use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sayso_runner::{CleanUp, RunnerState};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::support::{self, TOKEN};

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);
const FOLDER: &str = "SAYSO_TEST_PUPPET";

/// The agent's whole life: says what is in its file `say`, as it grows, keeps what it hears in `heard`, and agrees
/// to all that it is asked, unless it is mute; when it is deaf it does not even read. It hears no more lines than
/// `hears` says, if that is there. It does not end with its input, so it ends when somebody kills it or its folder
/// is gone.
pub(crate) fn run() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let strings = folder.clone();
    std::thread::spawn(move || {
        let mut file = std::fs::File::create(strings.join("heard")).unwrap();
        let may_hear = |count: usize| {
            let most = std::fs::read_to_string(strings.join("hears")).ok();
            most.is_none_or(|most| most.parse().is_ok_and(|most: usize| count <= most))
        };
        for (count, line) in std::io::stdin().lock().lines().enumerate() {
            let Ok(line) = line else { return };
            writeln!(file, "{line}").unwrap();
            while strings.join("deaf").exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["type"] == "control_request" && !strings.join("mute").exists() {
                let answer = json!({"claude_code_version": "0", "models": [], "commands": []});
                print_line(&json!({"type": "control_response", "response": {
                    "subtype": "success", "request_id": message["request_id"], "response": answer,
                }}));
            }
            while !may_hear(count + 2) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    let mut said = 0;
    while folder.exists() {
        if folder.join("close").exists() {
            let nowhere = std::fs::File::options().write(true).open("/dev/null");
            rustix::stdio::dup2_stdout(nowhere.unwrap()).unwrap();
        }
        if let Ok(mut file) = std::fs::File::open(folder.join("say")) {
            let mut text = String::new();
            file.seek(SeekFrom::Start(said)).unwrap();
            file.read_to_string(&mut text).unwrap();
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            let mut output = std::io::stdout().lock();
            let said_now = output.write_all(&text.as_bytes()[..whole]);
            // A host that is gone does not end it.
            let _ = said_now.and_then(|()| output.flush());
            said += u64::try_from(whole).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn print_line(line: &Value) {
    let mut output = std::io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

pub(crate) struct Puppet {
    pub(crate) folder: TempDir,
    api: reqwest::Client,
}

pub(crate) struct Server {
    child: Child,
    url: String,
}

impl Server {
    pub(crate) fn pid(&self) -> Pid {
        pid(self.child.id().unwrap())
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Puppet {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "puppet", "data"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let test = std::env::current_exe().unwrap();
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 0.0.0; exit; fi\n\
             {FOLDER}='{}' exec '{}' puppet_agent --ignored --nocapture\n",
            folder.path().join("puppet").display(),
            test.display()
        );
        std::fs::write(folder.path().join("sayso.toml"), "").unwrap();
        let program = folder.path().join("agent");
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let api = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { folder, api }
    }

    pub(crate) async fn server(&self) -> Server {
        self.server_as(Command::new(env!("CARGO_BIN_EXE_sayso")))
            .await
    }

    /// `command` runs the server's program with the arguments that it is given here.
    pub(crate) async fn server_as(&self, mut command: Command) -> Server {
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--token", TOKEN])
            .arg("--claude")
            .arg(self.folder.path().join("agent"))
            .arg("--config")
            .arg(self.folder.path().join("sayso.toml"))
            .arg("--data-dir")
            .arg(self.data())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = support::printed_url(child.stdout.take().unwrap()).await;
        Server { child, url }
    }

    pub(crate) async fn kill(&self, mut server: Server) {
        server.child.kill().await.unwrap();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) async fn post(&self, server: &Server, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", server.url);
        let sent = self.api.post(url).bearer_auth(TOKEN).json(&body).send();
        sent.await.unwrap().json().await.unwrap()
    }

    /// `None` when the server is killed before it answers.
    pub(crate) async fn try_post(&self, server: &Server, path: &str, body: Value) -> Option<Value> {
        let url = format!("{}{path}", server.url);
        let sent = self.api.post(url).bearer_auth(TOKEN).json(&body).send();
        sent.await.ok()?.json().await.ok()
    }

    pub(crate) async fn get(&self, server: &Server, path: &str) -> Value {
        serde_json::from_str(&self.get_text(server, path).await).unwrap()
    }

    pub(crate) async fn get_text(&self, server: &Server, path: &str) -> String {
        let url = format!("{}{path}", server.url);
        let sent = self.api.get(url).bearer_auth(TOKEN).send();
        sent.await.unwrap().text().await.unwrap()
    }

    /// Waits until this page of the history has an entry.
    pub(crate) async fn until_told(&self, server: &Server, path: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.get(server, path).await["entries"][0].is_null() {
            assert!(Instant::now() < deadline, "never: {path}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A session whose agent waits for its strings to be pulled.
    pub(crate) async fn start(&self, server: &Server) -> String {
        let body = json!({
            "cwd": self.folder.path().join("project"), "agent": "claude", "prompt": "go",
        });
        let started = self.post(server, "/api/sessions", body).await;
        let id = started["session_id"].as_str();
        let id = id.unwrap_or_else(|| panic!("{started}")).to_owned();
        self.until("the agent is asked", || self.has_heard("\"type\":\"user\""))
            .await;
        self.say(
            &json!({"type": "system", "subtype": "init", "model": "none",
            "session_id": "6c1a5fd2-7f0f-4f0e-8a55-3ad39cc0a1b7", "permissionMode": "default"}),
        );
        id
    }

    pub(crate) async fn request(&self, server: &Server) -> Value {
        support::first_request(&self.api, &server.url).await
    }

    pub(crate) async fn decide(&self, server: &Server, request: &Value, decision: Value) -> Value {
        let id = request["request_id"].as_str().unwrap();
        let body = json!({"input_digest": request["input_digest"], "decision": decision});
        self.post(server, &format!("/api/requests/{id}/decision"), body)
            .await
    }

    /// Waits until so many decisions are in the transcript.
    pub(crate) async fn until_decided(&self, server: &Server, session: &str, count: usize) {
        let url = format!("{}/api/sessions/{session}/transcript", server.url);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let page = self.api.get(&url).bearer_auth(TOKEN).send().await.unwrap();
            let page: Value = page.json().await.unwrap();
            let entries = page["entries"].as_array().into_iter().flatten();
            if entries.filter(|entry| entry["kind"] == "decision").count() >= count {
                return;
            }
            assert!(Instant::now() < deadline, "not decided {count} times");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn say(&self, line: &Value) {
        self.say_exactly(&line.to_string());
    }

    /// In these very bytes.
    pub(crate) fn say_exactly(&self, line: &str) {
        append_text(&self.folder.path().join("puppet/say"), line);
    }

    /// It reads so many more lines, and the next ones wait.
    pub(crate) fn hear_only(&self, more: usize) {
        let most = self.heard().len() + more;
        // In one step, or it reads half of it.
        let (new, path) = (self.folder.path().join("hears"), self.hears());
        std::fs::write(&new, most.to_string()).unwrap();
        std::fs::rename(new, path).unwrap();
    }

    pub(crate) fn hear_all(&self) {
        std::fs::remove_file(self.hears()).unwrap();
    }

    fn hears(&self) -> PathBuf {
        self.folder.path().join("puppet/hears")
    }

    /// For servers that are started from now on.
    pub(crate) fn configure(&self, settings: &str) {
        std::fs::write(self.folder.path().join("sayso.toml"), settings).unwrap();
    }

    /// `mute` or `deaf`, see [`run`].
    pub(crate) fn make(&self, what: &str) {
        std::fs::write(self.folder.path().join("puppet").join(what), "").unwrap();
    }

    pub(crate) fn cure(&self, what: &str) {
        std::fs::remove_file(self.folder.path().join("puppet").join(what)).unwrap();
    }

    /// The next agent does not say again what this one said.
    pub(crate) fn forget(&self) {
        std::fs::remove_file(self.folder.path().join("puppet/say")).unwrap();
    }

    /// Waits until the only session is as it should be.
    pub(crate) async fn until_session(
        &self,
        server: &Server,
        fits: impl Fn(&Value) -> bool,
    ) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let sessions = self.get(server, "/api/sessions").await;
            let session = &sessions["sessions"][0];
            if fits(session) {
                return session.clone();
            }
            assert!(Instant::now() < deadline, "never: {session}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Of all that was decided in the session, how it ended.
    pub(crate) async fn outcomes(&self, server: &Server, session: &str) -> Vec<Value> {
        let page = self
            .get(server, &format!("/api/sessions/{session}/transcript"))
            .await;
        let entries = page["entries"].as_array().unwrap().iter();
        let decisions = entries.filter(|entry| entry["kind"] == "decision");
        decisions
            .map(|entry| entry["outcome"]["what"].clone())
            .collect()
    }

    /// Nobody hears it any more, and it goes on.
    pub(crate) fn close_output(&self) {
        std::fs::write(self.folder.path().join("puppet/close"), "").unwrap();
    }

    /// Says it while there is no server, and waits until the runner has it.
    pub(crate) async fn say_unheard(&self, line: &Value) {
        self.say(line);
        let text = line.to_string();
        self.until("the runner has written it down", || {
            self.journal().contains(&text)
        })
        .await;
    }

    fn journal(&self) -> String {
        let mut all = String::new();
        for runner in sayso_runner::find(&self.data().join("agents")).unwrap() {
            for entry in std::fs::read_dir(runner.folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy();
                if name.starts_with("journal") {
                    all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
                }
            }
        }
        all
    }

    pub(crate) fn heard(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("puppet/heard"));
        let text = text.unwrap_or_default();
        // A line that is being written is not there yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(crate) fn has_heard(&self, text: &str) -> bool {
        self.heard()
            .iter()
            .any(|line| line.to_string().contains(text))
    }

    pub(crate) async fn until(&self, what: &str, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition() {
            assert!(Instant::now() < deadline, "never: {what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The agent's process, which leads its group.
    pub(crate) fn agent(&self) -> u32 {
        let runners = sayso_runner::find(&self.data().join("agents")).unwrap();
        runners[0].record.clone().unwrap().agent_pid
    }

    /// The runner does not get to do anything any more, and its agent lives.
    pub(crate) fn stop_runner(&self) -> u32 {
        let runners = sayso_runner::find(&self.data().join("agents")).unwrap();
        let record = runners[0].record.clone().unwrap();
        kill_process(pid(record.pid), Signal::STOP).unwrap();
        record.agent_pid
    }

    /// Kills the runner and leaves its agent alone.
    pub(crate) async fn kill_runner(&self) -> u32 {
        let runners = sayso_runner::find(&self.data().join("agents")).unwrap();
        let record = runners[0].record.clone().unwrap();
        kill_process(pid(record.pid), Signal::KILL).unwrap();
        self.until("the runner is dead", || {
            let found = sayso_runner::find(&self.data().join("agents")).unwrap();
            found[0].state == RunnerState::Dead
        })
        .await;
        record.agent_pid
    }
}

impl Drop for Puppet {
    /// What a failed test leaves behind.
    fn drop(&mut self) {
        for runner in sayso_runner::find(&self.data().join("agents")).unwrap_or_default() {
            if let (RunnerState::Alive, Some(record)) = (runner.state, &runner.record) {
                let _ = kill_process(pid(record.pid), Signal::KILL);
            }
            while matches!(sayso_runner::clean_up(&runner.folder), Ok(CleanUp::Alive)) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

pub(crate) fn append(path: &Path, line: &Value) {
    append_text(path, &line.to_string());
}

fn append_text(path: &Path, line: &str) {
    let file = std::fs::File::options()
        .create(true)
        .append(true)
        .open(path);
    let text = format!("{line}\n");
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

pub(crate) fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

pub(crate) fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some(Some('Z') | None))
}

pub(crate) fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

pub(crate) fn ask(id: &str, tool_use_id: &str, command: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": tool_use_id,
        "input": {"command": command}, "permission_suggestions": [],
    }})
}

pub(crate) fn text(id: &str, text: &str) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "message": {
        "id": id, "role": "assistant", "content": [{"type": "text", "text": text}],
    }})
}

pub(crate) fn tool_use(id: &str, tool_use_id: &str, command: &str) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "message": {
        "id": id, "role": "assistant", "content": [
            {"type": "tool_use", "id": tool_use_id, "name": "Bash", "input": {"command": command}},
        ],
    }})
}

pub(crate) fn tool_result(tool_use_id: &str, text: &str) -> Value {
    json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": tool_use_id, "content": text, "is_error": false},
    ]}})
}
