//! A group that is merged before it is written leaves the same rows as its jobs do one after the other.

use std::collections::HashMap;

use pretty_assertions::assert_eq;
use rusqlite::types::Value;

use super::audit::{Dice, record};
use super::inputs::{counts_are_right, holding, kept, large_request};
use super::rules::rule;
use super::*;
use crate::group::{one_by_one, write};
use crate::inputs::whole;
use crate::job::Queued;
use crate::merge::Merged;

const SEQUENCES: u64 = 300;

/// Every table with its hidden numbers. An entry that is written by itself holds its input; all else refers to it.
const TABLES: [&str; 7] = [
    "SELECT rowid, * FROM sessions ORDER BY rowid",
    concat!(
        "SELECT rowid, session, seq, at, line, part, ",
        whole!("body"),
        " FROM entries ORDER BY rowid"
    ),
    "SELECT * FROM requests ORDER BY ordinal",
    "SELECT * FROM audit ORDER BY seq DESC LIMIT 200",
    "SELECT rowid, * FROM rules ORDER BY rowid",
    "SELECT rowid, * FROM queued_messages ORDER BY rowid",
    "SELECT * FROM log_applied",
];

fn rows(store: &Store) -> Vec<Vec<Vec<Value>>> {
    store.write_connection().with(|connection| {
        let table = |select: &&str| {
            let mut statement = connection.prepare(select).unwrap();
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| {
                (0..columns).map(|column| row.get(column)).collect()
            });
            rows.unwrap().map(Result::unwrap).collect()
        };
        TABLES.iter().map(table).collect()
    })
}

/// Two databases of one history.
async fn twins(folder: &tempfile::TempDir) -> [Store; 2] {
    let first = folder.path().join("first");
    Store::open(first.join("sayso.db"))
        .await
        .unwrap()
        .close()
        .await;
    let second = folder.path().join("second");
    std::fs::create_dir(&second).unwrap();
    for file in std::fs::read_dir(&first).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), second.join(file.file_name())).unwrap();
    }
    [
        Store::open(first.join("sayso.db")).await.unwrap(),
        Store::open(second.join("sayso.db")).await.unwrap(),
    ]
}

#[tokio::test]
async fn a_merged_group_is_its_jobs_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let stores = twins(&folder).await;
    for store in &stores {
        let writes = (1..4).map(|number| Write::PutRule(rule(number, None)));
        let job = WriteJob {
            token: 0,
            writes: writes.collect(),
        };
        let written = write(store, Durability::Process, &[Queued::direct(job)]);
        assert_eq!(written, [Ok(())]);
    }
    let (mut seq, mut merged, mut kept_apart) = (0, 0, 0);
    for seed in 0..SEQUENCES {
        let mut dice = Dice::new(seed);
        let mut jobs = Jobs::default();
        for store in &stores {
            store.write_connection().with(|connection| {
                connection.execute_batch("DELETE FROM sessions").unwrap();
            });
        }
        for _ in 0..dice.from(1..=4) {
            let faults = dice.below(3) == 0;
            let group: Vec<Queued> = (0..dice.from(1..=30))
                .map(|_| jobs.next(&mut dice, faults, &mut seq))
                .collect();
            let all = group.iter().flat_map(|queued| &queued.job.writes);
            merged += usize::from(Merged::of(all).is_some());
            let durability = Durability::Process;
            let together = write(&stores[0], durability, &group);
            let apart = one_by_one(&stores[1], durability, &group);
            assert_eq!(together, apart, "seed {seed}: {group:#?}");
            let [together, apart] = [0, 1].map(|store| rows(&stores[store]));
            assert_eq!(together, apart, "seed {seed}: {group:#?}");
            stores.iter().for_each(counts_are_right);
            kept_apart += kept(&stores[0]).1;
        }
    }
    assert!(merged as u64 > SEQUENCES, "only {merged} were merged");
    assert!(kept_apart as u64 > SEQUENCES, "only {kept_apart} uses");
}

/// Makes jobs that mostly fit what was there before.
#[derive(Default)]
struct Jobs {
    entries: HashMap<u128, i64>,
    requests: u128,
    open: Vec<u128>,
    pending: Vec<u128>,
    records: u64,
}

impl Jobs {
    fn next(&mut self, dice: &mut Dice, faults: bool, seq: &mut u64) -> Queued {
        let is_wrong = faults && dice.below(10) == 0;
        let mut writes = Vec::new();
        if self.entries.len() < 3 {
            let number = self.entries.len() as u128;
            self.entries.insert(number, 0);
            writes.push(Write::PutSession(session(number).into()));
        }
        for _ in 0..dice.below(4) {
            let write = match is_wrong {
                true => self.any(dice),
                false => self.fitting(dice),
            };
            writes.push(write);
        }
        let job = WriteJob { token: 0, writes };
        if faults && dice.below(20) == 0 {
            let writes = match dice.below(2) {
                0 => vec![Write::DeleteSession(session_id(dice.below(4) as u128))],
                _ => job.writes,
            };
            return Queued::direct(WriteJob { token: 0, writes });
        }
        *seq += 1;
        Queued::logged(job, *seq, 1)
    }

    fn fitting(&mut self, dice: &mut Dice) -> Write {
        let number = dice.below(3) as u128;
        let number = number.min(self.entries.len() as u128 - 1);
        match dice.below(10) {
            0 | 1 => {
                let last = self.entries.entry(number).or_default();
                *last += 1;
                match dice.below(2) {
                    0 => Write::AppendEntry(entry(number, *last)),
                    // Of the last request, or of the next one.
                    _ => Write::AppendEntry(EntryRow {
                        body: holding(self.requests + dice.below(2) as u128),
                        ..entry(number, *last)
                    }),
                }
            }
            2 | 3 => {
                self.requests += 1;
                self.open.push(self.requests);
                match dice.below(2) {
                    0 => Write::OpenRequest(request(number, self.requests).into()),
                    _ => Write::OpenRequest(large_request(number, self.requests).into()),
                }
            }
            4 if !self.open.is_empty() => clock(self.open[dice.below(self.open.len())], dice),
            5 if !self.open.is_empty() => {
                let request = self.open.swap_remove(dice.below(self.open.len()));
                let write = decide(request, dice);
                if matches!(&write, Write::Decide(row) if row.delivery == Delivery::Pending) {
                    self.pending.push(request);
                }
                write
            }
            6 if !self.pending.is_empty() => {
                let place = dice.below(self.pending.len());
                if dice.below(2) == 0 {
                    let request = self.pending.swap_remove(place);
                    deliver(request, Delivery::Sent, dice)
                } else {
                    deliver(self.pending[place], Delivery::Pending, dice)
                }
            }
            7 => Write::PutSession(Box::new(SessionRow {
                usage: Some(dice.below(1000).to_string()),
                ..session(number)
            })),
            8 => use_rule(dice),
            _ => {
                self.records += 1;
                let about = self.requests.saturating_sub(dice.below(4) as u128);
                match dice.below(2) {
                    0 => Write::AppendAudit(record(self.records)),
                    _ => Write::AppendAudit(AuditRecord {
                        request_id: Some(request_id(about)),
                        body: holding(about),
                        ..record(self.records)
                    }),
                }
            }
        }
    }

    fn any(&mut self, dice: &mut Dice) -> Write {
        let request_number = dice.below(self.requests as usize + 3) as u128;
        let number = dice.below(5) as u128;
        match dice.below(9) {
            0 => Write::AppendEntry(entry(number, dice.from(1..=20))),
            1 => Write::OpenRequest(request(number, request_number).into()),
            2 => clock(request_number, dice),
            3 | 4 => decide(request_number, dice),
            5 => deliver(request_number, Delivery::TooLate, dice),
            6 => Write::PutSession(session(number).into()),
            7 => Write::OpenRequest(Box::new(ended(
                request(number, request_number),
                RequestStatus::Decided,
            ))),
            _ => use_rule(dice),
        }
    }
}

fn clock(number: u128, dice: &mut Dice) -> Write {
    Write::UpdateRequestClock {
        id: request_id(number),
        deadline: (dice.below(2) == 0).then(|| UnixMillis(dice.from(1..=9))),
        held_remaining_ms: (dice.below(2) == 0).then(|| dice.from(1..=9)),
        held: dice.below(2) == 0,
    }
}

fn decide(number: u128, dice: &mut Dice) -> Write {
    let outcome = [
        Outcome::Allowed,
        Outcome::Denied,
        Outcome::Withdrawn,
        Outcome::Orphaned,
    ][dice.below(4)];
    Write::Decide(DecisionRow {
        delivery: [Delivery::Pending, Delivery::None][usize::from(dice.below(4) == 0)],
        ..decision(number, outcome)
    })
}

fn deliver(number: u128, delivery: Delivery, dice: &mut Dice) -> Write {
    Write::SetDelivery {
        request_id: request_id(number),
        delivery,
        at: (dice.below(2) == 0).then(|| UnixMillis(dice.from(1..=9))),
    }
}

fn use_rule(dice: &mut Dice) -> Write {
    Write::UseRule {
        id: RuleId(Uuid::from_u128(dice.below(5) as u128)),
        at: UnixMillis(dice.from(1..=9)),
    }
}
