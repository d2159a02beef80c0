//! Lines in both directions, over one connection and over many.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::{HELPER, Rig, impatient, line, next, rest, spec, until, write};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use sayso_runner::{
    AgentSignal, ConnectError, Connection, EndReason, Event, Exited, LaunchSpec, Limits,
    LostReason, SendError, WriteFailure,
};
use uuid::Uuid;

fn numbered(lines: &[&str]) -> Vec<(u64, String)> {
    (1..)
        .zip(lines.iter().map(|line| (*line).to_owned()))
        .collect()
}

#[tokio::test]
async fn an_agent_is_heard_and_spoken_to() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    assert_eq!(connection.welcome.agent_pid, rig.agent());
    for seq in 1..=3 {
        let text = format!("{{\"number\":{seq}}}");
        let id = write(&mut connection, &text).await;
        let (mut written, mut echo) = (None, None);
        while written.is_none() || echo.is_none() {
            match next(&mut connection).await {
                Event::Written(id) => written = Some(id),
                Event::Line { seq, bytes, .. } => echo = Some((seq, bytes)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((written, echo), (Some(id), Some((seq, text.into_bytes()))));
    }
    connection.handle.close_input().unwrap();
    let (lines, exited) = rest(&mut connection).await;
    assert_eq!(lines, []);
    let expected = Exited {
        code: Some(0),
        signal: None,
        reason: EndReason::Itself,
        stderr_tail: String::new(),
        last_seq: 3,
    };
    assert_eq!(exited, expected);
}

/// What the agent does with a line must not be heard before it is known that it has it.
#[tokio::test]
async fn that_a_line_was_written_is_told_before_what_the_agent_says_to_it() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    for number in 0..300 {
        // Some wait for the answer, others do not.
        let ids: Vec<Uuid> = (0..=number % 3).map(|_| Uuid::new_v4()).collect();
        for id in &ids {
            let text = id.to_string();
            connection.handle.write(*id, text.as_bytes()).unwrap();
        }
        let mut written = Vec::new();
        let mut echoed = Vec::new();
        while echoed.len() < ids.len() {
            match next(&mut connection).await {
                Event::Written(id) => written.push(id),
                Event::Line { bytes, .. } => {
                    let id = String::from_utf8(bytes).unwrap().parse().unwrap();
                    assert!(written.contains(&id), "{id} was not written yet");
                    echoed.push(id);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((&written, &echoed), (&ids, &ids));
    }
}

/// The agent says nothing to most of what it is told.
#[tokio::test]
async fn that_a_line_was_written_is_told_when_the_agent_is_silent() {
    let rig = Rig::shell("while read line; do :; done").await;
    let mut connection = rig.connect(0).await;
    for _ in 0..3 {
        let id = write(&mut connection, "nothing to say to this").await;
        assert_eq!(next(&mut connection).await, Event::Written(id));
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_pass_unchanged_and_blank_lines_count() {
    let rig =
        Rig::shell(r"printf '\377\000x\r\n\n\nlast\n'; printf 'half'; echo oh >&2; exit 3").await;
    let mut connection = rig.connect(0).await;
    let mut lines = Vec::new();
    let exited = loop {
        match next(&mut connection).await {
            Event::Line {
                seq,
                fragment,
                bytes,
            } => lines.push((seq, fragment, bytes)),
            Event::Exited(exited) => break *exited,
            other => panic!("{other:?}"),
        }
    };
    let expected = [
        (1, false, b"\xff\x00x\r".to_vec()),
        (2, false, vec![]),
        (3, false, vec![]),
        (4, false, b"last".to_vec()),
        (5, true, b"half".to_vec()),
    ];
    assert_eq!(lines, expected);
    assert_eq!(
        (exited.code, exited.stderr_tail.as_str(), exited.last_seq),
        (Some(3), "oh\n", 5)
    );
}

#[tokio::test]
async fn whoever_comes_later_gets_all_that_was_not_acknowledged() {
    let limits = Limits {
        segment_bytes: 1,
        ..impatient()
    };
    let rig = Rig::shell_with(
        "for i in 1 2 3 4 5; do echo $i; sleep 0.02; done; cat",
        limits,
    )
    .await;
    let mut first = rig.connect(0).await;
    for seq in 1..=5 {
        assert_eq!(line(&mut first).await, (seq, seq.to_string()));
    }
    first.handle.acknowledge(3).unwrap();
    drop(first);

    let mut second = rig.connect(3).await;
    assert_eq!(second.welcome.first_available_seq, 4);
    assert_eq!(line(&mut second).await, (4, "4".to_owned()));
    assert_eq!(line(&mut second).await, (5, "5".to_owned()));
    write(&mut second, "six").await;
    second.handle.close_input().unwrap();
    let (lines, exited) = rest(&mut second).await;
    assert_eq!((lines, exited.last_seq), (vec![(6, "six".to_owned())], 6));
}

#[tokio::test]
async fn the_end_is_told_to_everybody_until_it_is_forgotten() {
    let rig = Rig::shell("echo one").await;
    for _ in 0..3 {
        let mut connection = rig.connect(0).await;
        let (lines, exited) = rest(&mut connection).await;
        assert_eq!((lines, exited.code), (numbered(&["one"]), Some(0)));
    }
    let mut connection = rig.connect(1).await;
    assert!(matches!(next(&mut connection).await, Event::Exited(_)));
    connection.handle.forget().unwrap();
    assert_eq!(next(&mut connection).await, Event::Lost(LostReason::Closed));
    common::until_gone(rig.runner()).await;
    assert!(!rig.folder().exists());
}

#[tokio::test]
async fn an_agent_that_lives_is_not_forgotten() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    connection.handle.forget().unwrap();
    write(&mut connection, "still here").await;
    assert!(matches!(next(&mut connection).await, Event::Written(_)));
    assert_eq!(line(&mut connection).await, (1, "still here".to_owned()));
}

#[tokio::test]
async fn a_line_is_written_once_however_often_it_is_sent() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let ids: Vec<Uuid> = (0..50).map(|_| Uuid::new_v4()).collect();
    for round in 0..4 {
        let mut connection = rig.connect(0).await;
        for (number, id) in ids.iter().enumerate() {
            // Each round takes more of them, and the others twice.
            if number <= round * 15 {
                connection
                    .handle
                    .write(*id, number.to_string().as_bytes())
                    .unwrap();
                connection
                    .handle
                    .write(*id, b"not what was sent first")
                    .unwrap();
            }
        }
        if round % 2 == 0 {
            let mut written = std::collections::HashSet::new();
            while written.len() < (round * 15 + 1).min(50) {
                if let Event::Written(id) = next(&mut connection).await {
                    written.insert(id);
                }
            }
        }
        // The odd ones leave without listening.
    }
    let mut connection = rig.connect(0).await;
    for id in &ids {
        connection.handle.write(*id, b"again").unwrap();
    }
    connection.handle.close_input().unwrap();
    let (lines, _) = rest(&mut connection).await;
    let mut counted: Vec<String> = lines.into_iter().map(|(_, text)| text).collect();
    let again = counted.split_off(46);
    assert_eq!(
        counted,
        (0..46).map(|number| number.to_string()).collect::<Vec<_>>()
    );
    assert_eq!(again, vec!["again"; 4]);
}

#[tokio::test]
async fn the_newest_client_wins() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut older = rig.connect(0).await;
    let mut newer = rig.connect(0).await;
    assert_eq!(next(&mut older).await, Event::Lost(LostReason::Replaced));
    assert_eq!(older.events.next().await, None);
    let refused = older.handle.write(Uuid::new_v4(), b"x");
    assert_eq!(refused, Err(SendError::Closed));
    write(&mut newer, "mine").await;
    assert!(matches!(next(&mut newer).await, Event::Written(_)));
    assert_eq!(line(&mut newer).await, (1, "mine".to_owned()));
}

#[tokio::test]
async fn a_client_that_has_more_than_the_runner_is_refused() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let refused = Connection::connect(&rig.folder(), 1).await;
    assert!(
        matches!(
            refused,
            Err(ConnectError::Ahead {
                after_seq: 1,
                next_seq: 1
            })
        ),
        "{refused:?}"
    );
}

#[tokio::test]
async fn what_cannot_be_one_line_is_not_sent() {
    let spec = LaunchSpec {
        limits: Limits {
            line_bytes: 10,
            ..impatient()
        },
        ..spec("cat", &[])
    };
    let rig = Rig::start(&spec).await;
    let connection = rig.connect(0).await;
    let write = |line: &[u8]| connection.handle.write(Uuid::new_v4(), line);
    assert_eq!(write(b"two\nlines"), Err(SendError::NotOneLine));
    assert_eq!(write(b"12345678901"), Err(SendError::TooLong { limit: 10 }));
    assert_eq!(write(b"1234567890"), Ok(()));
}

#[tokio::test]
async fn long_lines_pass_in_both_directions() {
    let rig = Rig::start(&spec("cat", &[])).await;
    let mut connection = rig.connect(0).await;
    let text = "long ".repeat(1 << 20);
    write(&mut connection, &text).await;
    connection.handle.close_input().unwrap();
    let (lines, _) = rest(&mut connection).await;
    assert!(lines == [(1, text)]);
}

#[tokio::test]
async fn an_agent_that_does_not_read_for_a_moment_is_told_of_until_it_does() {
    let limits = Limits {
        input_wait: Duration::from_millis(50),
        ..impatient()
    };
    let spec = LaunchSpec {
        limits,
        ..spec("cat", &[])
    };
    let rig = Rig::start(&spec).await;
    let mut connection = rig.connect(0).await;
    common::kill_group(rig.agent(), Signal::STOP);
    // More than any pipe takes.
    let id = write(&mut connection, &"x".repeat(2 << 20)).await;
    assert_eq!(next(&mut connection).await, Event::InputWaits);
    // Whoever comes next has to know, too.
    let mut connection = rig.connect(0).await;
    assert_eq!(next(&mut connection).await, Event::InputWaits);
    common::kill_group(rig.agent(), Signal::CONT);
    let mut told = Vec::new();
    loop {
        match next(&mut connection).await {
            Event::Written(written) => break assert_eq!(written, id),
            event => told.push(event),
        }
    }
    // A busy machine may hold the agent up again.
    assert_eq!(told.first(), Some(&Event::InputTaken), "{told:?}");
    let waits = told.iter().filter(|event| **event == Event::InputWaits);
    let taken = told.iter().filter(|event| **event == Event::InputTaken);
    assert_eq!(waits.count() + 1, taken.count(), "{told:?}");
}

#[tokio::test]
async fn an_agent_that_does_not_read_is_a_named_failure_and_not_a_hang() {
    let spec = LaunchSpec {
        limits: Limits {
            input_stall: Duration::from_millis(50),
            ..impatient()
        },
        ..spec("cat", &[])
    };
    let rig = Rig::start(&spec).await;
    let mut connection = rig.connect(0).await;
    common::kill_group(rig.agent(), Signal::STOP);
    // More than any pipe takes.
    let text = "x".repeat(2 << 20);
    write(&mut connection, &text).await;
    assert_eq!(next(&mut connection).await, Event::InputStalled);
    for _ in 0..255 {
        write(&mut connection, "y").await;
    }
    let id = write(&mut connection, "one too many").await;
    assert_eq!(
        next(&mut connection).await,
        Event::WriteFailed(id, WriteFailure::Overloaded)
    );
    common::kill_group(rig.agent(), Signal::CONT);
    let mut written = 0;
    while written < 256 {
        written += usize::from(matches!(next(&mut connection).await, Event::Written(_)));
    }
    // What was refused was not taken, so it may come again.
    connection.handle.write(id, b"again").unwrap();
    while next(&mut connection).await != Event::Written(id) {}

    common::kill_group(rig.agent(), Signal::STOP);
    write(&mut connection, &text).await;
    while next(&mut connection).await != Event::InputStalled {}
    connection.handle.signal(AgentSignal::Kill).unwrap();
    let mut failed = 0;
    let exited = loop {
        match next(&mut connection).await {
            // Which one depends on what is noticed first.
            Event::WriteFailed(_, WriteFailure::AgentEnded | WriteFailure::InputClosed) => {
                failed += 1;
            }
            Event::Line { .. } => {}
            Event::Exited(exited) => break exited,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((failed, exited.signal), (1, Some(9)));
    let id = write(&mut connection, "too late").await;
    assert_eq!(
        next(&mut connection).await,
        Event::WriteFailed(id, WriteFailure::AgentEnded)
    );
}

#[tokio::test]
async fn an_agent_that_closes_its_input_is_a_named_failure() {
    let rig = Rig::shell("exec <&-; echo closed; sleep 60").await;
    let mut connection = rig.connect(0).await;
    line(&mut connection).await;
    let id = write(&mut connection, "hello").await;
    assert_eq!(
        next(&mut connection).await,
        Event::WriteFailed(id, WriteFailure::InputClosed)
    );
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| {
            entry
                .unwrap()
                .metadata()
                .map_or(0, |metadata| metadata.len())
        })
        .sum()
}

fn resident_kilobytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn an_agent_that_floods_waits_and_loses_nothing() {
    const LINES: u64 = 300_000;
    let limits = Limits {
        journal_bytes: 1 << 20,
        segment_bytes: 1 << 17,
        ..impatient()
    };
    let spec = LaunchSpec {
        limits,
        ..spec(HELPER, &["count", &LINES.to_string(), "40"])
    };
    let rig = Rig::start(&spec).await;
    until("the journal full", || bytes_in(&rig.folder()) >= 1 << 20).await;
    // Nothing more comes, however long it is left.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(bytes_in(&rig.folder()) < (1 << 20) + 200_000);
    assert!(common::process(rig.agent()).is_some());

    let mut connection = rig.connect(0).await;
    let (lines, exited) = rest(&mut connection).await;
    assert_eq!(exited.last_seq, LINES);
    let expected = (1..=LINES).map(|number| (number, format!("{number:40}")));
    assert!(lines.into_iter().eq(expected));
    assert!(bytes_in(&rig.folder()) < (1 << 20) + 200_000);
    // 12 MB went through it. This is a build without optimisation, so only the order counts.
    let resident = resident_kilobytes(rig.runner());
    assert!(resident < 12_000, "{resident} kB");
}

#[tokio::test]
async fn a_client_that_is_killed_at_any_moment_loses_and_doubles_nothing() {
    const LINES: u64 = 150_000;
    let limits = Limits {
        journal_bytes: 1 << 16,
        segment_bytes: 1 << 13,
        ..impatient()
    };
    let spec = LaunchSpec {
        limits,
        ..spec(HELPER, &["count", &LINES.to_string(), "8"])
    };
    let rig = Rig::start(&spec).await;
    let store = rig.data().join("store");
    let client = || {
        let mut command = tokio::process::Command::new(HELPER);
        command
            .arg("client")
            .arg(rig.folder())
            .arg(&store)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command.spawn().unwrap()
    };
    let mut killed = 0;
    let mut random = 88_172_645_463_325_252_u64;
    for _ in 0..200 {
        let mut client = client();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        tokio::time::sleep(Duration::from_micros(random % 15_000)).await;
        client.start_kill().unwrap();
        if client.wait().await.unwrap().code().is_none() {
            killed += 1;
        }
    }
    assert!(client().wait().await.unwrap().success());
    let stored = std::fs::read_to_string(&store).unwrap();
    let mut stored = stored.lines();
    for number in 1..=LINES {
        assert_eq!(stored.next(), Some(format!("{number} {number:8}").as_str()));
    }
    assert_eq!(stored.next(), None);
    assert!(killed > 20, "only {killed} clients were killed");
}
