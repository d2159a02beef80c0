//! The token on its way from a flag, a variable or a file: never shown.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the operator chose as the token, not checked yet.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChosenToken(String);

impl ChosenToken {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChosenToken {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for ChosenToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ChosenToken(…)")
    }
}

/// What is wrong with the settings, without the text of the file: the token may stand there.
pub(super) fn explain(error: &figment::Error) -> String {
    let about_token = error.path.last().is_some_and(|key| key == "token");
    if about_token && !matches!(error.kind, figment::error::Kind::UnknownField(..)) {
        return "`token` must be a text in quotes".to_owned();
    }
    let text = error.to_string();
    let lines = text.lines().filter(|line| !quotes_file(line));
    let lines: Vec<&str> = lines.map(str::trim).collect();
    lines.join("; ")
}

/// `3 | token = "…` and the marks below it.
fn quotes_file(line: &str) -> bool {
    let before = line.split_once('|').map(|(before, _)| before.trim());
    before.is_some_and(|before| before.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Overrides};

    #[test]
    fn no_mistake_in_the_file_shows_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sayso.toml");
        for (text, told) in [
            ("token = 1234567890123456789", "`token` must be a text"),
            ("token = 1234567890123456789.5", "`token` must be a text"),
            ("token = hunter2hunter2hunter2", "line 1, column"),
            ("token = \"hunter2hunter2hunter2", "line 1, column"),
            (
                "listen = 1\n\ntoken = 'hunter2hunter2'hunter2",
                "line 3, column",
            ),
            ("tokn = \"hunter2hunter2hunter2\"", "tokn"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = Config::load(Some(&file), &Overrides::default()).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(error.to_string().contains(told), "{shown}");
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(!shown.contains("123456789"), "{shown}");
        }
    }

    #[test]
    fn settings_are_printed_without_the_token() {
        let overrides = Overrides {
            token: Some("hunter2hunter2hunter2".parse().unwrap()),
            data_dir: Some("/data".into()),
            ..Overrides::default()
        };
        let config = Config::load(None, &overrides).unwrap();
        let shown = format!("{overrides:?} {config:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(config.token.unwrap().expose(), "hunter2hunter2hunter2");
    }
}
