//! What is written without anybody waiting, and what follows when a write is done.

use std::time::Duration;

use sayso_broker::Event;
use sayso_protocol::ErrorCode;
use sayso_store::{Completion, Write};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::message::NotWritten;
use super::writes::{AfterWrite, Note};
use super::{Hub, wire};

/// How long after a failed write the next try comes.
const WRITE_AGAIN_AFTER: Duration = Duration::from_secs(1);

impl Hub {
    /// What a restart must find, although nobody waits for it now. It stays behind what was kept before it.
    pub(super) fn keep_note(&mut self, writes: Vec<Write>, what: &'static str) {
        let note = Note {
            what,
            writes,
            retry_at: Instant::now() + WRITE_AGAIN_AFTER,
        };
        if self.unwritten.is_empty() {
            self.submit_note(note);
        } else {
            self.unwritten.push(note);
        }
    }

    fn submit_note(&mut self, note: Note) {
        let writes = note.writes.clone();
        if let Err(AfterWrite::Kept(note)) = self.writes.submit(writes, AfterWrite::Kept(note)) {
            self.unwritten.push(note);
        }
    }

    pub(super) fn write_again(&mut self, now: Instant) {
        if self.unwritten.iter().any(|note| note.retry_at <= now) {
            for note in std::mem::take(&mut self.unwritten) {
                let retry_at = now + WRITE_AGAIN_AFTER;
                self.submit_note(Note { retry_at, ..note });
            }
        }
    }

    /// At the end: what the disk did not take before gets one more chance.
    pub(super) fn write_what_waits(&mut self) {
        let due = Instant::now() + 2 * WRITE_AGAIN_AFTER;
        self.write_again(due);
        self.save_unsaved(due);
        self.save_rows(due);
    }

    /// Writes something for somebody outside of the hub.
    pub(super) fn write_for(
        &mut self,
        writes: Vec<Write>,
        done: Option<oneshot::Sender<Result<(), NotWritten>>>,
    ) {
        let Some(done) = done else {
            return self.note_all(writes, "a note about a device");
        };
        if let Err(AfterWrite::Told(done)) = self.writes.submit(writes, AfterWrite::Told(done)) {
            let full = NotWritten("Too much is waiting to be written.".to_owned());
            // The one who asked may have gone.
            let _ = done.send(Err(full));
        }
    }

    pub(super) fn note(&mut self, write: Write, what: &'static str) {
        self.note_all(vec![write], what);
    }

    pub(super) fn note_all(&mut self, writes: Vec<Write>, what: &'static str) {
        if self
            .writes
            .submit(writes, AfterWrite::Nothing(what))
            .is_err()
        {
            tracing::error!(what, "too much is waiting to be written");
        }
    }

    pub(super) fn completed(&mut self, completion: Completion) {
        let Some(after) = self.writes.completed(completion.token) else {
            return;
        };
        match (after, completion.result) {
            (AfterWrite::Record { record, asked }, Ok(())) => {
                if let Some((session, native_id)) = asked {
                    self.is_recorded(session, &native_id);
                }
                self.dispatch(Event::Recorded { record });
            }
            (AfterWrite::Record { record, .. }, Err(error)) => {
                tracing::error!(%error, "a record could not be written");
                self.dispatch(Event::RecordFailed {
                    record,
                    reason: error.to_string(),
                });
            }
            (AfterWrite::Entries { session, entries }, Ok(())) => {
                if let Some(known) = self.sessions.get_mut(session) {
                    let entries = known.transcript.saved(entries);
                    self.tell_entries(session, entries);
                    self.settle_messages(session);
                    self.acknowledge(session);
                }
            }
            (AfterWrite::Session(row), Ok(())) => self.row_written(&row),
            (AfterWrite::Session(row), Err(error)) => {
                tracing::error!(%error, "a session could not be written");
                self.row_not_written(row);
            }
            (AfterWrite::Forget { session, handle }, Ok(())) => {
                self.last_row_written(session, handle);
            }
            (AfterWrite::Forget { session, handle }, Err(error)) => {
                tracing::error!(%error, "the end of an agent could not be written");
                self.forget_later(session, handle);
            }
            (AfterWrite::Entries { session, entries }, Err(error)) => {
                tracing::error!(%error, "transcript entries could not be written");
                if let Some(known) = self.sessions.get_mut(session) {
                    known.transcript.not_saved(Instant::now(), entries);
                }
            }
            (AfterWrite::Message(message), Ok(())) => self.message_written(*message),
            (AfterWrite::Message(message), Err(error)) => {
                tracing::error!(%error, "a message could not be written");
                let error = wire::error(ErrorCode::StoreUnavailable, error.to_string());
                self.message_not_written(*message, error);
            }
            (AfterWrite::Imported { caller, session }, Ok(())) => {
                self.import_saved(caller, *session);
            }
            (AfterWrite::Imported { caller, .. }, Err(error)) => {
                tracing::error!(%error, "a conversation could not be written");
                let error = wire::error(ErrorCode::StoreUnavailable, error.to_string());
                self.reply(caller, Err(error));
            }
            (after @ AfterWrite::Rule { .. }, result) => {
                self.rule_written(after, result.map_err(|error| error.to_string()));
            }
            (AfterWrite::Kept(note), Err(error)) if error.is_retryable() => {
                tracing::error!(%error, what = note.what, "could not be written yet");
                self.unwritten.push(Note {
                    retry_at: Instant::now() + WRITE_AGAIN_AFTER,
                    ..note
                });
            }
            (AfterWrite::Kept(Note { what, .. }), Err(error)) => {
                tracing::error!(%error, what, "could not be written");
            }
            (AfterWrite::Kept(_) | AfterWrite::Nothing(_), Ok(())) => {}
            (AfterWrite::Told(done), result) => {
                let result = result.map_err(|error| NotWritten(error.to_string()));
                // The one who asked may have gone.
                let _ = done.send(result);
            }
            (AfterWrite::Nothing(what), Err(error)) => {
                tracing::error!(%error, what, "could not be written");
            }
        }
    }
}
