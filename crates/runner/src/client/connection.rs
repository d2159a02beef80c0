use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::events::{Events, LostReason, lost, read_more};
use super::handle::Handle;
use super::socket::Socket;
use crate::folder::Folder;
use crate::wire::frame::FrameError;
use crate::wire::{ClientHello, FromRunner, Inbox, PROTOCOL_VERSION, ToRunner, Welcome};

/// A runner answers at once, but a machine may be busy.
const UNTIL_WELCOME: Duration = Duration::from_secs(10);

/// What a frame may have beyond its line: the end of an agent comes with what it said last.
const FRAME_OVERHEAD: usize = 1024 * 1024;

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
        let handle = Handle::new(Arc::clone(&socket), &welcome);
        let events = Events::new(socket, inbox, handle.outbox());
        Ok(Self {
            welcome,
            handle,
            events,
        })
    }
}
