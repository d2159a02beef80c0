//! The calls that make a service manager read, start, stop and forget the file.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::arguments::Manager;
use super::file::{LABEL, UNIT};

pub(super) struct Calls {
    manager: Manager,
    file: PathBuf,
}

pub(super) struct Call {
    words: Vec<String>,
    /// False where a failure says nothing, such as stopping what does not run.
    must_succeed: bool,
}

impl Calls {
    pub(super) fn of(manager: Manager, file: &Path) -> Self {
        Self {
            manager,
            file: file.to_owned(),
        }
    }

    /// One that was there before is started anew, so that what changed holds.
    pub(super) fn start(&self, was_there: bool) -> Vec<Call> {
        match self.manager {
            Manager::Systemd => {
                let mut calls = vec![
                    systemctl(&["daemon-reload"]),
                    systemctl(&["enable", "--now", UNIT]),
                ];
                if was_there {
                    calls.push(systemctl(&["restart", UNIT]));
                }
                calls
            }
            Manager::Launchd => {
                let file = self.file.display().to_string();
                let mut calls = Vec::new();
                if was_there {
                    calls.extend(self.stop());
                }
                calls.push(launchctl(&["bootstrap", &domain(), &file]));
                calls
            }
        }
    }

    pub(super) fn stop(&self) -> Vec<Call> {
        match self.manager {
            Manager::Systemd => vec![systemctl(&["disable", "--now", UNIT])],
            Manager::Launchd => {
                let mut call = launchctl(&["bootout", &format!("{}/{LABEL}", domain())]);
                call.must_succeed = false;
                vec![call]
            }
        }
    }

    /// After the file is gone.
    pub(super) fn forget(&self) -> Vec<Call> {
        match self.manager {
            Manager::Systemd => vec![systemctl(&["daemon-reload"])],
            Manager::Launchd => Vec::new(),
        }
    }

    /// Succeeds when it runs.
    pub(super) fn look(&self) -> Vec<Call> {
        match self.manager {
            Manager::Systemd => vec![systemctl(&["is-active", UNIT])],
            Manager::Launchd => vec![launchctl(&["print", &format!("{}/{LABEL}", domain())])],
        }
    }

    pub(super) fn hint(&self) -> Option<String> {
        match self.manager {
            Manager::Systemd => Some(
                "It ends with your last login here; `loginctl enable-linger` keeps it. Its log: journalctl --user -u sayso"
                    .to_owned(),
            ),
            Manager::Launchd => None,
        }
    }
}

fn systemctl(words: &[&str]) -> Call {
    Call::new("systemctl", &[&["--user"], words].concat())
}

fn launchctl(words: &[&str]) -> Call {
    Call::new("launchctl", words)
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

impl Call {
    fn new(program: &str, words: &[&str]) -> Self {
        let words = std::iter::once(&program).chain(words);
        Self {
            words: words.map(|word| (*word).to_owned()).collect(),
            must_succeed: true,
        }
    }

    pub(super) fn text(&self) -> String {
        self.words.join(" ")
    }

    /// The program's own words, when it fails.
    pub(super) fn run(&self) -> Result<(), String> {
        let Some((program, words)) = self.words.split_first() else {
            return Ok(());
        };
        let mut command = Command::new(program);
        let output = command.args(words).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("`{program}` cannot be run: {error}"))?;
        if output.status.success() || !self.must_succeed {
            return Ok(());
        }
        let said = [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said));
        let mut said = said.iter().flat_map(|said| said.lines()).map(str::trim);
        let first = said.find(|line| !line.is_empty());
        let first = first
            .unwrap_or("it gave no reason")
            .trim_end_matches('.')
            .to_owned();
        Err(format!("`{}` failed: {first}", self.text()))
    }
}
