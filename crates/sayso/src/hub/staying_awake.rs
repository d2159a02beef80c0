//! Whether to stay awake where the next message will be there in a moment.
//!
//! A thread that sleeps has to be woken up, and a processor that sleeps with it, which takes longer than most of what the
//! hub does. Where agents and clients answer each other at once the hub would sleep and be woken up twice for each
//! request. Staying awake for longer than it takes to be woken up would cost more than it saves, and so would staying
//! awake for a human: so it is only done where it would have paid the last time.

use std::time::{Duration, Instant};

use super::Hub;

/// A message that comes sooner is waited for awake.
const MOMENT: Duration = Duration::from_micros(100);

/// What is known of how long nothing happens.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    last_was_short: bool,
}

impl Pauses {
    /// How long to stay awake now.
    fn to_stay_awake(&self) -> Duration {
        match self.last_was_short {
            true => MOMENT,
            false => Duration::ZERO,
        }
    }

    /// Something has come after this time.
    pub(super) fn ended(&mut self, after: Duration) {
        self.last_was_short = after <= MOMENT;
    }
}

impl Hub {
    /// Lets everybody else work, until there is something for the hub or it is time to sleep.
    pub(super) async fn stay_awake(&self, since: Instant) {
        let patience = self.pauses.to_stay_awake();
        while self.has_nothing_to_do() && since.elapsed() < patience {
            tokio::task::yield_now().await;
        }
    }

    fn has_nothing_to_do(&self) -> bool {
        self.messages.is_empty() && self.from_agents.is_empty() && self.completions.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_awake_only_where_that_would_have_paid_the_last_time() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.to_stay_awake(), Duration::ZERO);
        pauses.ended(MOMENT);
        assert_eq!(pauses.to_stay_awake(), MOMENT);
        pauses.ended(2 * MOMENT);
        assert_eq!(pauses.to_stay_awake(), Duration::ZERO);
    }
}
