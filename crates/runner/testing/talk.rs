//! An agent that talks while it listens, and a client that borrows its pipes and is killed at any moment.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::time::Duration;

use sayso_runner::{Connection, Event, SendError};
use tokio::time::timeout;
use uuid::Uuid;

/// How many lines may be on their way.
const AHEAD: u64 = 40;

/// Repeats what it hears, and counts in between. What it hears is also kept in a file, in which nobody else writes.
pub(crate) fn parrot(log: &Path) -> Option<()> {
    let mut log = File::create(log).ok()?;
    std::thread::spawn(|| {
        for number in 1_u64.. {
            let spaces = " ".repeat(if number % 97 == 0 { 90_000 } else { 30 });
            writeln!(std::io::stdout().lock(), "c {number}{spaces}").ok()?;
            std::thread::sleep(Duration::from_micros(number % 7 * 300));
        }
        Some(())
    });
    for line in std::io::stdin().lock().lines() {
        let line = line.ok()?;
        let number = line.trim_end_matches('.');
        writeln!(log, "{number} {}", line.len()).ok()?;
        writeln!(std::io::stdout().lock(), "e {number}").ok()?;
    }
    Some(())
}

/// The line with this number; some are long, and some longer than a pipe takes.
fn line(number: u64) -> String {
    let dots = match number {
        _ if number.is_multiple_of(211) => 150_000,
        _ if number.is_multiple_of(31) => 20_000,
        _ => 20,
    };
    format!("{number}{}", ".".repeat(dots))
}

/// Stores every line as `<seq> <text>` in one file and the numbers of its own that the agent has in another. Goes on
/// from where the last one was killed, until the agent has that many.
pub(crate) fn talk(folder: &Path, store: &Path, until: &str) -> Option<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .ok()?;
    let until = until.parse().ok()?;
    runtime.block_on(talk_until(folder, store, until))
}

/// A file, and the number that its last whole line begins with.
fn reopen(path: &Path) -> Option<(File, u64)> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)
        .ok()?;
    let mut stored = String::new();
    file.read_to_string(&mut stored).ok()?;
    // A kill may cut a write in two; then that line was not stored.
    stored.truncate(stored.rfind('\n').map_or(0, |end| end + 1));
    file.set_len(stored.len().try_into().ok()?).ok()?;
    let last = stored.lines().next_back().unwrap_or("0");
    let number = last.split(' ').next()?.parse().ok()?;
    Some((file, number))
}

async fn talk_until(folder: &Path, store: &Path, until: u64) -> Option<()> {
    let (mut lines, after_seq) = reopen(&store.with_extension("lines"))?;
    let (mut written, mut confirmed) = reopen(&store.with_extension("written"))?;
    let mut connection = Connection::connect(folder, after_seq).await.ok()?;
    connection.handle.borrow().ok()?;
    let mut sent = confirmed;
    let mut told = HashSet::new();
    loop {
        while sent < until.min(confirmed + AHEAD) {
            let text = line(sent + 1);
            let id = Uuid::from_u128(sent.into());
            match connection.handle.write(id, text.as_bytes()) {
                Ok(()) => sent += 1,
                Err(SendError::Overloaded) => break,
                Err(_) => return None,
            }
        }
        if confirmed == until {
            connection.handle.close_input().ok()?;
            confirmed += 1;
        }
        let waiting = timeout(Duration::from_millis(5), connection.events.next());
        let Ok(event) = waiting.await else { continue };
        match event? {
            Event::Line { seq, bytes, .. } => {
                let text = String::from_utf8(bytes).ok()?;
                let words: Vec<&str> = text.split_ascii_whitespace().collect();
                writeln!(lines, "{seq} {}", words.join(" ")).ok()?;
                if seq % 7 == 0 {
                    connection.handle.acknowledge(seq).ok()?;
                }
            }
            // One that an earlier client sent may be told before those that are sent again.
            Event::Written(id) => {
                told.insert(id.as_u128());
                while told.remove(&confirmed.into()) {
                    confirmed += 1;
                    writeln!(written, "{confirmed}").ok()?;
                }
            }
            Event::Exited(_) => return Some(()),
            Event::WriteFailed(..)
            | Event::InputWaits
            | Event::InputTaken
            | Event::InputStalled => {}
            Event::Lost(_) => return None,
        }
    }
}
