//! A thousand sessions of one server, ended in every way, leave nothing behind: no process, no zombie, no open file.
//! `crates/runner/tests/lives.rs` shows the same of runners alone.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Client, TOKEN, printed_url};
use tokio::process::Command;
use tokio::task::JoinSet;

/// More of them with `SAYSO_LIVES=10000`.
const LIVES: usize = 1000;
/// Each has a connection of its own and lives one life after the other.
const AT_ONCE: usize = 8;
/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the server may open at any time and keeps: three more connections for reading the database, each with the
/// database and its log.
const KEPT_OPEN: usize = 6;

/// Answers what it is asked when it starts, asks for something when it is spoken to, and ends with its input. On
/// demand it has one child in its group and one that has left it.
const AGENT: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo 0.0.0; exit; fi
export A_LIFE_OF_THIS_TEST='FOLDER'
while read -r line; do
    case $line in
    *'"control_request"'*)
        id=${line#*'"request_id":"'}
        id=${id%%'"'*}
        echo '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":{"claude_code_version":"0","models":[],"commands":[]}}}'
        ;;
    *'"user"'*)
        case $line in *children*) sleep 1000 & setsid sleep 1000 & ;; esac
        echo '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"command":"ls"},"permission_suggestions":[]}}'
        ;;
    esac
done
"#;

/// The ways in which a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Stopped,
    /// Before it is ready.
    StoppedAtOnce,
    AgentKilled,
    RunnerKilled,
    BothKilled,
}

const ENDS: [End; 5] = [
    End::Stopped,
    End::AgentKilled,
    End::RunnerKilled,
    End::StoppedAtOnce,
    End::BothKilled,
];

impl End {
    /// What an agent that ends in order left running elsewhere is nobody else's business.
    fn prompt(self) -> &'static str {
        match self {
            Self::Stopped | Self::StoppedAtOnce => "go",
            Self::AgentKilled | Self::RunnerKilled | Self::BothKilled => "go with children",
        }
    }
}

/// One human, who lives through one session after the other.
struct Human {
    client: Client,
    folder: PathBuf,
}

impl Human {
    async fn new(url: &str, folder: &Path) -> Self {
        let url = format!("{}/api/ws?only=attended", url.replacen("http", "ws", 1));
        let client = Client::at(&url, TOKEN).await;
        let folder = folder.to_owned();
        Self { client, folder }
    }

    async fn live(&mut self, end: End) {
        let session = self.begin(end).await;
        self.end(&session, end).await;
    }

    async fn begin(&mut self, end: End) -> String {
        let cwd = self.folder.join("project");
        let start =
            json!({"type": "start_session", "cwd": cwd, "agent": "claude", "prompt": end.prompt()});
        let started = self.client.call(start).await;
        let session = started["session_id"].as_str().unwrap().to_owned();
        if end != End::StoppedAtOnce {
            self.of_session(&session, |frame| frame["type"] == "request_opened")
                .await;
        }
        session
    }

    async fn end(&mut self, session: &str, end: End) {
        match end {
            End::Stopped | End::StoppedAtOnce => {
                let stop = json!({"type": "stop_session", "session_id": session});
                let stopped = self.client.call(stop).await;
                assert_eq!(stopped["type"], "ack", "{stopped}");
            }
            End::AgentKilled => kill(self.processes_of(session).1),
            End::RunnerKilled => kill(self.processes_of(session).0),
            End::BothKilled => {
                let (runner, agent) = self.processes_of(session);
                kill(runner);
                kill(agent);
            }
        }
        let dead = |frame: &Value| frame["session"]["state"] == "dead";
        self.of_session(session, dead).await;
        self.client.take_seen();
    }

    async fn of_session(&mut self, session: &str, fits: impl Fn(&Value) -> bool) {
        let is_its = |frame: &Value| {
            let ids = [
                &frame["session"]["session_id"],
                &frame["pending_request"]["session_id"],
            ];
            ids.iter().any(|id| **id == session)
        };
        self.client
            .wait_for(|frame| is_its(frame) && fits(frame))
            .await;
    }

    /// The runner and the agent.
    fn processes_of(&self, session: &str) -> (u32, u32) {
        let runners = sayso_runner::find(&self.folder.join("data/agents")).unwrap();
        let mut runners = runners.into_iter();
        let name = session.replace('-', "");
        let is_own = |folder: &Path| {
            let folder = folder.file_name().and_then(|folder| folder.to_str());
            folder.is_some_and(|folder| folder.starts_with(&name))
        };
        let own = runners.find(|runner| is_own(&runner.folder));
        let record = own.and_then(|runner| runner.record).unwrap();
        (record.pid, record.agent_pid)
    }
}

fn kill(process: u32) {
    let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    // The agent of a runner that was killed may be gone already.
    let _ = kill_process(process, Signal::KILL);
}

/// Each process with its state and its parent.
fn processes() -> impl Iterator<Item = (u32, char, u32)> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| {
        let number: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        let mut rest = stat.rsplit_once(") ")?.1.split(' ');
        let state = rest.next()?.chars().next()?;
        Some((number, state, rest.next()?.parse().ok()?))
    })
}

/// Runners and agents by their arguments, and all that an agent started by its environment.
fn left_over(folder: &Path, server: u32) -> Vec<u32> {
    let name = folder.to_str().unwrap().as_bytes();
    let has = |number: u32, file: &str| {
        let content = std::fs::read(format!("/proc/{number}/{file}")).unwrap_or_default();
        content.windows(name.len()).any(|part| part == name)
    };
    let others = processes().filter(|(number, ..)| *number != server);
    let others = others.map(|(number, ..)| number);
    others
        .filter(|number| has(*number, "cmdline") || has(*number, "environ"))
        .collect()
}

fn children(server: u32) -> Vec<(u32, char)> {
    let children = processes().filter(|(.., parent)| *parent == server);
    children.map(|(number, state, _)| (number, state)).collect()
}

fn open_files(process: u32) -> usize {
    let folder = format!("/proc/{process}/fd");
    std::fs::read_dir(folder).unwrap().count()
}

async fn until_none<T: std::fmt::Debug>(what: &str, find: impl Fn() -> Vec<T>) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = find();
        if found.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: {found:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// All of them live so many lives each, at the same time.
async fn live(humans: Vec<Human>, lives: usize) -> Vec<Human> {
    let mut living = JoinSet::new();
    for (number, mut human) in humans.into_iter().enumerate() {
        living.spawn(async move {
            for life in 0..lives {
                human.live(ENDS[(number + life) % ENDS.len()]).await;
            }
            human
        });
    }
    living.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_leave_nothing_behind() {
    let lives = std::env::var("SAYSO_LIVES").ok();
    let lives = lives.map_or(LIVES, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::create_dir(path.join("project")).unwrap();
    let agent = path.join("agent");
    std::fs::write(&agent, AGENT.replace("FOLDER", path.to_str().unwrap())).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o700)).unwrap();
    // Should this test not come to its end, what it started does.
    std::fs::write(path.join("sayso.toml"), "unclaimed_timeout = \"2m\"\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(["serve", "--listen", "127.0.0.1:0", "--token", TOKEN])
        .arg("--claude")
        .arg(&agent)
        .arg("--config")
        .arg(path.join("sayso.toml"))
        .arg("--data-dir")
        .arg(path.join("data"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let url = printed_url(child.stdout.take().unwrap()).await;
    let server = child.id().unwrap();
    let mut humans = Vec::new();
    for _ in 0..AT_ONCE {
        humans.push(Human::new(&url, path).await);
    }
    let nothing_left = async || {
        until_none("no process is left", || left_over(path, server)).await;
        until_none("no child and no zombie is left", || children(server)).await;
        let agents = path.join("data/agents");
        let folders = || std::fs::read_dir(&agents).unwrap().flatten().collect();
        until_none::<std::fs::DirEntry>("no runner's folder is left", folders).await;
    };
    let session = humans[0].begin(End::RunnerKilled).await;
    let found = left_over(path, server).len();
    assert!(found >= 4, "a runner, its agent and two children: {found}");
    humans[0].end(&session, End::RunnerKilled).await;
    let begun = Instant::now();
    // What the first ones open for all that follow.
    humans = live(humans, ENDS.len()).await;
    nothing_left().await;
    let before = open_files(server);
    humans = live(humans, lives / AT_ONCE).await;
    nothing_left().await;
    let after = open_files(server);
    println!(
        "{lives} lives in {:?}; {before} files were open before them and {after} are now",
        begun.elapsed()
    );
    assert!(after <= before + KEPT_OPEN, "{before} files became {after}");
    drop(humans);
}
