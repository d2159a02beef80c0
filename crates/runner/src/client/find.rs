//! Runners that are there already, and what dead ones leave.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::folder::{Folder, Record};
use crate::mark::Mark;
use crate::process::{ProcessState, boot_id};

/// A killed process is gone as soon as the system gets to it.
const UNTIL_GONE: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerState {
    Alive,
    Dead,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub folder: PathBuf,
    pub state: RunnerState,
    /// `None` for one that has not got so far, or never did.
    pub record: Option<Record>,
}

/// All runners whose folders are in this one. A folder that is not there holds none.
pub fn find(data_folder: &Path) -> io::Result<Vec<Found>> {
    let entries = match std::fs::read_dir(data_folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let folder = Folder::new(&entry?.path());
        if folder.has_lock_file() {
            let state = if folder.is_locked()? {
                RunnerState::Alive
            } else {
                RunnerState::Dead
            };
            found.push(Found {
                folder: folder.path().to_owned(),
                state,
                // What cannot be read is as good as not there.
                record: folder.record().ok().flatten(),
            });
        }
    }
    found.sort_by(|left, right| left.folder.cmp(&right.folder));
    Ok(found)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanUp {
    /// The runner lives; nothing was done.
    Alive,
    /// The runner is dead, and so was its agent, as far as can be known.
    Dead,
    /// The runner is dead, and what was left of its agent's group was killed.
    Killed,
}

/// Makes sure that a dead runner's agent is dead, too. A killed runner closes its agent's input, which ends an
/// agent that waits, but not one that works.
///
/// Kills only what is surely the agent's: its group (same boot, same session as the dead runner had, and not
/// older than the agent), and what carries its mark, unless the agent is known to have ended in order. Where
/// there is no `/proc` nothing is killed. Blocks for moments.
pub fn clean_up(folder: &Path) -> io::Result<CleanUp> {
    let folder = Folder::new(folder);
    if folder.is_locked()? {
        return Ok(CleanUp::Alive);
    }
    let Some(record) = folder.record().ok().flatten() else {
        return Ok(CleanUp::Dead);
    };
    let group = i32::try_from(record.agent_pid).ok().and_then(Pid::from_raw);
    let group = group.filter(|_| is_group_left(&record));
    if let Some(group) = group {
        // The only failure is a group that has gone meanwhile.
        let _ = kill_process_group(group, Signal::KILL);
    }
    // A runner that saw the end of its agent has seen to this.
    let mark = record
        .agent_mark
        .filter(|_| !matches!(folder.exited(), Ok(Some(_))));
    let killed = mark.is_some_and(Mark::kill_all);
    if group.is_none() && !killed {
        return Ok(CleanUp::Dead);
    }
    let is_left = || is_group_left(&record) || mark.is_some_and(|mark| !mark.carriers().is_empty());
    let deadline = Instant::now() + UNTIL_GONE;
    while is_left() && Instant::now() < deadline {
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(CleanUp::Killed)
}

/// Ends a runner that lives and cannot be talked to, and its agent with it: nobody could hear or stop that one, and
/// its session must not get a second. Blocks for moments.
pub fn end(folder: &Path) -> io::Result<CleanUp> {
    let place = Folder::new(folder);
    if place.is_locked()? {
        // Whoever holds the lock has written the record, so the number is still its own.
        let record = place.record()?;
        let runner = record.and_then(|record| i32::try_from(record.pid).ok());
        if let Some(runner) = runner.and_then(Pid::from_raw) {
            // The only failure is that it has gone meanwhile.
            let _ = kill_process(runner, Signal::KILL);
        }
        let deadline = Instant::now() + UNTIL_GONE;
        while place.is_locked()? && Instant::now() < deadline {
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
    clean_up(folder)
}

/// Whether a process of the agent's group lives. The leader itself may be gone: its number is not given out
/// again as long as its group has members.
fn is_group_left(record: &Record) -> bool {
    let Some(identity) = &record.agent_identity else {
        return false;
    };
    if boot_id().as_ref() != Some(&identity.boot_id) {
        return false;
    }
    ProcessState::all().any(|(pid, process)| {
        let is_ours = if pid == record.agent_pid {
            process.start_ticks == identity.start_ticks
        } else {
            process.start_ticks >= identity.start_ticks
        };
        is_ours
            && !process.zombie
            && process.group == record.agent_pid
            && process.session == record.pid
    })
}

/// Deletes what a dead runner left, when it was read.
pub fn remove(folder: &Path) -> io::Result<()> {
    let folder = Folder::new(folder);
    if folder.is_locked()? {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    folder.remove()
}
