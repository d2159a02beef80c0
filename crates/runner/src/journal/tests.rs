use std::fs;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A journal and all that was ever written to it.
struct Book {
    folder: TempDir,
    journal: Journal,
    lines: Vec<Vec<u8>>,
}

impl Book {
    fn new(segment_bytes: u64, journal_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits {
            segment_bytes,
            journal_bytes,
            ..Limits::default()
        };
        Self {
            journal: Journal::new(folder.path(), &limits),
            folder,
            lines: Vec::new(),
        }
    }

    fn append(&mut self, lines: &[Vec<u8>]) {
        for line in lines {
            self.journal.stage(line, false);
        }
        self.journal.commit().unwrap();
        self.journal.clear_staged();
        self.lines.extend_from_slice(lines);
    }

    /// What a client gets whose socket takes `portions` bytes at a time.
    fn replay(&self, after_seq: u64, portions: &[usize]) -> Vec<(u64, Vec<u8>)> {
        let mut cursor = Cursor::seek(&self.journal, after_seq).unwrap();
        let mut inbox = crate::wire::Inbox::new(1 << 30);
        let mut portions = portions.iter().cycle();
        let mut lines = Vec::new();
        loop {
            let chunk = cursor.peek(&self.journal).unwrap();
            if chunk.is_empty() {
                break;
            }
            let taken = chunk.len().min(*portions.next().unwrap());
            inbox.space().extend_from_slice(&chunk[..taken]);
            cursor.advance(taken);
            while let Some(frame) = inbox.next_frame().unwrap() {
                let line = LineFrame::read(frame).unwrap();
                lines.push((line.seq, line.bytes.to_vec()));
            }
            assert_eq!(cursor.is_between_frames(), inbox.space().is_empty());
            let nothing = after_seq.max(self.journal.first_available() - 1);
            assert_eq!(
                cursor.sent_seq(),
                lines.last().map_or(nothing, |line| line.0)
            );
        }
        assert!(cursor.is_at_end(&self.journal));
        lines
    }

    fn expected(&self, after_seq: u64) -> Vec<(u64, Vec<u8>)> {
        let first = self.journal.first_available().max(after_seq + 1);
        let lines = (1..).zip(self.lines.iter().cloned());
        lines.skip_while(|(seq, _)| *seq < first).collect()
    }

    fn offline(&self, after_seq: u64) -> Vec<(u64, Vec<u8>)> {
        let lines = read_journal(self.folder.path(), after_seq).unwrap();
        lines
            .map(|line| line.unwrap())
            .map(|line| (line.seq, line.bytes))
            .collect()
    }

    fn bytes_on_disk(&self) -> u64 {
        let files = segment::list(self.folder.path()).unwrap();
        files.iter().map(|file| file.bytes).sum()
    }

    fn files(&self) -> Vec<u64> {
        let files = segment::list(self.folder.path()).unwrap();
        files.iter().map(|file| file.first).collect()
    }
}

fn lines(count: usize) -> Vec<Vec<u8>> {
    (1..=count)
        .map(|number| format!("line {number}").into_bytes())
        .collect()
}

fn any_lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let length = prop_oneof![8 => 0usize..60, 1 => 60_000usize..140_000];
    let line = (length, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]);
    prop::collection::vec(line, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_replay_from_anywhere_is_what_was_written(
        batches in prop::collection::vec(any_lines(), 1..12),
        acknowledged: prop::sample::Index,
        after: prop::sample::Index,
        portions in prop::collection::vec(1usize..200_000, 1..10),
        segment_bytes in 1u64..4_000,
    ) {
        let mut book = Book::new(segment_bytes, 1 << 40);
        for batch in &batches {
            book.append(batch);
        }
        let total = book.lines.len();
        book.journal.acknowledge(acknowledged.index(total + 1) as u64);
        let after_seq = after.index(total + 1) as u64;
        prop_assert_eq!(book.replay(after_seq, &portions), book.expected(after_seq));
        prop_assert_eq!(book.offline(after_seq), book.expected(after_seq));
        prop_assert_eq!(book.bytes_on_disk(), book.journal.retained);
    }

    #[test]
    fn only_what_was_not_finished_is_lost_at_a_torn_end(
        batches in prop::collection::vec(any_lines(), 1..4),
        cut: prop::sample::Index,
        garbage in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut book = Book::new(1 << 40, 1 << 40);
        for batch in &batches {
            book.append(batch);
        }
        let path = segment::path(book.folder.path(), 1);
        let mut bytes = fs::read(&path).unwrap();
        let cut = cut.index(bytes.len());
        // By chance it could finish the line as it was.
        prop_assume!(garbage.first() != bytes.get(cut));
        bytes.truncate(cut);
        bytes.extend_from_slice(&garbage);
        fs::write(&path, bytes).unwrap();

        let mut end = 0;
        let finished = book.lines.iter().take_while(|line| {
            end += line.len() + 18;
            end <= cut
        });
        let finished: Vec<_> = (1..).zip(finished.cloned()).collect();
        prop_assert_eq!(book.offline(0), finished);
    }
}

#[test]
fn a_file_goes_when_its_last_line_is_acknowledged() {
    let mut book = Book::new(1, 1 << 30);
    for line in lines(4) {
        book.append(&[line]);
    }
    assert_eq!(book.files(), [1, 2, 3, 4]);
    book.journal.acknowledge(2);
    assert_eq!(book.files(), [3, 4]);
    book.journal.acknowledge(1);
    assert_eq!(book.files(), [3, 4]);
    book.journal.acknowledge(4);
    assert_eq!(book.files(), [0; 0]);
    book.append(&lines(1));
    assert_eq!(book.files(), [5]);
    assert_eq!(book.replay(4, &[100]), [(5, b"line 1".to_vec())]);
}

#[test]
fn a_number_beyond_the_last_line_acknowledges_no_later_one() {
    let mut book = Book::new(1, 1 << 30);
    book.append(&lines(1));
    book.journal.acknowledge(u64::MAX);
    book.append(&lines(1));
    assert_eq!(book.files(), [2]);
}

#[test]
fn a_full_journal_has_room_again_when_all_is_acknowledged() {
    let mut book = Book::new(1000, 100);
    book.append(&lines(4));
    assert!(!book.journal.is_full());
    book.append(&lines(4));
    assert!(book.journal.is_full());
    book.journal.acknowledge(7);
    assert!(book.journal.is_full());
    book.journal.acknowledge(8);
    assert!(!book.journal.is_full());
    assert_eq!(book.bytes_on_disk(), 0);
}

#[test]
fn a_write_that_failed_is_written_again_and_counts_once() {
    let mut book = Book::new(1 << 20, 1 << 30);
    let moved = book.folder.path().with_extension("moved");
    fs::rename(book.folder.path(), &moved).unwrap();
    book.journal.stage(b"first", false);
    book.journal.commit().unwrap_err();
    assert_eq!(book.journal.last_seq(), 0);
    fs::rename(&moved, book.folder.path()).unwrap();
    book.journal.commit().unwrap();
    assert_eq!(book.offline(0), [(1, b"first".to_vec())]);
}

#[test]
fn a_client_at_the_end_follows_from_memory_and_goes_on_from_the_file() {
    let mut book = Book::new(1, 1 << 30);
    book.append(&lines(1));
    let mut cursor = Cursor::seek(&book.journal, 1).unwrap();
    for sent in [0, 18, 20, 24, 47, 48] {
        book.journal.stage(b"line 2", false);
        book.journal.stage(b"line 3", false);
        let start = book.journal.commit().unwrap();
        let bytes = book.journal.staged().to_vec();
        cursor.follow(start, &bytes, sent);
        book.journal.clear_staged();
        let mut rest = Vec::new();
        while !cursor.is_at_end(&book.journal) {
            rest.extend_from_slice(cursor.peek(&book.journal).unwrap());
            let taken = cursor.peek(&book.journal).unwrap().len();
            cursor.advance(taken);
        }
        assert_eq!(rest, &bytes[sent..]);
        assert_eq!(cursor.sent_seq(), book.journal.last_seq());
        book.journal.acknowledge(cursor.sent_seq());
    }
}

#[test]
fn damage_before_the_end_is_said_and_not_passed_over() {
    let mut book = Book::new(1, 1 << 30);
    for line in lines(3) {
        book.append(&[line]);
    }
    let path = segment::path(book.folder.path(), 2);
    let mut bytes = fs::read(&path).unwrap();
    bytes[20] ^= 1;
    fs::write(&path, bytes).unwrap();
    let read: Vec<_> = read_journal(book.folder.path(), 0).unwrap().collect();
    assert!(
        matches!(
            &read[..],
            [Ok(_), Err(JournalError::Damaged { after: 1, .. })]
        ),
        "{read:?}"
    );
}

#[test]
fn a_missing_file_is_damage() {
    let mut book = Book::new(1, 1 << 30);
    for line in lines(3) {
        book.append(&[line]);
    }
    segment::delete(book.folder.path(), 2);
    let read: Vec<_> = read_journal(book.folder.path(), 0).unwrap().collect();
    assert!(matches!(
        &read[..],
        [Ok(_), Err(JournalError::Damaged { after: 1, .. })]
    ));
}

#[test]
fn lines_that_were_never_here_are_passed_over() {
    let mut book = Book::new(100, 1 << 20);
    let lines: Vec<Vec<u8>> = (0..20).map(|number| vec![number; 20]).collect();
    book.append(&lines);
    let mut cursor = Cursor::seek(&book.journal, 20).unwrap();
    book.journal.pass_over(15);
    assert_eq!((book.journal.next_seq(), book.journal.last_seq()), (21, 20));
    book.journal.pass_over(50);
    cursor.pass_over(50);
    assert_eq!(segment::list(book.folder.path()).unwrap().len(), 0);
    assert_eq!(book.journal.first_available(), 51);
    assert!(cursor.is_at_end(&book.journal) && !book.journal.is_full());

    book.append(&lines);
    let expected = (51..).zip(lines).collect::<Vec<_>>();
    assert_eq!(book.replay(0, &[7]), expected);
    let mut sent = Vec::new();
    while let chunk @ [_, ..] = cursor.peek(&book.journal).unwrap() {
        sent.extend_from_slice(chunk);
        let count = chunk.len();
        cursor.advance(count);
    }
    assert_eq!(LineFrame::peek_seq(&sent), Some(51));
    assert_eq!(cursor.sent_seq(), 70);
    let left = read_journal(book.folder.path(), 0).unwrap();
    let left = left.map(|line| line.map(|line| (line.seq, line.bytes)).unwrap());
    assert_eq!(left.collect::<Vec<_>>(), expected);
}
