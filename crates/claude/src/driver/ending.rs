//! What the end of a process says about the agent.

use super::AgentFault;
use crate::event::Exited;

/// What is known when an agent's process is over.
#[derive(Debug, Default)]
pub struct EndedAgent {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stderr_tail: String,
    pub asked_to_end: bool,
    /// It had not answered its first line.
    pub initializing: bool,
    /// Why the host stopped listening.
    pub fault: Option<AgentFault>,
}

impl EndedAgent {
    pub fn exited(self) -> Exited {
        let error = match self.fault {
            // Half a line is what a killed agent leaves; that is no fault of its own.
            _ if self.asked_to_end => None,
            Some(fault) => Some(fault),
            None if self.initializing => {
                Some(AgentFault::EndedBeforeReady(last_words(&self.stderr_tail)))
            }
            None => crash(self.code, self.signal),
        };
        Exited {
            code: self.code,
            signal: self.signal,
            stderr_tail: self.stderr_tail,
            error,
        }
    }
}

/// Nobody asked for this end, so anything but a clean exit is worth telling.
fn crash(code: Option<i32>, signal: Option<i32>) -> Option<AgentFault> {
    match (code, signal) {
        (None | Some(0), None) => None,
        (_, Some(signal)) => Some(AgentFault::Crashed(format!("signal {signal}"))),
        (Some(code), None) => Some(AgentFault::Crashed(format!("exit code {code}"))),
    }
}

fn last_words(stderr: &str) -> Option<String> {
    const KEPT_CHARACTERS: usize = 500;
    let text = stderr.trim();
    if text.is_empty() {
        return None;
    }
    let start = text
        .char_indices()
        .rev()
        .nth(KEPT_CHARACTERS)
        .map_or(0, |(position, _)| position);
    text.get(start..).map(str::to_owned)
}
