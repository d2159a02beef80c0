//! The loop. It waits for everything in one place and does what has come at once: nothing else here waits for
//! anybody.

use std::io;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::client::Client;
use super::door::Door;
use super::input::{Input, Outcome};
use super::lending::Lending;
use super::log::Log;
use super::output::{Errors, LineTooLong, Output, Reading};
use super::peer::Candidate;
use super::signals::Signals;
use super::stage::Stage;
use super::wait::Event;
use crate::ending::{EndReason, Exited};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::process::{Agent, AgentPipes};
use crate::spec::Limits;
use crate::wire::{FromRunner, WriteFailure};

/// How long to wait before a failed write to the disk is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

pub(super) struct Server {
    pub(super) folder: Folder,
    pub(super) limits: Limits,
    pub(super) log: Log,
    pub(super) agent: Agent,
    pub(super) input: Input,
    pub(super) output: Output,
    pub(super) errors: Errors,
    pub(super) journal: Journal,
    pub(super) door: Door,
    pub(super) signals: Signals,
    pub(super) candidate: Option<Candidate>,
    pub(super) client: Option<Client>,
    pub(super) lending: Lending,
    pub(super) stage: Stage,
    pub(super) reason: EndReason,
    pub(super) exited: Option<Exited>,
    pub(super) end_is_saved: bool,
    /// Since when nobody is connected.
    pub(super) alone_since: Instant,
    pub(super) retry_at: Option<Instant>,
    /// The runner was asked to end.
    pub(super) leaving: bool,
    pub(super) farewell: Option<Farewell>,
}

/// How the runner goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    /// A client has everything.
    Forgotten,
    /// The files stay for whoever comes.
    Unclaimed,
}

impl Server {
    pub(super) fn new(
        folder: Folder,
        limits: Limits,
        (agent, pipes): (Agent, AgentPipes),
        door: Door,
        signals: Signals,
    ) -> Self {
        Self {
            log: Log::new(),
            agent,
            input: Input::new(pipes.stdin, &limits),
            output: Output::new(pipes.stdout, limits.line_bytes),
            errors: Errors::new(pipes.stderr),
            journal: Journal::new(folder.path(), &limits),
            door,
            signals,
            candidate: None,
            client: None,
            lending: Lending::default(),
            stage: Stage::Running,
            reason: EndReason::Itself,
            exited: None,
            end_is_saved: false,
            alone_since: Instant::now(),
            retry_at: None,
            leaving: false,
            farewell: None,
            folder,
            limits,
        }
    }

    pub(super) fn run(mut self) {
        let farewell = loop {
            self.turn();
            if let Some(farewell) = self.farewell {
                break farewell;
            }
        };
        self.take_from_gone();
        match farewell {
            Farewell::Forgotten => {
                if let Err(error) = self.folder.remove() {
                    self.log
                        .note(format_args!("the folder cannot be removed: {error}"));
                }
            }
            Farewell::Unclaimed => self.door.remove(),
        }
    }

    fn turn(&mut self) {
        match self.next_events() {
            Ok(events) => {
                for event in events {
                    self.handle(event);
                    if self.farewell.is_some() {
                        return;
                    }
                }
            }
            // For want of memory, most likely.
            Err(error) => {
                self.log
                    .note(format_args!("nothing can be waited for: {error}"));
                std::thread::sleep(RETRY_AFTER);
            }
        }
    }

    /// What was ready may not be any more after what was done before, so nothing here relies on it.
    fn handle(&mut self, event: Event) {
        match event {
            Event::Output => self.read_output(),
            Event::Errors => self.errors.read(),
            Event::Input => self.flush_input(),
            Event::FromClient => self.read_client(),
            Event::ToClient => self.flush_client(),
            Event::FromCandidate => self.read_candidate(),
            Event::Knock => self.let_in(),
            Event::Signal => self.hear_signal(),
            Event::Time => self.time_has_come(Instant::now()),
        }
        if !self.stage.has_process() && !self.stage.has_ended() {
            self.finish(Instant::now());
        }
        self.let_successor_in();
        self.lend();
    }

    /// Not while somebody else does, nor while the journal is full: then the pipe fills, and the agent waits.
    pub(super) fn may_read_output(&self) -> bool {
        let is_ours = self.output.is_open() && !self.lending.is_lent();
        is_ours && !self.journal.is_full() && self.journal.staged().is_empty()
    }

    fn read_output(&mut self) {
        // It was ready before it was lent.
        if !self.may_read_output() {
            return;
        }
        match self.output.read(&mut self.journal) {
            Ok(Reading::GoesOn | Reading::Dry) => {}
            Ok(Reading::Ended) => self.output_ended(Instant::now()),
            Err(too_long) => self.line_too_long(too_long),
        }
        self.commit();
    }

    pub(super) fn line_too_long(&mut self, too_long: LineTooLong) {
        self.output.abandon();
        self.kill(EndReason::LineTooLong {
            limit: too_long.limit,
        });
    }

    /// Into the journal first, then to a client that has all the rest.
    pub(super) fn commit(&mut self) {
        if self.journal.staged().is_empty() {
            return;
        }
        let exited = self.exited.as_ref();
        let current = self
            .client
            .as_mut()
            .filter(|client| client.is_current(&self.journal, exited));
        match self.journal.commit() {
            Ok(start) => {
                if let Some(client) = current {
                    client.send_committed(start, self.journal.staged());
                }
                self.journal.clear_staged();
            }
            Err(error) => self.retry_later(&error),
        }
    }

    pub(super) fn retry_later(&mut self, error: &io::Error) {
        self.log
            .note(format_args!("the disk takes nothing: {error}"));
        self.retry_at = Some(Instant::now() + RETRY_AFTER);
    }

    pub(super) fn flush_input(&mut self) {
        let client = &mut self.client;
        self.input.flush(|id, outcome| tell(client, id, outcome));
        if let Some(client) = client
            && self.input.is_read_again()
        {
            client.say(&FromRunner::InputTaken);
        }
        self.flush_client();
    }

    pub(super) fn end_input(&mut self, failure: WriteFailure) {
        let client = &mut self.client;
        self.input
            .end(failure, &mut |id, outcome| tell(client, id, outcome));
        self.flush_client();
    }

    pub(super) fn flush_client(&mut self) {
        if let Some(client) = &mut self.client
            && let Err(error) = client.flush(&self.journal, self.exited.as_ref())
        {
            self.client_gone(&error);
        }
    }

    fn hear_signal(&mut self) {
        self.signals.clear();
        if self.stage.has_process()
            && let Some(status) = self.agent.ended()
        {
            self.agent_ended(status, Instant::now());
        }
        if self.signals.is_asked_to_end() {
            self.asked_to_end();
        }
    }

    fn asked_to_end(&mut self) {
        if self.leaving {
            self.kill(EndReason::RunnerTerminated);
            // What holds it up now is the disk.
            if !self.stage.has_process() {
                self.farewell = Some(Farewell::Unclaimed);
            }
        }
        self.leaving = true;
        self.stop(EndReason::RunnerTerminated, Instant::now());
    }
}

pub(super) fn tell(client: &mut Option<Client>, id: Uuid, outcome: Outcome) {
    if let Some(client) = client {
        client.answer(id, outcome);
    }
}
