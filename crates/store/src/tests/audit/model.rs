//! A history without a database, to be damaged quickly and often.

use super::*;
use crate::audit::{
    AuditKey, Checkpoint, CheckpointKind, Hash, Head, HistoryId, LastLine, Verifier,
};

#[derive(Clone)]
pub(super) struct Model {
    pub(super) key: AuditKey,
    pub(super) rows: Vec<AuditRow>,
    pub(super) lines: Vec<String>,
    pub(super) known: i64,
    /// The newest entry that is signed.
    pub(super) signed: i64,
}

impl Model {
    /// Signed every now and then, and the last few entries perhaps not.
    pub(super) fn random(dice: &mut Dice) -> Self {
        let history = HistoryId([dice.below(256) as u8; 16]);
        let key = AuditKey::new(history, &[dice.below(256) as u8; 32]);
        let mut model = Self {
            key,
            rows: Vec::new(),
            lines: Vec::new(),
            known: 0,
            signed: 0,
        };
        let mut last = LastLine::NONE;
        let mut head = Head::of_nothing(history);
        last = model.sign(&last, CheckpointKind::Begin, &head);
        for number in 1..=dice.from(8..=40) {
            let record = record(number as u64 + dice.below(1000) as u64);
            head = model.append(&record, &head);
            if dice.below(9) == 0 {
                last = model.sign(&last, CheckpointKind::Head, &head);
            }
        }
        if model.signed < 4 {
            model.sign(&last, CheckpointKind::Head, &head);
        }
        model.known = model.lines.len() as i64;
        model
    }

    fn append(&mut self, record: &AuditRecord, head: &Head) -> Head {
        let mut row = AuditRow {
            seq: head.seq + 1,
            at: record.at,
            kind: record.kind.as_str().to_owned(),
            session_id: record.session_id.map(|id| id.to_string()),
            request_id: record.request_id.map(|id| id.to_string()),
            project: record.project.clone(),
            tool_name: record.tool_name.clone(),
            outcome: record.outcome.clone(),
            actor_kind: record.actor_kind.as_str().to_owned(),
            actor_label: record.actor_label.clone(),
            previous: head.hash.0.to_vec(),
            hash: Vec::new(),
            text: record.text.clone(),
            body: record.body.clone(),
            without_input: None,
        };
        let hash = row.expected_hash();
        row.hash = hash.0.to_vec();
        let (seq, at) = (row.seq, row.at);
        self.rows.push(row);
        Head { seq, hash, at }
    }

    fn sign(&mut self, last: &LastLine, kind: CheckpointKind, head: &Head) -> LastLine {
        let checkpoint = Checkpoint::sign(&self.key, last, kind, head, None);
        let line = checkpoint.to_line().unwrap();
        let last = checkpoint.last_line(&line);
        self.lines.push(line);
        self.signed = head.seq;
        last
    }

    /// Adds a line that somebody else signed.
    pub(super) fn forge_line(&mut self) {
        let line = self.lines.last().unwrap();
        let last = Checkpoint::parse(line).unwrap().last_line(line);
        let row = self.rows.last().unwrap();
        let head = Head {
            seq: row.seq,
            hash: row.expected_hash(),
            at: row.at,
        };
        let mut secret = [7; 32];
        secret[0] = 8;
        let key = AuditKey::new(self.key.history(), &secret);
        let forged = Checkpoint::sign(&key, &last, CheckpointKind::Head, &head, None);
        self.lines.push(forged.to_line().unwrap());
    }

    /// Gives the rows from `index` on the numbers and hashes that they should have, as whoever hides
    /// a change would.
    pub(super) fn chain_anew(&mut self, index: usize) {
        for index in index..self.rows.len() {
            let (seq, previous) = match index {
                0 => (1, self.key.history().genesis()),
                _ => {
                    let before = &self.rows[index - 1];
                    (
                        before.seq + 1,
                        Hash(before.hash.clone().try_into().unwrap()),
                    )
                }
            };
            let row = &mut self.rows[index];
            row.seq = seq;
            row.previous = previous.0.to_vec();
            row.hash = row.expected_hash().0.to_vec();
        }
    }

    pub(super) fn verify(&self) -> Result<Verified, Finding> {
        let mut rows: Vec<&AuditRow> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.seq);
        let mut verifier = Verifier::begin(self.key.trust(), self.lines.iter().cloned())?;
        for row in rows {
            verifier.entry(row)?;
        }
        verifier.finish(self.known)
    }
}
