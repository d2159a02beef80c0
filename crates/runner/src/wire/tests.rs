use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::ending::{EndReason, Exited};

const LIMIT: usize = 1 << 20;

fn exited() -> Exited {
    Exited {
        code: Some(3),
        signal: None,
        reason: EndReason::LineTooLong { limit: 7 },
        stderr_tail: "oh\n".to_owned(),
        last_seq: 12,
    }
}

#[test]
fn every_message_is_read_as_it_was_said() {
    let id = Uuid::from_u128(u128::MAX - 7);
    let hello = ClientHello {
        version: 1,
        after_seq: u64::MAX,
    };
    let to_runner = [
        ToRunner::Hello(hello),
        ToRunner::Ack(42),
        ToRunner::Write {
            id,
            line: b"{\"a\":1}\xff",
        },
        ToRunner::Write { id, line: b"" },
        ToRunner::CloseInput,
        ToRunner::Signal(AgentSignal::Terminate),
        ToRunner::Signal(AgentSignal::Kill),
        ToRunner::Stop,
        ToRunner::Forget,
        ToRunner::Borrow,
        ToRunner::Return(Returned {
            received: 3,
            again: Again::Yes,
        }),
        ToRunner::Return(Returned {
            received: u64::MAX,
            again: Again::No,
        }),
    ];
    let welcome = Welcome {
        version: 1,
        agent_pid: 77,
        next_seq: 9,
        first_available_seq: 4,
        line_bytes: 5,
        lends: true,
    };
    let line = |fragment| LineFrame {
        seq: 5,
        fragment,
        bytes: b"line\x00\xff",
    };
    let from_runner = [
        FromRunner::Hello(welcome),
        FromRunner::Line(line(false)),
        FromRunner::Line(line(true)),
        FromRunner::Written(id),
        FromRunner::WriteFailed(id, WriteFailure::Overloaded),
        FromRunner::WriteFailed(id, WriteFailure::InputClosed),
        FromRunner::WriteFailed(id, WriteFailure::AgentEnded),
        FromRunner::Exited(Box::new(exited())),
        FromRunner::Replaced,
        FromRunner::InputStalled,
        FromRunner::InputWaits,
        FromRunner::InputTaken,
        FromRunner::Remembered(&[7; 32]),
        FromRunner::Lent(Lent {
            next_seq: 4,
            writes: 2,
            room: 1,
        }),
        FromRunner::Recall,
    ];

    let mut inbox = Inbox::new(LIMIT);
    for message in &to_runner {
        message.append(inbox.space());
    }
    for message in &to_runner {
        let frame = inbox.next_frame().unwrap().unwrap();
        assert_eq!(&ToRunner::read(frame).unwrap(), message);
    }
    for message in &from_runner {
        message.append(inbox.space());
    }
    for message in &from_runner {
        let frame = inbox.next_frame().unwrap().unwrap();
        assert_eq!(&FromRunner::read(frame).unwrap(), message);
    }
    assert_eq!(inbox.next_frame(), Ok(None));
}

/// Takes as much of the bytes as there is room for, as a socket gives it, and all frames that are whole then.
fn read_once(inbox: &mut Inbox, rest: &mut &[u8]) -> usize {
    let space = inbox.space();
    let room = space.capacity() - space.len();
    let (now, later) = rest.split_at(room.min(rest.len()));
    space.extend_from_slice(now);
    *rest = later;
    while inbox.next_frame().unwrap().is_some() {}
    room
}

#[test]
fn more_is_read_at_once_while_more_comes_and_the_room_is_given_back() {
    let mut stream = Vec::new();
    for seq in 1..200 {
        LineFrame {
            seq,
            fragment: false,
            bytes: &[b'x'; 3000],
        }
        .append(&mut stream);
    }
    let mut inbox = Inbox::new(LIMIT);
    let mut rest = stream.as_slice();
    let first = read_once(&mut inbox, &mut rest);
    let mut most = first;
    while !rest.is_empty() {
        most = most.max(read_once(&mut inbox, &mut rest));
    }
    let after = read_once(&mut inbox, &mut rest);
    assert!(most >= 8 * first, "{most} after {first}");
    assert_eq!(after, first);
}

proptest! {
    #[test]
    fn however_the_bytes_arrive_the_frames_are_the_same(
        lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
        cuts in prop::collection::vec(1usize..700, 1..40),
    ) {
        let mut stream = Vec::new();
        for (seq, bytes) in (1..).zip(&lines) {
            LineFrame { seq, fragment: false, bytes }.append(&mut stream);
        }
        let mut inbox = Inbox::new(LIMIT);
        let mut read = Vec::new();
        let mut rest = stream.as_slice();
        for cut in cuts.iter().cycle() {
            let (part, later) = rest.split_at((*cut).min(rest.len()));
            inbox.space().extend_from_slice(part);
            while let Some(frame) = inbox.next_frame().unwrap() {
                let line = LineFrame::read(frame).unwrap();
                prop_assert_eq!(line.seq, read.len() as u64 + 1);
                read.push(line.bytes.to_vec());
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(read, lines);
    }

    #[test]
    fn no_bytes_make_the_reading_fail_otherwise_than_named(kind: u8, body: Vec<u8>) {
        let frame = Frame { kind, body: &body };
        let _ = ToRunner::read(frame);
        let _ = FromRunner::read(frame);
        let mut inbox = Inbox::new(64);
        inbox.space().extend_from_slice(&body);
        while let Ok(Some(_)) = inbox.next_frame() {}
    }
}

#[test]
fn a_runner_of_an_earlier_build_lends_nothing() {
    let text = r#"{"version":1,"agent_pid":1,"next_seq":1,"first_available_seq":1,"line_bytes":1}"#;
    let welcome: Welcome = serde_json::from_str(text).unwrap();
    assert!(!welcome.lends);
}
