//! Pipes that are lent, whoever is killed or stopped meanwhile.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{HELPER, Rig, kill, next, spec, until, until_gone, write};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use sayso_runner::{Connection, Event, LostReason, clean_up, read_journal};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// Numbers that are as good as any, and the same at each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// One that has begun to talk, or has been at it for some time.
async fn talking(rig: &Rig, dice: &mut Dice) -> Child {
    let stored = || {
        let lines = std::fs::metadata(rig.data().join("store.written"));
        lines.map_or(0, |metadata| metadata.len())
    };
    let before = stored();
    let talker = talker(rig, u64::MAX);
    until("it talks", || stored() > before).await;
    sleep(Duration::from_micros(dice.below(15_000))).await;
    talker
}

fn talker(rig: &Rig, lines: u64) -> Child {
    Command::new(HELPER)
        .arg("talk")
        .args([rig.folder(), rig.data().join("store")])
        .arg(lines.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

async fn parrot() -> (Rig, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let log = place.path().join("heard");
    let rig = Rig::start(&spec(HELPER, &["parrot", log.to_str().unwrap()])).await;
    (rig, place)
}

/// As long as the events are waited for, the runner lends within moments.
async fn until_lent(connection: &mut Connection) {
    let nothing = timeout(Duration::from_millis(300), connection.events.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
}

/// Without holding up the other tests of the same thread.
async fn until_gone_child(mut child: Child) {
    while child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(2)).await;
    }
}

fn until_ended(mut talker: Child) {
    let status = talker.wait().unwrap();
    assert!(status.success(), "{status}");
}

/// Nothing is missing, double or out of order, in either direction.
fn check(rig: &Rig, place: &Path, lines: u64) {
    let heard = std::fs::read_to_string(place.join("heard")).unwrap();
    let numbers = heard.lines().map(|line| line.split(' ').next().unwrap());
    let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers, (1..=lines).collect::<Vec<_>>());

    let stored = std::fs::read_to_string(rig.data().join("store.lines")).unwrap();
    let (mut counted, mut echoed) = (0, 0);
    for (number, line) in (1..).zip(stored.lines()) {
        let mut words = line.split_ascii_whitespace();
        assert_eq!(words.next().unwrap().parse::<u64>().unwrap(), number);
        let next = match words.next().unwrap() {
            "c" => &mut counted,
            "e" => &mut echoed,
            other => panic!("{other}"),
        };
        *next += 1;
        // The last one may be cut off by the end of the agent.
        if let Some(word) = words.next() {
            assert_eq!(word.parse(), Ok(*next), "{line}");
        }
    }
    assert_eq!(echoed, lines);
    assert!(counted > 0);
}

/// How many times the client is killed.
const KILLS: u64 = 400;

#[tokio::test]
async fn a_client_that_is_killed_at_any_moment_loses_and_doubles_nothing() {
    let (rig, place) = parrot().await;
    let mut dice = Dice(0x5eed);
    for _ in 0..KILLS {
        let mut talker = talking(&rig, &mut dice).await;
        talker.kill().unwrap();
        talker.wait().unwrap();
        // Some do not come so far.
        if dice.below(4) == 0 {
            let mut early = self::talker(&rig, u64::MAX);
            sleep(Duration::from_micros(dice.below(10_000))).await;
            early.kill().unwrap();
            early.wait().unwrap();
        }
    }
    let written = std::fs::read_to_string(rig.data().join("store.written")).unwrap();
    let enough = written.lines().count() as u64 + 500;
    until_ended(talker(&rig, enough));
    check(&rig, place.path(), enough);
}

/// One that is stopped lives, and goes on later where it was: the runner has taken the pipes from it by then.
async fn stop_and_replace(seed: u64) {
    let (rig, place) = parrot().await;
    let mut dice = Dice(seed);
    for _ in 0..3 {
        let older = talking(&rig, &mut dice).await;
        kill(older.id(), Signal::STOP);
        let mut newer = Connection::connect(&rig.folder(), 0).await;
        while newer.is_err() {
            newer = Connection::connect(&rig.folder(), 0).await;
        }
        kill(older.id(), Signal::CONT);
        until_gone_child(older).await;
        drop(newer);
    }
    let written = std::fs::read_to_string(rig.data().join("store.written")).unwrap();
    let enough = written.lines().count() as u64 + 500;
    until_ended(talker(&rig, enough));
    check(&rig, place.path(), enough);
}

#[tokio::test]
async fn a_client_that_was_stopped_can_do_no_harm_after_it_was_replaced() {
    let mut all = tokio::task::JoinSet::new();
    for seed in 1..=4 {
        all.spawn(stop_and_replace(seed * 7919));
    }
    while let Some(one) = all.join_next().await {
        one.unwrap();
    }
}

/// How many times the runner is killed.
const RUNNERS: u64 = 60;

#[tokio::test]
async fn a_runner_that_is_killed_takes_no_line_with_it_that_was_heard() {
    let mut dice = Dice(0xdead);
    for _ in 0..RUNNERS {
        let (rig, _place) = parrot().await;
        let mut connection = rig.connect(0).await;
        connection.handle.borrow().unwrap();
        let killed_at = 20 + dice.below(400);
        let mut seq = 0;
        let mut acknowledged = 0;
        let reason = loop {
            match next(&mut connection).await {
                Event::Line { seq: number, .. } => {
                    seq += 1;
                    assert_eq!(number, seq);
                    if seq == killed_at {
                        kill(rig.runner(), Signal::KILL);
                    }
                    if dice.below(20) == 0 && connection.handle.acknowledge(seq).is_ok() {
                        acknowledged = seq;
                    }
                    if dice.below(5) == 0 {
                        let _ = connection.handle.write(Uuid::new_v4(), b"hello");
                    }
                }
                Event::Lost(reason) => break reason,
                Event::Written(_) => {}
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(reason, LostReason::Closed);
        until_gone(rig.runner()).await;
        clean_up(&rig.folder()).unwrap();
        for line in read_journal(&rig.folder(), seq).unwrap() {
            seq += 1;
            assert_eq!(line.unwrap().seq, seq);
        }
        assert!(seq >= killed_at && acknowledged <= seq);
    }
}

/// The pipe has what the agent said last, and the runner is not there to read it.
#[tokio::test]
async fn what_an_agent_said_last_is_heard_after_its_runner_was_killed() {
    let rig = Rig::shell("echo ready; read line; echo one; echo two; exec sleep 600").await;
    let mut connection = rig.connect(0).await;
    connection.handle.borrow().unwrap();
    assert!(matches!(next(&mut connection).await, Event::Line { .. }));
    until_lent(&mut connection).await;
    kill(rig.runner(), Signal::STOP);
    let id = write(&mut connection, "go on").await;
    sleep(Duration::from_millis(300)).await;
    kill(rig.runner(), Signal::KILL);
    until_gone(rig.runner()).await;
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(next(&mut connection).await);
    }
    let line = |seq, text: &str| Event::Line {
        seq,
        fragment: false,
        bytes: text.as_bytes().to_vec(),
    };
    let lost = Event::Lost(LostReason::Closed);
    assert_eq!(
        told,
        [Event::Written(id), line(2, "one"), line(3, "two"), lost]
    );
}
