//! Bytes as lower-case hexadecimal digits.

use serde::{Deserialize, Deserializer};

pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Exactly so many bytes, or nothing.
pub(crate) fn decode<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    let digits = text.as_bytes();
    if digits.len() != LENGTH * 2 {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

pub(crate) fn deserialize<'de, const LENGTH: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<[u8; LENGTH], D::Error> {
    let text = String::deserialize(deserializer)?;
    decode(&text).ok_or_else(|| {
        serde::de::Error::custom(format!("not {LENGTH} bytes in hexadecimal digits"))
    })
}
