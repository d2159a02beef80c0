//! What comes from a runner, or from the agent itself while the runner has lent its pipes.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::time::{Instant, Sleep, sleep};
use uuid::Uuid;

use super::borrowing::Waiting;
use super::outbox::Outbox;
use super::socket::Socket;
use crate::ending::Exited;
use crate::wire::frame::FrameError;
use crate::wire::{FromRunner, Inbox, WriteFailure};

/// How long the news that a line was written waits for what the agent says to it, so that both are taken together.
const UNTIL_TOLD: Duration = Duration::from_millis(1);

/// What a runner tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Line by line, in order, none missing and none twice.
    Line {
        seq: u64,
        /// The output ended in the middle of it.
        fragment: bool,
        bytes: Vec<u8>,
    },
    /// The line with this id is in the agent's input; also for one that an earlier connection sent.
    Written(Uuid),
    WriteFailed(Uuid, WriteFailure),
    /// The agent has not read its input for a moment. What was sent waits for it; said once for each time.
    InputWaits,
    /// It reads again.
    InputTaken,
    /// The agent has not read its input for a while. What was sent still waits for it; said once for each time.
    InputStalled,
    /// After the last line. Comes again on every connection until the runner is told to forget.
    Exited(Box<Exited>),
    /// The last event of a connection.
    Lost(LostReason),
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LostReason {
    /// The runner is gone or going, or was told to forget.
    #[error("the runner closed the connection")]
    Closed,
    #[error("somebody else has connected to the runner")]
    Replaced,
    #[error("the connection to the runner failed: {0}")]
    Io(String),
    #[error("the runner sent {0}")]
    Frame(#[from] FrameError),
}

/// What comes from a runner. There is no queue: what is not taken stays with the runner, and when its journal is
/// full its agent waits.
#[derive(Debug)]
pub struct Events {
    socket: Arc<Socket>,
    inbox: Inbox,
    /// What came along with frames that are not read yet.
    files: Vec<OwnedFd>,
    outbox: Arc<Outbox>,
    pace: Pace,
    /// Told when what the agent has said by then is handed out.
    lost: Option<LostReason>,
    over: bool,
}

/// When to look at what was written without the agent having said something.
#[derive(Debug, Default)]
struct Pace {
    timer: Option<Pin<Box<Sleep>>>,
    runs: bool,
    /// A line was handed out, to which something may be written next.
    starts_anew: bool,
    is_over: bool,
}

impl Pace {
    fn start(&mut self) {
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep(UNTIL_TOLD)));
        timer.as_mut().reset(Instant::now() + UNTIL_TOLD);
        self.runs = true;
        self.starts_anew = false;
    }

    /// For ever when it does not run.
    async fn wait(&mut self) {
        match &mut self.timer {
            Some(timer) if self.runs => timer.await,
            Some(_) | None => std::future::pending().await,
        }
        self.runs = false;
        self.is_over = true;
    }
}

impl Events {
    pub(super) fn new(socket: Arc<Socket>, inbox: Inbox, outbox: Arc<Outbox>) -> Self {
        Self {
            socket,
            inbox,
            files: Vec::new(),
            outbox,
            pace: Pace::default(),
            lost: None,
            over: false,
        }
    }

    /// `None` after [`Event::Lost`]. Safe to cancel: nothing read is lost.
    pub async fn next(&mut self) -> Option<Event> {
        if self.over {
            return None;
        }
        loop {
            if let Some(event) = self.outbox.next_event(self.pace.is_over) {
                self.pace.starts_anew |= matches!(event, Event::Line { .. });
                return Some(event);
            }
            self.pace.is_over = false;
            if let Some(reason) = self.lost.take() {
                self.over = true;
                self.outbox.close();
                return Some(Event::Lost(reason));
            }
            let step = match self.next_of_runner() {
                Ok(Some(event)) => return Some(event),
                Ok(None) => self.wait().await,
                Err(reason) => Err(reason),
            };
            if let Err(reason) = step {
                self.outbox.lost();
                self.lost = Some(reason);
            }
        }
    }

    /// `None` when more has to be waited for.
    fn next_of_runner(&mut self) -> Result<Option<Event>, LostReason> {
        while let Some(frame) = self.inbox.next_frame()? {
            return Ok(Some(match FromRunner::read(frame)? {
                FromRunner::Line(line) => Event::Line {
                    seq: line.seq,
                    fragment: line.fragment,
                    bytes: line.bytes.to_vec(),
                },
                FromRunner::Written(id) => Event::Written(id),
                FromRunner::WriteFailed(id, failure) => Event::WriteFailed(id, failure),
                FromRunner::InputWaits => Event::InputWaits,
                FromRunner::InputTaken => Event::InputTaken,
                FromRunner::InputStalled => Event::InputStalled,
                FromRunner::Exited(exited) => Event::Exited(exited),
                FromRunner::Replaced => return Err(LostReason::Replaced),
                FromRunner::Hello(_) => return Err(FrameError::Malformed(frame.kind).into()),
                FromRunner::Remembered(ids) => {
                    self.outbox.remembered(ids);
                    continue;
                }
                FromRunner::Lent(lent) => {
                    self.outbox.lent(&lent, std::mem::take(&mut self.files));
                    continue;
                }
                FromRunner::Recall => {
                    self.outbox.recalled();
                    continue;
                }
            }));
        }
        Ok(None)
    }

    async fn wait(&mut self) -> Result<(), LostReason> {
        let watched = self.pace.runs || self.pace.starts_anew;
        let (stdout, soon) = match self.outbox.waiting(watched) {
            Waiting::Over => return Ok(()),
            Waiting::ForRunner => return self.read_more().await,
            Waiting::ForAgent { stdout, soon } => (stdout, soon),
        };
        if self.pace.starts_anew || (soon && !self.pace.runs) {
            self.pace.start();
        }
        let Self {
            socket,
            inbox,
            files,
            outbox,
            pace,
            ..
        } = self;
        tokio::select! {
            read = socket.read_with_files(inbox.space(), files) => arrived(read),
            ready = stdout.readable() => {
                let mut ready = ready.map_err(lost)?;
                if outbox.hear_agent() {
                    ready.clear_ready();
                }
                Ok(())
            }
            () = outbox.news.notified() => Ok(()),
            () = pace.wait() => Ok(()),
        }
    }

    async fn read_more(&mut self) -> Result<(), LostReason> {
        if !self.outbox.runner_lends {
            return read_more(&self.socket, &mut self.inbox).await;
        }
        let space = self.inbox.space();
        arrived(self.socket.read_with_files(space, &mut self.files).await)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.outbox.close();
    }
}

pub(super) async fn read_more(socket: &Socket, inbox: &mut Inbox) -> Result<(), LostReason> {
    arrived(socket.read(inbox.space()).await)
}

fn arrived(read: io::Result<usize>) -> Result<(), LostReason> {
    match read {
        Ok(0) => Err(LostReason::Closed),
        Ok(_) => Ok(()),
        Err(error) => Err(lost(error)),
    }
}

pub(super) fn lost(error: io::Error) -> LostReason {
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => LostReason::Closed,
        _ => LostReason::Io(error.to_string()),
    }
}
