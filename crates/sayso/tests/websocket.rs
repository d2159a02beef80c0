//! The rules of RFC 6455, byte by byte: what breaks them ends the connection
//! with the right code, and what only looks odd does not.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure in a helper fails the test"
)]

mod support;

use pretty_assertions::assert_eq;
use support::TestServer;
use support::raw::{BINARY, CLOSE, CONTINUATION, FINAL, PING, PONG, Raw, TEXT, frame, head};

/// A message that is answered with an `ack`.
const HELLO: &[u8] = br#"{"type":"ping","id":"hello"}"#;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// The message came through: it has its `ack`, after these pongs.
    Ack(Vec<Vec<u8>>),
    /// A named error; the connection goes on.
    Error(&'static str),
    /// A close frame with this code, then the end.
    Close(u16),
    /// A close frame without a code, then the end.
    BareClose,
}

fn ack() -> Answer {
    Answer::Ack(Vec::new())
}

async fn answer(server: &TestServer, bytes: &[u8]) -> Answer {
    let mut socket = Raw::upgraded(server.address).await;
    // When the connection ends in the middle, the close frame says why.
    let _ = socket.send(bytes).await;
    let mut pongs = Vec::new();
    loop {
        let Some(frame) = socket.frame().await else {
            panic!("the connection ended without a word");
        };
        assert!(!frame.masked, "a server never masks");
        match frame.first {
            first if first == FINAL | TEXT => {
                let text: serde_json::Value = serde_json::from_slice(&frame.payload).unwrap();
                match text["type"].as_str() {
                    Some("ack") => return Answer::Ack(pongs),
                    Some("error") => {
                        let codes = ["invalid_message", "unknown_type"];
                        let code = codes.into_iter().find(|code| text["code"] == *code);
                        return Answer::Error(code.unwrap());
                    }
                    _ => {}
                }
            }
            first if first == FINAL | PONG => pongs.push(frame.payload),
            first if first == FINAL | CLOSE => {
                assert_eq!(socket.rest().await, b"", "nothing comes after the close");
                return frame.close_code().map_or(Answer::BareClose, Answer::Close);
            }
            other => panic!("a frame of type {other:#x}"),
        }
    }
}

async fn check(cases: Vec<(&'static str, Vec<u8>, Answer)>) {
    let server = TestServer::start().await;
    for (name, bytes, expected) in cases {
        assert_eq!(answer(&server, &bytes).await, expected, "{name}");
    }
    server.stop().await;
}

fn text(payload: &[u8]) -> Vec<u8> {
    frame(FINAL | TEXT, payload)
}

fn join(frames: &[Vec<u8>]) -> Vec<u8> {
    frames.concat()
}

fn close(code: u16, reason: &[u8]) -> Vec<u8> {
    let payload = [&code.to_be_bytes()[..], reason].concat();
    frame(FINAL | CLOSE, &payload)
}

fn unmasked(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[first, length][..], payload].concat()
}

#[tokio::test]
async fn frames_that_break_the_rules_end_the_connection() {
    let half = || frame(TEXT, b"{");
    let mut cases = vec![
        (
            "unmasked text",
            unmasked(FINAL | TEXT, HELLO),
            Answer::Close(1002),
        ),
        (
            "unmasked ping",
            unmasked(FINAL | PING, b""),
            Answer::Close(1002),
        ),
        (
            "unmasked close",
            unmasked(FINAL | CLOSE, &[3, 232]),
            Answer::Close(1002),
        ),
        (
            "first reserved bit",
            frame(FINAL | TEXT | 0x40, HELLO),
            Answer::Close(1002),
        ),
        (
            "second reserved bit",
            frame(FINAL | TEXT | 0x20, HELLO),
            Answer::Close(1002),
        ),
        (
            "third reserved bit",
            frame(FINAL | TEXT | 0x10, HELLO),
            Answer::Close(1002),
        ),
        (
            "reserved bit of a ping",
            frame(FINAL | PING | 0x40, b""),
            Answer::Close(1002),
        ),
        (
            "reserved bit of a close",
            frame(FINAL | CLOSE | 0x10, b""),
            Answer::Close(1002),
        ),
        ("fragmented ping", frame(PING, b"x"), Answer::Close(1002)),
        ("fragmented pong", frame(PONG, b"x"), Answer::Close(1002)),
        ("fragmented close", frame(CLOSE, b""), Answer::Close(1002)),
        (
            "ping of 126 bytes",
            frame(FINAL | PING, &[b'x'; 126]),
            Answer::Close(1002),
        ),
        (
            "close of 126 bytes",
            close(1000, &[b'x'; 124]),
            Answer::Close(1002),
        ),
        (
            "continuation of nothing",
            frame(FINAL | CONTINUATION, HELLO),
            Answer::Close(1002),
        ),
        (
            "open continuation of nothing",
            frame(CONTINUATION, HELLO),
            Answer::Close(1002),
        ),
        (
            "text in a text",
            join(&[half(), text(HELLO)]),
            Answer::Close(1002),
        ),
        (
            "binary in a text",
            join(&[half(), frame(BINARY, b"x")]),
            Answer::Close(1002),
        ),
        (
            "continuation after the end",
            join(&[
                half(),
                frame(FINAL | CONTINUATION, b"}"),
                frame(FINAL | CONTINUATION, b"}"),
            ]),
            Answer::Error("invalid_message"),
        ),
        (
            "close of one byte",
            frame(FINAL | CLOSE, &[3]),
            Answer::Close(1002),
        ),
    ];
    for opcode in [0x3, 0x4, 0x5, 0x6, 0x7, 0xb, 0xc, 0xd, 0xe, 0xf] {
        cases.push((
            "reserved type",
            frame(FINAL | opcode, b"x"),
            Answer::Close(1002),
        ));
    }
    check(cases).await;
}

#[tokio::test]
async fn text_must_be_utf8_and_is_refused_as_soon_as_it_is_not() {
    let rest = |bytes: &[u8]| frame(FINAL | CONTINUATION, bytes);
    let euro = r#"{"type":"ping","id":"€"}"#.as_bytes();
    let cases = vec![
        ("one bad byte", text(&[0xff]), Answer::Close(1007)),
        (
            "a surrogate",
            text(&[0xed, 0xa0, 0x80]),
            Answer::Close(1007),
        ),
        ("overlong", text(&[0xc0, 0xaf]), Answer::Close(1007)),
        (
            "beyond the last code point",
            text(&[0xf4, 0x90, 0x80, 0x80]),
            Answer::Close(1007),
        ),
        (
            "cut off at the end",
            text(&[b'{', 0xe2, 0x82]),
            Answer::Close(1007),
        ),
        (
            "bad in the first fragment, without a second",
            frame(TEXT, &[b'{', 0xff]),
            Answer::Close(1007),
        ),
        (
            "bad in the second fragment",
            join(&[frame(TEXT, b"{"), frame(CONTINUATION, &[0xff])]),
            Answer::Close(1007),
        ),
        (
            "bad across two fragments",
            join(&[frame(TEXT, &[0xe2, 0x82]), rest(b"x")]),
            Answer::Close(1007),
        ),
        (
            "cut off at the end of the last fragment",
            join(&[frame(TEXT, b"{"), rest(&[0xe2])]),
            Answer::Close(1007),
        ),
        (
            "one character across two fragments",
            join(&[frame(TEXT, &euro[..22]), rest(&euro[22..])]),
            ack(),
        ),
        (
            "bad bytes in a reason",
            close(1000, &[0xff]),
            Answer::Close(1007),
        ),
        (
            "bytes that are not text",
            frame(FINAL | BINARY, &[0xff]),
            Answer::Error("invalid_message"),
        ),
    ];
    check(cases).await;
}

#[tokio::test]
async fn a_close_is_answered_with_its_own_code_or_with_a_reprimand() {
    let mut cases = vec![
        (
            "without a code",
            frame(FINAL | CLOSE, b""),
            Answer::BareClose,
        ),
        (
            "with a reason",
            close(1000, b"good bye"),
            Answer::Close(1000),
        ),
        (
            "with the longest reason",
            close(1000, &[b'x'; 123]),
            Answer::Close(1000),
        ),
        (
            "what follows a close is not read",
            join(&[close(1000, b""), text(HELLO)]),
            Answer::Close(1000),
        ),
        (
            "in the middle of a message",
            join(&[frame(TEXT, b"{"), close(1001, b"")]),
            Answer::Close(1001),
        ),
    ];
    for code in [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999,
    ] {
        cases.push((
            "a code that may be sent",
            close(code, b""),
            Answer::Close(code),
        ));
    }
    for code in [
        0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535,
    ] {
        cases.push((
            "a code that may not be sent",
            close(code, b""),
            Answer::Close(1002),
        ));
    }
    check(cases).await;
}

#[tokio::test]
async fn what_only_looks_odd_is_understood() {
    let (start, end) = HELLO.split_at(9);
    let more = |payload: &[u8]| frame(CONTINUATION, payload);
    let last = |payload: &[u8]| frame(FINAL | CONTINUATION, payload);
    let ping = |payload: &[u8]| frame(FINAL | PING, payload);
    let bytes_alone: Vec<Vec<u8>> = HELLO.iter().map(|byte| more(&[*byte])).collect();
    let cases = vec![
        ("a whole message", text(HELLO), ack()),
        (
            "two fragments",
            join(&[frame(TEXT, start), last(end)]),
            ack(),
        ),
        (
            "fragments of one byte",
            join(&[frame(TEXT, b""), join(&bytes_alone), last(b"")]),
            ack(),
        ),
        (
            "empty fragments",
            join(&[
                frame(TEXT, b""),
                more(b""),
                more(HELLO),
                more(b""),
                last(b""),
            ]),
            ack(),
        ),
        ("an empty text", text(b""), Answer::Error("invalid_message")),
        (
            "an empty text in fragments",
            join(&[frame(TEXT, b""), last(b"")]),
            Answer::Error("invalid_message"),
        ),
        (
            "a ping before a message",
            join(&[ping(b"one"), text(HELLO)]),
            Answer::Ack(vec![b"one".to_vec()]),
        ),
        (
            "a ping between fragments",
            join(&[frame(TEXT, start), ping(b"mid"), last(end)]),
            Answer::Ack(vec![b"mid".to_vec()]),
        ),
        (
            "an empty ping",
            join(&[ping(b""), text(HELLO)]),
            Answer::Ack(vec![Vec::new()]),
        ),
        (
            "the longest ping",
            join(&[ping(&[0xfe; 125]), text(HELLO)]),
            Answer::Ack(vec![vec![0xfe; 125]]),
        ),
        (
            "a pong that nobody asked for",
            join(&[frame(FINAL | PONG, b"x"), text(HELLO)]),
            ack(),
        ),
        (
            "an unknown message",
            text(br#"{"type":"dance"}"#),
            Answer::Error("unknown_type"),
        ),
    ];
    check(cases).await;
}

#[tokio::test]
async fn a_message_beyond_all_measure_is_refused_before_it_is_sent() {
    let mebibyte = 1024 * 1024;
    let cases = vec![
        (
            "a length with its first bit set",
            head(FINAL | TEXT, u64::MAX),
            Answer::Close(1009),
        ),
        (
            "a gibibyte announced",
            head(FINAL | TEXT, 1024 * mebibyte),
            Answer::Close(1009),
        ),
        (
            "a byte more than is read",
            head(FINAL | TEXT, 16 * mebibyte + 1),
            Answer::Close(1009),
        ),
        (
            "too much in the second fragment",
            join(&[
                frame(TEXT, &vec![b'x'; 1 << 20]),
                frame(CONTINUATION, &vec![b'x'; 15 << 20]),
                frame(CONTINUATION, b"x"),
            ]),
            Answer::Close(1009),
        ),
    ];
    check(cases).await;
}
