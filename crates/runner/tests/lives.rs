//! Many lives of runners and agents, in a process of its own: nothing else here opens files or has children.

#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use common::{kill, next, rest, spec, until, until_gone, write};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use sayso_runner::{AgentSignal, clean_up, find, remove};

fn zombies() -> Vec<u32> {
    let ours = std::process::id();
    let zombies =
        common::processes().filter(|(_, (state, parent, _))| *state == 'Z' && *parent == ours);
    zombies.map(|(number, _)| number).collect()
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn two_hundred_lives_leave_nothing_behind() {
    let data = tempfile::tempdir().unwrap();
    let mut agents = Vec::new();
    let mut runners = Vec::new();
    let before = open_files();
    for number in 0..200 {
        let folder = data.path().join(number.to_string());
        let started = common::start(&folder, &spec("cat", &[])).await.unwrap();
        let mut connection = sayso_runner::Connection::connect(&folder, 0).await.unwrap();
        write(&mut connection, "hello").await;
        next(&mut connection).await;
        match number % 4 {
            0 => kill(started.runner_pid, Signal::KILL),
            1 => kill(started.runner_pid, Signal::TERM),
            2 => connection.handle.signal(AgentSignal::Kill).unwrap(),
            _ => connection.handle.close_input().unwrap(),
        }
        if number % 4 >= 2 {
            rest(&mut connection).await;
            connection.handle.forget().unwrap();
        }
        drop(connection);
        runners.push(started.runner_pid);
        agents.push((started.agent_pid, folder));
    }
    for runner in runners {
        until_gone(runner).await;
    }
    for (agent, folder) in agents {
        if folder.exists() {
            clean_up(&folder).unwrap();
            remove(&folder).unwrap();
        }
        assert_eq!(common::living_in_group(agent), [0; 0]);
    }
    assert_eq!(find(data.path()).unwrap(), []);
    assert_eq!(zombies(), [0; 0]);
    until("all files closed", || open_files() <= before + 2).await;
}
