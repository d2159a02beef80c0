//! What clients say and what becomes of it.

use std::io;
use std::time::{Duration, Instant};

use super::client::Client;
use super::peer::{Arrived, Candidate, Peer};
use super::serve::{Farewell, Server};
use crate::ending::EndReason;
use crate::loan;
use crate::wire::frame::{FRAME_OVERHEAD, FrameError};
use crate::wire::{AgentSignal, ClientHello, PROTOCOL_VERSION, ToRunner, Welcome};

/// How long somebody may be connected without saying hello.
const UNTIL_HELLO: Duration = Duration::from_secs(5);

/// How often is read from a client that is being replaced; together more than a socket holds.
const LAST_READS: usize = 16;

impl Server {
    pub(super) fn let_in(&mut self) {
        let now = Instant::now();
        match self.door.accept() {
            Ok(None) => {}
            Ok(Some(stream)) => {
                let frame_bytes = self.limits.line_bytes.saturating_add(FRAME_OVERHEAD);
                self.candidate = Some(Candidate {
                    peer: Peer::new(stream, frame_bytes),
                    until: now + UNTIL_HELLO,
                });
            }
            Err(error) => {
                self.log.note(format_args!("nobody can connect: {error}"));
                self.door.rest(now);
            }
        }
    }

    pub(super) fn read_candidate(&mut self) {
        let Some(mut candidate) = self.candidate.take() else {
            return;
        };
        if candidate.peer.read().is_err() {
            return;
        }
        let hello = match candidate.peer.inbox.next_frame() {
            Ok(None) => {
                self.candidate = Some(candidate);
                return;
            }
            Ok(Some(frame)) => ToRunner::read(frame),
            Err(error) => Err(error),
        };
        match hello {
            Ok(ToRunner::Hello(hello)) => self.claimed(candidate.peer, hello),
            Ok(_) => self.log.note("somebody connected and did not say hello"),
            Err(error) => self
                .log
                .note(format_args!("somebody connected and sent {error}")),
        }
    }

    /// The newest client wins.
    pub(super) fn claimed(&mut self, peer: Peer, hello: ClientHello) {
        if hello.version == PROTOCOL_VERSION {
            self.hear_the_last_of_the_older();
            if self.lending.is_lent() {
                self.recall(Instant::now());
                return self.wait_as_successor(peer, hello);
            }
        }
        let welcome = Welcome {
            version: PROTOCOL_VERSION,
            agent_pid: self.agent.id(),
            next_seq: self.journal.next_seq(),
            first_available_seq: self.journal.first_available(),
            line_bytes: self.limits.line_bytes,
            lends: loan::POSSIBLE,
        };
        let client = match Client::new(peer, &self.journal, welcome, hello.after_seq) {
            Ok(client) => client,
            Err(error) => {
                return self
                    .log
                    .note(format_args!("the journal cannot be read: {error}"));
            }
        };
        if hello.version != PROTOCOL_VERSION {
            // It hears which version is spoken here, and no more.
            self.log
                .note(format_args!("a client speaks version {}", hello.version));
            let _ = client.greet();
            return;
        }
        self.input.nothing_is_told();
        if let Some(older) = self.client.replace(client) {
            older.dismiss();
        }
        // More than the greeting may have arrived.
        self.hear_client();
    }

    /// What it said before the newer one came still counts: most often it is dead, and this its last will.
    fn hear_the_last_of_the_older(&mut self) {
        for _ in 0..LAST_READS {
            let Some(older) = &mut self.client else {
                return;
            };
            match older.peer.read() {
                Ok(Arrived::Something) => self.hear_client(),
                Ok(Arrived::Nothing) | Err(_) => return,
            }
        }
    }

    pub(super) fn client_gone(&mut self, error: &io::Error) {
        if !matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionReset
        ) {
            self.log
                .note(format_args!("the client is cut off: {error}"));
        }
        // It is cut off when it can do no more.
        let gone = self.client.take();
        self.take_from_gone();
        drop(gone);
        self.alone_since = Instant::now();
        if let Err(error) = self.door.restore() {
            self.log
                .note(format_args!("the socket cannot be made: {error}"));
        }
    }

    pub(super) fn read_client(&mut self) {
        let Some(client) = &mut self.client else {
            return;
        };
        match client.peer.read() {
            Ok(_) => self.hear_client(),
            Err(error) => self.client_gone(&error),
        }
    }

    /// Everything that has arrived, and then all answers in one.
    fn hear_client(&mut self) {
        while let Some(client) = &mut self.client {
            let message = match client.peer.inbox.next_frame() {
                Ok(None) => break,
                Ok(Some(frame)) => ToRunner::read(frame),
                Err(error) => Err(error),
            };
            match message {
                Ok(ToRunner::Write { id, line }) => {
                    client.writes += 1;
                    if let Some(outcome) = self.input.take(id, line) {
                        client.answer(id, outcome);
                    }
                }
                Ok(ToRunner::Ack(seq)) => {
                    let seq = seq.min(client.sent_seq());
                    self.journal.acknowledge(seq);
                }
                Ok(ToRunner::CloseInput) => {
                    self.input.close();
                    self.recall(Instant::now());
                }
                Ok(ToRunner::Signal(AgentSignal::Terminate)) => self.agent.terminate(),
                Ok(ToRunner::Signal(AgentSignal::Kill)) => self.agent.kill(),
                Ok(ToRunner::Stop) => self.stop(EndReason::Stopped, Instant::now()),
                Ok(ToRunner::Borrow) => self.borrow(),
                Ok(ToRunner::Return(returned)) => self.returned(returned),
                Ok(ToRunner::Forget) if self.stage.has_ended() => {
                    self.farewell = Some(Farewell::Forgotten);
                }
                Ok(ToRunner::Forget) => self.log.note("an agent that lives is not forgotten"),
                Ok(ToRunner::Hello(_)) => return self.not_understood(&FrameError::Malformed(0)),
                Err(error) => return self.not_understood(&error),
            }
        }
        self.flush_input();
    }

    fn not_understood(&mut self, error: &FrameError) {
        let error = io::Error::new(io::ErrorKind::InvalidData, error.to_string());
        self.client_gone(&error);
    }
}
