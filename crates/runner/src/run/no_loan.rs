//! Where nothing is lent.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::left::Left;

/// There is none.
#[derive(Debug)]
pub(super) struct Loan(Infallible);

impl Loan {
    pub(super) fn new(_: Option<Self>, _: u64, _: &[u8]) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn send(&self, _: impl AsFd, _: &[u8], _: [BorrowedFd<'_>; 2]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(super) fn seal(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn first_seq(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn collect(&self) -> io::Result<Left> {
        match self.0 {}
    }

    pub(super) fn cleared(self) -> Option<Self> {
        match self.0 {}
    }
}
