//! Telling humans who look elsewhere that an agent waits for them.
//!
//! `plan.rs` decides who is told what, and when; it is pure. `heard.rs` reads what the hub tells every client,
//! `sending.rs` makes messages of it, and `web_push.rs`, `ntfy.rs` and `webhook.rs` requests of those. `task.rs` is
//! the one task that does it all. `managing.rs` is what humans do about channels, `acting.rs` what they do
//! with the buttons of notifications.

mod acting;
mod channel;
mod due;
mod encrypt;
mod heard;
mod managing;
mod ntfy;
mod outgoing;
mod plan;
mod presence;
mod quiet;
mod sending;
mod task;
mod tokens;
mod vapid;
mod web_push;
mod webhook;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use sayso_store::{ChannelId, Store, Write};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::access::{Access, Identity};
use crate::config::Config;
use crate::hub::HubHandle;
use channel::{Channel, Target};
use outgoing::Reach;
use presence::Presence;
use tokens::Tokens;
use vapid::Vapid;

pub use channel::Unfit;
pub use managing::NotifyError;
pub use presence::Look;

/// Shared by the task and by those who change what it does. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Notifications {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    hub: HubHandle,
    access: Access,
    vapid: Vapid,
    /// The operator has said whom push services may write to.
    has_contact: bool,
    /// Where humans find the server, without a slash at the end.
    base: String,
    /// Push services may be in the server's own network, and without encryption.
    private: bool,
    reach: Reach,
    presence: Presence,
    state: Mutex<State>,
    /// There is something for the task to look at.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    channels: BTreeMap<Uuid, Channel>,
    tokens: Tokens,
    /// Channels that somebody tries out at this moment.
    testing: BTreeSet<Uuid>,
    changed: bool,
}

impl Notifications {
    /// `base` is where humans find the server, unless the settings know better.
    pub async fn open(
        config: &Config,
        store: &Store,
        hub: HubHandle,
        access: Access,
        base: String,
    ) -> anyhow::Result<Self> {
        let settings = &config.notifications;
        let vapid = Vapid::kept_in(&config.data_dir, &settings.contact);
        let vapid = vapid.context("Notifications cannot be sent")?;
        let mut channels = BTreeMap::new();
        for row in store.channels().await? {
            match Channel::read(&row) {
                Some(channel) if is_current(&channel, &vapid) => {
                    channels.insert(channel.id, channel);
                }
                Some(_) | None => {
                    tracing::warn!(channel = %row.id, "a channel cannot be used any more and is removed");
                    hub.note(vec![Write::RemoveChannel(ChannelId(row.id.0))]);
                }
            }
        }
        let base = settings.public_url.as_deref().unwrap_or(&base);
        let private = settings.private_push_services;
        Ok(Self {
            inner: Arc::new(Inner {
                hub,
                access,
                vapid,
                has_contact: settings.has_contact(),
                base: base.trim_end_matches('/').to_owned(),
                private,
                reach: if private {
                    Reach::Anywhere
                } else {
                    Reach::Public
                },
                presence: Presence::default(),
                state: Mutex::new(State {
                    channels,
                    changed: true,
                    ..State::default()
                }),
                changed: Notify::new(),
            }),
        })
    }

    /// Tells humans until `shutdown`, or until the hub has ended.
    pub async fn run(self, shutdown: CancellationToken) {
        task::run(self, shutdown).await;
    }

    /// A human can see a page of theirs for as long as this lives.
    pub fn look(&self, identity: Identity) -> Look {
        self.inner.presence.look(identity)
    }

    /// All channels, if something about them is different since the last time.
    fn changed_channels(&self) -> Option<Vec<Channel>> {
        let mut state = self.state();
        let changed = std::mem::take(&mut state.changed);
        changed.then(|| state.channels.values().cloned().collect())
    }

    /// Nothing is awaited while this is held, and what panics leaves it whole.
    fn state(&self) -> MutexGuard<'_, State> {
        let state = self.inner.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A browser takes messages only of the key that it subscribed with.
fn is_current(channel: &Channel, vapid: &Vapid) -> bool {
    match &channel.target {
        Target::WebPush { server_key, .. } => server_key == vapid.public_key(),
        Target::Ntfy { .. } | Target::Webhook { .. } => true,
    }
}
