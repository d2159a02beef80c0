//! What else may happen while the pipes are lent.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::time::Duration;

use common::{HELPER, Rig, impatient, kill, kill_group, line, next, rest, spec, write};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use sayso_runner::{Connection, EndReason, Event, LaunchSpec, Limits, LostReason, read_journal};
use tokio::time::timeout;
use uuid::Uuid;

/// As long as the events are waited for, the runner lends within moments.
async fn lent(rig: &Rig, after_seq: u64) -> Connection {
    let mut connection = rig.connect(after_seq).await;
    connection.handle.borrow().unwrap();
    let nothing = timeout(Duration::from_millis(300), connection.events.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert!(is_lent(rig));
    connection
}

/// The agent's input is open in this process, too.
fn is_lent(rig: &Rig) -> bool {
    let input = std::fs::read_link(format!("/proc/{}/fd/0", rig.agent())).unwrap();
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let mut files = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    files.any(|file| file == input)
}

/// After a line that was the runner's to write it keeps the pipes for a while.
async fn is_lent_again(rig: &Rig, connection: &mut Connection) -> bool {
    tokio::time::sleep(Duration::from_millis(150)).await;
    let nothing = timeout(Duration::from_millis(300), connection.events.next()).await;
    nothing.is_err() && is_lent(rig)
}

async fn echo(connection: &mut Connection, text: &str) -> u64 {
    let id = write(connection, text).await;
    assert_eq!(next(connection).await, Event::Written(id));
    let (seq, echo) = line(connection).await;
    assert!(echo == text, "{} bytes for {}", echo.len(), text.len());
    seq
}

fn switches(process: u32) -> Vec<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
    switches.map(str::to_owned).collect()
}

#[tokio::test]
async fn the_runner_sleeps() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = lent(&rig, 0).await;
    let before = switches(rig.runner());
    for number in 1..=1500 {
        let seq = echo(&mut connection, &format!("line {number}")).await;
        assert_eq!(seq, number);
        if number % 10 == 0 {
            connection.handle.acknowledge(seq).unwrap();
        }
    }
    assert_eq!(switches(rig.runner()), before);
}

#[tokio::test]
async fn lines_longer_than_a_pipe_pass_and_the_pipes_come_back() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = lent(&rig, 0).await;
    let mut number = 0;
    for length in [1, 4095, 50_000, 61_000, 65_535, 65_536, 70_000, 1 << 20, 7] {
        for _ in 0..20 {
            number += 1;
            let seq = echo(&mut connection, &"x".repeat(length)).await;
            assert_eq!(seq, number);
            connection.handle.acknowledge(seq).unwrap();
        }
    }
    assert!(is_lent_again(&rig, &mut connection).await);
    echo(&mut connection, "and so on").await;
}

#[tokio::test]
async fn lines_that_nobody_acknowledges_go_to_the_journal() {
    let rig = Rig::start(&spec(HELPER, &["count", "200000", "30"])).await;
    let mut connection = rig.connect(0).await;
    connection.handle.borrow().unwrap();
    for number in 1..=199_000 {
        let (seq, text) = line(&mut connection).await;
        assert_eq!((seq, text.trim()), (number, number.to_string().as_str()));
    }
    drop(connection);
    let mut connection = rig.connect(0).await;
    assert_eq!(connection.welcome.first_available_seq, 1);
    let (lines, _) = rest(&mut connection).await;
    let expected = (1..=200_000).map(|number| (number, number.to_string()));
    let lines = lines
        .into_iter()
        .map(|(seq, text)| (seq, text.trim().to_owned()));
    assert!(lines.eq(expected));
}

#[tokio::test]
async fn what_is_acknowledged_is_not_kept_for_the_next_client() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = lent(&rig, 0).await;
    for number in 1..=100 {
        let text = format!("{number} {}", "x".repeat(3000));
        let seq = echo(&mut connection, &text).await;
        if number == 90 {
            connection.handle.acknowledge(seq).unwrap();
        }
    }
    drop(connection);
    let mut next = rig.connect(90).await;
    assert_eq!(next.welcome.first_available_seq, 91);
    for number in 91..=100 {
        let (seq, text) = line(&mut next).await;
        assert_eq!(seq, number);
        assert!(text.starts_with(&format!("{number} ")));
    }
}

#[tokio::test]
async fn an_id_is_written_once() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = lent(&rig, 0).await;
    let id = Uuid::new_v4();
    for _ in 0..3 {
        connection.handle.write(id, b"once").unwrap();
    }
    let mut connection = {
        let mut told = Vec::new();
        while told.len() < 4 {
            told.push(next(&mut connection).await);
        }
        let written = told.iter().filter(|event| **event == Event::Written(id));
        assert_eq!(written.count(), 3);
        drop(connection);
        lent(&rig, 1).await
    };
    // The next one knows it, too.
    connection.handle.write(id, b"once").unwrap();
    assert_eq!(next(&mut connection).await, Event::Written(id));
    assert_eq!(echo(&mut connection, "twice").await, 2);
}

#[tokio::test]
async fn a_newer_client_goes_on_where_the_older_one_was() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut older = lent(&rig, 0).await;
    let seq = echo(&mut older, "one").await;
    older.handle.acknowledge(seq).unwrap();
    echo(&mut older, "two").await;
    let listening = tokio::spawn(async move { older.events.next().await });
    let mut newer = rig.connect(1).await;
    assert_eq!(newer.welcome.next_seq, 3);
    assert_eq!(line(&mut newer).await, (2, "two".to_owned()));
    assert_eq!(echo(&mut newer, "three").await, 3);
    assert_eq!(
        listening.await.unwrap(),
        Some(Event::Lost(LostReason::Replaced))
    );
}

#[tokio::test]
async fn an_agent_that_ends_is_heard_to_the_end() {
    let rig = Rig::shell("read line; echo one; echo two; printf half; exit 3").await;
    let mut connection = lent(&rig, 0).await;
    write(&mut connection, "end").await;
    let (lines, exited) = rest(&mut connection).await;
    let expected = ["one", "two", "half"].map(str::to_owned);
    assert_eq!(lines, (1..).zip(expected).collect::<Vec<_>>());
    assert_eq!((exited.code, exited.last_seq), (Some(3), 3));
}

#[tokio::test]
async fn an_agent_whose_output_a_stranger_holds_is_heard_to_the_end() {
    let rig = Rig::shell("read line; setsid sleep 600 & echo one; printf half").await;
    let mut connection = lent(&rig, 0).await;
    write(&mut connection, "end").await;
    let (lines, exited) = rest(&mut connection).await;
    let expected = ["one", "half"].map(str::to_owned);
    assert_eq!(lines, (1..).zip(expected).collect::<Vec<_>>());
    assert_eq!((exited.code, exited.last_seq), (Some(0), 2));
}

#[tokio::test]
async fn an_agent_is_stopped_in_order() {
    for by_client in [true, false] {
        let rig = Rig::shell("cat; echo last words").await;
        let mut connection = lent(&rig, 0).await;
        echo(&mut connection, "hello").await;
        match by_client {
            true => connection.handle.stop().unwrap(),
            false => kill(rig.runner(), Signal::TERM),
        }
        let (lines, exited) = rest(&mut connection).await;
        assert_eq!(lines, [(2, "last words".to_owned())]);
        let reason = match by_client {
            true => EndReason::Stopped,
            false => EndReason::RunnerTerminated,
        };
        assert_eq!((exited.code, exited.reason), (Some(0), reason));
    }
}

#[tokio::test]
async fn a_client_that_does_not_listen_does_not_keep_the_agent_from_its_end() {
    let rig = Rig::shell("echo one; cat; echo two").await;
    let mut connection = rig.connect(0).await;
    line(&mut connection).await;
    connection.handle.borrow().unwrap();
    let nothing = timeout(Duration::from_millis(300), connection.events.next()).await;
    assert!(nothing.is_err() && is_lent(&rig));
    kill(rig.runner(), Signal::TERM);
    common::until("the end is on record", || {
        read_journal(&rig.folder(), 0).is_ok_and(|journal| journal.exited().is_some())
    })
    .await;
    // It was cut off, and finds out when it listens.
    while !matches!(next(&mut connection).await, Event::Lost(_)) {}
}

#[tokio::test]
async fn an_agent_that_does_not_read_is_told_of() {
    let limits = Limits {
        input_wait: Duration::from_millis(50),
        ..impatient()
    };
    let spec = LaunchSpec {
        limits,
        ..spec("cat", &[])
    };
    let rig = Rig::start(&spec).await;
    let mut connection = lent(&rig, 0).await;
    kill_group(rig.agent(), Signal::STOP);
    let ids: Vec<Uuid> = (0..100).map(|_| Uuid::new_v4()).collect();
    for id in &ids {
        let text = id.to_string().repeat(50);
        connection.handle.write(*id, text.as_bytes()).unwrap();
    }
    let mut written = Vec::new();
    loop {
        match next(&mut connection).await {
            Event::Written(id) => written.push(id),
            Event::InputWaits => break,
            other => panic!("{other:?}"),
        }
    }
    kill_group(rig.agent(), Signal::CONT);
    let mut echoed = Vec::new();
    while echoed.len() < ids.len() {
        match next(&mut connection).await {
            Event::Written(id) => written.push(id),
            Event::Line { bytes, .. } => {
                let text = String::from_utf8(bytes).unwrap();
                let id = text[..36].parse().unwrap();
                assert!(written.contains(&id));
                echoed.push(id);
            }
            Event::InputTaken | Event::InputWaits => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((&written, &echoed), (&ids, &ids));
    assert!(is_lent_again(&rig, &mut connection).await);
}

#[tokio::test]
async fn a_line_beyond_the_limit_ends_the_agent() {
    let limits = Limits {
        line_bytes: 1000,
        ..impatient()
    };
    let script = "read line; echo short; printf '%2000d\\n' 1; exec sleep 600";
    let rig = Rig::shell_with(script, limits).await;
    let mut connection = lent(&rig, 0).await;
    write(&mut connection, "go").await;
    let (lines, exited) = rest(&mut connection).await;
    assert_eq!(lines, [(1, "short".to_owned())]);
    assert_eq!(exited.reason, EndReason::LineTooLong { limit: 1000 });
}
