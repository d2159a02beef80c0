use std::fmt::Display;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

const LOG_BYTES: usize = 64 * 1024;

/// What a runner has to say to whoever looks for a fault. Goes to standard error, which is a file in its folder,
/// and stops when that has become long: a runner may live for months.
#[derive(Debug)]
pub(super) struct Log {
    room: usize,
}

impl Log {
    pub(super) fn new() -> Self {
        Self { room: LOG_BYTES }
    }

    pub(super) fn note(&mut self, text: impl Display) {
        if self.room == 0 {
            return;
        }
        let seconds = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs());
        let mut line = format!("{seconds} {text}\n");
        self.room = self.room.saturating_sub(line.len());
        if self.room == 0 {
            line.push_str("The log is full.\n");
        }
        // Nothing can be done when even this cannot be written.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
