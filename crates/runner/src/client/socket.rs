//! The server's end of a connection.

use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::consume_budget;
use tokio::time::sleep;

/// How long to wait for room when the system has no file number to wait with.
const RESPITE: Duration = Duration::from_millis(10);

/// As many as a runner lends.
const FILES_AT_ONCE: usize = 6;

#[cfg(target_os = "linux")]
const CLOSED_FOR_CHILDREN: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// Where nothing is lent, nothing comes along.
#[cfg(not(target_os = "linux"))]
const CLOSED_FOR_CHILDREN: RecvFlags = RecvFlags::empty();

/// Waits for what comes. Unlike the runtime's own streams it does not wait for room as well: then the server
/// would be woken up each time the runner reads what it was sent.
#[derive(Debug)]
pub(super) struct Socket {
    stream: AsyncFd<UnixStream>,
}

/// What one read has brought.
struct Arrival {
    count: usize,
    /// There was no more at that moment.
    was_all: bool,
}

impl Socket {
    pub(super) fn new(stream: tokio::net::UnixStream) -> io::Result<Self> {
        let stream = watch(stream.into_std()?, Interest::READABLE)?;
        Ok(Self { stream })
    }

    /// Appends what has come to the buffer, as far as that has room; nothing at the end of the connection. Safe to
    /// cancel.
    pub(super) async fn read(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        self.read_by(buffer, |buffer| {
            let room = buffer.capacity() - buffer.len();
            let count = rustix::io::read(self.stream.get_ref(), spare_capacity(buffer))?;
            let was_all = count < room;
            Ok(Arrival { count, was_all })
        })
        .await
    }

    /// The same where open files may come along.
    pub(super) async fn read_with_files(
        &self,
        buffer: &mut Vec<u8>,
        files: &mut Vec<OwnedFd>,
    ) -> io::Result<usize> {
        self.read_by(buffer, |buffer| {
            let start = buffer.len();
            let room = buffer.capacity() - start;
            buffer.resize(buffer.capacity(), 0);
            let space = buffer.get_mut(start..).unwrap_or_default();
            let received = receive(self.stream.get_ref(), space, files);
            let count = received.as_ref().map_or(0, |received| received.count);
            buffer.truncate(start + count);
            received.map(|received| Arrival {
                was_all: received.was_all && count < room,
                count,
            })
        })
        .await
    }

    async fn read_by(
        &self,
        buffer: &mut Vec<u8>,
        mut read: impl FnMut(&mut Vec<u8>) -> Result<Arrival, Errno>,
    ) -> io::Result<usize> {
        // A runner that always has more must not keep the server's other tasks waiting.
        consume_budget().await;
        loop {
            let mut ready = self.stream.readable().await?;
            match read(buffer) {
                Ok(Arrival { count, was_all }) => {
                    // The system tells when there is more.
                    if count > 0 && was_all {
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

/// Also the files that came along, none of which a child of the server inherits.
fn receive(
    stream: &UnixStream,
    space: &mut [u8],
    files: &mut Vec<OwnedFd>,
) -> Result<Arrival, Errno> {
    let mut control = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_AT_ONCE))];
    let mut control = RecvAncillaryBuffer::new(&mut control);
    let mut parts = [IoSliceMut::new(space)];
    let received = recvmsg(stream, &mut parts, &mut control, CLOSED_FOR_CHILDREN)?;
    // Where there is no number left for a file, it did not come.
    let mut came_along = received.flags.contains(ReturnFlags::CTRUNC);
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            files.extend(more);
            came_along = true;
        }
    }
    Ok(Arrival {
        count: received.bytes,
        // No read goes beyond what files come along with.
        was_all: !came_along,
    })
}

#[expect(
    deprecated,
    reason = "unsound for a type whose file can change or be closed under it, which that of a stream or of an owned \
              file cannot; what replaces it is unsafe, to say just that"
)]
pub(super) fn watch<T: AsRawFd>(file: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    AsyncFd::with_interest(file, interest)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.get_ref().as_fd()
    }
}
