//! Keys that decide something count only when they were meant for what stands there.

use std::time::{Duration, Instant};

/// Longer than a key on its way down, and than a double press.
const SETTLING: Duration = Duration::from_millis(500);
/// Longer than it takes until a key that is kept down begins to repeat itself.
const REPEATING: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    /// Since when the request that keys act on stands where it is.
    settled: Option<Instant>,
    pressed: Option<(char, Instant)>,
}

impl Guard {
    pub(super) fn new() -> Self {
        Self {
            settled: None,
            pressed: None,
        }
    }

    /// Something else stands under the keys now.
    pub(super) fn unsettle(&mut self, now: Instant) {
        self.settled = Some(now);
    }

    /// A key was pressed; false when it does not count. A terminal does not say when a key is let go,
    /// so one that comes again too soon is taken for the same press.
    pub(super) fn press(&mut self, key: char, now: Instant) -> bool {
        let before = self.pressed.replace((key, now));
        let repeated =
            before.is_some_and(|(last, at)| last == key && now.duration_since(at) < REPEATING);
        let settled = self
            .settled
            .is_none_or(|since| now.duration_since(since) >= SETTLING);
        settled && !repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_meant_for_something_else_does_not_count() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut guard = Guard::new();
        guard.unsettle(start);
        assert!(!guard.press('d', at(100)), "it has just come");
        assert!(guard.press('a', at(600)));
        for repeat in 0..50 {
            assert!(!guard.press('a', at(1200 + 30 * repeat)), "kept down");
        }
        assert!(guard.press('a', at(4000)), "pressed again");
        assert!(guard.press('d', at(4100)), "another key");
    }
}
