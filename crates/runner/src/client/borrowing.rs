//! The pipes, while a runner has lent them: all that is done with them is done under the outbox's lock.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use uuid::Uuid;

use super::events::Event;
use super::handle::SendError;
use super::ids::Ids;
use super::loan::{Heard, Loan, Wrote};
use super::outbox::{Outbox, State};
use crate::loan::WAY_BYTES;
use crate::wire::{Again, Lent, Returned, ToRunner};

/// How often is read from an agent whose runner is gone; together more than a pipe holds.
const LAST_READS: usize = 16;

/// How long the runner keeps the pipes after a line that was not for the client to write. Where such lines follow each
/// other, going back and forth would cost more than it saves.
const REST: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct Borrowing {
    /// The runner knows that the pipes are wanted.
    wanted: bool,
    /// They are not, any more: the agent is to end.
    over: bool,
    /// They are not before then.
    rests_until: Option<Instant>,
    loan: Option<Loan>,
    /// The runner is gone; what its agent said is still to be handed out.
    orphaned: bool,
    /// How many lines for the agent the runner was given.
    writes: u64,
    ids: Ids,
    /// Lines that are with the agent, which is not told yet.
    written: VecDeque<Uuid>,
    /// Whoever takes the events looks at these soon, and need not be woken up.
    watched: bool,
}

impl Borrowing {
    /// The runner is given the line, so that one with its id is not for the client to write.
    pub(super) fn leave_to_runner(&mut self, id: Uuid, line: &[u8]) {
        self.writes += 1;
        if self.wanted {
            self.ids.add(id);
            if self.rests_until.is_some() && line.len() > WAY_BYTES {
                self.rest();
            }
        }
    }

    fn rest(&mut self) {
        self.rests_until = Some(Instant::now() + REST);
    }

    /// True once when the pipes are wanted again.
    fn has_rested(&mut self) -> bool {
        let has_rested = |until: Instant| until <= Instant::now();
        self.rests_until
            .take_if(|until| has_rested(*until))
            .is_some()
    }
}

/// What to wait for.
#[derive(Debug)]
pub(super) enum Waiting {
    /// There is something to tell.
    Over,
    ForRunner,
    /// Also for the agent itself.
    ForAgent {
        stdout: Arc<AsyncFd<OwnedFd>>,
        /// There is something to tell soon.
        soon: bool,
    },
}

/// For whoever has something to say.
impl Outbox {
    pub(super) fn borrow(&self) -> Result<(), SendError> {
        let mut state = self.lock();
        if state.closed {
            return Err(SendError::Closed);
        }
        if self.runner_lends && !std::mem::replace(&mut state.borrowing.wanted, true) {
            self.push(&mut state, &ToRunner::Borrow);
        }
        Ok(())
    }

    /// False when the runner has to be given the line.
    pub(super) fn write_to_agent(&self, state: &mut State, id: Uuid, line: &[u8]) -> bool {
        let borrowing = &mut state.borrowing;
        let Some(loan) = &mut borrowing.loan else {
            return false;
        };
        // The runner knows what became of a line that was sent before.
        let wrote = match borrowing.ids.contains(id) {
            true => Wrote::Nothing,
            false => loan.write(id, line),
        };
        if wrote != Wrote::Nothing {
            borrowing.ids.add(id);
        }
        if wrote == Wrote::Whole {
            borrowing.written.push_back(id);
            if !borrowing.watched {
                self.news.notify_one();
            }
        } else {
            borrowing.rest();
            self.give_back(state, Again::No);
        }
        wrote != Wrote::Nothing
    }

    pub(super) fn acknowledge(&self, seq: u64) -> Result<(), SendError> {
        let mut state = self.lock();
        if state.closed {
            return Err(SendError::Closed);
        }
        let loan = state.borrowing.loan.as_mut();
        if !loan.is_some_and(|loan| loan.acknowledge(seq)) {
            self.push(&mut state, &ToRunner::Ack(seq));
        }
        Ok(())
    }

    /// What leads to the agent's end, for which the runner needs its pipes.
    pub(super) fn send_last(&self, message: &ToRunner<'_>) -> Result<(), SendError> {
        let mut state = self.lock();
        if state.closed {
            return Err(SendError::Closed);
        }
        state.borrowing.over = true;
        self.give_back(&mut state, Again::No);
        self.push(&mut state, message);
        Ok(())
    }

    /// Nothing of it is held any more when the runner hears of it.
    pub(super) fn give_back(&self, state: &mut State, again: Again) {
        let returned = state.borrowing.loan.take().map(|loan| loan.received());
        let Some(received) = returned else {
            return;
        };
        if !state.closed {
            self.push(state, &ToRunner::Return(Returned { received, again }));
        }
        self.news.notify_one();
    }
}

/// For whoever takes the events.
impl Outbox {
    pub(super) fn remembered(&self, ids: &[u8]) {
        self.lock().borrowing.ids.set_earlier(ids);
    }

    pub(super) fn lent(&self, lent: &Lent, files: Vec<OwnedFd>) {
        let mut state = self.lock();
        // A line that is still on its way to the runner must not be overtaken.
        let in_order = lent.writes == state.borrowing.writes;
        let loan = match in_order && !state.borrowing.over && !state.closed {
            true => Loan::new(lent, files, self.line_bytes),
            false => None,
        };
        if loan.is_some() {
            state.borrowing.loan = loan;
            return;
        }
        let again = match in_order || state.borrowing.over {
            true => Again::No,
            false => Again::Yes,
        };
        let received = lent.next_seq.saturating_sub(1);
        self.push(&mut state, &ToRunner::Return(Returned { received, again }));
    }

    pub(super) fn recalled(&self) {
        self.give_back(&mut self.lock(), Again::Yes);
    }

    /// The next thing that the pipes have led to. That a line is with the agent comes before anything the agent says
    /// after it, and at the latest when the `time_has_come`.
    pub(super) fn next_event(&self, time_has_come: bool) -> Option<Event> {
        let mut state = self.lock();
        if state.borrowing.has_rested() && !state.closed {
            self.push(&mut state, &ToRunner::Borrow);
        }
        let borrowing = &mut state.borrowing;
        let has_line = borrowing.loan.as_mut().is_some_and(Loan::has_line);
        if (time_has_come || has_line || borrowing.loan.is_none())
            && let Some(id) = borrowing.written.pop_front()
        {
            return Some(Event::Written(id));
        }
        let loan = borrowing.loan.as_mut()?;
        if let Some((seq, bytes)) = loan.next_line() {
            return Some(Event::Line {
                seq,
                fragment: false,
                bytes,
            });
        }
        if borrowing.orphaned {
            borrowing.loan = None;
        } else if loan.is_used_up() {
            self.give_back(&mut state, Again::Yes);
        } else {
            return None;
        }
        let written = &mut state.borrowing.written;
        written.pop_front().map(Event::Written)
    }

    /// `watched` when whoever asks will look again soon in any case.
    pub(super) fn waiting(&self, watched: bool) -> Waiting {
        let mut state = self.lock();
        let borrowing = &mut state.borrowing;
        let soon = !borrowing.written.is_empty();
        match &borrowing.loan {
            Some(loan) => {
                borrowing.watched = watched || soon;
                let stdout = loan.stdout();
                Waiting::ForAgent { stdout, soon }
            }
            None if soon => Waiting::Over,
            None => Waiting::ForRunner,
        }
    }

    /// Looks at what the agent has said. False when there may be more.
    pub(super) fn hear_agent(&self) -> bool {
        let mut state = self.lock();
        let Some(loan) = &mut state.borrowing.loan else {
            return false;
        };
        match loan.hear() {
            Heard::Something => false,
            Heard::All => true,
            Heard::Ended if loan.is_taken() => {
                // The runner has closed the connection, too.
                state.borrowing.loan = None;
                false
            }
            Heard::Ended => {
                self.give_back(&mut state, Again::No);
                false
            }
        }
    }

    /// Nobody is there any more to give the pipes back to. What the agent has said by now is still handed out, unless
    /// the runner has it, and then the pipes are closed.
    pub(super) fn lost(&self) {
        let mut state = self.lock();
        state.closed = true;
        let borrowing = &mut state.borrowing;
        borrowing.loan = borrowing.loan.take().filter(|loan| !loan.is_taken());
        if let Some(loan) = &mut borrowing.loan {
            borrowing.orphaned = true;
            let mut reads = 0..LAST_READS;
            while reads.next().is_some() && loan.hear() == Heard::Something {}
        }
    }
}
