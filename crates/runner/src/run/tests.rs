use std::io::{PipeReader, Read};

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use uuid::Uuid;

use super::input::Input;
use super::output::{LineTooLong, Lines};
use crate::journal::Journal;
use crate::spec::Limits;
use crate::wire::{Inbox, LineFrame, WriteFailure};

/// Each with whether it is a fragment.
type Staged = Vec<(Vec<u8>, bool)>;

/// What a journal would get of an output that comes in these parts.
fn cut(parts: &[Vec<u8>], limit: usize) -> (Staged, Result<(), LineTooLong>) {
    let mut journal = Journal::new("/nowhere".as_ref(), &Limits::default());
    let mut lines = Lines::new(limit);
    let mut result = Ok(());
    for part in parts {
        lines.space().extend_from_slice(part);
        result = lines.cut(&mut journal);
        if result.is_err() {
            break;
        }
    }
    if result.is_ok() {
        lines.finish(&mut journal);
    }
    let mut inbox = Inbox::new(1 << 30);
    inbox.space().extend_from_slice(journal.staged());
    let mut staged = Vec::new();
    while let Some(frame) = inbox.next_frame().unwrap() {
        let line = LineFrame::read(frame).unwrap();
        assert_eq!(line.seq, staged.len() as u64 + 1);
        staged.push((line.bytes.to_vec(), line.fragment));
    }
    (staged, result)
}

proptest! {
    #[test]
    fn lines_are_the_same_however_they_arrive(
        parts in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 1..40), 0..12),
    ) {
        let whole = parts.concat();
        let mut expected: Vec<_> = whole.split(|byte| *byte == b'\n').map(|line| (line.to_vec(), false)).collect();
        let (last, _) = expected.pop().unwrap();
        if !last.is_empty() {
            expected.push((last, true));
        }
        prop_assert_eq!(cut(&parts, 1 << 20), (expected, Ok(())));
    }
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let parts = |text: &str| vec![text.as_bytes().to_vec()];
    let line = |text: &str| (text.as_bytes().to_vec(), false);
    let too_long = Err(LineTooLong { limit: 3 });
    assert_eq!(cut(&parts("abc\n"), 3), (vec![line("abc")], Ok(())));
    assert_eq!(cut(&parts("a\nabcd\n"), 3), (vec![line("a")], too_long));
    assert_eq!(cut(&parts("a\nabcd"), 3), (vec![line("a")], too_long));
}

fn input(limits: Limits) -> (Input, PipeReader) {
    let (receiver, sender) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&sender, true).unwrap();
    (Input::new(sender.into(), &limits), receiver)
}

fn outcomes(input: &mut Input) -> Vec<(Uuid, Result<(), WriteFailure>)> {
    let mut told = Vec::new();
    input.flush(|id, outcome| told.push((id, outcome)));
    told
}

#[test]
fn a_queue_is_bounded_by_lines_and_by_bytes_but_takes_one_line_of_any_length() {
    let limits = Limits {
        input_lines: 2,
        input_bytes: 10,
        ..Limits::default()
    };
    let id = Uuid::from_u128;
    let (mut by_lines, _receiver) = input(limits);
    assert_eq!(by_lines.take(id(1), b"1"), None);
    assert_eq!(by_lines.take(id(2), b"2"), None);
    assert_eq!(
        by_lines.take(id(3), b"3"),
        Some(Err(WriteFailure::Overloaded))
    );
    assert_eq!(by_lines.take(id(2), b"2"), None);

    let (mut by_bytes, _receiver) = input(limits);
    assert_eq!(by_bytes.take(id(1), &[b'x'; 20]), None);
    assert_eq!(
        by_bytes.take(id(2), b"2"),
        Some(Err(WriteFailure::Overloaded))
    );
}

#[test]
fn what_became_of_a_line_is_said_again_for_its_id() {
    let (mut input, receiver) = input(Limits::default());
    let [first, second, third] = [1, 2, 3].map(Uuid::from_u128);
    assert_eq!(input.take(first, b"1"), None);
    assert_eq!(outcomes(&mut input), [(first, Ok(()))]);
    assert_eq!(input.take(first, b"1"), Some(Ok(())));
    drop(receiver);
    assert_eq!(input.take(second, b"2"), None);
    assert_eq!(
        outcomes(&mut input),
        [(second, Err(WriteFailure::InputClosed))]
    );
    assert_eq!(input.take(first, b"1"), Some(Ok(())));
    assert_eq!(
        input.take(second, b"2"),
        Some(Err(WriteFailure::InputClosed))
    );
    assert_eq!(
        input.take(third, b"3"),
        Some(Err(WriteFailure::InputClosed))
    );
}

#[test]
fn the_input_is_closed_after_what_was_taken() {
    let (mut input, mut receiver) = input(Limits::default());
    let [first, second] = [1, 2].map(Uuid::from_u128);
    assert_eq!(input.take(first, b"1"), None);
    input.close();
    assert_eq!(
        input.take(second, b"2"),
        Some(Err(WriteFailure::InputClosed))
    );
    assert_eq!(outcomes(&mut input), [(first, Ok(()))]);
    let mut read = Vec::new();
    receiver.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"1\n");
}

#[test]
fn memory_of_ids_is_bounded() {
    let (mut input, mut receiver) = input(Limits::default());
    let mut sink = [0; 4096];
    for number in 0..40_000 {
        assert_eq!(input.take(Uuid::from_u128(number), b"x"), None);
        while outcomes(&mut input).is_empty() {
            let _ = receiver.read(&mut sink).unwrap();
        }
    }
    assert_eq!(input.remembered(), 16 * 1024);
    assert_eq!(input.take(Uuid::from_u128(39_000), b"x"), Some(Ok(())));
}

#[test]
fn what_a_client_wrote_itself_is_known_and_what_it_began_comes_first() {
    let (mut input, mut receiver) = input(Limits::default());
    let [first, second, third] = [1, 2, 3].map(Uuid::from_u128);
    input.set_lent(true);
    assert_eq!(input.take(third, b"3"), None);
    assert_eq!(outcomes(&mut input), []);
    input.close();
    input.set_lent(false);
    input.learn(first);
    assert_eq!(input.finish_line(second, b"rest of 2\n".to_vec()), None);
    assert_eq!(outcomes(&mut input), [(second, Ok(())), (third, Ok(()))]);
    for id in [first, second, third] {
        assert_eq!(input.take(id, b"again"), Some(Ok(())));
    }
    // It was to be closed after all that was taken.
    let mut read = Vec::new();
    receiver.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"rest of 2\n3\n");
    let late = Uuid::from_u128(4);
    let failed = Some(Err(WriteFailure::InputClosed));
    assert_eq!(input.finish_line(late, b"4\n".to_vec()), failed);
    assert_eq!(input.take(late, b"4"), failed);
}
