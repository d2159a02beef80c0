//! Sizes as people write them: `512 MiB`, `2 GiB`, `unlimited`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// A number of bytes, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub Option<u64>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a size; write it like `512 MiB`, `2 GiB` or `unlimited`")]
pub struct SizeError(String);

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let wrong = || SizeError(text.to_owned());
        let words = text.trim();
        if words == "unlimited" {
            return Ok(Self(None));
        }
        let with_unit = |(unit, bytes): (&str, u64)| Some((words.strip_suffix(unit)?, bytes));
        let (number, unit) = UNITS.into_iter().find_map(with_unit).ok_or_else(wrong)?;
        let number: u64 = number.trim().parse().map_err(|_| wrong())?;
        let bytes = number.checked_mul(unit).filter(|bytes| *bytes > 0);
        bytes.map(|bytes| Self(Some(bytes))).ok_or_else(wrong)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(bytes) = self.0 else {
            return formatter.write_str("unlimited");
        };
        let whole = |(_, unit): &&(&str, u64)| bytes.is_multiple_of(*unit);
        let (name, unit) = UNITS.iter().find(whole).unwrap_or(&("KiB", 1 << 10));
        write!(formatter, "{} {name}", bytes / unit)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them_and_written_back() {
        let cases = [
            ("64 KiB", Some(64 << 10), "64 KiB"),
            ("512MiB", Some(512 << 20), "512 MiB"),
            (" 2 GiB ", Some(2 << 30), "2 GiB"),
            ("1024 MiB", Some(1 << 30), "1 GiB"),
            ("unlimited", None, "unlimited"),
        ];
        for (text, bytes, written) in cases {
            let size: Size = text.parse().unwrap();
            assert_eq!(size, Size(bytes), "{text}");
            assert_eq!(size.to_string(), written);
        }
        for text in [
            "",
            "5",
            "0 MiB",
            "-1 MiB",
            "1.5 GiB",
            "1 MB",
            "99999999999 GiB",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
