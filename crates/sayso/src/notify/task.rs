//! The one task that listens to the hub and sends. The hub never waits for it: what it does not hear in time, it
//! reads from a new snapshot.

use std::collections::HashMap;

use jiff::Timestamp;
use sayso_broker::ClientId;
use sayso_store::{ChannelId, Write};
use tokio::sync::mpsc;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Notifications;
use super::channel::Channel;
use super::heard::{Heard, Known};
use super::plan::{Delivery, Millis, Plan, Verdict, What};
use super::sending::{self, Message, Sent};
use crate::hub::{Frame, HubMessage, Outbox, outbox};

/// The wall clock can be set, so nothing is slept over for longer.
const LONGEST_SLEEP: Millis = 60_000;

/// What is heard of the hub.
#[derive(Debug)]
struct Ear {
    client: ClientId,
    outbox: Outbox,
    frames: mpsc::Receiver<Frame>,
}

struct Task {
    shared: Notifications,
    plan: Plan,
    known: Known,
    ear: Option<Ear>,
    sending: JoinSet<Sent>,
    /// Which channel a try is for, and whether it takes something back.
    tries: HashMap<Id, (Uuid, bool)>,
}

/// The hub has ended.
struct Over;

pub(super) async fn run(shared: Notifications, shutdown: CancellationToken) {
    let mut task = Task {
        shared,
        plan: Plan::default(),
        known: Known::default(),
        ear: None,
        sending: JoinSet::new(),
        tries: HashMap::new(),
    };
    tokio::select! {
        () = shutdown.cancelled() => {}
        _ = task.work() => {}
    }
}

impl Task {
    async fn work(&mut self) -> Result<(), Over> {
        let presence = self.shared.inner.presence.clone();
        self.follow_channels().await?;
        self.look_around();
        loop {
            self.send_what_is_due();
            let now = now();
            let sleep = self.plan.wakeup(now).map_or(LONGEST_SLEEP, |at| at - now);
            let sleep = u64::try_from(sleep.clamp(1, LONGEST_SLEEP)).unwrap_or(1);
            let sleep = tokio::time::sleep(std::time::Duration::from_millis(sleep));
            tokio::select! {
                frame = next_frame(&mut self.ear) => self.hear(&frame?).await?,
                () = self.shared.inner.changed.notified() => {}
                () = presence.changed.notified() => {}
                Some(ended) = self.sending.join_next_with_id(), if !self.sending.is_empty() => {
                    match ended {
                        Ok((id, sent)) => self.ended(id, Some(sent)),
                        Err(error) => self.ended(error.id(), None),
                    }
                }
                () = sleep => {}
            }
            self.follow_channels().await?;
            self.look_around();
        }
    }

    fn look_around(&mut self) {
        let (devices, anybody) = self.shared.inner.presence.looking();
        self.plan.set_looking(devices, anybody);
    }

    /// Takes over what was added, changed or removed. While there is nobody to tell, nothing is listened to.
    async fn follow_channels(&mut self) -> Result<(), Over> {
        let Some(channels) = self.shared.changed_channels() else {
            return Ok(());
        };
        let there: Vec<Uuid> = channels.iter().map(|channel| channel.id).collect();
        let gone: Vec<Uuid> = self
            .plan
            .channels()
            .filter(|id| !there.contains(id))
            .collect();
        for id in gone {
            self.plan.remove_channel(id);
        }
        for channel in &channels {
            self.plan.put_channel(channel.id, channel.lane());
        }
        let hub = &self.shared.inner.hub;
        match (channels.is_empty(), self.ear.take()) {
            (false, None) => {
                let (client, (outbox, frames)) = (ClientId(Uuid::new_v4()), outbox());
                let observe = HubMessage::Observe {
                    client,
                    outbox: outbox.clone(),
                };
                hub.send(observe).await.map_err(|_| Over)?;
                self.ear = Some(Ear {
                    client,
                    outbox,
                    frames,
                });
            }
            (true, Some(Ear { client, .. })) => {
                hub.send(HubMessage::Disconnect { client })
                    .await
                    .map_err(|_| Over)?;
                self.plan = Plan::default();
                self.known = Known::default();
                self.shared.state().tokens.forget_all();
            }
            (_, ear) => self.ear = ear,
        }
        Ok(())
    }

    async fn hear(&mut self, frame: &Frame) -> Result<(), Over> {
        match serde_json::from_str::<Heard>(&frame.text) {
            Ok(heard) => {
                let over = self.known.hear(heard, &mut self.plan, now());
                let mut state = self.shared.state();
                for request in over {
                    state.tokens.forget_request(request);
                }
            }
            Err(error) => tracing::warn!(%error, "something was not understood and is not told"),
        }
        let Some(ear) = &self.ear else {
            return Ok(());
        };
        let client = ear.client;
        if ear.outbox.is_lagging() && ear.frames.is_empty() {
            let resync = HubMessage::Resync { client };
            return self.shared.inner.hub.send(resync).await.map_err(|_| Over);
        }
        Ok(())
    }

    fn send_what_is_due(&mut self) {
        let now = now();
        for Delivery { channel, what } in self.plan.next(now) {
            let Some(channel) = self.reachable(channel) else {
                self.plan.done(now, channel, Verdict::Refused, 0);
                continue;
            };
            let message = Message::of(&what, &channel, &self.shared);
            let withdraws = matches!(what, What::Withdraw(_));
            let (shared, id) = (self.shared.clone(), channel.id);
            let sending = async move { sending::send(message, &channel, &shared).await };
            let started = self.sending.spawn(sending);
            self.tries.insert(started.id(), (id, withdraws));
        }
    }

    /// A browser that is not let in any more is not told anything either.
    fn reachable(&self, id: Uuid) -> Option<Channel> {
        let channel = self.shared.state().channels.get(&id).cloned()?;
        if self.shared.pass_of(&channel).is_none() {
            self.shared.drop_channel(id);
            return None;
        }
        Some(channel)
    }

    fn ended(&mut self, id: Id, sent: Option<Sent>) {
        let Some((channel, withdraws)) = self.tries.remove(&id) else {
            return;
        };
        let now = now();
        let jitter = getrandom::u32().unwrap_or_default() % 1000;
        let Some(sent) = sent else {
            return self.plan.done(now, channel, Verdict::Refused, jitter);
        };
        self.plan.done(now, channel, sent.verdict, jitter);
        if sent.gone {
            tracing::info!(%channel, "a browser has ended its subscription");
            self.shared.drop_channel(channel);
        } else if !withdraws {
            self.shared.note_result(channel, sent.result);
        }
    }
}

/// `Err` when the hub has ended. Without an ear nothing is ever heard.
async fn next_frame(ear: &mut Option<Ear>) -> Result<Frame, Over> {
    match ear {
        None => std::future::pending().await,
        Some(ear) => tokio::select! {
            frame = ear.frames.recv() => frame.ok_or(Over),
            () = ear.outbox.closed() => Err(Over),
        },
    }
}

fn now() -> Millis {
    Timestamp::now().as_millisecond()
}

impl Notifications {
    /// What a channel says of itself on the page of settings. It may get lost when there is too much to do.
    pub(super) fn note_result(&self, id: Uuid, result: sayso_protocol::DeliveryResult) {
        let text = serde_json::to_string(&result);
        if let Some(channel) = self.state().channels.get_mut(&id) {
            channel.last_result = Some(result);
        }
        if let Ok(result) = text {
            let id = ChannelId(id);
            self.inner
                .hub
                .note(vec![Write::SetChannelResult { id, result }]);
        }
    }

    pub(super) fn drop_channel(&self, id: Uuid) {
        {
            let mut state = self.state();
            state.channels.remove(&id);
            state.tokens.forget_channel(id);
            state.changed = true;
        }
        self.inner.changed.notify_one();
        self.inner
            .hub
            .note(vec![Write::RemoveChannel(ChannelId(id))]);
    }
}
