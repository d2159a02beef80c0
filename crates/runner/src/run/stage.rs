//! The way to the end.

use std::time::Instant;

use super::output::Reading;
use super::serve::Server;
use crate::ending::{EndReason, Exited};
use crate::process::Status;
use crate::wire::WriteFailure;

/// How often is read from an output that somebody else holds open, after the wait for its end; together as much
/// as a pipe can hold.
const LAST_READS: usize = 16;

/// Where the agent is on its way to the end. Only ever goes down this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Running,
    /// It said its last word and is expected to end by itself.
    OutputClosed {
        until: Instant,
    },
    /// Its input is closed (or will be, when it has read what is queued).
    InputClosed {
        until: Instant,
    },
    Terminated {
        until: Instant,
    },
    Killed,
    /// The process is gone; what it wrote may still be in the pipe, and a stranger may hold that open.
    Draining {
        status: Status,
        until: Instant,
    },
    /// All is read, and the last of it not yet in the journal.
    Finishing {
        status: Status,
    },
    Ended {
        at: Instant,
    },
}

impl Stage {
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Self::OutputClosed { until }
            | Self::InputClosed { until }
            | Self::Terminated { until }
            | Self::Draining { until, .. } => Some(until),
            Self::Running | Self::Killed | Self::Finishing { .. } | Self::Ended { .. } => None,
        }
    }

    pub(super) fn has_process(self) -> bool {
        match self {
            Self::Running
            | Self::OutputClosed { .. }
            | Self::InputClosed { .. }
            | Self::Terminated { .. }
            | Self::Killed => true,
            Self::Draining { .. } | Self::Finishing { .. } | Self::Ended { .. } => false,
        }
    }

    pub(super) fn has_ended(self) -> bool {
        matches!(self, Self::Ended { .. })
    }
}

impl Server {
    /// Closes the agent's input; the rest follows when it does not end by itself.
    pub(super) fn stop(&mut self, reason: EndReason, now: Instant) {
        if matches!(self.stage, Stage::Running | Stage::OutputClosed { .. }) {
            self.log
                .note(format_args!("stopping the agent: {reason:?}"));
            self.reason = reason;
            self.input.close();
            self.stage = Stage::InputClosed {
                until: now + self.limits.until_ended,
            };
            self.recall(now);
        }
    }

    pub(super) fn kill(&mut self, reason: EndReason) {
        if self.stage.has_process() && self.stage != Stage::Killed {
            self.log.note(format_args!("killing the agent: {reason:?}"));
            if self.reason == EndReason::Itself {
                self.reason = reason;
            }
            self.stage = Stage::Killed;
            self.agent.kill();
        }
    }

    pub(super) fn output_ended(&mut self, now: Instant) {
        if self.stage == Stage::Running {
            self.stage = Stage::OutputClosed {
                until: now + self.limits.output_closed,
            };
        }
    }

    pub(super) fn agent_ended(&mut self, status: Status, now: Instant) {
        self.end_input(WriteFailure::AgentEnded);
        self.stage = Stage::Draining {
            status,
            until: now + self.limits.until_ended,
        };
        self.recall(now);
    }

    /// The deadline of the stage has come.
    pub(super) fn next_stage(&mut self, now: Instant) {
        let until = now + self.limits.until_ended;
        match self.stage {
            Stage::OutputClosed { .. } => {
                let reason = EndReason::OutputClosed;
                self.log
                    .note(format_args!("stopping the agent: {reason:?}"));
                self.reason = reason;
                self.end_input(WriteFailure::InputClosed);
                self.agent.terminate();
                self.stage = Stage::Terminated {
                    until: now + self.limits.output_closed,
                };
            }
            Stage::InputClosed { .. } => {
                // An agent that does not read has kept it open.
                self.end_input(WriteFailure::InputClosed);
                self.agent.terminate();
                self.stage = Stage::Terminated { until };
            }
            Stage::Terminated { .. } => self.kill(self.reason),
            Stage::Draining { status, .. } => {
                self.read_the_rest();
                self.stage = Stage::Finishing { status };
            }
            Stage::Running | Stage::Killed | Stage::Finishing { .. } | Stage::Ended { .. } => {}
        }
    }

    /// Also into a full journal: nothing more comes after it, and it is no more than a pipe holds.
    fn read_the_rest(&mut self) {
        for _ in 0..LAST_READS {
            let reading = self.output.read(&mut self.journal);
            self.commit();
            if !matches!(reading, Ok(Reading::GoesOn)) {
                break;
            }
        }
    }

    /// What follows from the pipes being closed and the journal being written.
    pub(super) fn finish(&mut self, now: Instant) {
        if let Stage::Draining { status, .. } = self.stage
            && !self.output.is_open()
            && !self.errors.is_open()
        {
            self.stage = Stage::Finishing { status };
        }
        if let Stage::Finishing { status } = self.stage {
            self.output.finish(&mut self.journal);
            self.commit();
            if self.journal.staged().is_empty() {
                self.stage = Stage::Ended { at: now };
                self.exited = Some(Exited {
                    code: status.code,
                    signal: status.signal,
                    reason: self.reason,
                    stderr_tail: self.errors.finish(),
                    last_seq: self.journal.last_seq(),
                });
                self.save_end();
                self.flush_client();
            }
        }
    }

    pub(super) fn save_end(&mut self) {
        if let Some(exited) = self.exited.as_ref().filter(|_| !self.end_is_saved) {
            match self.folder.write_exited(exited) {
                Ok(()) => self.end_is_saved = true,
                Err(error) => self.retry_later(&error),
            }
        }
    }
}
