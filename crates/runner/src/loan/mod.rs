//! What a runner and a client share while the client reads and writes the agent's pipes itself.
//!
//! Either may be killed between any two system calls, and the runner may take the pipes back from a client that is
//! only slow. So whatever has been taken from the agent or given to it is known from the files alone, and each step
//! that matters is one system call:
//!
//! ```text
//! agent's output ── splice ──▶ said                What is in the file is not in the pipe any more.
//! line ──▶ way ── splice ──▶ agent's input         What is in the agent's input is not in the way any more.
//!               told ◀── id                        Between the two: from then on the line is the runner's to finish.
//! ```
//!
//! `said` and `told` are files in memory. Sealed, they take nothing more: then a client that is not dead after all can
//! neither take anything from the agent nor begin to write to it, and what it had begun the runner has found in the
//! way. The way is a pipe, of which each byte is read once, by whoever comes first.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "nothing is lent there")
)]

#[cfg(target_os = "linux")]
mod files;
mod record;

#[cfg(target_os = "linux")]
pub(crate) use files::{Files, Pipes};
use record::RECORD_BYTES;
#[cfg(target_os = "linux")]
pub(crate) use record::Record;

/// Whether a runner on this system can lend its pipes.
pub(crate) const POSSIBLE: bool = cfg!(target_os = "linux");

/// What comes before a line in the way, until its id is in `told`: a line end, which no line begins with, and the id.
/// So the rest of a line that was begun can be told from a line that was not.
pub(crate) const HEADER_BYTES: usize = 17;

/// How much one line, with header and line end, may have to go through the way.
pub(crate) const WAY_BYTES: usize = 60 * 1024;

/// How long `told` may become: it is memory, and must have fewer ids than a runner remembers.
pub(crate) const TOLD_BYTES: u64 = 2 * 1024 * RECORD_BYTES as u64;

/// How much of `said` may be unacknowledged.
pub(crate) const SAID_BYTES: u64 = 2 * 1024 * 1024;

/// Where less is left, nothing is lent.
pub(crate) const LEAST_ROOM: u64 = 64 * 1024;
