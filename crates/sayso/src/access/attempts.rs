//! How often somebody may be wrong. Never for ever: a human who mistypes
//! comes in later, and whoever is right all along is not slowed down at all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How many addresses are remembered; beyond, those that were wrong longest ago are forgotten.
const REMEMBERED: usize = 4096;
/// Being right for this long makes up for having been wrong.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 60);

/// What somebody tries to guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guess {
    /// Tokens and links: long and random, so that only floods are slowed down.
    Secret,
    /// A password that a human chose.
    Password,
}

impl Guess {
    fn wait_after(self, wrong: u32) -> Duration {
        let (free, first, longest) = match self {
            Self::Secret => (60, 1, 60),
            Self::Password => (3, 30, 600),
        };
        let Some(doubled) = wrong.checked_sub(free) else {
            return Duration::ZERO;
        };
        let seconds = 1_u64.checked_shl(doubled).unwrap_or(u64::MAX);
        Duration::from_secs(seconds.saturating_mul(first).min(longest))
    }
}

#[derive(Clone, Copy, Debug)]
struct Record {
    wrong: u32,
    last: Instant,
}

#[derive(Debug, Default)]
pub(super) struct Attempts {
    records: HashMap<(IpAddr, Guess), Record>,
}

impl Attempts {
    /// How long the next try of this address has to wait.
    pub(super) fn wait(&self, from: IpAddr, guess: Guess, now: Instant) -> Option<Duration> {
        let record = self.records.get(&(from, guess))?;
        let until = record.last + guess.wait_after(record.wrong);
        let left = until.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn wrong(&mut self, from: IpAddr, guess: Guess, now: Instant) {
        self.records
            .retain(|_, record| now.saturating_duration_since(record.last) < FORGOTTEN_AFTER);
        if self.records.len() >= REMEMBERED {
            let oldest = self.records.iter().min_by_key(|(_, record)| record.last);
            if let Some(key) = oldest.map(|(key, _)| *key) {
                self.records.remove(&key);
            }
        }
        let record = self.records.entry((from, guess)).or_insert(Record {
            wrong: 0,
            last: now,
        });
        record.wrong = record.wrong.saturating_add(1);
        record.last = now;
    }

    pub(super) fn right(&mut self, from: IpAddr, guess: Guess) {
        self.records.remove(&(from, guess));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);

    /// Tries as often as it is let, and says how many tries were looked at.
    fn tries_within(time: Duration, guess: Guess) -> u32 {
        let start = Instant::now();
        let mut attempts = Attempts::default();
        let (mut now, mut looked_at) = (start, 0);
        while now < start + time {
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
        assert!(tries_within(Duration::from_secs(60), Guess::Password) <= 5);
        assert!(tries_within(Duration::from_secs(3600), Guess::Password) <= 12);
    }

    #[test]
    fn nobody_is_locked_out_for_good_and_others_not_at_all() {
        let mut attempts = Attempts::default();
        let now = Instant::now();
        for _ in 0..10_000 {
            attempts.wrong(HERE, Guess::Password, now);
        }
        let wait = attempts.wait(HERE, Guess::Password, now).unwrap();
        assert!(wait <= Duration::from_secs(600));
        assert_eq!(attempts.wait(HERE, Guess::Password, now + wait), None);
        assert_eq!(attempts.wait(THERE, Guess::Password, now), None);
        assert_eq!(attempts.wait(HERE, Guess::Secret, now), None);
        attempts.right(HERE, Guess::Password);
        assert_eq!(attempts.wait(HERE, Guess::Password, now), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut attempts = Attempts::default();
        let now = Instant::now();
        for number in 0..20_000_u32 {
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
