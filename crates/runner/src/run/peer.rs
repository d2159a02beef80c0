//! A connection, and one that has not said yet who it is.

use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::io::Errno;

use super::output::is_patience;
use crate::wire::Inbox;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrived {
    Something,
    Nothing,
}

/// A connection and the frames that it brings.
#[derive(Debug)]
pub(super) struct Peer {
    stream: UnixStream,
    pub(super) inbox: Inbox,
}

impl Peer {
    pub(super) fn new(stream: UnixStream, frame_bytes: usize) -> Self {
        Self {
            stream,
            inbox: Inbox::new(frame_bytes),
        }
    }

    /// Reads once. An error is the end of the connection.
    pub(super) fn read(&mut self) -> io::Result<Arrived> {
        let space = rustix::buffer::spare_capacity(self.inbox.space());
        match rustix::io::read(&self.stream, space) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(Arrived::Something),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Arrived::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// How much was taken; nothing when there is no room.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        patiently((&self.stream).write(bytes))
    }

    pub(super) fn write_both(&self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        if first.is_empty() {
            return self.write(second);
        }
        let both = [IoSlice::new(first), IoSlice::new(second)];
        patiently((&self.stream).write_vectored(&both))
    }
}

impl AsFd for Peer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

pub(super) fn patiently(written: io::Result<usize>) -> io::Result<usize> {
    match written {
        Err(error) if is_patience(&error) => Ok(0),
        other => other,
    }
}

/// Somebody who has not said hello yet.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) peer: Peer,
    pub(super) until: Instant,
}
