//! Who is told what, and when. Pure: time, chance and what became of a try come in as data.
//!
//! There is no queue. What waits for a human is known, and how far each channel has come with it; whatever is due
//! is worked out from that when a channel is free. So what is closed is never announced, however long it waited,
//! and nothing can pile up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sayso_protocol::{ChannelSettings, NotificationKind};
use uuid::Uuid;

use super::due::{Due, Gate, Progress, due, start};
use super::quiet::Quiet;
use super::words::About;

/// By the wall clock, as deadlines are.
pub(super) type Millis = i64;

const MOST_WITHDRAWAL_TRIES: u32 = 4;
const FIRST_WAIT: Millis = 2_000;
const LONGEST_WAIT: Millis = 5 * 60 * 1000;
/// A server that wants to be left alone for longer is asked again all the same.
const LONGEST_RETRY_AFTER: Millis = 60 * 60 * 1000;
/// How often it is looked whether quiet hours are over.
const QUIET_STEP: Millis = 60_000;
/// Of what waits, and of withdrawals of one channel. Beyond, nothing new is taken on.
const MOST_SUBJECTS: usize = 20_000;
const MOST_WITHDRAWALS: usize = 1_000;

/// What a notification is about. A later one about the same takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Request(Uuid),
    Turn(Uuid),
    Trouble(Uuid),
}

impl Key {
    /// Short enough for the headers of push services, and good in addresses.
    pub(super) fn tag(self) -> String {
        let (letter, id) = match self {
            Self::Request(id) => ('r', id),
            Self::Turn(id) => ('t', id),
            Self::Trouble(id) => ('e', id),
        };
        // A UUID has 122 random bits at most; the last 31 digits are enough to tell them apart.
        let id = id.simple().to_string();
        format!("{letter}{}", &id[1..])
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subject {
    pub(super) key: Key,
    pub(super) kind: NotificationKind,
    pub(super) opened_at: Millis,
    pub(super) deadline: Option<Millis>,
    pub(super) about: Arc<About>,
}

/// What a channel is told to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    Announce(Subject),
    Remind(Subject),
    Withdraw(Key),
}

impl What {
    pub(super) fn key(&self) -> Key {
        match self {
            Self::Announce(subject) | Self::Remind(subject) => subject.key,
            Self::Withdraw(key) => *key,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Delivery {
    pub(super) channel: Uuid,
    pub(super) what: What,
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Delivered,
    /// It may work later.
    Later(Option<Duration>),
    /// The same would be refused again.
    Refused,
}

/// What is known of a channel.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) settings: ChannelSettings,
    pub(super) quiet: Option<Quiet>,
    /// Whose human is not told while they look.
    pub(super) device: Option<Uuid>,
    /// It can take back what it said.
    pub(super) withdraws: bool,
}

#[derive(Debug)]
struct Channel {
    lane: Lane,
    in_flight: Option<What>,
    withdrawals: VecDeque<Withdrawal>,
    /// Failures in a row, and until when it is left alone for them.
    failures: u32,
    not_before: Millis,
}

impl Channel {
    fn withdrawn(&mut self, verdict: Verdict) {
        let Some(mut withdrawal) = self.withdrawals.pop_front() else {
            return;
        };
        withdrawal.tries += 1;
        let again = matches!(verdict, Verdict::Later(_));
        if again && withdrawal.tries < MOST_WITHDRAWAL_TRIES {
            self.withdrawals.push_front(withdrawal);
        }
    }
}

#[derive(Debug)]
struct Withdrawal {
    key: Key,
    tries: u32,
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) subject: Subject,
    pub(super) progress: BTreeMap<Uuid, Progress>,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    channels: BTreeMap<Uuid, Channel>,
    open: BTreeMap<Key, Open>,
    /// Devices whose humans look, and whether anybody does.
    looking: BTreeSet<Uuid>,
    anybody_looks: bool,
}

impl Plan {
    /// Adds a channel, or changes what it is sent. What it was told stays known.
    pub(super) fn put_channel(&mut self, id: Uuid, lane: Lane) {
        match self.channels.get_mut(&id) {
            Some(channel) => channel.lane = lane,
            None => {
                let channel = Channel {
                    lane,
                    in_flight: None,
                    withdrawals: VecDeque::new(),
                    failures: 0,
                    not_before: 0,
                };
                self.channels.insert(id, channel);
            }
        }
    }

    pub(super) fn remove_channel(&mut self, id: Uuid) {
        self.channels.remove(&id);
        for open in self.open.values_mut() {
            open.progress.remove(&id);
        }
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = Uuid> {
        self.channels.keys().copied()
    }

    pub(super) fn set_looking(&mut self, devices: BTreeSet<Uuid>, anybody: bool) {
        self.looking = devices;
        self.anybody_looks = anybody;
    }

    /// Something waits, or its clock has changed.
    pub(super) fn open(&mut self, subject: Subject) {
        let full = self.open.len() >= MOST_SUBJECTS;
        match self.open.get_mut(&subject.key) {
            Some(open) => {
                if subject.deadline > open.subject.deadline {
                    for progress in open.progress.values_mut() {
                        progress.reminded = false;
                    }
                }
                open.subject = Subject {
                    opened_at: open.subject.opened_at,
                    ..subject
                };
            }
            None if full => tracing::warn!("too much waits for a human; not all of it is told"),
            None => {
                let progress = BTreeMap::new();
                let key = subject.key;
                self.open.insert(key, Open { subject, progress });
            }
        }
    }

    /// It does not wait any more. What may have been said is taken back.
    pub(super) fn close(&mut self, key: Key) {
        let Some(open) = self.open.remove(&key) else {
            return;
        };
        for (id, channel) in &mut self.channels {
            let progress = open.progress.get(id);
            let said = progress.is_some_and(Progress::may_be_shown);
            if said && channel.lane.withdraws && channel.withdrawals.len() < MOST_WITHDRAWALS {
                channel.withdrawals.push_back(Withdrawal { key, tries: 0 });
            }
        }
    }

    pub(super) fn waits(&self, key: Key) -> bool {
        self.open.contains_key(&key)
    }

    /// What waits, for a comparison with a snapshot.
    pub(super) fn waiting(&self) -> Vec<Key> {
        self.open.keys().copied().collect()
    }

    /// What is to be sent now, one thing for each channel that is free.
    pub(super) fn next(&mut self, now: Millis) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        for (id, channel) in &mut self.channels {
            if channel.in_flight.is_some() || now < channel.not_before {
                continue;
            }
            let gate = Gate::of(&channel.lane, &self.looking, self.anybody_looks, now);
            let what = match channel.withdrawals.front() {
                Some(withdrawal) => Some(What::Withdraw(withdrawal.key)),
                None if gate == Gate::Open => {
                    let mut open = self.open.values_mut();
                    open.find_map(|open| start(open, *id, &channel.lane, now))
                }
                None => None,
            };
            if let Some(what) = what {
                channel.in_flight = Some(what.clone());
                deliveries.push(Delivery { channel: *id, what });
            }
        }
        deliveries
    }

    /// A try has ended. `jitter` is a number below 1000, by chance.
    pub(super) fn done(&mut self, now: Millis, id: Uuid, verdict: Verdict, jitter: u32) {
        let Some(channel) = self.channels.get_mut(&id) else {
            return;
        };
        let Some(what) = channel.in_flight.take() else {
            return;
        };
        match verdict {
            Verdict::Later(after) => {
                channel.failures = channel.failures.saturating_add(1);
                channel.not_before = now.saturating_add(wait(channel.failures, after, jitter));
            }
            Verdict::Delivered | Verdict::Refused => channel.failures = 0,
        }
        let (subject, reminder) = match what {
            What::Withdraw(_) => return channel.withdrawn(verdict),
            What::Announce(subject) => (subject, false),
            What::Remind(subject) => (subject, true),
        };
        // What was closed and has come up again meanwhile is to be told anew.
        if let Some(open) = self.open.get_mut(&subject.key)
            && open.subject.opened_at == subject.opened_at
        {
            let progress = open.progress.entry(id).or_default();
            progress.ended(now, verdict, reminder);
        }
    }

    /// When `next` has something to give although nothing has happened.
    pub(super) fn wakeup(&self, now: Millis) -> Option<Millis> {
        let times = self.channels.iter().filter_map(|(id, channel)| {
            if channel.in_flight.is_some() {
                return None;
            }
            let due = if channel.withdrawals.is_empty() {
                let gate = Gate::of(&channel.lane, &self.looking, self.anybody_looks, now);
                let open = self.open.values();
                let times = open.filter_map(|open| match due(open, *id, &channel.lane, now) {
                    Due::Announce | Due::Remind => Some(now),
                    Due::At(time) => Some(time),
                    Due::NotNow => None,
                });
                let first = times.min()?;
                match gate {
                    Gate::Open => first,
                    Gate::Quiet => first.max(now.saturating_add(QUIET_STEP)),
                    Gate::Closed => return None,
                }
            } else {
                now
            };
            Some(due.max(channel.not_before))
        });
        times.min()
    }
}

/// Twice as long each time, and never the same for all.
fn wait(failures: u32, after: Option<Duration>, jitter: u32) -> Millis {
    let doubled = FIRST_WAIT.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let longest = doubled.min(LONGEST_WAIT);
    let wait = longest / 2 + longest / 2 * Millis::from(jitter.min(999)) / 999;
    let asked = after.map_or(0, |after| {
        Millis::try_from(after.as_millis()).unwrap_or(Millis::MAX)
    });
    wait.max(asked.min(LONGEST_RETRY_AFTER))
}

#[cfg(test)]
mod tests;
