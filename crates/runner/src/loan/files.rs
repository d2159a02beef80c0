use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};

/// What both hold.
#[derive(Debug)]
pub(crate) struct Files {
    /// What the agent said.
    pub(crate) said: File,
    /// What it was told, and what is acknowledged.
    pub(crate) told: File,
    /// Where a line goes in, and where it comes out.
    pub(crate) way_in: OwnedFd,
    pub(crate) way_out: OwnedFd,
}

/// The agent's own.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
}

impl Files {
    pub(crate) const COUNT: usize = 4;

    pub(crate) fn new() -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let (way_out, way_in) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self {
            said: memfd_create("said", flags)?.into(),
            told: memfd_create("told", flags)?.into(),
            way_in,
            way_out,
        })
    }

    pub(crate) fn as_fds(&self) -> [BorrowedFd<'_>; Self::COUNT] {
        [
            self.said.as_fd(),
            self.told.as_fd(),
            self.way_in.as_fd(),
            self.way_out.as_fd(),
        ]
    }

    /// From what came along with the news, in the order in which it was sent.
    pub(crate) fn received(files: Vec<OwnedFd>) -> Option<(Pipes, Self)> {
        let [stdin, stdout, said, told, way_in, way_out] = files.try_into().ok()?;
        let files = Self {
            said: said.into(),
            told: told.into(),
            way_in,
            way_out,
        };
        Some((Pipes { stdin, stdout }, files))
    }

    /// Nothing is written to them from now on, by whomever.
    pub(crate) fn seal(&self) -> io::Result<()> {
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK;
        fcntl_add_seals(&self.said, seals)?;
        Ok(fcntl_add_seals(&self.told, seals)?)
    }

    pub(crate) fn is_sealed(&self) -> bool {
        fcntl_get_seals(&self.said).is_ok_and(|seals| seals.contains(SealFlags::WRITE))
    }

    /// For the next loan, once nobody else has them.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.said.set_len(0)?;
        self.told.set_len(0)
    }
}
