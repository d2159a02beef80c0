//! What a dead runner left. Its journal is read as if the agent still spoke, and then it has ended.

use std::path::Path;

use sayso_runner::{
    CleanUp, Event, Exited, JournalError, JournalLine, JournalReader, clean_up, read_journal,
};

use super::ending::{fault, lost_because};
use super::task::{BATCH, Task};

/// How much of a journal is read at once.
const BATCH_BYTES: usize = 1024 * 1024;

/// How reading a journal ended.
enum Heard {
    /// The runner lived to see the agent's end.
    Exited(Exited),
    /// Nobody knows how the agent ended.
    Torn,
    Unreadable(JournalError),
    /// Nobody takes the output any more: the server is going.
    Unheard,
}

/// Makes sure that nothing of a dead runner is left. Blocks.
pub fn bury(folder: &Path) {
    if let Err(error) = clean_up(folder).and_then(|_| sayso_runner::remove(folder)) {
        tracing::warn!(%error, folder = %folder.display(), "what an agent left could not be removed");
    }
}

impl Task {
    /// The runner is gone in the middle of everything; what it wrote down last may not have arrived.
    pub(super) async fn lost(&mut self, folder: &Path, reason: String) {
        let path = folder.to_owned();
        let after = self.line;
        // One that lives and cannot be talked to would keep its agent running beside the session's next one.
        let open = move || match sayso_runner::end(&path) {
            Ok(CleanUp::Dead | CleanUp::Killed) => read_journal(&path, after).ok(),
            Ok(CleanUp::Alive) | Err(_) => None,
        };
        match tokio::task::spawn_blocking(open).await {
            Ok(Some(journal)) => self.hear_out(folder, journal, reason).await,
            Ok(None) | Err(_) => {
                self.ended(fault(lost_because(&reason))).await;
                bury_later(folder).await;
            }
        }
    }

    /// `reason` is why the agent is gone, where nobody saw its end.
    pub(super) async fn hear_out(&mut self, folder: &Path, journal: JournalReader, reason: String) {
        let exited = match self.hear(journal).await {
            Heard::Unheard => return,
            Heard::Exited(exited) => self.exited(exited),
            Heard::Torn => fault(self.fault.take().unwrap_or_else(|| lost_because(&reason))),
            Heard::Unreadable(error) => fault(lost_because(&error.to_string())),
        };
        self.ended(exited).await;
        // Where it could not be stored, the next server reads it again.
        if self.wait_until_forgotten().await {
            bury_later(folder).await;
        }
    }

    async fn hear(&mut self, journal: JournalReader) -> Heard {
        let exited = journal.exited().cloned();
        let mut rest = Some(journal);
        while let Some(journal) = rest.take() {
            let Ok(batch) = tokio::task::spawn_blocking(move || read_some(journal)).await else {
                return Heard::Torn;
            };
            let mut outputs = Vec::new();
            for line in batch.lines {
                let JournalLine {
                    seq,
                    fragment,
                    bytes,
                } = line;
                let event = Event::Line {
                    seq,
                    fragment,
                    bytes,
                };
                self.take(event, &mut outputs);
            }
            if !outputs.is_empty() && !self.pass_on(outputs).await {
                return Heard::Unheard;
            }
            if let Some(error) = batch.error {
                return Heard::Unreadable(error);
            }
            rest = batch.rest;
        }
        exited.map_or(Heard::Torn, Heard::Exited)
    }
}

async fn bury_later(folder: &Path) {
    let folder = folder.to_owned();
    let _ = tokio::task::spawn_blocking(move || bury(&folder)).await;
}

struct Batch {
    lines: Vec<JournalLine>,
    error: Option<JournalError>,
    /// `None` at the end.
    rest: Option<JournalReader>,
}

fn read_some(mut journal: JournalReader) -> Batch {
    let mut lines = Vec::new();
    let mut bytes = 0;
    while lines.len() < BATCH && bytes < BATCH_BYTES {
        match journal.next() {
            Some(Ok(line)) => {
                bytes += line.bytes.len();
                lines.push(line);
            }
            end => {
                return Batch {
                    lines,
                    error: end.and_then(Result::err),
                    rest: None,
                };
            }
        }
    }
    Batch {
        lines,
        error: None,
        rest: Some(journal),
    }
}
