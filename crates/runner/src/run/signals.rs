use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

/// The signals that a runner hears: that it should end, and that its agent may have ended. A handler can do next to
/// nothing, so it leaves a byte for the loop to wake up.
#[derive(Debug)]
pub(super) struct Signals {
    bytes: UnixStream,
    asked_to_end: Arc<AtomicBool>,
}

impl Signals {
    /// From now on; so before there is an agent.
    pub(super) fn new() -> io::Result<Self> {
        let (bytes, handler) = UnixStream::pair()?;
        bytes.set_nonblocking(true)?;
        let asked_to_end = Arc::default();
        for signal in [SIGTERM, SIGINT] {
            // In this order, so that whoever is woken up sees why.
            flag::register(signal, Arc::clone(&asked_to_end))?;
            pipe::register(signal, handler.try_clone()?)?;
        }
        pipe::register(SIGCHLD, handler)?;
        // The runner has no terminal, so a hang-up means nothing to it. It is not ignored, because its agent would
        // inherit that.
        flag::register(SIGHUP, Arc::default())?;
        Ok(Self {
            bytes,
            asked_to_end,
        })
    }

    /// So that the next one wakes up again.
    pub(super) fn clear(&self) {
        // What does not fit wakes up once more.
        let _ = (&self.bytes).read(&mut [0; 64]);
    }

    /// True once when the runner was asked to end.
    pub(super) fn is_asked_to_end(&self) -> bool {
        self.asked_to_end.swap(false, Ordering::SeqCst)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bytes.as_fd()
    }
}
