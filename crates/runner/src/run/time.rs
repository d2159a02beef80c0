//! What happens because time has passed. While a client is connected and all goes well, nothing does, and an
//! idle runner is not woken up.

use std::time::{Duration, Instant};

use super::client::Client;
use super::input::Told;
use super::serve::{Farewell, Server};
use super::stage::Stage;
use crate::ending::EndReason;
use crate::wire::FromRunner;

impl Server {
    pub(super) fn deadline(&self) -> Option<Instant> {
        let deadlines = [
            self.stage_deadline(),
            self.lending.deadline(),
            self.retry_at,
            self.unclaimed_at(),
            self.candidate.as_ref().map(|candidate| candidate.until),
            self.door.deadline(self.client.is_some()),
            self.client.as_ref().and_then(|_| self.input.news_at()),
            self.client.as_ref().and_then(Client::tells_at),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// What an agent that is gone has said is waited for until it is back from whoever reads it.
    fn stage_deadline(&self) -> Option<Instant> {
        let is_elsewhere = matches!(self.stage, Stage::Draining { .. }) && self.lending.is_lent();
        self.stage.deadline().filter(|_| !is_elsewhere)
    }

    /// When the agent is stopped for want of a client, or the runner goes without one.
    fn unclaimed_at(&self) -> Option<Instant> {
        match self.stage {
            Stage::Ended { at } if self.leaving => Some(match self.client {
                Some(_) => at + self.limits.until_ended,
                None => at,
            }),
            _ if self.client.is_some() => None,
            Stage::Ended { at } => {
                let unclaimed = self.limits.unclaimed.unwrap_or(Duration::MAX);
                Some(self.alone_since.max(at) + self.limits.linger.min(unclaimed))
            }
            Stage::Running | Stage::Finishing { .. } => {
                let unclaimed = self.limits.unclaimed?;
                self.alone_since.checked_add(unclaimed)
            }
            _ => None,
        }
    }

    pub(super) fn time_has_come(&mut self, now: Instant) {
        let is_over = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= now);
        if is_over(self.candidate.as_ref().map(|candidate| candidate.until)) {
            self.candidate = None;
        }
        if is_over(self.lending.deadline()) {
            self.lose_patience_with_borrower();
        }
        if is_over(self.retry_at) {
            self.retry_at = None;
            self.commit();
            self.save_end();
        }
        if let Some(client) = &mut self.client
            && is_over(client.tells_at())
        {
            client.lose_patience();
            self.flush_client();
        }
        if let Some(client) = &mut self.client
            && let Some(news) = self.input.news(now)
        {
            client.say(&match news {
                Told::Waits => FromRunner::InputWaits,
                Told::Stalled => FromRunner::InputStalled,
            });
            self.flush_client();
        }
        if is_over(self.door.deadline(self.client.is_some())) {
            self.look_after_door(now);
        }
        if is_over(self.unclaimed_at()) {
            if self.stage.has_process() {
                self.stop(EndReason::Unclaimed, now);
            } else {
                self.farewell = Some(Farewell::Unclaimed);
            }
        }
        if is_over(self.stage_deadline()) {
            self.next_stage(now);
        }
    }

    fn look_after_door(&mut self, now: Instant) {
        let Err(error) = self.door.look_after(now) else {
            return;
        };
        self.log
            .note(format_args!("the socket cannot be made: {error}"));
        if self.folder.path().exists() {
            return;
        }
        self.kill(EndReason::FolderRemoved);
        // Nobody can come, and nothing more can be kept.
        if !self.stage.has_process() {
            self.farewell = Some(Farewell::Unclaimed);
        }
    }
}
