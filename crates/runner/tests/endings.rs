//! Every way in which an agent, its runner or both come to their end, and that nothing is left of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::time::Duration;

use common::{
    Rig, impatient, kill, line, next, process, rest, spec, until, until_gone, until_group_is_empty,
    write,
};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use sayso_runner::{
    AgentSignal, CleanUp, EndReason, Event, LaunchSpec, Limits, RunnerState, clean_up, end, find,
    read_journal, remove,
};

/// Ignores what it can and says when it does.
const STUBBORN: &str = "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done";

fn journal(rig: &Rig) -> Vec<(u64, String)> {
    let lines = read_journal(&rig.folder(), 0).unwrap().map(Result::unwrap);
    lines
        .map(|line| (line.seq, String::from_utf8(line.bytes).unwrap()))
        .collect()
}

#[tokio::test]
async fn a_stubborn_agent_is_stopped_in_order() {
    let rig = Rig::shell(STUBBORN).await;
    let mut connection = rig.connect(0).await;
    line(&mut connection).await;
    connection.handle.stop().unwrap();
    let (_, exited) = rest(&mut connection).await;
    assert_eq!(
        (exited.signal, exited.reason),
        (Some(9), EndReason::Stopped)
    );
    until_group_is_empty(rig.agent()).await;
    until_gone(rig.agent()).await;
}

#[tokio::test]
async fn an_agent_that_ends_with_its_input_is_not_signalled() {
    let rig = Rig::shell("trap 'echo signalled' TERM; cat; echo bye").await;
    let mut connection = rig.connect(0).await;
    connection.handle.stop().unwrap();
    let (lines, exited) = rest(&mut connection).await;
    assert_eq!(lines, [(1, "bye".to_owned())]);
    assert_eq!((exited.code, exited.reason), (Some(0), EndReason::Stopped));
}

#[tokio::test]
async fn a_signal_reaches_the_whole_group() {
    let rig = Rig::shell("sleep 1000 & sleep 1000 & echo ready; wait").await;
    let mut connection = rig.connect(0).await;
    line(&mut connection).await;
    assert_eq!(common::living_in_group(rig.agent()).len(), 3);
    connection.handle.signal(AgentSignal::Terminate).unwrap();
    let (_, exited) = rest(&mut connection).await;
    assert_eq!(
        (exited.signal, exited.reason),
        (Some(15), EndReason::Itself)
    );
    until_group_is_empty(rig.agent()).await;
}

#[tokio::test]
async fn what_an_agent_leaves_in_its_group_ends_with_it() {
    let rig = Rig::shell("sleep 1000 & echo leaving").await;
    let mut connection = rig.connect(0).await;
    let (lines, exited) = rest(&mut connection).await;
    assert_eq!(
        (lines, exited.code),
        (vec![(1, "leaving".to_owned())], Some(0))
    );
    until_group_is_empty(rig.agent()).await;
}

#[tokio::test]
async fn a_stranger_that_holds_the_output_open_does_not_hold_up_the_end() {
    let rig = Rig::shell("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2; printf half").await;
    let mut connection = rig.connect(0).await;
    let (_, stranger) = line(&mut connection).await;
    let mut last = None;
    let exited = loop {
        match next(&mut connection).await {
            Event::Line {
                fragment, bytes, ..
            } => last = Some((fragment, bytes)),
            Event::Exited(exited) => break exited,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        (last, exited.code),
        (Some((true, b"half".to_vec())), Some(0))
    );
    // It left the agent's group by its own will, so it lives.
    let stranger: u32 = stranger.parse().unwrap();
    assert!(process(stranger).is_some());
    kill(stranger, Signal::KILL);
}

#[tokio::test]
async fn an_agent_that_nobody_can_hear_is_stopped() {
    let rig = Rig::shell("exec >&-; trap '' TERM; while :; do sleep 1; done").await;
    let mut connection = rig.connect(0).await;
    let (_, exited) = rest(&mut connection).await;
    assert_eq!(
        (exited.signal, exited.reason),
        (Some(9), EndReason::OutputClosed)
    );
}

#[tokio::test]
async fn a_line_without_end_ends_the_agent() {
    let spec = LaunchSpec {
        limits: Limits {
            line_bytes: 100_000,
            ..impatient()
        },
        ..spec("sh", &["-c", "echo first; cat /dev/zero"])
    };
    let rig = Rig::start(&spec).await;
    let mut connection = rig.connect(0).await;
    let (lines, exited) = rest(&mut connection).await;
    assert_eq!(lines, [(1, "first".to_owned())]);
    assert_eq!(exited.reason, EndReason::LineTooLong { limit: 100_000 });
    until_group_is_empty(rig.agent()).await;
}

#[tokio::test]
async fn nobody_comes_and_the_agent_is_stopped_and_its_words_are_kept() {
    let limits = Limits {
        unclaimed: Some(Duration::from_millis(300)),
        ..impatient()
    };
    let rig = Rig::shell_with("echo anybody; cat", limits).await;
    until_gone(rig.runner()).await;
    until_gone(rig.agent()).await;
    assert_eq!(find(rig.data()).unwrap()[0].state, RunnerState::Dead);
    assert_eq!(clean_up(&rig.folder()).unwrap(), CleanUp::Dead);
    assert_eq!(journal(&rig), [(1, "anybody".to_owned())]);
    let exited = read_journal(&rig.folder(), 0)
        .unwrap()
        .exited()
        .cloned()
        .unwrap();
    assert_eq!(
        (exited.code, exited.reason),
        (Some(0), EndReason::Unclaimed)
    );
    assert!(!rig.folder().join("socket").exists());
    remove(&rig.folder()).unwrap();
    assert_eq!(find(rig.data()).unwrap(), []);
}

#[tokio::test]
async fn a_claimed_agent_may_wait_for_longer() {
    let limits = Limits {
        unclaimed: Some(Duration::from_millis(200)),
        ..impatient()
    };
    let rig = Rig::shell_with("cat", limits).await;
    let mut connection = rig.connect(0).await;
    // Longer than it would have gone on alone.
    tokio::time::sleep(Duration::from_millis(600)).await;
    write(&mut connection, "still here").await;
    assert!(matches!(next(&mut connection).await, Event::Written(_)));
    drop(connection);
    until_gone(rig.runner()).await;
    assert_eq!(journal(&rig), [(1, "still here".to_owned())]);
}

#[tokio::test]
async fn a_runner_whose_end_nobody_wants_to_know_goes() {
    let limits = Limits {
        linger: Duration::from_millis(50),
        unclaimed: None,
        ..impatient()
    };
    let rig = Rig::shell_with("echo one", limits).await;
    until_gone(rig.runner()).await;
    assert_eq!(journal(&rig), [(1, "one".to_owned())]);
}

#[tokio::test]
async fn an_agent_that_ends_while_the_journal_is_full_is_heard_to_the_end() {
    let limits = Limits {
        journal_bytes: 1000,
        linger: Duration::from_millis(50),
        ..impatient()
    };
    let script = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo $i; done";
    let rig = Rig::shell_with(script, limits).await;
    until_gone(rig.runner()).await;
    let expected = (1..=5000).map(|number| (number, number.to_string()));
    assert!(journal(&rig).into_iter().eq(expected));
}

#[tokio::test]
async fn a_runner_that_is_asked_to_end_stops_its_agent_first() {
    let rig = Rig::shell(STUBBORN).await;
    until("the agent is ready", || !journal(&rig).is_empty()).await;
    kill(rig.runner(), Signal::TERM);
    until_gone(rig.runner()).await;
    until_group_is_empty(rig.agent()).await;
    until_gone(rig.agent()).await;
    let exited = read_journal(&rig.folder(), 0)
        .unwrap()
        .exited()
        .cloned()
        .unwrap();
    assert_eq!(
        (exited.signal, exited.reason),
        (Some(9), EndReason::RunnerTerminated)
    );
}

#[tokio::test]
async fn a_runner_that_is_asked_to_end_tells_its_client_first() {
    let rig = Rig::shell("echo one; cat; echo two").await;
    let mut connection = rig.connect(0).await;
    line(&mut connection).await;
    kill(rig.runner(), Signal::TERM);
    let (lines, exited) = rest(&mut connection).await;
    assert_eq!(lines, [(2, "two".to_owned())]);
    assert_eq!(exited.reason, EndReason::RunnerTerminated);
    assert!(matches!(next(&mut connection).await, Event::Lost(_)));
    until_gone(rig.runner()).await;
}

#[tokio::test]
async fn a_hang_up_means_nothing() {
    let rig = Rig::shell("cat").await;
    kill(rig.runner(), Signal::HUP);
    let mut connection = rig.connect(0).await;
    write(&mut connection, "still here").await;
    assert!(matches!(next(&mut connection).await, Event::Written(_)));
}

#[tokio::test]
async fn a_killed_runner_leaves_no_agent_after_the_clean_up() {
    let rig = Rig::shell("sleep 1000 & exec sh -c 'echo ready; while :; do sleep 1; done'").await;
    until("the agent is ready", || !journal(&rig).is_empty()).await;
    assert_eq!(clean_up(&rig.folder()).unwrap(), CleanUp::Alive);
    assert!(process(rig.agent()).is_some());
    kill(rig.runner(), Signal::KILL);
    until_gone(rig.runner()).await;
    assert!(process(rig.agent()).is_some());
    assert_eq!(clean_up(&rig.folder()).unwrap(), CleanUp::Killed);
    assert_eq!(common::living_in_group(rig.agent()), [0; 0]);
    assert_eq!(clean_up(&rig.folder()).unwrap(), CleanUp::Dead);
    assert_eq!(journal(&rig), [(1, "ready".to_owned())]);
    assert_eq!(read_journal(&rig.folder(), 0).unwrap().exited(), None);
}

#[tokio::test]
async fn the_clean_up_finds_what_a_dead_agent_left_in_its_group() {
    let rig = Rig::shell("sleep 1000 >/dev/null & echo ready; cat").await;
    until("the agent is ready", || !journal(&rig).is_empty()).await;
    kill(rig.runner(), Signal::KILL);
    // Its input has ended, and with it the agent; the sleeper stays.
    until("only the sleeper", || {
        common::living_in_group(rig.agent()).len() == 1
    })
    .await;
    assert_eq!(clean_up(&rig.folder()).unwrap(), CleanUp::Killed);
    assert_eq!(common::living_in_group(rig.agent()), [0; 0]);
}

/// One that was stopped lives, holds its lock and hears nothing.
#[tokio::test]
async fn a_runner_that_hears_nothing_is_ended_with_its_agent() {
    let rig = Rig::shell(STUBBORN).await;
    until("the agent is ready", || !journal(&rig).is_empty()).await;
    kill(rig.runner(), Signal::STOP);
    assert_eq!(clean_up(&rig.folder()).unwrap(), CleanUp::Alive);
    assert_eq!(end(&rig.folder()).unwrap(), CleanUp::Killed);
    assert_eq!(common::living_in_group(rig.agent()), [0; 0]);
    assert_eq!(journal(&rig), [(1, "ready".to_owned())]);
    // There is nothing left to be ended.
    assert_eq!(end(&rig.folder()).unwrap(), CleanUp::Dead);
}

#[tokio::test]
async fn the_clean_up_does_not_touch_a_process_that_only_has_the_number() {
    let rig = Rig::shell("cat").await;
    kill(rig.runner(), Signal::KILL);
    until_gone(rig.runner()).await;
    until_group_is_empty(rig.agent()).await;
    let mut other = tokio::process::Command::new("sleep")
        .arg("1000")
        .process_group(0)
        .spawn()
        .unwrap();
    let path = rig.folder().join("runner.json");
    let record = std::fs::read_to_string(&path).unwrap();
    let old = format!("\"agent_pid\":{}", rig.agent());
    let new = format!("\"agent_pid\":{}", other.id().unwrap());
    assert!(record.contains(&old));
    std::fs::write(path, record.replace(&old, &new)).unwrap();
    assert_eq!(clean_up(&rig.folder()).unwrap(), CleanUp::Dead);
    assert_eq!(other.try_wait().unwrap(), None);
    other.kill().await.unwrap();
}

#[tokio::test]
async fn a_runner_whose_folder_is_removed_ends_with_its_agent() {
    let rig = Rig::shell(STUBBORN).await;
    std::fs::remove_dir_all(rig.folder()).unwrap();
    until_gone(rig.runner()).await;
    until_group_is_empty(rig.agent()).await;
}
