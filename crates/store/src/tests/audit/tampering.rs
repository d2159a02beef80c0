//! Ten thousand times something is changed, and every time it is found and named.

use std::ops::RangeInclusive;

use super::model::Model;
use super::*;

const MUTATIONS: u64 = 10_000;

/// What a mutation should be found as.
enum Expected {
    /// This entry and no other is named first.
    First(i64),
    /// It is named, perhaps among others: whoever makes all hashes anew hides which one it was, but
    /// not between which checkpoints.
    Among(i64),
    /// Entries were taken out, and the others moved up.
    Somewhere,
    /// It is about the checkpoints.
    Lines,
}

#[test]
fn ten_thousand_mutations_are_all_found_and_named() {
    let mut dice = Dice::new(7297);
    let mut kinds = std::collections::BTreeMap::<&str, u64>::new();
    for round in 0..MUTATIONS {
        let mut model = Model::random(&mut dice);
        if round % 50 == 0 {
            assert_eq!(model.verify().map(|found| found.signed), Ok(model.signed));
        }
        let (kind, expected) = mutate(&mut model, &mut dice);
        *kinds.entry(kind).or_default() += 1;
        let found = model.verify();
        let told = format!("round {round}, {kind}: {found:?}");
        let finding = found.expect_err(&told);
        let entries = finding.entries();
        match expected {
            Expected::First(seq) => assert_eq!(finding.first_bad_entry(), Some(seq), "{told}"),
            Expected::Among(seq) => {
                let covers = |entries: RangeInclusive<i64>| entries.contains(&seq);
                assert!(entries.is_some_and(covers), "{told}: not {seq}");
            }
            Expected::Somewhere => assert!(entries.is_some(), "{told}"),
            Expected::Lines => assert_eq!(entries, None, "{told}"),
        }
        let sentence = finding.to_string();
        assert!(
            sentence.ends_with('.') && !sentence.contains('\n'),
            "{sentence}"
        );
    }
    assert!(kinds.values().all(|count| *count > 300), "{kinds:?}");
}

fn mutate(model: &mut Model, dice: &mut Dice) -> (&'static str, Expected) {
    let signed = model.signed;
    let count = model.rows.len() as i64;
    // Whatever is behind the last checkpoint and has nothing behind itself cannot be missed.
    let watched = dice.from(1..=signed.max(count - 1).min(count));
    let index = (watched - 1) as usize;
    match dice.below(12) {
        0..=2 => {
            // Also of those that no checkpoint covers.
            let index = dice.below(model.rows.len());
            let seq = model.rows[index].seq;
            change_column(&mut model.rows[index], dice, count);
            ("a column", Expected::First(seq.min(model.rows[index].seq)))
        }
        3 => {
            model.rows.remove(index);
            ("a row deleted", Expected::First(watched))
        }
        4 => {
            let (first, second) = two(dice, model.rows.len());
            let numbers = (model.rows[first].seq, model.rows[second].seq);
            model.rows.swap(first, second);
            (model.rows[first].seq, model.rows[second].seq) = numbers;
            ("two rows swapped", Expected::First(numbers.0))
        }
        5 => {
            let kept = dice.from(0..=signed - 1);
            model.rows.truncate(kept as usize);
            ("the end cut off", Expected::First(kept + 1))
        }
        6 => {
            change_text(&mut model.rows[index].body, dice);
            model.rows[index].hash = model.rows[index].expected_hash().0.to_vec();
            ("one row with a new hash", Expected::Among(watched))
        }
        7 => {
            let seq = dice.from(1..=signed);
            change_text(&mut model.rows[seq as usize - 1].text, dice);
            model.chain_anew(seq as usize - 1);
            ("all hashes made anew", Expected::Among(seq))
        }
        8 => {
            let seq = dice.from(1..=signed);
            model.rows.remove(seq as usize - 1);
            model.chain_anew(seq as usize - 1);
            ("a row deleted and all renumbered", Expected::Somewhere)
        }
        9 => {
            let seq = dice.from(1..=signed);
            let mut row = model.rows[dice.below(model.rows.len())].clone();
            row.text.push_str(" forged");
            model.rows.insert(seq as usize - 1, row);
            model.chain_anew(seq as usize - 1);
            ("a row put in and all renumbered", Expected::Among(seq))
        }
        10 => {
            let kept = dice.from(1..=signed - 1);
            model.rows.truncate(kept as usize);
            let tells = |line: &str| size_of(line) > kept;
            model.lines.retain(|line| !tells(line));
            ("the end cut off, with its checkpoints", Expected::Lines)
        }
        _ => {
            change_lines(model, dice);
            ("the checkpoints", Expected::Lines)
        }
    }
}

fn size_of(line: &str) -> i64 {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["size"]
        .as_i64()
        .unwrap()
}

fn two(dice: &mut Dice, length: usize) -> (usize, usize) {
    let first = dice.below(length - 1);
    (first, first + 1 + dice.below(length - first - 1))
}

/// Anything but what it was.
fn change_column(row: &mut AuditRow, dice: &mut Dice, count: i64) {
    match dice.below(14) {
        0 => {
            row.seq ^= 1 << dice.below(64);
            // The numbers of others are taken.
            if (1..=count).contains(&row.seq) {
                row.seq += count;
            }
        }
        1 => row.at.0 ^= 1 << dice.below(64),
        2 => change_text(&mut row.kind, dice),
        3 => change_optional(&mut row.session_id, dice),
        4 => change_optional(&mut row.request_id, dice),
        5 => change_optional(&mut row.project, dice),
        6 => change_optional(&mut row.tool_name, dice),
        7 => change_text(&mut row.outcome, dice),
        8 => change_text(&mut row.actor_kind, dice),
        9 => change_text(&mut row.actor_label, dice),
        10 => change_bytes(&mut row.previous, dice),
        11 => change_bytes(&mut row.hash, dice),
        12 => change_text(&mut row.text, dice),
        _ => change_text(&mut row.body, dice),
    }
}

fn change_optional(text: &mut Option<String>, dice: &mut Dice) {
    match text {
        Some(_) if dice.below(4) == 0 => *text = None,
        Some(text) => change_text(text, dice),
        None => *text = Some(["", "x"][dice.below(2)].to_owned()),
    }
}

pub(super) fn change_text(text: &mut String, dice: &mut Dice) {
    let mut signs: Vec<char> = text.chars().collect();
    if signs.is_empty() || dice.below(4) == 0 {
        let sign = ['\0', ' ', 'é', '"'][dice.below(4)];
        signs.insert(dice.below(signs.len() + 1), sign);
    } else {
        let index = dice.below(signs.len());
        match signs[index] {
            _ if dice.below(4) == 0 => {
                signs.remove(index);
            }
            // Also into the same letter of the other size, which an id would be read the same with.
            sign if sign.is_ascii_alphabetic() => signs[index] = (sign as u8 ^ 0x20) as char,
            _ => signs[index] = '?',
        }
    }
    let changed: String = signs.into_iter().collect();
    *text = if changed == *text {
        format!("{text}!")
    } else {
        changed
    };
}

fn change_bytes(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if dice.below(4) == 0 {
        bytes.truncate(dice.below(bytes.len()));
    } else {
        let index = dice.below(bytes.len());
        bytes[index] ^= 1 << dice.below(8);
    }
}

fn change_lines(model: &mut Model, dice: &mut Dice) {
    let lines = &mut model.lines;
    let index = dice.below(lines.len());
    match dice.below(6) {
        0 | 1 => change_text(&mut lines[index], dice),
        2 if lines.len() > 1 => {
            lines.remove(index);
        }
        3 if lines.len() > 2 => {
            let (first, second) = two(dice, lines.len());
            lines.swap(first, second);
        }
        4 => {
            let copy = lines[index].clone();
            lines.insert(index, copy);
        }
        _ => model.forge_line(),
    }
}
