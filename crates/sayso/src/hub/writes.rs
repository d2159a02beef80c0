//! Writes under way, and what each one is waited for.

use sayso_broker::{Json, RecordId, SessionId};
use sayso_protocol::Ack;
use sayso_store::{Backlog, Completion, LoggedWriter, SubmitError, Write, WriteJob};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::ById;
use super::message::{Caller, NotWritten};
use super::messages::Outgoing;
use super::rows::RowWrite;
use super::sessions::Session;
use super::transcript::Entry;
use crate::agents::link::AgentHandle;

/// How many writes may be under way before agents are held back.
const MOST_UNDER_WAY: usize = 2048;
/// How far the database may be behind its log before agents are held back. It is many times what one transaction holds,
/// or agents would wait for each of those.
const MOST_BEHIND: Backlog = Backlog {
    jobs: 8192,
    bytes: 32 * 1024 * 1024,
};
/// Room beyond that for what clients cause.
pub(super) const QUEUE: usize = MOST_BEHIND.jobs + 4096;

/// What happens when a write is done.
#[derive(Debug)]
pub(super) enum AfterWrite {
    /// The broker waits for it.
    Record {
        record: RecordId,
        /// The request that is new, by its agent's own id.
        asked: Option<(SessionId, Json)>,
    },
    Entries {
        session: SessionId,
        entries: Vec<Entry>,
    },
    /// A conversation from elsewhere, with the one who asked for it.
    Imported {
        caller: Caller,
        session: Box<Session>,
    },
    /// A rule was changed by somebody who waits.
    Rule { caller: Caller, ack: Box<Ack> },
    /// A session's own row; its agent's lines wait for it.
    Session(RowWrite),
    /// A human's message, which is sent when it is on disk.
    Message(Box<Outgoing>),
    /// The agent has ended, and this is the last that is stored of it.
    Forget {
        session: SessionId,
        handle: AgentHandle,
    },
    /// Nobody waits, but it must not get lost: tried again until it is written.
    Kept(Note),
    /// Somebody outside of the hub waits.
    Told(oneshot::Sender<Result<(), NotWritten>>),
    /// Nobody waits; a failure is logged.
    Nothing(&'static str),
}

/// Something that happened and has to be on record, whenever the disk takes it.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) what: &'static str,
    pub(super) writes: Vec<Write>,
    pub(super) retry_at: Instant,
}

#[derive(Debug)]
pub(super) struct Writes {
    writer: Option<LoggedWriter>,
    under_way: ById<u64, AfterWrite>,
    next_token: u64,
}

impl Writes {
    pub(super) fn new(writer: LoggedWriter) -> Self {
        Self {
            writer: Some(writer),
            under_way: ById::default(),
            next_token: 0,
        }
    }

    /// Whether more can be written soon. Where it is not so, a completion or [`Self::followed`] tells when to ask again.
    pub(super) fn has_room(&self) -> bool {
        self.under_way.len() < MOST_UNDER_WAY && !self.is_behind()
    }

    /// Whether the database is far behind its log.
    pub(super) fn is_behind(&self) -> bool {
        let writer = self.writer.as_ref();
        writer.is_some_and(|writer| !writer.backlog().is_below(MOST_BEHIND))
    }

    pub(super) async fn followed(&self) {
        match &self.writer {
            Some(writer) => writer.followed(MOST_BEHIND).await,
            None => std::future::pending().await,
        }
    }

    /// Writes what was submitted. Gives what is done already; the rest comes as completions.
    pub(super) fn flush(&mut self) -> Vec<Completion> {
        let writer = self.writer.as_mut();
        writer.map_or_else(Vec::new, LoggedWriter::flush)
    }

    /// Takes a write, which is made by the next flush. Gives `after` back when there is no room.
    pub(super) fn submit(
        &mut self,
        writes: Vec<Write>,
        after: AfterWrite,
    ) -> Result<(), AfterWrite> {
        self.next_token += 1;
        let token = self.next_token;
        let Some(writer) = &mut self.writer else {
            return Err(after);
        };
        match writer.submit(WriteJob { token, writes }) {
            Ok(()) => {
                self.under_way.insert(token, after);
                Ok(())
            }
            Err(SubmitError::Full(_) | SubmitError::Closed) => Err(after),
        }
    }

    pub(super) fn completed(&mut self, token: u64) -> Option<AfterWrite> {
        self.under_way.remove(&token)
    }

    /// Lets everything queued reach the disk.
    pub(super) async fn close(&mut self, completions: &mut mpsc::Receiver<Completion>) {
        let Some(writer) = self.writer.take() else {
            return;
        };
        let drain = async { while completions.recv().await.is_some() {} };
        tokio::join!(writer.close(), drain);
    }
}
