//! A real server whose agent writes down how it was started, before it becomes the demo agent.

#![allow(
    dead_code,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "shared by several tests, each of which uses a part; a failure fails the test"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::support::{self, Client, TOKEN};

pub(crate) struct Recorder {
    pub(crate) folder: TempDir,
    pub(crate) url: String,
    pub(crate) server: Child,
    api: reqwest::Client,
}

/// What one agent saw of itself when it started.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Behind the program's own name.
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) folder: PathBuf,
    /// Numbers of open files, and what they are.
    pub(crate) files: BTreeMap<String, String>,
}

impl Recorder {
    /// `variables` are what the server's own environment holds besides.
    pub(crate) async fn start(variables: &[(&str, &str)], config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["home", "project", "records"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        write_agent(&path("agent"), &path("records"));
        // Should the test not come to its end, what it started does.
        let config = format!("unclaimed_timeout = \"2m\"\n{config}");
        std::fs::write(path("sayso.toml"), config).unwrap();
        // Without a mask, and with a file of somebody else's that stays open over the start of a program.
        let mut server = Command::new("sh")
            .args(["-c", "umask 000; exec 7</etc/passwd; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_sayso"))
            .args(["serve", "--listen", "127.0.0.1:0", "--on-shutdown", "stop"])
            .arg("--claude")
            .arg(path("agent"))
            .arg("--config")
            .arg(path("sayso.toml"))
            .arg("--data-dir")
            .arg(path("data"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", path("home"))
            .env("SAYSO_TOKEN", TOKEN)
            .current_dir(folder.path())
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = support::printed_url(server.stdout.take().unwrap()).await;
        Self {
            folder,
            url,
            server,
            api: reqwest::Client::builder().no_proxy().build().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::to(&self.url).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        let sent = self.api.post(format!("{}{path}", self.url)).json(body);
        let answer = sent.bearer_auth(TOKEN).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Takes away what the agents wrote down so far.
    pub(crate) fn take_records(&self) -> Vec<Recorded> {
        let folder = self.path("records");
        let mut records = Vec::new();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap().path();
            // Only what is whole: the folder gets its name at the end.
            if entry.extension().is_none() {
                records.push(Recorded::read(&entry, &self.path("agent")));
                std::fs::remove_dir_all(entry).unwrap();
            }
        }
        records
    }

    /// Ends the server and all that it started.
    pub(crate) async fn stop(mut self) {
        let pid = i32::try_from(self.server.id().unwrap()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), self.server.wait());
        assert!(ended.await.unwrap().unwrap().success());
    }
}

/// As it is found in `/proc`, so that nothing stands between the kernel's words and the test.
fn write_agent(agent: &Path, records: &Path) {
    let script = format!(
        "#!/bin/sh\n\
         if [ \"$1\" = --version ]; then echo 0.0.0; exit; fi\n\
         r='{records}'/$$; mkdir \"$r.part\"\n\
         cat /proc/$$/cmdline > \"$r.part/arguments\"\n\
         cat /proc/$$/environ > \"$r.part/environment\"\n\
         readlink /proc/$$/cwd > \"$r.part/folder\"\n\
         find /proc/$$/fd -type l -fprintf \"$r.part/files\" '%f -> %l\\n'\n\
         mv \"$r.part\" \"$r\"\n\
         exec '{sayso}' fake-claude -- \"$@\"\n",
        records = records.display(),
        sayso = env!("CARGO_BIN_EXE_sayso"),
    );
    std::fs::write(agent, script).unwrap();
    std::fs::set_permissions(agent, std::fs::Permissions::from_mode(0o700)).unwrap();
}

impl Recorded {
    fn read(record: &Path, agent: &Path) -> Self {
        let text = |name: &str| std::fs::read_to_string(record.join(name)).unwrap();
        let parts = |name: &str| -> Vec<String> {
            let text = text(name);
            let parts = text.split_terminator('\0').map(str::to_owned);
            parts.collect()
        };
        let agent = agent.display().to_string();
        let mut arguments = parts("arguments").into_iter();
        assert!(arguments.by_ref().any(|argument| argument == agent));
        let environment = parts("environment").into_iter().map(|variable| {
            let (name, value) = variable.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        });
        let files = text("files");
        let files = files.lines().filter_map(|line| line.split_once(" -> "));
        Self {
            arguments: arguments.collect(),
            environment: environment.collect(),
            folder: PathBuf::from(text("folder").strip_suffix('\n').unwrap()),
            files: files
                // The shell reads its script from there.
                .filter(|(_, target)| *target != agent)
                .map(|(number, target)| {
                    let kind = target.split(':').next().unwrap_or(target);
                    (number.to_owned(), kind.to_owned())
                })
                .collect(),
        }
    }
}

/// The body of a start, with one field set to a value.
pub(crate) fn start_with(recorder: &Recorder, field: &str, value: &Value) -> Value {
    let mut start = json!({"cwd": recorder.path("project"), "agent": "claude"});
    start[field] = value.clone();
    start
}
