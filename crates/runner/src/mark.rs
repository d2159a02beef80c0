//! What an agent started and what left its process group: found by a variable that all of it inherits.

use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The variable in the agent's environment.
pub(crate) const VARIABLE: &str = "SAYSO_AGENT";

/// Who is killed may just have started somebody else, so it is looked again, but not for ever.
const LOOKS: u32 = 100;
/// Before it is looked again at a program that is being loaded.
const WHILE_LOADED: Duration = Duration::from_millis(2);

/// Tells the processes of one agent from all others. Says nothing to whoever reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(Uuid);

impl Mark {
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4())
    }

    pub(crate) fn value(self) -> String {
        self.0.simple().to_string()
    }

    /// Kills all that carry the mark. True when there were any.
    pub(crate) fn kill_all(self) -> bool {
        let mut killed = false;
        for _ in 0..LOOKS {
            let found = self.look();
            for process in &found.carriers {
                // The only failure is one that has gone meanwhile.
                let _ = kill_process(*process, Signal::KILL);
                killed = true;
            }
            match found {
                Found { carriers, .. } if !carriers.is_empty() => {}
                Found { unclear: true, .. } => thread::sleep(WHILE_LOADED),
                Found { unclear: false, .. } => break,
            }
        }
        killed
    }

    pub(crate) fn carriers(self) -> Vec<Pid> {
        self.look().carriers
    }

    /// Nobody where there is no `/proc`. One that is ending has no environment any more.
    fn look(self) -> Found {
        let entry = format!("{VARIABLE}={}", self.value());
        let mut found = Found::default();
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = process.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            let Some(pid) = pid.and_then(Pid::from_raw) else {
                continue;
            };
            let path = process.path();
            let Ok(environment) = fs::read(path.join("environ")) else {
                continue;
            };
            let mut variables = environment.split(|byte| *byte == 0);
            if variables.any(|variable| variable == entry.as_bytes()) {
                found.carriers.push(pid);
            } else if environment.is_empty() {
                found.unclear |= is_being_loaded(&path);
            }
        }
        found
    }
}

#[derive(Default)]
struct Found {
    carriers: Vec<Pid>,
    /// Somebody's environment cannot be told yet.
    unclear: bool,
}

/// In the middle of `exec` a process has a program, but neither arguments nor an environment.
fn is_being_loaded(process: &Path) -> bool {
    let arguments = fs::read(process.join("cmdline"));
    arguments.is_ok_and(|arguments| arguments.is_empty())
        && fs::read_link(process.join("exe")).is_ok()
}
