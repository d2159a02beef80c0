//! The agent's pipes in a client's hands: when they are lent, and how they come back.

use std::io;
use std::time::{Duration, Instant};

use super::loan::Loan;
use super::peer::Peer;
use super::serve::{Server, tell};
use super::stage::Stage;
use crate::loan::{LEAST_ROOM, POSSIBLE, SAID_BYTES};
use crate::wire::{Again, ClientHello, FromRunner, Lent, Returned};

/// How long a client that lives may take to give the pipes back.
const UNTIL_RETURNED: Duration = Duration::from_secs(2);

/// How much of a line may have been read when the pipes are lent. Less than the least room, or they would come back
/// before anything was done.
const PARTIAL_BYTES: usize = 32 * 1024;

/// All that there is of it.
#[derive(Debug, Default)]
pub(super) struct Lending {
    loan: Option<Loan>,
    /// The pipes are wanted back until then.
    recalled: Option<Instant>,
    /// What the last loan left, to be used again.
    spare: Option<Loan>,
    /// Whoever comes next, when the pipes are back.
    successor: Option<(Peer, ClientHello)>,
}

impl Lending {
    pub(super) fn is_lent(&self) -> bool {
        self.loan.is_some()
    }

    pub(super) fn has_successor(&self) -> bool {
        self.successor.is_some()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.recalled
    }
}

impl Server {
    /// A client would have the pipes. Lines that it must not write itself are those that may be with the agent.
    pub(super) fn borrow(&mut self) {
        if let Some(client) = self.client.as_mut().filter(|_| POSSIBLE) {
            client.borrows = true;
            let ids = self.input.known_ids();
            // Later it knows its own.
            if !ids.is_empty() && !std::mem::replace(&mut client.knows_ids, true) {
                client.say(&FromRunner::Remembered(&ids));
            }
        }
    }

    /// Lends the pipes if somebody wants them and nothing is on its way between client and agent.
    pub(super) fn lend(&mut self) {
        let wanted = self.client.as_ref().is_some_and(|client| client.borrows);
        if !wanted || !self.is_at_rest() {
            return;
        }
        // What waits for something to be told with waits for this.
        if let Some(client) = &mut self.client {
            client.lose_patience();
        }
        self.flush_client();
        let Some(client) = self.client.as_mut() else {
            return;
        };
        let (Some(stdin), Some((stdout, partial))) =
            (self.input.idle_pipe(), self.output.lendable(PARTIAL_BYTES))
        else {
            return;
        };
        if !client.has_everything(&self.journal) {
            return;
        }
        let lent = Lent {
            next_seq: self.journal.next_seq(),
            writes: client.writes,
            room: self.journal.room().min(SAID_BYTES),
        };
        match Loan::new(self.lending.spare.take(), lent.next_seq, partial) {
            Ok(loan) => {
                if client.lend(&loan, lent, [stdin, stdout]) {
                    client.borrows = false;
                    self.lending.loan = Some(loan);
                    self.input.set_lent(true);
                    self.output.forget_partial();
                }
            }
            Err(error) => {
                client.borrows = false;
                self.log
                    .note(format_args!("the pipes cannot be lent: {error}"));
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        self.stage == Stage::Running
            && !self.lending.is_lent()
            && !self.lending.has_successor()
            && self.input.idle_pipe().is_some()
            && self.output.lendable(PARTIAL_BYTES).is_some()
            && self.journal.staged().is_empty()
            && self.journal.room() >= LEAST_ROOM
            && self
                .client
                .as_ref()
                .is_some_and(|client| client.is_current(&self.journal, None))
    }

    /// The pipes are needed here. They come back, or are taken.
    pub(super) fn recall(&mut self, now: Instant) {
        if self.lending.is_lent() && self.lending.recalled.is_none() {
            self.lending.recalled = Some(now + UNTIL_RETURNED);
            if let Some(client) = &mut self.client {
                client.say(&FromRunner::Recall);
            }
            self.flush_client();
        }
    }

    /// Whoever has them lives and does not answer. It may come again, as somebody new, if nobody else has.
    pub(super) fn lose_patience_with_borrower(&mut self) {
        if self.lending.has_successor()
            && let Some(older) = self.client.take()
        {
            self.take_from_gone();
            return older.dismiss();
        }
        let error = io::Error::new(io::ErrorKind::TimedOut, "it does not give the pipes back");
        self.client_gone(&error);
    }

    pub(super) fn returned(&mut self, returned: Returned) {
        let Some(loan) = self.lending.loan.take() else {
            return;
        };
        self.take_back(&loan, Some(returned.received));
        if let Some(client) = &mut self.client {
            client.borrows = returned.again == Again::Yes;
        }
        self.lending.spare = loan.cleared();
    }

    /// Whoever had them is gone, or as good as gone.
    pub(super) fn take_from_gone(&mut self) {
        if let Some(loan) = self.lending.loan.take() {
            if let Err(error) = loan.seal() {
                self.log.note(format_args!(
                    "a client cannot be kept from the pipes: {error}"
                ));
            }
            self.take_back(&loan, None);
        }
    }

    /// Goes on from exactly where the client was. It has `received` the lines up to that one itself.
    fn take_back(&mut self, loan: &Loan, received: Option<u64>) {
        self.lending.recalled = None;
        self.input.set_lent(false);
        let left = match loan.collect() {
            Ok(left) => left,
            Err(error) => {
                return self.log.note(format_args!(
                    "what a client has done cannot be read: {error}"
                ));
            }
        };
        for id in left.ids {
            self.input.learn(id);
        }
        if let Some((id, rest)) = left.unfinished
            && let Some(outcome) = self.input.finish_line(id, rest)
        {
            tell(&mut self.client, id, outcome);
        }
        if left.acknowledged >= loan.first_seq() {
            self.journal.pass_over(left.acknowledged);
        }
        let cut = self.output.go_on_after(&left.said, &mut self.journal);
        if let Some((client, received)) = self.client.as_mut().zip(received) {
            let received = received.min(self.journal.last_staged());
            client.has_received(received, self.journal.staged());
        }
        if let Err(too_long) = cut {
            self.line_too_long(too_long);
        }
        self.commit();
        self.flush_input();
    }

    pub(super) fn wait_as_successor(&mut self, peer: Peer, hello: ClientHello) {
        self.lending.successor = Some((peer, hello));
    }

    /// Lets in who has waited for the pipes to come back.
    pub(super) fn let_successor_in(&mut self) {
        if !self.lending.is_lent()
            && let Some((peer, hello)) = self.lending.successor.take()
        {
            self.claimed(peer, hello);
        }
    }
}
