//! What is due, and when to look next.

use std::time::Duration;

use sayso_broker::Event;
use tokio::time::Instant;

use super::Hub;
use super::clock::{Looked, TwoClocks, Wakeup};

/// How long it is known what is due next, while messages come. Nothing is due sooner after it came up.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

impl Hub {
    fn tick(&mut self) {
        self.dispatch(Event::Tick);
        let now = Instant::now();
        self.give_up_controls(now);
        self.deliver_again(now);
        self.say_again(now);
        self.write_again(now);
        self.save_unsaved(now);
        self.save_rows(now);
        self.forget_again(now);
        let now = TwoClocks::now();
        self.note_silence(now);
        self.end_bypasses(now);
    }

    /// Until when to wait. Under load the clocks of all sessions and requests are looked at now and then, and not
    /// after every message.
    pub(super) fn wakeup(&mut self) -> Wakeup {
        let now = Instant::now();
        let known = self.looked.filter(|looked| now < looked.until);
        let looked = known.unwrap_or_else(|| Looked {
            until: now + LOOK_AGAIN_AFTER,
            wakeup: self.next_wakeup(),
        });
        self.looked = Some(looked);
        match known {
            Some(looked) => looked.wakeup.no_later_than(looked.until),
            None => looked.wakeup,
        }
    }

    /// Something is due, or it is time to look what will be.
    pub(super) fn woken(&mut self) {
        let looked = self.looked.take();
        if looked.is_some_and(|looked| Instant::now() < looked.until) {
            self.tick();
        }
    }

    fn next_wakeup(&self) -> Wakeup {
        let controls = self.controls.values().map(|control| control.deadline).min();
        let unsaved = self.sessions.next_retry();
        let undelivered = self.undelivered.iter().map(|answer| answer.retry_at).min();
        let unsaid = self.unsaid.iter().map(|word| word.retry_at).min();
        let unwritten = self.unwritten.iter().map(|note| note.retry_at).min();
        let leaving = self.leaving.iter().map(|leaving| leaving.retry_at).min();
        let silence = self.sessions.next_silence();
        let restarts = self
            .restarts
            .values()
            .filter_map(|restart| restart.until)
            .min();
        let bypasses = self.sessions.bypass_ends().map(|end| end.steady).min();
        let bypasses_by_wall = self.sessions.bypass_ends().map(|end| end.wall);
        let steady = [
            bypasses,
            restarts,
            self.phase.wakeup(),
            controls,
            unsaved,
            undelivered,
            unsaid,
            unwritten,
            leaving,
            silence,
        ]
        .into_iter()
        .flatten()
        .min();
        Wakeup {
            wall: self
                .broker
                .next_wakeup()
                .into_iter()
                .chain(bypasses_by_wall)
                .min(),
            steady,
        }
    }
}
