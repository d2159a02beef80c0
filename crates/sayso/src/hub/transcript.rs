//! A session's transcript while it grows: numbered, saved in order, streamed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sayso_broker::Timestamp;
use sayso_protocol::{Delta, EntryBody};
use serde_json::value::RawValue;
use tokio::time::Instant;

const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How much streamed text is kept for clients that join late.
const LIVE_BYTES: usize = 1024 * 1024;

/// One entry on its way to the store.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) json: Arc<RawValue>,
    /// Where in the agent's output it comes from.
    pub(super) place: Option<Place>,
}

/// A line of the agent's output, and which of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) part: u32,
}

/// Numbers entries and lets them out only when they, and all before them, are saved.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    last_seq: u64,
    durable_seq: u64,
    /// Of all entries.
    bytes: u64,
    /// Saved, but an earlier one is not.
    saved: BTreeMap<u64, Arc<RawValue>>,
    /// Could not be saved; tried again.
    unsaved: VecDeque<Entry>,
    retry_at: Option<Instant>,
    live: Vec<Delta>,
    /// Lines whose entries are not on disk yet, by the entries' numbers.
    lines: BTreeMap<u64, u64>,
}

impl Transcript {
    pub(super) fn starting_after(last_seq: u64, bytes: u64) -> Self {
        Self {
            last_seq,
            durable_seq: last_seq,
            bytes,
            ..Self::default()
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.last_seq + 1
    }

    pub(super) fn durable_seq(&self) -> u64 {
        self.durable_seq
    }

    /// Takes a new entry. Gives it back when it can be saved now; while
    /// earlier ones wait, it waits behind them.
    pub(super) fn push(&mut self, entry: Entry) -> Option<Entry> {
        self.last_seq = entry.seq;
        self.bytes += entry.json.get().len() as u64;
        if let Some(place) = entry.place {
            self.lines.insert(entry.seq, place.line);
        }
        if self.unsaved.is_empty() {
            return Some(entry);
        }
        self.unsaved.push_back(entry);
        None
    }

    /// These are on disk now. Returns what clients may see, in order.
    pub(super) fn saved(&mut self, entries: Vec<Entry>) -> Vec<Arc<RawValue>> {
        for entry in entries {
            self.lines.remove(&entry.seq);
            self.saved.insert(entry.seq, entry.json);
        }
        let mut visible = Vec::new();
        while let Some(json) = self.saved.remove(&(self.durable_seq + 1)) {
            self.durable_seq += 1;
            visible.push(json);
        }
        visible
    }

    pub(super) fn not_saved(&mut self, now: Instant, entries: Vec<Entry>) {
        self.unsaved.extend(entries);
        self.unsaved
            .make_contiguous()
            .sort_by_key(|entry| entry.seq);
        self.retry_at = Some(now + RETRY_AFTER);
    }

    /// The first line of the agent's of which something is not on disk.
    pub(super) fn first_unsaved_line(&self) -> Option<u64> {
        self.lines.values().copied().min()
    }

    pub(super) fn has_unsaved(&self) -> bool {
        !self.unsaved.is_empty()
    }

    pub(super) fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    pub(super) fn take_unsaved(&mut self) -> Vec<Entry> {
        self.retry_at = None;
        self.unsaved.drain(..).collect()
    }

    pub(super) fn stream(&mut self, delta: &Delta) {
        let known = self
            .live
            .iter_mut()
            .find(|live| live.message_id == delta.message_id && live.index == delta.index);
        match known {
            Some(live) if live.text.len() + delta.text.len() <= LIVE_BYTES => {
                live.text.push_str(&delta.text);
            }
            Some(_) => {}
            None => self.live.push(Delta {
                restart: true,
                ..delta.clone()
            }),
        }
    }

    /// The entry replaces the text that was streamed for it.
    pub(super) fn settle(&mut self, body: &EntryBody) {
        match body {
            EntryBody::AssistantText {
                message_id, index, ..
            }
            | EntryBody::Thinking {
                message_id, index, ..
            }
            | EntryBody::ToolUse {
                message_id, index, ..
            } => {
                self.live
                    .retain(|live| live.message_id != *message_id || live.index != *index);
            }
            EntryBody::TurnEnded { .. } => self.live.clear(),
            EntryBody::UserMessage { .. }
            | EntryBody::ToolResult { .. }
            | EntryBody::Decision { .. }
            | EntryBody::UnaskedTool { .. }
            | EntryBody::Notice { .. }
            | EntryBody::Unknown { .. } => {}
        }
    }

    pub(super) fn clear_live(&mut self) {
        self.live.clear();
    }

    pub(super) fn live(&self) -> &[Delta] {
        &self.live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: u64) -> Entry {
        Entry {
            seq,
            at: Timestamp(0),
            json: Arc::from(RawValue::from_string(seq.to_string()).unwrap()),
            place: None,
        }
    }

    fn shown(entries: Vec<Arc<RawValue>>) -> Vec<String> {
        entries.iter().map(|json| json.get().to_owned()).collect()
    }

    #[test]
    fn an_entry_waits_for_those_before_it() {
        let mut transcript = Transcript::default();
        for seq in 1..=3 {
            assert!(transcript.push(entry(seq)).is_some());
        }
        let now = Instant::now();
        transcript.not_saved(now, vec![entry(1)]);
        assert!(shown(transcript.saved(vec![entry(2)])).is_empty());
        assert!(transcript.push(entry(4)).is_none(), "waits behind 1");
        assert!(shown(transcript.saved(vec![entry(3)])).is_empty());
        assert_eq!(transcript.retry_at(), Some(now + RETRY_AFTER));
        let again: Vec<u64> = transcript
            .take_unsaved()
            .iter()
            .map(|entry| entry.seq)
            .collect();
        assert_eq!(again, [1, 4]);
        assert_eq!(
            shown(transcript.saved(vec![entry(1), entry(4)])),
            ["1", "2", "3", "4"]
        );
        assert_eq!(transcript.durable_seq(), 4);
        assert_eq!(transcript.bytes(), 4, "each counts once");
    }
}
