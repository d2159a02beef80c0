//! What the host says, line by line.

use std::fs::File;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::time::Instant;

/// Unbuffered stdin split into lines, each with the time its last byte arrived.
pub(crate) struct Lines {
    stdin: ManuallyDrop<File>,
    buf: Vec<u8>,
    scanned: usize,
    at: Instant,
    chunk: Vec<u8>,
}

impl Lines {
    pub(crate) fn new() -> Self {
        // SAFETY: fd 0 is open for the life of the process and never closed here.
        let stdin = ManuallyDrop::new(unsafe { File::from_raw_fd(0) });
        Lines {
            stdin,
            buf: Vec::new(),
            scanned: 0,
            at: Instant::now(),
            chunk: vec![0; 256 * 1024],
        }
    }

    pub(crate) fn next_line(&mut self) -> Option<(Vec<u8>, Instant)> {
        loop {
            if let Some(i) = self.buf[self.scanned..].iter().position(|&b| b == b'\n') {
                let end = self.scanned + i;
                let rest = self.buf.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.buf, rest);
                line.pop();
                self.scanned = 0;
                return Some((line, self.at));
            }
            self.scanned = self.buf.len();
            let n = self.stdin.read(&mut self.chunk).ok()?;
            self.at = Instant::now();
            if n == 0 {
                return None;
            }
            self.buf.extend_from_slice(&self.chunk[..n]);
        }
    }
}
