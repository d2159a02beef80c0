//! How fast one side may go: so much at once, so much per second after that.

use std::time::{Duration, Instant};

/// A token bucket that lets its taker run into debt and says how long to pause for it.
/// What was taken is never lost, only late.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    capacity: f64,
    per_second: f64,
    level: f64,
    filled_at: Instant,
}

impl Bucket {
    pub(crate) fn new(capacity: u32, per_second: u32, now: Instant) -> Self {
        Self {
            capacity: f64::from(capacity),
            per_second: f64::from(per_second),
            level: f64::from(capacity),
            filled_at: now,
        }
    }

    /// Takes the amount, and gives back how long to wait before more may be taken.
    pub(crate) fn take(&mut self, amount: u32, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.filled_at);
        self.filled_at = now;
        let filled = self.level + passed.as_secs_f64() * self.per_second;
        self.level = filled.min(self.capacity) - f64::from(amount);
        if self.level >= 0.0 {
            Duration::ZERO
        } else {
            Duration::from_secs_f64(-self.level / self.per_second)
        }
    }

    /// Whether the taker has been slow for long enough to be forgiven.
    pub(crate) fn is_half_full(&self) -> bool {
        self.level * 2.0 >= self.capacity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_what_follows_has_a_pace() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut bucket = Bucket::new(10, 5, start);
        for _ in 0..10 {
            assert_eq!(bucket.take(1, at(0)), Duration::ZERO);
        }
        assert_eq!(bucket.take(1, at(0)), Duration::from_millis(200));
        assert_eq!(bucket.take(1, at(200)), Duration::from_millis(200));
        assert!(!bucket.is_half_full());
        assert_eq!(
            bucket.take(5, at(1_400)),
            Duration::ZERO,
            "the debt is paid"
        );
        assert_eq!(bucket.take(10, at(60_000)), Duration::ZERO, "full again");
        assert_eq!(
            bucket.take(1, at(60_000)),
            Duration::from_millis(200),
            "but never fuller"
        );
    }

    #[test]
    fn a_large_piece_is_taken_whole_and_paid_for_afterwards() {
        let start = Instant::now();
        let mut bucket = Bucket::new(10, 10, start);
        assert_eq!(bucket.take(30, start), Duration::from_secs(2));
    }
}
