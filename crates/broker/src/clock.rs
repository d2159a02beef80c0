//! A request's time limit: running, held by a human, or paused while nobody looks.

use std::time::Duration;

use crate::Timestamp;

/// The clock of one request. `None` as limit means that it never runs out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    limit: Option<Limit>,
    held: bool,
    paused: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Running { deadline: Timestamp },
    Stopped { remaining: Duration },
}

/// What clients are shown of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockView {
    pub deadline: Option<Timestamp>,
    pub remaining: Option<Duration>,
    pub held: bool,
}

impl Clock {
    pub(crate) fn start(now: Timestamp, limit: Option<Duration>) -> Self {
        Self {
            limit: limit.map(|limit| Limit::Running {
                deadline: now.plus(limit),
            }),
            held: false,
            paused: false,
        }
    }

    /// As it was seen last. What had stopped because nobody looked runs again unless it is paused anew.
    pub(crate) fn restored(view: ClockView) -> Self {
        let limit = match (view.deadline, view.remaining) {
            (Some(deadline), _) => Some(Limit::Running { deadline }),
            (None, Some(remaining)) => Some(Limit::Stopped { remaining }),
            (None, None) => None,
        };
        Self {
            limit,
            held: view.held,
            paused: false,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        match self.limit {
            Some(Limit::Running { deadline }) => Some(deadline),
            Some(Limit::Stopped { .. }) | None => None,
        }
    }

    pub(crate) fn view(&self) -> ClockView {
        ClockView {
            deadline: self.deadline(),
            remaining: match self.limit {
                Some(Limit::Stopped { remaining }) => Some(remaining),
                Some(Limit::Running { .. }) | None => None,
            },
            held: self.held,
        }
    }

    pub(crate) fn set_held(&mut self, now: Timestamp, held: bool) {
        self.held = held;
        self.settle(now);
    }

    pub(crate) fn set_paused(&mut self, now: Timestamp, paused: bool) {
        self.paused = paused;
        self.settle(now);
    }

    pub(crate) fn extend(&mut self, by: Duration) {
        self.limit = match self.limit {
            Some(Limit::Running { deadline }) => Some(Limit::Running {
                deadline: deadline.plus(by),
            }),
            Some(Limit::Stopped { remaining }) => Some(Limit::Stopped {
                remaining: remaining.saturating_add(by),
            }),
            None => None,
        };
    }

    fn settle(&mut self, now: Timestamp) {
        let stop = self.held || self.paused;
        self.limit = match self.limit {
            Some(Limit::Running { deadline }) if stop => Some(Limit::Stopped {
                remaining: now.until(deadline),
            }),
            Some(Limit::Stopped { remaining }) if !stop => Some(Limit::Running {
                deadline: now.plus(remaining),
            }),
            unchanged @ (Some(Limit::Running { .. } | Limit::Stopped { .. }) | None) => unchanged,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_held_clock_keeps_what_was_left() {
        let mut clock = Clock::start(Timestamp(0), Some(MINUTE));
        clock.set_held(Timestamp(20_000), true);
        clock.set_paused(Timestamp(30_000), true);
        clock.set_held(Timestamp(40_000), false);
        assert_eq!(clock.deadline(), None, "still paused");
        clock.set_paused(Timestamp(100_000), false);
        assert_eq!(clock.deadline(), Some(Timestamp(140_000)));
    }

    #[test]
    fn extending_works_running_and_stopped() {
        let mut clock = Clock::start(Timestamp(0), Some(MINUTE));
        clock.extend(MINUTE);
        assert_eq!(clock.deadline(), Some(Timestamp(120_000)));
        clock.set_held(Timestamp(0), true);
        clock.extend(MINUTE);
        assert_eq!(clock.view().remaining, Some(3 * MINUTE));
    }

    #[test]
    fn without_a_limit_nothing_ever_runs_out() {
        let mut clock = Clock::start(Timestamp(0), None);
        clock.set_held(Timestamp(0), true);
        clock.extend(MINUTE);
        clock.set_held(Timestamp(0), false);
        assert_eq!(
            clock.view(),
            ClockView {
                deadline: None,
                remaining: None,
                held: false
            }
        );
    }
}
