//! The history: what is appended is found again, and what was tampered with is found out.

mod appending;
mod damage;
mod files;
mod fuzz;
mod model;
mod reading;
mod retention;
mod tampering;

use super::*;
use crate::audit::{AuditReader, Finding, Verified};

/// Small, fast and the same every time, so that a failure can be looked at again.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to and without `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }

    pub(super) fn from(&mut self, range: std::ops::RangeInclusive<i64>) -> i64 {
        let length = range.end() - range.start() + 1;
        range.start() + self.below(length as usize) as i64
    }
}

/// An entry whose every field depends on the number.
pub(super) fn record(number: u64) -> AuditRecord {
    let some =
        |every: u64, text: &str| (!number.is_multiple_of(every)).then(|| format!("{text}{number}"));
    AuditRecord {
        at: UnixMillis(1_000 + number as i64),
        kind: AuditKind::ALL[number as usize % AuditKind::ALL.len()],
        session_id: (!number.is_multiple_of(5)).then(|| session_id(u128::from(number % 3))),
        request_id: (!number.is_multiple_of(4)).then(|| request_id(u128::from(number))),
        project: some(7, "/srv/projekt-ü"),
        tool_name: some(6, "Bash"),
        outcome: ["allowed", "denied", "ran", ""][number as usize % 4].to_owned(),
        actor_kind: AuditActor::ALL[number as usize % AuditActor::ALL.len()],
        actor_label: format!("phone {number}"),
        text: format!("cargo test --package p{number} 😀"),
        body: VERBATIM.replace('z', &number.to_string()),
    }
}

fn appended(numbers: impl IntoIterator<Item = u64>) -> Vec<Write> {
    numbers
        .into_iter()
        .map(|number| Write::AppendAudit(record(number)))
        .collect()
}

pub(super) async fn check(path: &Path) -> Result<Verified, Finding> {
    let reader = AuditReader::open(path).await.unwrap();
    let result = reader.verify().await.unwrap();
    reader.close().await;
    result
}
