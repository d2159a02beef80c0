//! Many lives of runners and agents, in a process of its own: nothing else here opens files or has children.

#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::{impatient, kill, line, rest, spec, until, until_gone};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use sayso_runner::{AgentSignal, LaunchSpec, Limits, clean_up, find, remove};
use tokio::sync::Semaphore;

const LIVES: usize = 1000;
const AT_ONCE: usize = 8;

/// In the environment of every agent, and so of all that it starts.
const NAME: &str = "A_LIFE_OF_THIS_TEST";

/// Ends with its input.
const PLAIN: &str = "echo ready; exec cat";
/// Has one child in its group and one that left it, and ends with its input.
const PARENT: &str = "sleep 1000 & setsid sleep 1000 & echo ready; cat; exit 3";
/// The same, and nothing but a kill ends it.
const STUBBORN: &str = "trap '' TERM HUP INT PIPE; sleep 1000 & setsid sleep 1000 & \
    echo ready; while :; do sleep 1; done";

/// The ways in which a life ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The agent ends by itself.
    Itself(&'static str),
    AgentKilled(&'static str),
    AgentSignalled(&'static str),
    /// A client wants it stopped.
    Stopped(&'static str),
    RunnerTerminated(&'static str),
    RunnerKilled(&'static str),
    /// The server is gone and does not come back.
    ConnectionDropped(&'static str),
}

const ENDS: [End; 14] = [
    End::Itself(PLAIN),
    End::Itself(PARENT),
    End::AgentKilled(PLAIN),
    End::AgentKilled(PARENT),
    End::AgentSignalled(PLAIN),
    End::AgentSignalled(STUBBORN),
    End::Stopped(PLAIN),
    End::Stopped(STUBBORN),
    End::RunnerTerminated(PLAIN),
    End::RunnerTerminated(STUBBORN),
    End::RunnerKilled(PLAIN),
    End::RunnerKilled(STUBBORN),
    End::ConnectionDropped(PLAIN),
    End::ConnectionDropped(STUBBORN),
];

impl End {
    fn agent(self) -> &'static str {
        match self {
            Self::Itself(agent)
            | Self::AgentKilled(agent)
            | Self::AgentSignalled(agent)
            | Self::Stopped(agent)
            | Self::RunnerTerminated(agent)
            | Self::RunnerKilled(agent)
            | Self::ConnectionDropped(agent) => agent,
        }
    }

    fn spec(self) -> LaunchSpec {
        let mut spec = spec("sh", &["-c", self.agent()]);
        spec.environment.push((NAME.into(), marker().into()));
        spec.limits = Limits {
            until_ended: Duration::from_millis(50),
            unclaimed: Some(match self {
                Self::ConnectionDropped(_) => Duration::from_millis(50),
                // Should this test not come to its end, what it started does.
                _ => Duration::from_secs(120),
            }),
            ..impatient()
        };
        spec
    }
}

fn marker() -> String {
    std::process::id().to_string()
}

async fn live(folder: PathBuf, end: End) {
    let started = common::start(&folder, &end.spec()).await.unwrap();
    let Ok(mut connection) = common::connect(&folder, 0).await else {
        // Nobody was there for long enough already.
        assert!(matches!(end, End::ConnectionDropped(_)), "{end:?}");
        return bury(&folder, started.runner_pid).await;
    };
    line(&mut connection).await;
    let handle = &connection.handle;
    match end {
        End::Itself(_) => handle.close_input().unwrap(),
        End::AgentKilled(_) => kill(started.agent_pid, Signal::KILL),
        End::AgentSignalled(_) => handle.signal(AgentSignal::Kill).unwrap(),
        End::Stopped(_) => handle.stop().unwrap(),
        End::RunnerTerminated(_) => kill(started.runner_pid, Signal::TERM),
        End::RunnerKilled(_) => kill(started.runner_pid, Signal::KILL),
        End::ConnectionDropped(_) => {}
    }
    match end {
        End::Itself(_) | End::AgentKilled(_) | End::AgentSignalled(_) | End::Stopped(_) => {
            rest(&mut connection).await;
            connection.handle.forget().unwrap();
            drop(connection);
            until_gone(started.runner_pid).await;
        }
        End::RunnerTerminated(_) | End::RunnerKilled(_) | End::ConnectionDropped(_) => {
            drop(connection);
            bury(&folder, started.runner_pid).await;
        }
    }
}

/// What the next server does.
async fn bury(folder: &Path, runner: u32) {
    until_gone(runner).await;
    clean_up(folder).unwrap();
    remove(folder).unwrap();
}

fn zombies() -> Vec<u32> {
    let ours = std::process::id();
    let zombies =
        common::processes().filter(|(_, (state, parent, _))| *state == 'Z' && *parent == ours);
    zombies.map(|(number, _)| number).collect()
}

/// All that an agent of this test started, by its environment, and all runners, by their arguments.
fn left_over(data: &Path) -> Vec<u32> {
    let variable = format!("{NAME}={}", marker());
    let data = data.to_str().unwrap();
    let has = |number: u32, file: &str, text: &str| {
        let content = std::fs::read(format!("/proc/{number}/{file}")).unwrap_or_default();
        let mut parts = content.split(|byte| *byte == 0);
        parts.any(|part| part.starts_with(text.as_bytes()))
    };
    let processes = common::processes().map(|(number, _)| number);
    processes
        .filter(|number| has(*number, "environ", &variable) || has(*number, "cmdline", data))
        .collect()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn a_thousand_lives_leave_nothing_behind() {
    let data = tempfile::tempdir().unwrap();
    // What the first one opens for all that follow.
    live(data.path().join("first"), End::Itself(PLAIN)).await;
    let before = open_files();
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut lives = tokio::task::JoinSet::new();
    for (number, end) in (0..LIVES).zip(ENDS.into_iter().cycle()) {
        let folder = data.path().join(number.to_string());
        let turns = Arc::clone(&turns);
        lives.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            live(folder, end).await;
        });
    }
    while let Some(life) = lives.join_next().await {
        life.unwrap();
    }
    assert_eq!(find(data.path()).unwrap(), []);
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    // What was killed is gone as soon as the system gets to it.
    until("no process left", || left_over(data.path()).is_empty()).await;
    until("no zombie left", || zombies().is_empty()).await;
    until("all files closed", || open_files() <= before).await;
}
