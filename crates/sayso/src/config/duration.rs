//! Durations as people write them: `90s`, `5m`, `1h 30m`, `never`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time limit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration; write it like `90s`, `5m`, `1h 30m` or `never`")]
pub struct LimitError(String);

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        if text.trim() == "never" {
            return Ok(Self(None));
        }
        let wrong = || LimitError(text.to_owned());
        let duration: jiff::SignedDuration = text.trim().parse().map_err(|_| wrong())?;
        let duration = Duration::try_from(duration).map_err(|_| wrong())?;
        if duration.is_zero() {
            return Err(wrong());
        }
        Ok(Self(Some(duration)))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => formatter.write_str("never"),
            Some(duration) => match jiff::SignedDuration::try_from(duration) {
                Ok(duration) => write!(formatter, "{duration:#}"),
                Err(_) => formatter.write_str("never"),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let cases = [
            ("90s", Some(90)),
            ("5m", Some(300)),
            ("1h 30m", Some(5400)),
            (" 2m30s ", Some(150)),
            ("never", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(
                text.parse(),
                Ok(Limit(seconds.map(Duration::from_secs))),
                "{text}"
            );
        }
        for text in ["", "soon", "-5m", "0s", "5", "5 parsecs"] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }
}
