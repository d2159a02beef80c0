//! One input becomes another one.

use std::ops::Range;

use crate::dice::Dice;

/// Bytes at which languages change their mind.
const SIGNS: &[u8] = b"\0\n\r\t \"'`\\$(){}[]<>|&;:,.*?~!#=/-+@^%0179aAuxX\x1b\x7f\x80\xc3\xff";

const TEXTS: &[&str] = &[
    "-1",
    "0",
    "18446744073709551616",
    "-9223372036854775808",
    "1e309",
    "NaN",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\u{e9}",
    "\u{1f600}",
    "\r\n",
    "\n\n",
    "../",
    "//",
];

/// A mutation of something in the pool, which is not empty.
pub(crate) fn mutated(
    pool: &[Vec<u8>],
    dictionary: &[Vec<u8>],
    longest: usize,
    dice: &mut Dice,
) -> Vec<u8> {
    let mut bytes = dice.pick(pool).cloned().unwrap_or_default();
    // A long input is mostly cut, or hardly a change would fall on what matters.
    if bytes.len() > longest {
        let start = dice.below(bytes.len() - longest);
        bytes.drain(..start);
    }
    for _ in 0..1 << dice.below(5) {
        step(&mut bytes, pool, dictionary, dice);
        bytes.truncate(longest);
    }
    bytes
}

fn step(bytes: &mut Vec<u8>, pool: &[Vec<u8>], dictionary: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    match dice.below(11) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        1 => {
            if let (Some(byte), Some(sign)) = (bytes.get_mut(at), dice.pick(SIGNS)) {
                *byte = *sign;
            }
        }
        2 => bytes.insert(at, dice.pick(SIGNS).copied().unwrap_or_default()),
        3 => {
            bytes.drain(part(bytes, 16, dice));
        }
        4 => {
            bytes.drain(part(bytes, usize::MAX, dice));
        }
        5 => {
            let copy = bytes[part(bytes, 64, dice)].to_vec();
            insert(bytes, at, &copy);
        }
        6 | 7 => {
            let word = dice.pick(dictionary).cloned().unwrap_or_default();
            insert(bytes, at, &word);
        }
        8 => {
            let text = dice.pick(TEXTS).copied().unwrap_or_default();
            insert(bytes, at, text.as_bytes());
        }
        9 => {
            let other = dice.pick(pool).cloned().unwrap_or_default();
            let piece = other[part(&other, 256, dice)].to_vec();
            insert(bytes, at, &piece);
        }
        _ => {
            let copy = bytes[part(bytes, 8, dice)].repeat(1 << dice.below(9));
            insert(bytes, at, &copy);
        }
    }
}

/// Somewhere in the bytes, mostly short.
fn part(bytes: &[u8], longest: usize, dice: &mut Dice) -> Range<usize> {
    let start = dice.below(bytes.len());
    let room = (bytes.len() - start).min(longest);
    start..start + dice.below(room + 1)
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}
