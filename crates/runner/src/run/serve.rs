//! The loop. It waits for one thing at a time and does it at once: everything is ready to be read or written
//! when it is, and nothing here waits for anybody.

use std::io;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::door::Door;
use super::input::{Input, Outcome};
use super::log::Log;
use super::output::{Errors, Output, Reading};
use super::peer::{Candidate, Client};
use super::stage::Stage;
use crate::ending::{EndReason, Exited};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::process::{Agent, AgentPipes, Status};
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
    pub(super) candidate: Option<Candidate>,
    pub(super) client: Option<Client>,
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

/// The signals that a runner hears. It has no terminal, so a hang-up means nothing to it.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn asked_to_end(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hang_up.recv() => {}
            }
        }
    }
}

enum Event {
    Output,
    Errors,
    Input,
    FromClient,
    ToClient,
    FromCandidate,
    Connected(io::Result<UnixStream>),
    AgentEnded(Status),
    AskedToEnd,
    Time,
}

impl Server {
    pub(super) fn new(
        folder: Folder,
        limits: Limits,
        (agent, pipes): (Agent, AgentPipes),
        door: Door,
    ) -> Self {
        Self {
            log: Log::new(),
            agent,
            input: Input::new(pipes.stdin, &limits),
            output: Output::new(pipes.stdout, limits.line_bytes),
            errors: Errors::new(pipes.stderr),
            journal: Journal::new(folder.path(), &limits),
            door,
            candidate: None,
            client: None,
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

    pub(super) async fn run(mut self, mut signals: Signals) {
        let farewell = loop {
            let event = self.next_event(&mut signals).await;
            self.handle(event);
            if let Some(farewell) = self.farewell {
                break farewell;
            }
        };
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

    async fn next_event(&mut self, signals: &mut Signals) -> Event {
        let reads_output = self.may_read_output();
        let deadline = self.deadline();
        let client = self.client.as_ref();
        let listens = client.filter(|client| client.wants_reading());
        let speaks =
            client.filter(|client| client.wants_writing(&self.journal, self.exited.as_ref()));
        let candidate = self.candidate.as_ref();
        tokio::select! {
            () = self.output.readable(), if reads_output => Event::Output,
            () = self.errors.readable(), if self.errors.is_open() => Event::Errors,
            () = self.input.writable(), if self.input.has_waiting() => Event::Input,
            () = of(listens, |client| client.peer.readable()) => Event::FromClient,
            () = of(speaks, Client::writable) => Event::ToClient,
            () = of(candidate, |candidate| candidate.peer.readable()) => Event::FromCandidate,
            stream = self.door.accept(), if candidate.is_none() && self.door.is_open() => Event::Connected(stream),
            status = self.agent.wait(), if self.stage.has_process() => Event::AgentEnded(status),
            () = signals.asked_to_end() => Event::AskedToEnd,
            () = of(deadline, sleep_until) => Event::Time,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Output => self.read_output(),
            Event::Errors => self.errors.read(),
            Event::Input => self.flush_input(),
            Event::FromClient => self.read_client(),
            Event::ToClient => self.flush_client(),
            Event::FromCandidate => self.read_candidate(),
            Event::Connected(stream) => self.connected(stream),
            Event::AgentEnded(status) => self.agent_ended(status, Instant::now()),
            Event::AskedToEnd => self.asked_to_end(),
            Event::Time => self.time_has_come(Instant::now()),
        }
        if !self.stage.has_process() && !self.stage.has_ended() {
            self.finish(Instant::now());
        }
    }

    /// Not while the journal is full: then the pipe fills, and the agent waits.
    pub(super) fn may_read_output(&self) -> bool {
        self.output.is_open() && !self.journal.is_full() && self.journal.staged().is_empty()
    }

    fn read_output(&mut self) {
        match self.output.read(&mut self.journal) {
            Ok(Reading::GoesOn | Reading::Dry) => {}
            Ok(Reading::Ended) => self.output_ended(Instant::now()),
            Err(too_long) => {
                self.output.abandon();
                self.kill(EndReason::LineTooLong {
                    limit: too_long.limit,
                });
            }
        }
        self.commit();
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

fn tell(client: &mut Option<Client>, id: Uuid, outcome: Outcome) {
    if let Some(client) = client {
        client.answer(id, outcome);
    }
}

/// Waits for what is there, and for ever for what is not.
async fn of<T, F: Future<Output = ()>>(thing: Option<T>, wait: impl FnOnce(T) -> F) {
    match thing {
        Some(thing) => wait(thing).await,
        None => std::future::pending().await,
    }
}
