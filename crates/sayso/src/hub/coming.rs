//! What the loop waits for.

use std::time::Instant;

use anyhow::Context;
use sayso_store::Completion;

use super::{Hub, HubMessage};
use crate::agents::link::FromAgent;

/// What has come.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and what clients say comes more often than the rest"
)]
pub(super) enum Coming {
    Completion(Completion),
    Message(HubMessage),
    Output(FromAgent),
    /// The database is not far behind its log any more.
    Room,
    Time,
}

impl Hub {
    /// The next of all that can happen. An error means that nothing can be recorded any more.
    pub(super) async fn comes_next(&mut self) -> anyhow::Result<Coming> {
        let since = Instant::now();
        self.stay_awake(since).await;
        let wakeup = self.wakeup();
        let (has_room, is_behind) = (self.has_room(), self.writes.is_behind());
        let coming = tokio::select! {
            biased;
            completion = self.completions.recv() => Coming::Completion(
                completion.context("The writer of the database has ended.")?,
            ),
            Some(message) = self.messages.recv() => Coming::Message(message),
            Some(output) = self.from_agents.recv(), if has_room => Coming::Output(output),
            () = self.writes.followed(), if is_behind => Coming::Room,
            () = wakeup.come() => Coming::Time,
        };
        self.pauses.ended(since.elapsed());
        Ok(coming)
    }

    /// Lets everybody else work, until there is something for the hub or it is time to sleep.
    async fn stay_awake(&self, since: Instant) {
        let patience = self.pauses.to_stay_awake();
        while self.has_nothing_to_do() && since.elapsed() < patience {
            tokio::task::yield_now().await;
        }
    }

    fn has_nothing_to_do(&self) -> bool {
        self.messages.is_empty() && self.from_agents.is_empty() && self.completions.is_empty()
    }
}
