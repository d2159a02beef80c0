//! A runner for a test, and how to look at processes from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]
#![allow(dead_code, reason = "not every test binary needs all of it")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use sayso_runner::{
    ConnectError, Connection, Event, Exited, LaunchSpec, Limits, StartError, Started,
};
use tempfile::TempDir;
use tokio::time::timeout;
use uuid::Uuid;

pub(crate) const HELPER: &str = env!("CARGO_BIN_EXE_runner-test-helper");

/// Far more than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn impatient() -> Limits {
    Limits {
        until_ended: Duration::from_millis(200),
        linger: Duration::from_secs(20),
        ..Limits::default()
    }
}

pub(crate) fn spec(program: &str, arguments: &[&str]) -> LaunchSpec {
    LaunchSpec {
        program: program.into(),
        arguments: arguments.iter().map(OsString::from).collect(),
        folder: "/".into(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        limits: impatient(),
    }
}

/// One runner in a folder of its own. Nothing of it outlives this.
pub(crate) struct Rig {
    data: TempDir,
    pub(crate) started: Started,
}

impl Rig {
    pub(crate) async fn start(spec: &LaunchSpec) -> Self {
        Self::try_start(spec).await.unwrap()
    }

    pub(crate) async fn shell(script: &str) -> Self {
        Self::start(&spec("sh", &["-c", script])).await
    }

    pub(crate) async fn shell_with(script: &str, limits: Limits) -> Self {
        let spec = LaunchSpec {
            limits,
            ..spec("sh", &["-c", script])
        };
        Self::start(&spec).await
    }

    pub(crate) async fn try_start(spec: &LaunchSpec) -> Result<Self, StartError> {
        let data = tempfile::tempdir().unwrap();
        let started = start(&data.path().join("r"), spec).await?;
        Ok(Self { data, started })
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.data.path().join("r")
    }

    pub(crate) async fn connect(&self, after_seq: u64) -> Connection {
        let connection = connect(&self.folder(), after_seq).await;
        connection.unwrap()
    }

    pub(crate) fn runner(&self) -> u32 {
        self.started.runner_pid
    }

    pub(crate) fn agent(&self) -> u32 {
        self.started.agent_pid
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let runner = pid(self.started.runner_pid);
        // Only where the folder is still there can the numbers not be somebody else's.
        if sayso_runner::find(self.data.path()).is_ok_and(|found| !found.is_empty()) {
            let alive = sayso_runner::find(self.data.path()).unwrap();
            if alive[0].state == sayso_runner::RunnerState::Alive {
                let _ = kill_process(runner, Signal::KILL);
                while sayso_runner::clean_up(&self.folder()).unwrap()
                    == sayso_runner::CleanUp::Alive
                {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            let _ = sayso_runner::clean_up(&self.folder());
        }
    }
}

pub(crate) async fn start(folder: &Path, spec: &LaunchSpec) -> Result<Started, StartError> {
    sayso_runner::start(Path::new(HELPER), &["run".into()], folder, spec).await
}

/// The same tests are made twice: in a crate whose name says so, the pipes are lent.
pub(crate) const LENT: bool = {
    let name = env!("CARGO_CRATE_NAME").as_bytes();
    matches!(name, [.., b'l', b'e', b'n', b't'])
};

pub(crate) async fn connect(folder: &Path, after_seq: u64) -> Result<Connection, ConnectError> {
    let connection = Connection::connect(folder, after_seq).await?;
    if LENT {
        connection.handle.borrow().unwrap();
    }
    Ok(connection)
}

/// The next event, which must come.
pub(crate) async fn next(connection: &mut Connection) -> Event {
    timeout(PATIENCE, connection.events.next())
        .await
        .expect("no event")
        .expect("no more events")
}

pub(crate) async fn line(connection: &mut Connection) -> (u64, String) {
    match next(connection).await {
        Event::Line { seq, bytes, .. } => (seq, String::from_utf8(bytes).unwrap()),
        other => panic!("{other:?} instead of a line"),
    }
}

/// All lines up to the agent's end.
pub(crate) async fn rest(connection: &mut Connection) -> (Vec<(u64, String)>, Exited) {
    let mut lines = Vec::new();
    loop {
        match next(connection).await {
            Event::Line { seq, bytes, .. } => {
                connection.handle.acknowledge(seq).unwrap();
                lines.push((seq, String::from_utf8(bytes).unwrap()));
            }
            Event::Exited(exited) => return (lines, *exited),
            Event::Written(_)
            | Event::WriteFailed(..)
            | Event::InputWaits
            | Event::InputTaken
            | Event::InputStalled => {}
            other @ Event::Lost(_) => panic!("{other:?} instead of the end"),
        }
    }
}

pub(crate) async fn write(connection: &mut Connection, text: &str) -> Uuid {
    let id = Uuid::new_v4();
    connection.handle.write(id, text.as_bytes()).unwrap();
    id
}

pub(crate) fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

pub(crate) fn kill(number: u32, signal: Signal) {
    kill_process(pid(number), signal).unwrap();
}

pub(crate) fn kill_group(number: u32, signal: Signal) {
    kill_process_group(pid(number), signal).unwrap();
}

/// State, parent and group, from `/proc`; `None` for a process that is gone.
pub(crate) fn process(number: u32) -> Option<(char, u32, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    Some((
        fields[0].chars().next()?,
        fields[1].parse().ok()?,
        fields[2].parse().ok()?,
    ))
}

pub(crate) fn processes() -> impl Iterator<Item = (u32, (char, u32, u32))> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| {
        let number = entry.ok()?.file_name().to_str()?.parse().ok()?;
        Some((number, process(number)?))
    })
}

pub(crate) fn living_in_group(group: u32) -> Vec<u32> {
    let living = processes().filter(|(_, (state, _, of))| *of == group && *state != 'Z');
    living.map(|(number, _)| number).collect()
}

pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

/// Gone altogether: neither running nor a zombie.
pub(crate) async fn until_gone(number: u32) {
    until(&format!("process {number} gone"), || {
        process(number).is_none()
    })
    .await;
}

pub(crate) async fn until_group_is_empty(group: u32) {
    until(&format!("group {group} empty"), || {
        living_in_group(group).is_empty()
    })
    .await;
}
