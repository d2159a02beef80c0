use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::output::is_patience;

/// How often a runner without a client looks whether it can still be found.
const CHECK_EVERY: Duration = Duration::from_secs(2);

/// How long to wait when the system has no room for a connection.
const RESPITE: Duration = Duration::from_secs(1);

/// Where clients come in. Makes its socket anew when somebody removed it.
#[derive(Debug)]
pub(super) struct Door {
    path: PathBuf,
    listener: UnixListener,
    /// Device and number of the socket's file.
    file: Option<(u64, u64)>,
    check_at: Instant,
    closed_until: Option<Instant>,
}

impl Door {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let (listener, file) = bind(&path)?;
        Ok(Self {
            path,
            listener,
            file,
            check_at: Instant::now() + CHECK_EVERY,
            closed_until: None,
        })
    }

    /// Where to wait for somebody; `None` while nobody is let in.
    pub(super) fn listener(&self) -> Option<BorrowedFd<'_>> {
        self.closed_until.is_none().then(|| self.listener.as_fd())
    }

    /// `None` when whoever knocked has gone.
    pub(super) fn accept(&self) -> io::Result<Option<UnixStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => stream.set_nonblocking(true).map(|()| Some(stream)),
            Err(error) if is_patience(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// After a failure to accept, most likely for want of file descriptors.
    pub(super) fn rest(&mut self, now: Instant) {
        self.closed_until = Some(now + RESPITE);
    }

    /// When to call [`look_after`](Self::look_after) next.
    pub(super) fn deadline(&self, has_client: bool) -> Option<Instant> {
        let check_at = (!has_client).then_some(self.check_at);
        [check_at, self.closed_until].into_iter().flatten().min()
    }

    pub(super) fn look_after(&mut self, now: Instant) -> io::Result<()> {
        self.closed_until = self.closed_until.filter(|until| *until > now);
        if self.check_at <= now {
            self.check_at = now + CHECK_EVERY;
            return self.restore();
        }
        Ok(())
    }

    /// Makes the socket anew if it is not where it should be.
    pub(super) fn restore(&mut self) -> io::Result<()> {
        if self.file.is_some() && file_of(&self.path) == self.file {
            return Ok(());
        }
        (self.listener, self.file) = bind(&self.path)?;
        Ok(())
    }

    pub(super) fn remove(&self) {
        // One that stays leads nowhere, which a client takes for what it is.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The folder's lock is ours, so whatever is at the path is left over.
fn bind(path: &Path) -> io::Result<(UnixListener, Option<(u64, u64)>)> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok((listener, file_of(path)))
}

fn file_of(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
