//! What the tests start: the runner itself, a client that is killed at any moment, and simple agents.

mod talk;

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sayso_runner::{Connection, Event};
use tokio::time::timeout;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["run", folder] => sayso_runner::run(Path::new(folder)).is_ok(),
        ["client", folder, store] => client(Path::new(folder), Path::new(store)),
        ["count", lines, width] => count(lines, width).is_some(),
        ["parrot", log] => talk::parrot(Path::new(log)).is_some(),
        ["talk", folder, store, until] => {
            talk::talk(Path::new(folder), Path::new(store), until).is_some()
        }
        _ => false,
    };
    if done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Stores every line as `<seq> <text>` and acknowledges what is stored, every few lines and before it waits.
fn client(folder: &Path, store: &Path) -> bool {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return false;
    };
    runtime.block_on(store_lines(folder, store)).is_some()
}

async fn store_lines(folder: &Path, store: &Path) -> Option<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(store)
        .ok()?;
    let mut stored = String::new();
    file.read_to_string(&mut stored).ok()?;
    // A kill may cut a write in two; then that line was not stored.
    stored.truncate(stored.rfind('\n').map_or(0, |end| end + 1));
    file.set_len(stored.len().try_into().ok()?).ok()?;
    let last = stored.lines().next_back().unwrap_or("0");
    let after_seq = last.split(' ').next()?.parse().ok()?;
    let mut connection = Connection::connect(folder, after_seq).await.ok()?;
    let mut last_seq = after_seq;
    loop {
        let Ok(event) = timeout(Duration::from_millis(1), connection.events.next()).await else {
            connection.handle.acknowledge(last_seq).ok()?;
            continue;
        };
        match event? {
            Event::Line { seq, bytes, .. } => {
                let text = format!("{seq} {}\n", String::from_utf8(bytes).ok()?);
                file.write_all(text.as_bytes()).ok()?;
                last_seq = seq;
                if seq % 7 == 0 {
                    connection.handle.acknowledge(seq).ok()?;
                }
            }
            Event::Exited(exited) => {
                connection.handle.acknowledge(exited.last_seq).ok()?;
                return Some(());
            }
            Event::Written(_)
            | Event::WriteFailed(..)
            | Event::InputWaits
            | Event::InputTaken
            | Event::InputStalled => {}
            Event::Lost(_) => return None,
        }
    }
}

/// Numbered lines of at least that width, as fast as they are taken.
fn count(lines: &str, width: &str) -> Option<()> {
    let lines: u64 = lines.parse().ok()?;
    let width: usize = width.parse().ok()?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for number in 1..=lines {
        writeln!(out, "{number:width$}").ok()?;
    }
    out.flush().ok()
}
