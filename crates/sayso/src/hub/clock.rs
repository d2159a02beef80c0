//! Two clocks. What is recorded and shown, and when a request runs out, is told by the wall clock, which anybody
//! may set. How long something of the hub's own may take is told by one that only goes forward.

use std::sync::LazyLock;
use std::time::Duration;

use sayso_broker::Timestamp;
use tokio::time::Instant;

use super::wire;

pub(super) fn now() -> Timestamp {
    let now = jiff::Timestamp::now().as_millisecond();
    Timestamp(now.saturating_add(crate::faults::clock_offset()))
}

/// When this process first looked.
static START: LazyLock<TwoClocks> = LazyLock::new(TwoClocks::now);

/// What rules that hold for a while are measured by: a clock that is set back makes none of them live longer.
pub(super) fn rule_time() -> jiff::Timestamp {
    wire::time(TwoClocks::now().latest_since(*START))
}

/// A moment as both tell it, for what must not last longer because one of them was set back, or stood still while
/// the machine slept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TwoClocks {
    pub(super) wall: Timestamp,
    pub(super) steady: Instant,
}

impl TwoClocks {
    pub(super) fn now() -> Self {
        Self {
            wall: now(),
            steady: Instant::now(),
        }
    }

    pub(super) fn plus(self, duration: Duration) -> Option<Self> {
        Some(Self {
            wall: self.wall.plus(duration),
            steady: self.steady.checked_add(duration)?,
        })
    }

    /// What the wall clock says, or would say if it had not been set back since.
    fn latest_since(self, start: Self) -> Timestamp {
        let passed = self.steady.saturating_duration_since(start.steady);
        self.wall.max(start.wall.plus(passed))
    }

    /// Both went on as they should: the machine did not sleep, this process was not held up, nobody set a clock.
    pub(super) fn is_soon_after(self, earlier: Self, at_most: Duration) -> bool {
        let steady = self.steady.saturating_duration_since(earlier.steady);
        let by_wall = earlier.wall.until(self.wall);
        steady <= at_most && by_wall <= at_most && earlier.wall <= self.wall
    }

    /// As soon as one of them says so.
    pub(super) fn is_over(self, now: Self) -> bool {
        self.wall <= now.wall || self.steady <= now.steady
    }
}

/// When to look again, by either clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wakeup {
    pub(super) wall: Option<Timestamp>,
    pub(super) steady: Option<Instant>,
}

/// What was due next when somebody looked, and for how long that is good enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub(super) wakeup: Wakeup,
    pub(super) until: Instant,
}

/// The wall clock can be set while it is waited for, so it is looked at again after this time.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl Wakeup {
    pub(super) fn no_later_than(self, at: Instant) -> Self {
        let steady = self.steady.map_or(at, |steady| steady.min(at));
        Self {
            steady: Some(steady),
            ..self
        }
    }

    pub(super) async fn come(self) {
        let wall = self.wall.map(|at| {
            // A little late rather than a little early: then the tick finds what is due.
            let wait = now().until(at) + Duration::from_millis(1);
            Instant::now() + wait.min(LONGEST_WAIT)
        });
        match wall.into_iter().chain(self.steady).min() {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const MINUTE_BY_WALL: i64 = 60_000;

    /// So many minutes by either clock.
    fn at(start: Instant, wall: i64, steady: u32) -> TwoClocks {
        TwoClocks {
            wall: Timestamp(wall * MINUTE_BY_WALL),
            steady: start + MINUTE * steady,
        }
    }

    #[test]
    fn nothing_lasts_longer_because_a_clock_was_set_back_or_stood_still() {
        let start = Instant::now();
        let until = at(start, 100, 0).plus(MINUTE * 10).unwrap();
        for (wall, steady, over) in [
            (100, 0, false),
            (109, 9, false),
            (110, 10, true),
            // Set back, and set forward.
            (40, 9, false),
            (40, 10, true),
            (160, 1, true),
            // The machine slept.
            (110, 0, true),
        ] {
            assert_eq!(
                until.is_over(at(start, wall, steady)),
                over,
                "{wall} {steady}"
            );
        }
    }

    #[test]
    fn what_is_soon_after_is_so_by_both_clocks() {
        let start = Instant::now();
        for (wall, steady, soon) in [
            (101, 1, true),
            (102, 2, true),
            (103, 3, false),
            // The machine slept.
            (140, 1, false),
            // This process was stopped, and the clock set back meanwhile.
            (101, 9, false),
            (99, 1, false),
        ] {
            let later = at(start, wall, steady);
            let is_soon = later.is_soon_after(at(start, 100, 0), MINUTE * 2);
            assert_eq!(is_soon, soon, "{wall} {steady}");
        }
    }

    #[test]
    fn rules_are_measured_by_a_time_that_does_not_go_back() {
        let start = Instant::now();
        for (wall, steady, minutes) in [(105, 5, 105), (40, 5, 105), (160, 5, 160)] {
            let latest = at(start, wall, steady).latest_since(at(start, 100, 0));
            assert_eq!(latest, Timestamp(minutes * MINUTE_BY_WALL));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_wall_clock_is_looked_at_again_although_its_time_is_far() {
        let started = Instant::now();
        let wall = Some(now().plus(MINUTE * 60));
        Wakeup { wall, steady: None }.come().await;
        assert!(started.elapsed() < MINUTE);
        let steady = Some(Instant::now() + Duration::from_millis(100));
        let started = Instant::now();
        Wakeup { wall, steady }.come().await;
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}
