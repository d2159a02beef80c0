//! What an agent started and what left its process group: found by a variable that all of it inherits.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The variable in the agent's environment.
pub(crate) const VARIABLE: &str = "SAYSO_AGENT";

/// Who is killed may just have started somebody else, so it is looked again, but not for ever.
const LOOKS: u32 = 20;

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
        for look in 0..LOOKS {
            let carriers = self.carriers();
            if carriers.is_empty() {
                return look > 0;
            }
            for process in carriers {
                // The only failure is one that has gone meanwhile.
                let _ = kill_process(process, Signal::KILL);
            }
        }
        true
    }

    /// Nobody where there is no `/proc`. One that is ending has no environment any more.
    pub(crate) fn carriers(self) -> Vec<Pid> {
        let entry = format!("{VARIABLE}={}", self.value());
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let carriers = processes.filter_map(|process| {
            let pid = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
            let environment = fs::read(process.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            variables
                .any(|variable| variable == entry.as_bytes())
                .then_some(pid)
        });
        carriers.collect()
    }
}
