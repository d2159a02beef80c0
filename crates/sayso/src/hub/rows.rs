//! Sessions' own rows: written whenever something changes, and again until the disk has taken them. An agent's lines
//! wait for the row that they led to, and its runner for everything.

use std::time::Duration;

use sayso_broker::SessionId;
use sayso_store::Write;
use tokio::time::Instant;

use super::Hub;
use super::writes::AfterWrite;
use crate::agents::link::AgentHandle;

/// How long after a failed write the next try comes.
const SAVE_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A row on its way to the disk. What it says is looked up when it is written, so that a late one says nothing old.
#[derive(Debug)]
pub(super) struct RowWrite {
    session: SessionId,
    line: Option<WaitingLine>,
    /// What the history says of the change, in the same step.
    entries: Vec<Write>,
}

/// A line of an agent's output that is not done before the row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WaitingLine {
    /// Which of the session's agents.
    run: u64,
    line: u64,
}

/// A row that the disk did not take.
#[derive(Debug)]
pub(super) struct UnsavedRow {
    row: RowWrite,
    pub(super) retry_at: Instant,
}

impl UnsavedRow {
    /// What the history has to say in any case, should there be no session any more.
    pub(super) fn into_entries(self) -> Vec<Write> {
        self.row.entries
    }
}

/// The runner of an agent that has ended, while something of it is not on disk.
#[derive(Debug)]
pub(super) struct Leaving {
    session: SessionId,
    handle: AgentHandle,
    pub(super) retry_at: Instant,
}

impl Hub {
    pub(super) fn write_row(&mut self, session: SessionId, entries: Vec<Write>) {
        let line = self.run_of(session).map(|run| WaitingLine {
            run: run.number,
            line: run.progress.row_submitted(),
        });
        self.submit_row(RowWrite {
            session,
            line,
            entries,
        });
    }

    fn submit_row(&mut self, row: RowWrite) {
        self.save_fresh();
        let Some(known) = self.sessions.get(row.session) else {
            return;
        };
        let mut writes = row.entries.clone();
        writes.push(Write::PutSession(known.row().into()));
        if let Err(AfterWrite::Session(row)) = self.writes.submit(writes, AfterWrite::Session(row))
        {
            tracing::error!("too much is waiting to be written");
            self.row_not_written(row);
        }
    }

    pub(super) fn row_written(&mut self, row: &RowWrite) {
        if let Some(waiting) = row.line {
            self.line_goes_on(row.session, waiting);
        }
        self.acknowledge(row.session);
    }

    /// Of several that failed one is enough, and the first line waits for it.
    pub(super) fn row_not_written(&mut self, mut row: RowWrite) {
        let session = row.session;
        let Some(known) = self.sessions.get_mut(session) else {
            return self.keep_note(row.entries, "what the history says of a session");
        };
        let earlier = known.unsaved_row.take().map(|unsaved| unsaved.row);
        let mut released = None;
        if let Some(mut earlier) = earlier {
            released = match (earlier.line, row.line) {
                (Some(first), Some(second)) if first.run == second.run => {
                    row.line = Some(first);
                    Some(second)
                }
                (first, None) => {
                    row.line = first;
                    None
                }
                (_, Some(_)) => None,
            };
            earlier.entries.append(&mut row.entries);
            row.entries = earlier.entries;
        }
        known.unsaved_row = Some(UnsavedRow {
            row,
            retry_at: Instant::now() + SAVE_AGAIN_AFTER,
        });
        if let Some(waiting) = released {
            self.line_goes_on(session, waiting);
        }
    }

    fn line_goes_on(&mut self, session: SessionId, waiting: WaitingLine) {
        if let Some(run) = self.run_of(session)
            && run.number == waiting.run
        {
            run.progress.row_written(waiting.line);
        }
    }

    pub(super) fn save_rows(&mut self, now: Instant) {
        for session in self.sessions.rows_due(now) {
            let known = self.sessions.get_mut(session);
            if let Some(unsaved) = known.and_then(|known| known.unsaved_row.take()) {
                self.submit_row(unsaved.row);
            }
        }
    }

    /// The runner keeps what the agent said until all of it is on disk, and then goes.
    pub(super) fn forget_when_stored(&mut self, session: SessionId, handle: AgentHandle) {
        self.save_fresh();
        let Some(known) = self.sessions.get(session) else {
            return handle.forget();
        };
        // Writes are carried out in order, so this is the last of them.
        let row = Write::PutSession(known.row().into());
        let after = AfterWrite::Forget { session, handle };
        if let Err(AfterWrite::Forget { session, handle }) = self.writes.submit(vec![row], after) {
            self.forget_later(session, handle);
        }
    }

    /// The last write is done, but one before it may have failed.
    pub(super) fn last_row_written(&mut self, session: SessionId, handle: AgentHandle) {
        let known = self.sessions.get(session);
        let is_stored = known
            .is_none_or(|known| known.unsaved_row.is_none() && !known.transcript.has_unsaved());
        if is_stored && self.unwritten.is_empty() {
            handle.forget();
        } else {
            self.forget_later(session, handle);
        }
    }

    pub(super) fn forget_later(&mut self, session: SessionId, handle: AgentHandle) {
        self.leaving.push(Leaving {
            session,
            handle,
            retry_at: Instant::now() + SAVE_AGAIN_AFTER,
        });
    }

    /// After all else that is written again.
    pub(super) fn forget_again(&mut self, now: Instant) {
        for leaving in std::mem::take(&mut self.leaving) {
            if leaving.retry_at > now {
                self.leaving.push(leaving);
            } else {
                self.forget_when_stored(leaving.session, leaving.handle);
            }
        }
    }
}
