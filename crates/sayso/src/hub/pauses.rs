//! Whether to stay awake where the next message will be there in a moment.
//!
//! A thread that sleeps has to be woken up, and a processor that sleeps with it, which takes longer than most of what the
//! hub does. Where agents and clients answer each other at once, and go on doing so, the hub would sleep and be woken up
//! twice for each request. A thread that stays awake takes a processor from those it waits for, so it does so only while
//! one thing follows the other without a pause: never for a human, nor for an agent that asks now and then.

use std::time::Duration;

/// A message that comes sooner is waited for awake.
const MOMENT: Duration = Duration::from_micros(100);

/// So many times in a row something came within a moment before it is expected to do so again. More than one request
/// has, with all that is said around it.
const ENOUGH: u32 = 24;

/// What is known of how long nothing happens.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    short_in_a_row: u32,
}

impl Pauses {
    /// How long to stay awake now.
    pub(super) fn to_stay_awake(&self) -> Duration {
        match self.short_in_a_row >= ENOUGH {
            true => MOMENT,
            false => Duration::ZERO,
        }
    }

    /// Something has come after this time.
    pub(super) fn ended(&mut self, after: Duration) {
        self.short_in_a_row = match after <= MOMENT {
            true => self.short_in_a_row.saturating_add(1),
            false => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_awake_while_one_thing_follows_the_other_without_a_pause() {
        let mut pauses = Pauses::default();
        for _ in 0..ENOUGH {
            assert_eq!(pauses.to_stay_awake(), Duration::ZERO);
            pauses.ended(MOMENT);
        }
        assert_eq!(pauses.to_stay_awake(), MOMENT);
        pauses.ended(2 * MOMENT);
        assert_eq!(pauses.to_stay_awake(), Duration::ZERO);
        pauses.ended(MOMENT);
        assert_eq!(pauses.to_stay_awake(), Duration::ZERO);
    }
}
