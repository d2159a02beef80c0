//! Frames from whoever can open the socket. How the inputs are made and how a failure is repeated is told in
//! `CONTRIBUTING.md`.

use sayso_fuzzing::Target;

use super::*;

const LIMIT: usize = 2000;

fn corpus() -> Target {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/frames");
    Target::new(folder).dictionary([
        &b"{\"version\":1,\"after_seq\":0}"[..],
        b"\"agent_pid\":1,\"next_seq\":1,\"first_available_seq\":1,\"line_bytes\":1}",
        b"\"code\":0,\"signal\":null,\"reason\":{\"type\":\"itself\"},\"stderr_tail\":\"\",\"last_seq\":1}",
        b"\xff\xff\xff\xff",
        b"\x01\0\0\0",
    ])
}

/// The input is the content of a frame: its checksum is right, as that of somebody who means harm would be.
#[test]
fn contents() {
    corpus().longest(300).run(|input| {
        let Some((kind, body)) = input.split_first() else {
            return String::new();
        };
        let frame = Frame { kind: *kind, body };
        let to_runner = ToRunner::read(frame);
        if let Ok(message) = &to_runner {
            let mut bytes = Vec::new();
            message.append(&mut bytes);
            let (again, _) = frame::parse(&bytes, LIMIT).unwrap().unwrap();
            assert_eq!(ToRunner::read(again).as_ref(), Ok(message));
        }
        let from_runner = FromRunner::read(frame);
        if let Ok(message) = &from_runner {
            let mut bytes = Vec::new();
            message.append(&mut bytes);
            let (again, _) = frame::parse(&bytes, 2 * LIMIT).unwrap().unwrap();
            assert_eq!(FromRunner::read(again).as_ref(), Ok(message));
        }
        format!("{kind} {} {}", to_runner.is_ok(), from_runner.is_ok())
    });
}

/// The input is a stream: it is read the same in whatever pieces it comes, and takes no more room than allowed.
#[test]
fn streams() {
    let mut stream = Vec::new();
    ToRunner::Ack(7).append(&mut stream);
    ToRunner::Write {
        id: Uuid::nil(),
        line: b"{}",
    }
    .append(&mut stream);
    FromRunner::Replaced.append(&mut stream);
    corpus().seeds([stream]).longest(LIMIT + 500).run(|input| {
        let whole = read(input, usize::MAX);
        let size = usize::from(input.first().copied().unwrap_or(1)).max(1);
        assert_eq!(read(input, size), whole);
        whole
            .1
            .map(|error| format!("{error:?}").chars().take(8).collect::<String>())
    });
}

fn read(input: &[u8], size: usize) -> (Vec<(u8, Vec<u8>)>, Option<FrameError>) {
    let mut inbox = Inbox::new(LIMIT);
    let mut frames = Vec::new();
    for piece in input.chunks(size) {
        inbox.space().extend_from_slice(piece);
        loop {
            match inbox.next_frame() {
                Ok(Some(frame)) => frames.push((frame.kind, frame.body.to_vec())),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
        assert!(inbox.space().capacity() < 1024 * 1024);
    }
    (frames, None)
}
