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
    let steady = START.wall.plus(START.steady.elapsed());
    wire::time(now().max(steady))
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

/// The wall clock can be set while it is waited for, so it is looked at again after this time.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl Wakeup {
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
