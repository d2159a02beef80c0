//! A real terminal without anybody in front of it: tmux, driven by keys and read as a screen.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure in a helper fails the test"
)]

use std::ffi::OsStr;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Far beyond what anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Terminal {
    /// Holds the socket of a tmux of its own, so that nobody's sessions are touched.
    folder: TempDir,
}

impl Terminal {
    /// Runs a shell's line. The terminal stays when it ends.
    pub(crate) fn run(columns: u16, rows: u16, line: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let terminal = Self { folder };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let line = format!(
            "{line}; echo \"ended with $?\"; stty -a | grep -q ' echo ' && echo the terminal is as it was; exec sleep 600"
        );
        let started = terminal.tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, &line]);
        assert!(started.status.success(), "{started:?}");
        terminal
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let socket = self.folder.path().join("socket");
        let mut command = Command::new("tmux");
        command
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(socket)
            .args(words)
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/sh");
        command.output().unwrap_or_else(|error| {
            panic!("These tests need tmux: install it (for example `sudo apt-get install tmux`). {error}")
        })
    }

    /// Each is a key, such as `Enter`, or letters.
    pub(crate) fn press<S: AsRef<OsStr>>(&self, keys: &[S]) {
        for key in keys {
            let sent = self.tmux(&["send-keys", key.as_ref().to_str().unwrap()]);
            assert!(sent.status.success(), "{sent:?}");
        }
    }

    pub(crate) fn paste(&self, text: &str) {
        self.tmux(&["set-buffer", text]);
        self.tmux(&["paste-buffer", "-p"]);
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    pub(crate) fn screen(&self) -> String {
        let captured = self.tmux(&["capture-pane", "-p"]);
        String::from_utf8(captured.stdout).unwrap()
    }

    /// The screen as soon as it fits.
    pub(crate) async fn until(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if fits(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "{what} never came:\n{screen}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text)).await
    }

    pub(crate) async fn hides(&self, text: &str) -> String {
        self.until(&format!("the end of {text}"), |screen| {
            !screen.contains(text)
        })
        .await
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
