//! What the loop waits for. A plain `poll` and no runtime: there is a runner for each agent, and on the way of a
//! line most of what a runtime does would be for nothing.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::serve::Server;

/// What there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Output,
    Errors,
    Input,
    FromClient,
    ToClient,
    FromCandidate,
    Knock,
    Signal,
    Time,
}

/// As many as there are files.
const MOST_EVENTS: usize = 8;

/// Files, and what there is to do when one of them is ready.
struct Watch<'a> {
    files: Vec<PollFd<'a>>,
    events: Vec<Event>,
}

impl<'a> Watch<'a> {
    fn new() -> Self {
        Self {
            files: Vec::with_capacity(MOST_EVENTS),
            events: Vec::with_capacity(MOST_EVENTS + 1),
        }
    }

    /// Nothing is waited for where there is no file.
    fn add(&mut self, event: Event, file: Option<BorrowedFd<'a>>, flags: PollFlags) {
        if let Some(file) = file {
            self.files.push(PollFd::from_borrowed_fd(file, flags));
            self.events.push(event);
        }
    }

    /// All that there is to do, in the order in which it was added. A file with an error is ready, too: the error
    /// shows itself when it is used.
    fn wait(mut self, deadline: Option<Instant>) -> Result<Vec<Event>, Errno> {
        let patience = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        // What is too long for the system is for ever.
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        match poll(&mut self.files, patience.as_ref()) {
            Ok(_) => {
                let mut files = self.files.iter();
                self.events
                    .retain(|_| files.next().is_some_and(|file| !file.revents().is_empty()));
            }
            // A signal came; the next look finds it.
            Err(Errno::INTR) => self.events.clear(),
            Err(error) => return Err(error),
        }
        if deadline.is_some_and(|at| at <= Instant::now()) {
            self.events.push(Event::Time);
        }
        Ok(self.events)
    }
}

impl Server {
    /// The agent comes first, so that what it said is told before that it has ended.
    pub(super) fn next_events(&self) -> Result<Vec<Event>, Errno> {
        let output = self.output.pipe().filter(|_| self.may_read_output());
        let client = self.client.as_ref();
        let listens = client.filter(|client| client.wants_reading());
        let speaks =
            client.filter(|client| client.wants_writing(&self.journal, self.exited.as_ref()));
        let candidate = self.candidate.as_ref();
        let door = self.door.listener();
        let door = door.filter(|_| candidate.is_none() && !self.lending.has_successor());
        let mut watch = Watch::new();
        watch.add(Event::Output, output, PollFlags::IN);
        watch.add(Event::Errors, self.errors.pipe(), PollFlags::IN);
        watch.add(Event::Input, self.input.pipe(), PollFlags::OUT);
        watch.add(
            Event::FromClient,
            listens.map(|client| client.peer.as_fd()),
            PollFlags::IN,
        );
        watch.add(
            Event::ToClient,
            speaks.map(|client| client.peer.as_fd()),
            PollFlags::OUT,
        );
        watch.add(
            Event::FromCandidate,
            candidate.map(|candidate| candidate.peer.as_fd()),
            PollFlags::IN,
        );
        watch.add(Event::Knock, door, PollFlags::IN);
        watch.add(Event::Signal, Some(self.signals.as_fd()), PollFlags::IN);
        watch.wait(self.deadline())
    }
}
