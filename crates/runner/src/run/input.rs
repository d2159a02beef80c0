//! The agent's input: lines with ids, each written once.

use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use uuid::Uuid;

use crate::spec::Limits;
use crate::wire::WriteFailure;

/// How many ids are remembered. Only those of lines that were not confirmed can come again, and few lines fit
/// into the queue, so this is far more than needed.
const REMEMBERED_IDS: usize = 16 * 1024;

/// What became of a line.
pub(super) type Outcome = Result<(), WriteFailure>;

#[derive(Debug)]
pub(super) struct Input {
    pipe: Option<OwnedFd>,
    queue: VecDeque<Waiting>,
    queued_bytes: usize,
    /// No line is taken any more; the pipe is closed when the queue is empty.
    closing: bool,
    /// The pipe is a client's, for now.
    lent: bool,
    failure: WriteFailure,
    known: HashMap<Uuid, Option<Outcome>>,
    order: VecDeque<Uuid>,
    max_lines: usize,
    max_bytes: usize,
    /// Since when the agent has taken nothing of what waits for it.
    stuck_since: Option<Instant>,
    /// What the client was told of that.
    told: Option<Told>,
    /// It was told, and the agent has read since.
    read_again: bool,
    wait_after: Duration,
    stall_after: Duration,
}

/// What a client is told of an agent that does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Waits,
    Stalled,
}

#[derive(Debug)]
struct Waiting {
    id: Uuid,
    /// With its line end.
    line: Vec<u8>,
    written: usize,
}

impl Input {
    pub(super) fn new(pipe: OwnedFd, limits: &Limits) -> Self {
        Self {
            pipe: Some(pipe),
            queue: VecDeque::new(),
            queued_bytes: 0,
            closing: false,
            lent: false,
            failure: WriteFailure::InputClosed,
            known: HashMap::new(),
            order: VecDeque::new(),
            max_lines: limits.input_lines,
            max_bytes: limits.input_bytes,
            stuck_since: None,
            told: None,
            read_again: false,
            wait_after: limits.input_wait,
            stall_after: limits.input_stall,
        }
    }

    /// Takes a line, or says at once what became of it. A line that is taken is heard of from
    /// [`flush`](Self::flush), once, however often its id was said.
    pub(super) fn take(&mut self, id: Uuid, line: &[u8]) -> Option<Outcome> {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        if self.closing || self.pipe.is_none() {
            return Some(Err(self.failure));
        }
        let bytes = self.queued_bytes + line.len() + 1;
        // One line of any length is always possible, or it would be refused for ever.
        let too_much = !self.queue.is_empty() && bytes > self.max_bytes;
        if too_much || self.queue.len() >= self.max_lines {
            return Some(Err(WriteFailure::Overloaded));
        }
        let mut with_end = Vec::with_capacity(line.len() + 1);
        with_end.extend_from_slice(line);
        with_end.push(b'\n');
        self.queued_bytes = bytes;
        self.queue.push_back(Waiting {
            id,
            line: with_end,
            written: 0,
        });
        self.remember(id);
        None
    }

    /// A client has written this line itself.
    pub(super) fn learn(&mut self, id: Uuid) {
        self.remember(id);
        self.known.insert(id, Some(Ok(())));
    }

    /// A client has begun with this line; the rest goes before all others. Says what became of it if that is clear.
    pub(super) fn finish_line(&mut self, id: Uuid, rest: Vec<u8>) -> Option<Outcome> {
        self.remember(id);
        if self.pipe.is_none() {
            self.known.insert(id, Some(Err(self.failure)));
            return Some(Err(self.failure));
        }
        self.queued_bytes += rest.len();
        self.queue.push_front(Waiting {
            id,
            line: rest,
            written: 0,
        });
        None
    }

    /// The pipe, if nothing is to be written to it.
    pub(super) fn idle_pipe(&self) -> Option<BorrowedFd<'_>> {
        let idle = self.queue.is_empty() && !self.closing && !self.lent;
        self.pipe.as_ref().filter(|_| idle).map(AsFd::as_fd)
    }

    /// Nothing is written, and the pipe stays open, until it is back.
    pub(super) fn set_lent(&mut self, lent: bool) {
        self.lent = lent;
    }

    /// All ids, 16 bytes each.
    pub(super) fn known_ids(&self) -> Vec<u8> {
        self.order.iter().flat_map(|id| *id.as_bytes()).collect()
    }

    fn remember(&mut self, id: Uuid) {
        // The queue is at the other end and shorter, so what is forgotten is settled. Before there is one more,
        // which would double the room that they take.
        if self.order.len() >= REMEMBERED_IDS.max(self.max_lines)
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.known.insert(id, None);
        self.order.push_back(id);
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.known.len()
    }

    pub(super) fn has_waiting(&self) -> bool {
        self.pipe.is_some() && !self.queue.is_empty()
    }

    /// Where to wait until the agent takes more; `None` while nothing waits for that.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        let waits = self.has_waiting() && !self.lent;
        let pipe = self.pipe.as_ref().filter(|_| waits);
        pipe.map(AsFd::as_fd)
    }

    /// Writes what the agent takes now, and tells which lines are through.
    pub(super) fn flush(&mut self, mut told: impl FnMut(Uuid, Outcome)) {
        if self.lent {
            return;
        }
        while let (Some(pipe), Some(waiting)) = (&self.pipe, self.queue.front_mut()) {
            let rest = waiting.line.get(waiting.written..).unwrap_or_default();
            match rustix::io::write(pipe, rest) {
                Ok(count) => {
                    waiting.written += count;
                    self.stuck_since = None;
                    self.read_again |= self.told.take().is_some();
                    if waiting.written == waiting.line.len() {
                        self.settle_first(Ok(()), &mut told);
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.stuck_since.get_or_insert_with(Instant::now);
                    return;
                }
                Err(_) => self.end(WriteFailure::InputClosed, &mut told),
            }
        }
        if self.closing {
            self.pipe = None;
        }
    }

    /// When there will be something to tell of an agent that does not read.
    pub(super) fn news_at(&self) -> Option<Instant> {
        let since = self.stuck_since.filter(|_| self.has_waiting())?;
        let after = match self.told {
            None => self.wait_after.min(self.stall_after),
            Some(Told::Waits) => self.stall_after,
            Some(Told::Stalled) => return None,
        };
        since.checked_add(after)
    }

    /// What is to be told now; once.
    pub(super) fn news(&mut self, now: Instant) -> Option<Told> {
        self.news_at().filter(|at| *at <= now)?;
        let stalls_at = self.stuck_since?.checked_add(self.stall_after);
        let news = match stalls_at {
            Some(at) if at <= now => Told::Stalled,
            Some(_) | None => Told::Waits,
        };
        self.told = Some(news);
        self.told
    }

    /// True once when the agent has read after the client was told that it does not.
    pub(super) fn is_read_again(&mut self) -> bool {
        std::mem::take(&mut self.read_again)
    }

    /// There is somebody new to tell.
    pub(super) fn nothing_is_told(&mut self) {
        self.told = None;
    }

    fn settle_first(&mut self, outcome: Outcome, told: &mut impl FnMut(Uuid, Outcome)) {
        if let Some(waiting) = self.queue.pop_front() {
            self.queued_bytes -= waiting.line.len();
            if let Some(known) = self.known.get_mut(&waiting.id) {
                *known = Some(outcome);
            }
            told(waiting.id, outcome);
        }
    }

    /// After what is queued already.
    pub(super) fn close(&mut self) {
        self.closing = true;
        if self.queue.is_empty() && !self.lent {
            self.pipe = None;
        }
    }

    /// Now; what is queued has failed.
    pub(super) fn end(&mut self, failure: WriteFailure, told: &mut impl FnMut(Uuid, Outcome)) {
        self.pipe = None;
        self.failure = failure;
        while !self.queue.is_empty() {
            self.settle_first(Err(failure), told);
        }
        self.queue = VecDeque::new();
    }
}
