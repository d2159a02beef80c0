//! What a runner is told when it starts. It travels through the runner's standard input, so that nothing of it,
//! least of all the agent's environment, is in an argument list or on disk.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An agent to start. `environment` is the whole environment: nothing is inherited.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchSpec {
    /// A bare name is looked up in the `PATH` of `environment`.
    #[serde(with = "os_string")]
    pub program: PathBuf,
    #[serde(with = "os_strings")]
    pub arguments: Vec<OsString>,
    #[serde(with = "os_string")]
    pub folder: PathBuf,
    #[serde(with = "os_pairs")]
    pub environment: Vec<(OsString, OsString)>,
    #[serde(default)]
    pub limits: Limits,
}

/// Values of variables are secrets until proven otherwise.
impl fmt::Debug for LaunchSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.environment.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("LaunchSpec")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("folder", &self.folder)
            .field("environment", &names)
            .field("limits", &self.limits)
            .finish()
    }
}

/// Everything that is bounded, in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// A longer line of output ends the agent; a longer line of input is refused.
    pub line_bytes: usize,
    /// How much unacknowledged output is kept before the agent is made to wait. May be exceeded by what one
    /// read brings, or by one long line.
    pub journal_bytes: u64,
    /// How much of that goes into one file.
    pub segment_bytes: u64,
    /// How many lines, and how many bytes of them, may wait for an agent that does not read.
    pub input_lines: usize,
    pub input_bytes: usize,
    /// How long lines may wait for the agent before the client is told that they do.
    #[serde(rename = "input_wait_ms", with = "milliseconds")]
    pub input_wait: Duration,
    /// How long they may wait before the client is told that the agent does not read.
    #[serde(rename = "input_stall_ms", with = "milliseconds")]
    pub input_stall: Duration,
    /// After closing the agent's input, after asking it to end, and for strangers that hold its output open.
    #[serde(rename = "until_ended_ms", with = "milliseconds")]
    pub until_ended: Duration,
    /// How long an agent that has closed its output may take to end by itself, and as long again after it was asked
    /// to. Nobody can hear it any more, so this is short.
    #[serde(rename = "output_closed_ms", with = "milliseconds")]
    pub output_closed: Duration,
    /// How long nobody may be connected before the agent is stopped; `None` is for ever.
    #[serde(rename = "unclaimed_ms", with = "optional_milliseconds")]
    pub unclaimed: Option<Duration>,
    /// How long a runner whose agent has ended waits for somebody to be told. Its files can be read without it,
    /// so this need not be long. At most `unclaimed`.
    #[serde(rename = "linger_ms", with = "milliseconds")]
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: 64 * 1024 * 1024,
            journal_bytes: 256 * 1024 * 1024,
            segment_bytes: 4 * 1024 * 1024,
            input_lines: 256,
            input_bytes: 64 * 1024 * 1024,
            input_wait: Duration::from_millis(500),
            input_stall: Duration::from_secs(30),
            until_ended: Duration::from_secs(5),
            output_closed: Duration::from_millis(300),
            unclaimed: Some(Duration::from_hours(24)),
            linger: Duration::from_mins(1),
        }
    }
}

/// Text where it is text, and bytes where it is not.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Encoded {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<OsString> for Encoded {
    fn from(value: OsString) -> Self {
        match value.into_string() {
            Ok(text) => Self::Text(text),
            Err(value) => Self::Bytes(value.into_vec()),
        }
    }
}

impl From<Encoded> for OsString {
    fn from(encoded: Encoded) -> Self {
        match encoded {
            Encoded::Text(text) => text.into(),
            Encoded::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

mod os_string {
    use super::*;

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let copy = OsString::from_vec(path.as_os_str().as_bytes().to_vec());
        Encoded::from(copy).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<PathBuf, D::Error> {
        Encoded::deserialize(source).map(|encoded| OsString::from(encoded).into())
    }
}

mod os_strings {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        list: &[OsString],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().cloned().map(Encoded::from))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let list = Vec::<Encoded>::deserialize(source)?;
        Ok(list.into_iter().map(OsString::from).collect())
    }
}

mod os_pairs {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        list: &[(OsString, OsString)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let encode = |(name, value): &(OsString, OsString)| {
            (Encoded::from(name.clone()), Encoded::from(value.clone()))
        };
        serializer.collect_seq(list.iter().map(encode))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Vec<(OsString, OsString)>, D::Error> {
        let list = Vec::<(Encoded, Encoded)>::deserialize(source)?;
        Ok(list
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect())
    }
}

mod milliseconds {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        time: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        whole(*time).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Duration, D::Error> {
        u64::deserialize(source).map(Duration::from_millis)
    }

    pub(super) fn whole(time: Duration) -> u64 {
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
    }
}

mod optional_milliseconds {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(milliseconds::whole).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Option<Duration>, D::Error> {
        Option::<u64>::deserialize(source).map(|time| time.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn spec() -> LaunchSpec {
        let odd = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        LaunchSpec {
            program: odd(b"/bin/\xff\xfe").into(),
            arguments: vec!["plain".into(), odd(b"\x80")],
            folder: odd(b"/tmp/\xc3").into(),
            environment: vec![
                ("KEY".into(), odd(b"secret\xff")),
                (odd(b"\xf0"), "".into()),
            ],
            limits: Limits {
                unclaimed: None,
                ..Limits::default()
            },
        }
    }

    #[test]
    fn a_spec_survives_its_way_even_where_it_is_not_text() {
        let text = serde_json::to_string(&spec()).unwrap();
        assert_eq!(serde_json::from_str::<LaunchSpec>(&text).unwrap(), spec());
    }

    #[test]
    fn what_is_printed_has_no_values_of_variables() {
        let shown = format!("{:?}", spec());
        assert!(
            shown.contains("KEY") && !shown.contains("secret"),
            "{shown}"
        );
    }

    #[test]
    fn limits_may_be_left_out() {
        let text = r#"{"program":"a","arguments":[],"folder":"/","environment":[],"limits":{"line_bytes":7}}"#;
        let limits = serde_json::from_str::<LaunchSpec>(text).unwrap().limits;
        let expected = Limits {
            line_bytes: 7,
            ..Limits::default()
        };
        assert_eq!(limits, expected);
    }
}
