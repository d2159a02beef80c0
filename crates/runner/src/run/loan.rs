//! What a client that has the agent's pipes leaves to be found.

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::left::{Left, unfinished};
use crate::loan::{Files, Record, WAY_BYTES};

/// With the agent's own pipes.
const FILES_AT_ONCE: usize = Files::COUNT + 2;

/// Lent pipes, or what is needed to lend them again.
#[derive(Debug)]
pub(super) struct Loan {
    files: Files,
    first_seq: u64,
}

impl Loan {
    /// The next line has this number, and of that so much was read already.
    pub(super) fn new(spare: Option<Self>, first_seq: u64, partial: &[u8]) -> io::Result<Self> {
        let files = match spare {
            Some(spare) => spare.files,
            None => Files::new()?,
        };
        files.said.write_all_at(partial, 0)?;
        Ok(Self { files, first_seq })
    }

    /// All goes with the first byte.
    pub(super) fn send(
        &self,
        socket: impl AsFd,
        frame: &[u8],
        [stdin, stdout]: [BorrowedFd<'_>; 2],
    ) -> io::Result<usize> {
        let [said, told, way_in, way_out] = self.files.as_fds();
        let files = [stdin, stdout, said, told, way_in, way_out];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_AT_ONCE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&files)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let frame = [IoSlice::new(frame)];
        Ok(sendmsg(socket, &frame, &mut control, flags)?)
    }

    /// Before anything is looked for, where it was not given back: nothing may change any more.
    pub(super) fn seal(&self) -> io::Result<()> {
        self.files.seal()
    }

    pub(super) fn first_seq(&self) -> u64 {
        self.first_seq
    }

    pub(super) fn collect(&self) -> io::Result<Left> {
        let mut left = Left {
            ids: Vec::new(),
            unfinished: None,
            acknowledged: self.first_seq - 1,
            said: Vec::new(),
        };
        let (mut line, mut offset) = (self.first_seq - 1, 0);
        for record in Record::read_all(&read_from(&self.files.told, 0)?) {
            match record {
                Record::Written(id) => left.ids.push(id),
                Record::Acknowledged(seq) => left.acknowledged = seq,
                Record::Passed { seq, offset: end } => (line, offset) = (seq, end),
            }
        }
        left.said = read_from(&self.files.said, offset)?;
        left.pass_acknowledged(line);
        left.unfinished = unfinished(self.empty_way()?, left.ids.last().copied());
        if left.unfinished.is_some() {
            left.ids.pop();
        }
        Ok(left)
    }

    fn empty_way(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            bytes.reserve(WAY_BYTES);
            match rustix::io::read(&self.files.way_out, spare_capacity(&mut bytes)) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(bytes),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// For the next time. `None` where they cannot be used again.
    pub(super) fn cleared(self) -> Option<Self> {
        self.files.clear().is_ok().then_some(self)
    }
}

fn read_from(file: &File, mut offset: u64) -> io::Result<Vec<u8>> {
    let end = file.metadata()?.len();
    let mut bytes = Vec::new();
    while offset < end {
        bytes.reserve(usize::try_from(end - offset).unwrap_or(usize::MAX));
        match rustix::io::pread(file, spare_capacity(&mut bytes), offset) {
            Ok(0) => break,
            Ok(count) => offset += count as u64,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}
