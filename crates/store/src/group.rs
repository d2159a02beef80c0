//! A group of jobs as one transaction, and what to do when one of them spoils it.

use crate::connection::NotWritten;
use crate::error::WriteError;
use crate::job::Queued;
use crate::log::set_applied;
use crate::merge::Merged;
use crate::open::{Durability, Store};
use crate::write::{Write, apply, apply_whole, salvage};

/// So much of the log is in the database before it waits for the disk.
const UNSYNCED_BYTES: usize = 2 * 1024 * 1024;

/// What the commit has to outlive. A decision that stands in the log is on the disk already; the log itself can begin
/// again only when the database is.
pub(crate) fn needed(store: &Store, jobs: &[Queued], unsynced: usize) -> Durability {
    let decides = |queued: &Queued| queued.seq.is_none() && queued.job.decides();
    match store.durability() {
        Durability::Disk if jobs.iter().any(decides) || unsynced >= UNSYNCED_BYTES => {
            Durability::Disk
        }
        Durability::Disk | Durability::Process => Durability::Process,
    }
}

/// One result for each job, in order.
pub(crate) fn write(
    store: &Store,
    durability: Durability,
    jobs: &[Queued],
) -> Vec<Result<(), WriteError>> {
    match transact(store, durability, jobs) {
        Ok(()) => vec![Ok(()); jobs.len()],
        Err(NotWritten::Begin(error)) => vec![Err(error); jobs.len()],
        Err(NotWritten::Work(error)) if jobs.len() == 1 && jobs[0].seq.is_none() => {
            vec![Err(error)]
        }
        Err(NotWritten::Work(_)) => one_by_one(store, durability, jobs),
    }
}

/// Finds the job that spoiled its group, and keeps it from spoiling the others.
pub(crate) fn one_by_one(
    store: &Store,
    durability: Durability,
    jobs: &[Queued],
) -> Vec<Result<(), WriteError>> {
    let mut results = Vec::with_capacity(jobs.len());
    let mut behind = None;
    for job in jobs {
        let result = match (&behind, job.seq) {
            // The log is followed in its order.
            (Some(error), Some(_)) => Err(NotWritten::Work(WriteError::clone(error))),
            (None, Some(seq)) => transact_logged(store, durability, job, seq),
            (_, None) => transact(store, durability, std::slice::from_ref(job)),
        };
        match result {
            Ok(()) => results.push(Ok(())),
            Err(NotWritten::Work(error)) => {
                if job.seq.is_some() {
                    behind = Some(error.clone());
                }
                results.push(Err(error));
            }
            Err(NotWritten::Begin(error)) => {
                results.resize(jobs.len(), Err(error));
                break;
            }
        }
    }
    results
}

fn transact(store: &Store, durability: Durability, jobs: &[Queued]) -> Result<(), NotWritten> {
    // What does not stand in the log is seldom, and may be anything.
    let runs = jobs.chunk_by(|one, next| one.seq.is_some() == next.seq.is_some());
    let runs: Vec<_> = runs.map(|jobs| (jobs, merged(jobs))).collect();
    store.transact(durability, |connection, tail| {
        for (jobs, merged) in &runs {
            match merged {
                Some(merged) => merged.apply(connection, tail)?,
                None => writes(jobs).try_for_each(|write| apply(connection, tail, write))?,
            }
        }
        match jobs.iter().filter_map(|queued| queued.seq).max() {
            Some(seq) => Ok(set_applied(connection, seq)?),
            None => Ok(()),
        }
    })
}

fn merged(jobs: &[Queued]) -> Option<Merged<'_>> {
    let is_logged = jobs.iter().all(|queued| queued.seq.is_some());
    is_logged.then(|| Merged::of(writes(jobs))).flatten()
}

fn writes(jobs: &[Queued]) -> impl Iterator<Item = &Write> {
    jobs.iter().flat_map(|queued| &queued.job.writes)
}

/// A job that stands in the log is not given up: what the rows refuse of it was true when it was written.
fn transact_logged(
    store: &Store,
    durability: Durability,
    queued: &Queued,
    seq: u64,
) -> Result<(), NotWritten> {
    store.transact(durability, |connection, tail| {
        match apply_whole(connection, tail, &queued.job.writes) {
            Ok(()) => {}
            Err(error @ WriteError::Unavailable { .. }) => return Err(error),
            Err(error) => salvage(connection, tail, &queued.job.writes, &error)?,
        }
        Ok(set_applied(connection, seq)?)
    })
}
