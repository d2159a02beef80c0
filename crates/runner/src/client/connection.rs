use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::UnixStream;
use tokio::time::timeout;
use uuid::Uuid;

use super::handle::{Handle, Outbox};
use super::socket::Socket;
use crate::ending::Exited;
use crate::folder::Folder;
use crate::wire::frame::FrameError;
use crate::wire::{
    ClientHello, FromRunner, Inbox, PROTOCOL_VERSION, ToRunner, Welcome, WriteFailure,
};

/// A runner answers at once, but a machine may be busy.
const UNTIL_WELCOME: Duration = Duration::from_secs(10);

/// What a frame may have beyond its line: the end of an agent comes with what it said last.
const FRAME_OVERHEAD: usize = 1024 * 1024;

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

#[derive(Debug, Error)]
pub enum ConnectError {
    /// Nobody listens. The lock tells whether the runner is dead; one whose socket was removed makes it anew.
    #[error("no runner listens in {}: {source}", .folder.display())]
    Unreachable { folder: PathBuf, source: io::Error },
    #[error("the runner did not answer within {} seconds", .0.as_secs())]
    NoAnswer(Duration),
    #[error("the runner speaks version {runner} and not {ours}")]
    Version { runner: u32, ours: u32 },
    #[error("line {after_seq} is stored, but the runner has only come to {}", .next_seq - 1)]
    Ahead { after_seq: u64, next_seq: u64 },
    #[error("{0}")]
    Lost(#[from] LostReason),
}

/// A claimed runner. The newest connection wins: whoever had claimed it before loses it.
#[derive(Debug)]
pub struct Connection {
    pub welcome: Welcome,
    pub handle: Handle,
    pub events: Events,
}

impl Connection {
    /// `after_seq` is the last line that is stored, zero for none. When
    /// [`first_available_seq`](Welcome::first_available_seq) is beyond the one after it, lines were acknowledged
    /// that are not stored, and those are lost.
    pub async fn connect(folder: &Path, after_seq: u64) -> Result<Self, ConnectError> {
        let connecting = Self::connect_patiently(folder, after_seq);
        let connection = timeout(UNTIL_WELCOME, connecting).await;
        connection.unwrap_or(Err(ConnectError::NoAnswer(UNTIL_WELCOME)))
    }

    async fn connect_patiently(folder: &Path, after_seq: u64) -> Result<Self, ConnectError> {
        let stream = UnixStream::connect(Folder::new(folder).socket()).await;
        let stream = stream.map_err(|source| ConnectError::Unreachable {
            folder: folder.to_owned(),
            source,
        })?;
        let socket = Arc::new(Socket::new(stream).map_err(lost)?);
        let mut hello = Vec::new();
        ToRunner::Hello(ClientHello {
            version: PROTOCOL_VERSION,
            after_seq,
        })
        .append(&mut hello);
        socket.write_all(&hello).await.map_err(lost)?;
        let mut inbox = Inbox::new(FRAME_OVERHEAD);
        let welcome = loop {
            match inbox.next_frame().map_err(LostReason::Frame)? {
                Some(frame) => match FromRunner::read(frame).map_err(LostReason::Frame)? {
                    FromRunner::Hello(welcome) => break welcome,
                    _ => return Err(LostReason::Frame(FrameError::Malformed(frame.kind)).into()),
                },
                None => read_more(&socket, &mut inbox).await?,
            }
        };
        if welcome.version != PROTOCOL_VERSION {
            return Err(ConnectError::Version {
                runner: welcome.version,
                ours: PROTOCOL_VERSION,
            });
        }
        if after_seq >= welcome.next_seq {
            return Err(ConnectError::Ahead {
                after_seq,
                next_seq: welcome.next_seq,
            });
        }
        inbox.set_limit(welcome.line_bytes.saturating_add(FRAME_OVERHEAD));
        let handle = Handle::new(Arc::clone(&socket), welcome.line_bytes);
        let events = Events {
            socket,
            inbox,
            outbox: handle.outbox(),
            over: false,
        };
        Ok(Self {
            welcome,
            handle,
            events,
        })
    }
}

/// What comes from a runner. There is no queue: what is not taken stays with the runner, and when its journal is
/// full its agent waits.
#[derive(Debug)]
pub struct Events {
    socket: Arc<Socket>,
    inbox: Inbox,
    outbox: Arc<Outbox>,
    over: bool,
}

impl Events {
    /// `None` after [`Event::Lost`]. Safe to cancel: nothing read is lost.
    pub async fn next(&mut self) -> Option<Event> {
        if self.over {
            return None;
        }
        let event = match self.next_event().await {
            Ok(event) => event,
            Err(reason) => {
                self.over = true;
                self.outbox.close();
                Event::Lost(reason)
            }
        };
        Some(event)
    }

    async fn next_event(&mut self) -> Result<Event, LostReason> {
        loop {
            if let Some(frame) = self.inbox.next_frame()? {
                return match FromRunner::read(frame)? {
                    FromRunner::Line(line) => Ok(Event::Line {
                        seq: line.seq,
                        fragment: line.fragment,
                        bytes: line.bytes.to_vec(),
                    }),
                    FromRunner::Written(id) => Ok(Event::Written(id)),
                    FromRunner::WriteFailed(id, failure) => Ok(Event::WriteFailed(id, failure)),
                    FromRunner::InputWaits => Ok(Event::InputWaits),
                    FromRunner::InputTaken => Ok(Event::InputTaken),
                    FromRunner::InputStalled => Ok(Event::InputStalled),
                    FromRunner::Exited(exited) => Ok(Event::Exited(exited)),
                    FromRunner::Replaced => Err(LostReason::Replaced),
                    FromRunner::Hello(_) => Err(FrameError::Malformed(frame.kind).into()),
                };
            }
            read_more(&self.socket, &mut self.inbox).await?;
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.outbox.close();
    }
}

async fn read_more(socket: &Socket, inbox: &mut Inbox) -> Result<(), LostReason> {
    match socket.read(inbox.space()).await {
        Ok(0) => Err(LostReason::Closed),
        Ok(_) => Ok(()),
        Err(error) => Err(lost(error)),
    }
}

fn lost(error: io::Error) -> LostReason {
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => LostReason::Closed,
        _ => LostReason::Io(error.to_string()),
    }
}
