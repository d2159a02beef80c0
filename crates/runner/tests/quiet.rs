//! A runner that has nothing to do does nothing, whatever it waits for.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::time::Duration;

use common::{PATIENCE, Rig, impatient, kill_group, line, next, spec, write};
use rustix::process::Signal;
use sayso_runner::{Event, LaunchSpec, Limits};
use tokio::time::{sleep, timeout};

/// Its time on a processor and how often it was given one.
fn activity(process: u32) -> Vec<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let times = fields.split_ascii_whitespace().skip(11).take(2);
    switches.chain(times).map(str::to_owned).collect()
}

/// A busy machine may hold up what is still to be done, but one that goes round and round is never quiet.
async fn falls_quiet(what: &str, rig: &Rig) {
    let waiting = async {
        loop {
            let before = activity(rig.runner());
            sleep(Duration::from_millis(300)).await;
            if activity(rig.runner()) == before {
                return;
            }
        }
    };
    let quiet = timeout(PATIENCE, waiting).await;
    assert!(quiet.is_ok(), "{what}: never quiet");
}

#[tokio::test]
async fn while_nobody_says_anything() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    write(&mut connection, "hello").await;
    while !matches!(next(&mut connection).await, Event::Line { .. }) {}
    falls_quiet("connected", &rig).await;
    drop(connection);
    falls_quiet("alone", &rig).await;
}

#[tokio::test]
async fn while_the_journal_is_full() {
    let limits = Limits {
        journal_bytes: 1 << 16,
        ..impatient()
    };
    let spec = LaunchSpec {
        limits,
        ..spec("yes", &[])
    };
    let rig = Rig::start(&spec).await;
    falls_quiet("alone", &rig).await;
    let _connection = rig.connect(0).await;
    falls_quiet("with a client that does not read", &rig).await;
}

#[tokio::test]
async fn while_the_agent_does_not_read() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    kill_group(rig.agent(), Signal::STOP);
    // More than any pipe takes.
    write(&mut connection, &"x".repeat(2 << 20)).await;
    assert_eq!(next(&mut connection).await, Event::InputWaits);
    falls_quiet("a line waits", &rig).await;
}

#[tokio::test]
async fn while_the_agent_has_closed_what_it_need_not_have() {
    let rig = Rig::shell("exec <&- 2>&-; echo ready; exec sleep 600").await;
    let mut connection = rig.connect(0).await;
    line(&mut connection).await;
    falls_quiet("without input and errors", &rig).await;
}

#[tokio::test]
async fn while_its_end_is_not_forgotten() {
    let rig = Rig::shell("exit 3").await;
    let mut connection = rig.connect(0).await;
    assert!(matches!(next(&mut connection).await, Event::Exited(_)));
    falls_quiet("with a client", &rig).await;
}
