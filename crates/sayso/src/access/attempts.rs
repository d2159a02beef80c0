//! How often somebody may be wrong. Never for ever: a human who mistypes
//! comes in later, and whoever is right all along is not slowed down at all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::scopes::Identity;
use crate::listen::Source;

/// How much is remembered; beyond, what was wrong longest ago is forgotten.
const REMEMBERED: usize = 4096;
/// Being right for this long makes up for having been wrong.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 60);

/// What somebody tries to guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guess {
    /// Tokens and links: long and random, so that only floods are slowed down.
    Secret,
    /// A password that a human chose, by somebody who is let in. Everybody has tries of their
    /// own: behind a proxy, or on one machine, all come from the same address.
    Password(Identity),
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Count {
    Secrets,
    Passwords(Identity),
    /// By all from one place: whoever can let themselves in again has no new tries each time.
    AllPasswords,
}

impl Count {
    fn wait_after(self, wrong: u32) -> Duration {
        let (free, first, longest) = match self {
            Self::Secrets => (60, 1, 60),
            Self::Passwords(_) => (3, 30, 600),
            Self::AllPasswords => (40, 30, 600),
        };
        let Some(doubled) = wrong.checked_sub(free) else {
            return Duration::ZERO;
        };
        let seconds = 1_u64.checked_shl(doubled).unwrap_or(u64::MAX);
        Duration::from_secs(seconds.saturating_mul(first).min(longest))
    }
}

impl Guess {
    fn counts(self) -> Vec<Count> {
        match self {
            Self::Secret => vec![Count::Secrets],
            Self::Password(identity) => vec![Count::Passwords(identity), Count::AllPasswords],
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Record {
    wrong: u32,
    last: Instant,
}

#[derive(Debug, Default)]
pub(super) struct Attempts {
    records: HashMap<(Source, Count), Record>,
}

impl Attempts {
    /// How long the next try from here has to wait.
    pub(super) fn wait(&self, from: IpAddr, guess: Guess, now: Instant) -> Option<Duration> {
        let from = Source::of(from);
        let left = guess.counts().into_iter().filter_map(|count| {
            let record = self.records.get(&(from, count))?;
            let until = record.last + count.wait_after(record.wrong);
            Some(until.saturating_duration_since(now))
        });
        left.max().filter(|left| !left.is_zero())
    }

    pub(super) fn wrong(&mut self, from: IpAddr, guess: Guess, now: Instant) {
        self.records
            .retain(|_, record| now.saturating_duration_since(record.last) < FORGOTTEN_AFTER);
        for count in guess.counts() {
            if self.records.len() >= REMEMBERED {
                let oldest = self.records.iter().min_by_key(|(_, record)| record.last);
                if let Some(key) = oldest.map(|(key, _)| *key) {
                    self.records.remove(&key);
                }
            }
            let key = (Source::of(from), count);
            let record = self.records.entry(key).or_insert(Record {
                wrong: 0,
                last: now,
            });
            record.wrong = record.wrong.saturating_add(1);
            record.last = now;
        }
    }

    pub(super) fn right(&mut self, from: IpAddr, guess: Guess) {
        for count in guess.counts() {
            self.records.remove(&(Source::of(from), count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);
    const OWNERS: Guess = Guess::Password(Identity::Owner);

    fn device() -> Guess {
        Guess::Password(Identity::Device(uuid::Uuid::new_v4()))
    }

    /// Tries as often as it is let, and says how many tries were looked at.
    fn tries_within(time: Duration, guess: impl Fn() -> Guess) -> u32 {
        let start = Instant::now();
        let mut attempts = Attempts::default();
        let (mut now, mut looked_at) = (start, 0);
        while now < start + time {
            let guess = guess();
            match attempts.wait(HERE, guess, now) {
                Some(wait) => now += wait,
                None => {
                    attempts.wrong(HERE, guess, now);
                    looked_at += 1;
                }
            }
        }
        looked_at
    }

    #[test]
    fn a_password_is_tried_a_few_times_a_minute_and_a_dozen_times_an_hour() {
        assert!(tries_within(Duration::from_secs(60), || OWNERS) <= 5);
        assert!(tries_within(Duration::from_secs(3600), || OWNERS) <= 12);
    }

    #[test]
    fn another_device_for_each_try_is_slowed_down_as_well() {
        assert!(tries_within(Duration::from_secs(3600), device) <= 50);
        assert!(tries_within(Duration::from_secs(24 * 3600), device) <= 200);
    }

    #[test]
    fn nobody_is_locked_out_for_good_and_others_not_at_all() {
        let mut attempts = Attempts::default();
        let now = Instant::now();
        for _ in 0..10_000 {
            attempts.wrong(HERE, OWNERS, now);
        }
        let wait = attempts.wait(HERE, OWNERS, now).unwrap();
        assert!(wait <= Duration::from_secs(600));
        assert_eq!(attempts.wait(HERE, OWNERS, now + wait), None);
        assert_eq!(attempts.wait(THERE, OWNERS, now), None);
        assert_eq!(attempts.wait(HERE, Guess::Secret, now), None);
        attempts.right(HERE, OWNERS);
        assert_eq!(attempts.wait(HERE, OWNERS, now), None);
    }

    #[test]
    fn a_device_that_is_wrong_holds_up_nobody_else_at_its_address() {
        let mut attempts = Attempts::default();
        let (start, stranger) = (Instant::now(), device());
        let mut now = start;
        // For an hour, as often as it is let.
        while now < start + Duration::from_secs(3600) {
            match attempts.wait(HERE, stranger, now) {
                Some(wait) => now += wait,
                None => attempts.wrong(HERE, stranger, now),
            }
            assert_eq!(attempts.wait(HERE, OWNERS, now), None);
        }
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let mut attempts = Attempts::default();
        let now = Instant::now();
        for host in 0..100_u128 {
            let from = u128::from_be_bytes([0x20, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            let from = IpAddr::V6((from + host).into());
            attempts.wrong(from, Guess::Secret, now);
        }
        let beside = "2001:db8::abcd".parse().unwrap();
        assert!(attempts.wait(beside, Guess::Secret, now).is_some());
        let elsewhere = "2001:db8:0:1::1".parse().unwrap();
        assert_eq!(attempts.wait(elsewhere, Guess::Secret, now), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut attempts = Attempts::default();
        let now = Instant::now();
        for number in 0..6_000_u32 {
            let from = IpAddr::V4(number.into());
            attempts.wrong(
                from,
                Guess::Secret,
                now + Duration::from_millis(number.into()),
            );
        }
        assert!(attempts.records.len() <= REMEMBERED);
    }
}
