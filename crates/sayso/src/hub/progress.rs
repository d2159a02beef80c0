//! How far an agent's output is stored, and what of it was stored by an earlier server.

use std::collections::HashSet;

use sayso_broker::SessionId;

use super::Hub;
use super::transcript::Place;

/// The lines of one agent. A line is done when what it led to is on disk; until then the agent's runner keeps it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The line that is being told.
    line: u64,
    /// How many entries it has led to so far.
    part: u32,
    /// All lines up to this one have been told.
    told: u64,
    /// Lines at which the session's own row has changed, until it is on disk.
    rows: Vec<u64>,
    /// What an earlier server stored of lines that come again.
    stored: HashSet<Place>,
    /// Requests that an earlier server knew, by the agent's own ids.
    known_requests: HashSet<String>,
}

impl Progress {
    pub(super) fn taken_over(
        stored: impl IntoIterator<Item = Place>,
        known_requests: impl IntoIterator<Item = String>,
    ) -> Self {
        Self {
            stored: stored.into_iter().collect(),
            known_requests: known_requests.into_iter().collect(),
            ..Self::default()
        }
    }

    pub(super) fn begin_line(&mut self, line: u64) {
        self.told = line.saturating_sub(1);
        self.line = line;
        self.part = 0;
    }

    pub(super) fn end_of_batch(&mut self) {
        self.told = self.line;
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The place of the next entry; `None` when an earlier server has stored it.
    pub(super) fn next_place(&mut self) -> Option<Place> {
        let place = Place {
            line: self.line,
            part: self.part,
        };
        self.part += 1;
        (!self.stored.remove(&place)).then_some(place)
    }

    /// True when an earlier server has stored this request, so that it must not become a second one.
    pub(super) fn is_known(&mut self, native_id: &str) -> bool {
        self.known_requests.remove(native_id)
    }

    /// Says which line waits for the row.
    pub(super) fn row_submitted(&mut self) -> u64 {
        self.rows.push(self.line);
        self.line
    }

    pub(super) fn row_written(&mut self, line: u64) {
        if let Some(index) = self.rows.iter().position(|waiting| *waiting == line) {
            self.rows.remove(index);
        }
    }

    pub(super) fn awaits_row(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The last line of which everything is on disk.
    fn done(&self, first_unsaved: Option<u64>) -> u64 {
        let rows = self.rows.iter().copied().min();
        let waiting = rows.into_iter().chain(first_unsaved).min();
        waiting.map_or(self.told, |line| self.told.min(line.saturating_sub(1)))
    }
}

impl Hub {
    /// Lets the runner drop what is stored.
    pub(super) fn acknowledge(&self, session: SessionId) {
        let Some(known) = self.sessions.get(session) else {
            return;
        };
        if let Some(run) = &known.run {
            let first_unsaved = known.transcript.first_unsaved_line();
            run.handle.acknowledge(run.progress.done(first_unsaved));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_done_when_all_it_led_to_is_on_disk() {
        let mut progress = Progress::default();
        progress.begin_line(1);
        assert_eq!(progress.row_submitted(), 1);
        progress.begin_line(2);
        assert_eq!(progress.done(None), 0, "the row of line 1 is being written");
        progress.row_written(1);
        assert_eq!(progress.done(None), 1, "line 2 is being told");
        progress.end_of_batch();
        assert_eq!(progress.done(None), 2);
        assert_eq!(
            progress.done(Some(2)),
            1,
            "an entry of line 2 is not on disk"
        );
    }

    #[test]
    fn what_was_stored_before_is_not_told_again() {
        let first = Place { line: 7, part: 0 };
        let mut progress = Progress::taken_over([first], ["\"ask\"".to_owned()]);
        progress.begin_line(7);
        assert_eq!(progress.next_place(), None);
        assert_eq!(progress.next_place(), Some(Place { line: 7, part: 1 }));
        assert!(progress.is_known("\"ask\""));
        assert!(
            !progress.is_known("\"ask\""),
            "an id that comes again is the agent's fault"
        );
    }
}
