//! The server's end of a connection.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::consume_budget;
use tokio::time::sleep;

/// How long to wait for room when the system has no file number to wait with.
const RESPITE: Duration = Duration::from_millis(10);

/// Waits for what comes. Unlike the runtime's own streams it does not wait for room as well: then the server
/// would be woken up each time the runner reads what it was sent.
#[derive(Debug)]
pub(super) struct Socket {
    stream: AsyncFd<UnixStream>,
}

impl Socket {
    pub(super) fn new(stream: tokio::net::UnixStream) -> io::Result<Self> {
        let stream = watch(stream.into_std()?, Interest::READABLE)?;
        Ok(Self { stream })
    }

    /// Appends what has come to the buffer, as far as that has room; nothing at the end of the connection. Safe to
    /// cancel.
    pub(super) async fn read(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        // A runner that always has more must not keep the server's other tasks waiting.
        consume_budget().await;
        loop {
            let mut ready = self.stream.readable().await?;
            let room = buffer.capacity() - buffer.len();
            match rustix::io::read(self.stream.get_ref(), spare_capacity(buffer)) {
                Ok(count) => {
                    // It has all been read; the system tells when there is more.
                    if count > 0 && count < room {
                        ready.clear_ready();
                    }
                    return Ok(count);
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// How much was taken; nothing when there is no room.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match (&mut self.stream.get_ref()).write(bytes) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(0)
            }
            other => other,
        }
    }

    pub(super) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        loop {
            let count = self.write(bytes)?;
            bytes = bytes.get(count..).unwrap_or_default();
            if bytes.is_empty() {
                return Ok(());
            }
            self.has_room().await?;
        }
    }

    /// Waits with a file number of its own, which is given back at once: this is rare.
    async fn has_room(&self) -> io::Result<()> {
        let Ok(copy) = self.stream.get_ref().try_clone() else {
            sleep(RESPITE).await;
            return Ok(());
        };
        let copy = watch(copy, Interest::WRITABLE)?;
        drop(copy.writable().await?);
        Ok(())
    }
}

#[expect(
    deprecated,
    reason = "unsound for a type whose file can change or be closed under it, which a stream's cannot; what replaces \
              it is unsafe, to say just that"
)]
fn watch(stream: UnixStream, interest: Interest) -> io::Result<AsyncFd<UnixStream>> {
    AsyncFd::with_interest(stream, interest)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.get_ref().as_fd()
    }
}
