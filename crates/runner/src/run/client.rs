//! The one client.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::input::Outcome;
use super::loan::Loan;
use super::peer::{Peer, patiently};
use crate::ending::Exited;
use crate::journal::{Cursor, Journal, Position};
use crate::wire::{FromRunner, Lent, LineFrame, Welcome, frame};

/// How much a client may leave unread before it is not listened to.
const UNREAD_ANSWERS: usize = 64 * 1024;

/// How long the news that a line was written waits for what the agent says to it, so that both are sent together.
const UNTIL_TOLD: Duration = Duration::from_millis(1);

/// How many chunks a client gets before others have their turn.
const CHUNKS_AT_ONCE: usize = 16;

/// The one who has claimed the runner. Gets the journal from where it wants, in order, at its own pace, and
/// answers between the lines.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) peer: Peer,
    cursor: Cursor,
    answers: Vec<u8>,
    /// Of the answers, what was sent already.
    sent: usize,
    /// Until then, nothing among the answers has to be sent on its own.
    patient_until: Option<Instant>,
    knows_the_end: bool,
    /// How many bytes of what is staged it has from the agent itself.
    has_of_staged: usize,
    /// It would have the agent's pipes.
    pub(super) borrows: bool,
    /// It was told which ids are known.
    pub(super) knows_ids: bool,
    /// How many lines for the agent it has sent.
    pub(super) writes: u64,
    /// It has gone, but what it said before may not be read yet.
    deaf: bool,
}

impl Client {
    pub(super) fn new(
        peer: Peer,
        journal: &Journal,
        welcome: Welcome,
        after_seq: u64,
    ) -> io::Result<Self> {
        let mut client = Self {
            peer,
            cursor: Cursor::seek(journal, after_seq)?,
            answers: Vec::new(),
            sent: 0,
            patient_until: None,
            knows_the_end: false,
            has_of_staged: 0,
            borrows: false,
            knows_ids: false,
            writes: 0,
            deaf: false,
        };
        client.say(&FromRunner::Hello(welcome));
        Ok(client)
    }

    /// All that one hears who is not understood.
    pub(super) fn greet(&self) -> io::Result<usize> {
        self.peer.write(&self.answers)
    }

    pub(super) fn say(&mut self, message: &FromRunner<'_>) {
        self.patient_until = None;
        if !self.deaf {
            message.append(&mut self.answers);
        }
    }

    pub(super) fn answer(&mut self, id: Uuid, outcome: Outcome) {
        match outcome {
            Ok(()) => {
                let patient = match self.patient_until {
                    None if self.answers.is_empty() => Some(Instant::now() + UNTIL_TOLD),
                    already => already,
                };
                self.say(&FromRunner::Written(id));
                self.patient_until = patient;
            }
            Err(failure) => self.say(&FromRunner::WriteFailed(id, failure)),
        }
    }

    /// When the answers have to be sent, should the agent say nothing before.
    pub(super) fn tells_at(&self) -> Option<Instant> {
        self.patient_until
    }

    pub(super) fn lose_patience(&mut self) {
        self.patient_until = None;
    }

    /// The last line that went to the client as a whole, or that it had before.
    pub(super) fn sent_seq(&self) -> u64 {
        self.cursor.sent_seq()
    }

    pub(super) fn wants_reading(&self) -> bool {
        self.deaf || self.answers.len() < UNREAD_ANSWERS
    }

    pub(super) fn wants_writing(&self, journal: &Journal, exited: Option<&Exited>) -> bool {
        let tells_the_end = exited.is_some() && !self.knows_the_end;
        let answers = !self.answers.is_empty() && self.patient_until.is_none();
        (answers || !self.cursor.is_at_end(journal) || tells_the_end) && !self.deaf
    }

    /// It has everything, so that what comes next can be sent as it comes.
    pub(super) fn is_current(&self, journal: &Journal, exited: Option<&Exited>) -> bool {
        !self.deaf && (!self.wants_writing(journal, exited) || self.has_of_staged > 0)
    }

    /// It has read the lines up to this one itself, some of which are staged.
    pub(super) fn has_received(&mut self, seq: u64, staged: &[u8]) {
        self.cursor.pass_over(seq);
        let mut known = 0;
        while let Some(rest) = staged.get(known..)
            && let Some((next, length)) = LineFrame::peek_seq(rest).zip(frame::length(rest))
            && next <= seq
        {
            known += length;
        }
        self.has_of_staged = known;
    }

    /// Nothing is on its way to it.
    pub(super) fn has_everything(&self, journal: &Journal) -> bool {
        !self.deaf
            && self.answers.is_empty()
            && self.cursor.is_at_end(journal)
            && self.cursor.is_between_frames()
    }

    /// False when there is no room for it at the moment.
    pub(super) fn lend(&mut self, loan: &Loan, lent: Lent, pipes: [BorrowedFd<'_>; 2]) -> bool {
        let mut frame = Vec::new();
        FromRunner::Lent(lent).append(&mut frame);
        match patiently(loan.send(&self.peer, &frame, pipes)) {
            Ok(sent) if sent == frame.len() => true,
            Ok(0) => false,
            // Half of so little cannot be, and would be of no use.
            Ok(_) | Err(_) => {
                self.deaf = true;
                false
            }
        }
    }

    /// Sends what was just committed, straight from memory, behind the answers that waited for it. Only for a client
    /// that was current before.
    pub(super) fn send_committed(&mut self, start: Position, bytes: &[u8]) {
        let known = std::mem::take(&mut self.has_of_staged);
        let news = bytes.get(known..).unwrap_or_default();
        if news.is_empty() {
            return self.cursor.follow(start, bytes, known);
        }
        let answers = self.answers.get(self.sent..).unwrap_or_default();
        match self.peer.write_both(answers, news) {
            Ok(sent) => {
                let of_lines = sent.saturating_sub(answers.len());
                self.answers_sent(sent - of_lines);
                self.cursor.follow(start, bytes, known + of_lines);
            }
            Err(_) => self.deaf = true,
        }
    }

    /// Sends what the socket takes now: answers first, then the journal, and after all lines the end. An error
    /// is one of the journal; a client that cannot be written to may still have said something, so it stays
    /// until that is read.
    pub(super) fn flush(&mut self, journal: &Journal, exited: Option<&Exited>) -> io::Result<()> {
        for _ in 0..CHUNKS_AT_ONCE {
            // A line goes behind what was written before it.
            if !self.cursor.is_at_end(journal) {
                self.patient_until = None;
            }
            if self.deaf || !self.send_answers() {
                return Ok(());
            }
            let chunk = self.cursor.peek(journal)?;
            if chunk.is_empty() {
                match exited {
                    Some(exited) if !self.knows_the_end => {
                        self.knows_the_end = true;
                        self.say(&FromRunner::Exited(Box::new(exited.clone())));
                        continue;
                    }
                    Some(_) | None => return Ok(()),
                }
            }
            match self.peer.write(chunk) {
                Ok(0) => return Ok(()),
                Ok(sent) => self.cursor.advance(sent),
                Err(_) => self.deaf = true,
            }
        }
        Ok(())
    }

    /// False when there are some left that must come before anything else.
    fn send_answers(&mut self) -> bool {
        let waits = self.patient_until.is_some();
        if self.answers.is_empty() || waits || !self.cursor.is_between_frames() {
            return true;
        }
        let rest = self.answers.get(self.sent..).unwrap_or_default();
        match self.peer.write(rest) {
            Ok(sent) => self.answers_sent(sent),
            Err(_) => self.deaf = true,
        }
        self.answers.is_empty()
    }

    fn answers_sent(&mut self, count: usize) {
        self.patient_until = None;
        self.sent += count;
        if self.sent == self.answers.len() {
            self.answers.clear();
            self.sent = 0;
        }
    }

    /// The last word to one whose place is taken; left unsaid where it would cut a frame in two.
    pub(super) fn dismiss(mut self) {
        if self.cursor.is_between_frames() {
            self.say(&FromRunner::Replaced);
            let rest = self.answers.get(self.sent..).unwrap_or_default();
            let _ = self.peer.write(rest);
        }
    }
}
