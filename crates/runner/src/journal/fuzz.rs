//! Journals that were damaged. How the inputs are made and how a failure is repeated is told in
//! `CONTRIBUTING.md`.

use std::fs;

use sayso_fuzzing::Target;

use super::*;

/// Short lines, so that whole records are left out and doubled by chance, whose checksums are right.
fn written() -> Vec<Vec<u8>> {
    let lines = ["", "a", "{\"type\":\"x\"}", "a", "\u{0}\n", "the last"];
    lines.map(|line| line.as_bytes().to_vec()).to_vec()
}

fn frames(first: u64, lines: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (seq, line) in (first..).zip(lines) {
        let fragment = false;
        LineFrame {
            seq,
            fragment,
            bytes: line,
        }
        .append(&mut bytes);
    }
    bytes
}

/// The input is the one file of the journal, or the first or second of two, whose other is as it should be.
#[test]
fn damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    let lines = written();
    let (first, second) = (frames(1, &lines[..3]), frames(4, &lines[3..]));
    let record: Vec<_> = (1..)
        .zip(&lines)
        .map(|(seq, line)| frames(seq, std::slice::from_ref(line)))
        .collect();
    let mut last = Vec::new();
    let line = LineFrame {
        seq: u64::MAX,
        fragment: false,
        bytes: b"a",
    };
    line.append(&mut last);
    line.append(&mut last);
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/journal");
    let target = Target::new(corpus).seeds([
        &first,
        &second,
        &last,
        &[first.clone(), second.clone()].concat(),
    ]);
    target.dictionary(&record).longest(600).run(|input| {
        let mut told = Vec::new();
        for files in [
            vec![(1, input)],
            vec![(1, input), (4, &second)],
            vec![(1, &first), (4, input)],
        ] {
            for segment in segment::list(folder.path()).unwrap() {
                segment::delete(folder.path(), segment.first);
            }
            for (first, bytes) in files {
                fs::write(segment::path(folder.path(), first), bytes).unwrap();
            }
            for after in [0, 3, u64::MAX] {
                told.push(read(folder.path(), after, &lines));
            }
        }
        told
    });
}

/// What is read is what was written, each line once, in its order and without a gap.
fn read(folder: &Path, after: u64, written: &[Vec<u8>]) -> (usize, bool) {
    let read: Vec<_> = read_journal(folder, after).unwrap().collect();
    let failed = read.iter().any(Result::is_err);
    let lines: Vec<_> = read.into_iter().filter_map(Result::ok).collect();
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line.seq, after.saturating_add(1 + index as u64));
        let index = usize::try_from(line.seq - 1).unwrap();
        assert_eq!(Some(&line.bytes), written.get(index), "line {}", line.seq);
    }
    (lines.len(), failed)
}
