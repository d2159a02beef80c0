//! What humans do about notifications: where they go, and what is sent there.

use jiff::Timestamp;
use sayso_protocol::{
    ChangePush, Channel as WireChannel, ChannelKind, ChannelSettings, ChannelTarget,
    DeliveryResult, ErrorMessage, MadeChannel, PutChannel, Scope, SubscribePush,
};
use sayso_store::{ChannelId, Write};
use serde_json::json;
use uuid::Uuid;

use super::Notifications;
use super::channel::{Channel, Target, Unfit, check_settings, checked_name};
use super::sending::{self, Message};
use crate::access::{AccessError, Fresh, Identity, Pass, Proof, entry};
use crate::hub::{HubGone, NotWritten};

/// Of those that are no browsers; there are only so many devices.
const MOST_CHANNELS: usize = 50;

/// Why nothing was changed or done.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error("There is no such channel.")]
    Unknown,
    #[error(
        "The server's own token belongs to no device. Subscribe with a browser, or with a token of its own."
    )]
    NoBrowser,
    #[error("There are too many channels. Remove some first.")]
    TooMany,
    #[error("A test is on its way already.")]
    Busy,
    #[error("To switch on a button that allows takes the scope `{}`.", .0.as_str())]
    Scope(Scope),
    #[error("Give the password first: it is asked for before risky actions.")]
    Proof,
    /// The same for whatever is wrong with a button.
    #[error("This button was used, or what it was for is over. Open Sayso to see.")]
    Over,
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    #[error(transparent)]
    Gone(#[from] HubGone),
    #[error("{}", .0.message)]
    Answer(Box<ErrorMessage>),
    #[error("Something went wrong; see the log.")]
    Fault,
}

impl Notifications {
    /// All of them for those who administer, else the device's own.
    pub fn list(&self, pass: &Pass) -> sayso_protocol::Notifications {
        let state = self.state();
        let all = pass.scopes.has(Scope::Admin);
        let mine = |channel: &&Channel| all || is_of(channel, pass.identity);
        let mut channels: Vec<WireChannel> = state
            .channels
            .values()
            .filter(mine)
            .map(Channel::wire)
            .collect();
        channels.sort_by_key(|channel| (channel.created_at, channel.channel_id));
        sayso_protocol::Notifications {
            channels,
            public_key: self.inner.vapid.public_key().to_owned(),
            contact_set: self.inner.has_contact,
        }
    }

    pub async fn subscribe(
        &self,
        pass: &Pass,
        wanted: SubscribePush,
    ) -> Result<WireChannel, NotifyError> {
        let Identity::Device(device) = pass.identity else {
            return Err(NotifyError::NoBrowser);
        };
        let (key, private) = (self.inner.vapid.public_key(), self.inner.private);
        let target = Target::of_browser(&wanted.subscription, key, private)?;
        let before = self.own(pass);
        let kept = before
            .as_ref()
            .map(|channel| channel.settings.clone())
            .unwrap_or_default();
        let settings = wanted.settings.unwrap_or_else(|| kept.clone());
        may_set(pass, &kept, &settings)?;
        let word = if before.is_some() {
            "channel changed"
        } else {
            "channel added"
        };
        let channel = Channel {
            id: before
                .as_ref()
                .map_or_else(Uuid::now_v7, |channel| channel.id),
            name: pass.label.clone(),
            device: Some(device),
            target,
            settings,
            created_at: before
                .as_ref()
                .map_or_else(Timestamp::now, |channel| channel.created_at),
            last_result: None,
        };
        self.keep(pass, channel, word).await
    }

    pub async fn change_own(
        &self,
        pass: &Pass,
        wanted: ChangePush,
    ) -> Result<WireChannel, NotifyError> {
        let mut channel = self.own(pass).ok_or(NotifyError::Unknown)?;
        may_set(pass, &channel.settings, &wanted.settings)?;
        channel.settings = wanted.settings;
        self.keep(pass, channel, "channel changed").await
    }

    pub async fn unsubscribe(&self, pass: &Pass) -> Result<(), NotifyError> {
        let channel = self.own(pass).ok_or(NotifyError::Unknown)?;
        self.remove(pass, channel.id).await
    }

    pub async fn add(&self, pass: &Pass, wanted: PutChannel) -> Result<MadeChannel, NotifyError> {
        let target = wanted.target.as_ref();
        let target = target.ok_or_else(|| Unfit("`target` is missing.".to_owned()))?;
        let made = Fresh::make().map_err(|_| NotifyError::Fault)?;
        let needs_one = matches!(target, ChannelTarget::Webhook { secret: None, .. });
        let settings = wanted.settings.unwrap_or_default();
        may_set(pass, &ChannelSettings::default(), &settings)?;
        let channel = Channel {
            id: Uuid::now_v7(),
            name: checked_name(&wanted.name)?,
            device: None,
            target: Target::of_admin(target, made.expose())?,
            settings,
            created_at: Timestamp::now(),
            last_result: None,
        };
        let others = |channel: &&Channel| channel.device.is_none();
        if self.state().channels.values().filter(others).count() >= MOST_CHANNELS {
            return Err(NotifyError::TooMany);
        }
        let channel = self.keep(pass, channel, "channel added").await?;
        let secret = needs_one.then(|| made.expose().to_owned());
        Ok(MadeChannel { channel, secret })
    }

    pub async fn change(
        &self,
        pass: &Pass,
        id: Uuid,
        wanted: PutChannel,
    ) -> Result<MadeChannel, NotifyError> {
        let channel = self.state().channels.get(&id).cloned();
        let mut channel = channel.ok_or(NotifyError::Unknown)?;
        if let Some(settings) = wanted.settings {
            may_set(pass, &channel.settings, &settings)?;
            channel.settings = settings;
        }
        channel.name = checked_name(&wanted.name)?;
        if let Some(target) = &wanted.target {
            // One that is not named again stays as it was.
            let kept = match &channel.target {
                Target::Webhook { secret, .. } => Some(secret.clone()),
                Target::WebPush { .. } | Target::Ntfy { .. } => None,
            };
            let kind = channel.target.kind();
            channel.target = Target::of_admin(target, kept.as_deref().unwrap_or_default())?;
            if kind == ChannelKind::WebPush || kind != channel.target.kind() {
                let text = "A channel stays what it is. Remove it and add another.";
                return Err(Unfit(text.to_owned()).into());
            }
        }
        let channel = self.keep(pass, channel, "channel changed").await?;
        let secret = None;
        Ok(MadeChannel { channel, secret })
    }

    pub async fn remove(&self, pass: &Pass, id: Uuid) -> Result<(), NotifyError> {
        let channel = {
            let mut state = self.state();
            let channel = state.channels.remove(&id).ok_or(NotifyError::Unknown)?;
            state.tokens.forget_channel(id);
            state.changed = true;
            channel
        };
        self.inner.changed.notify_one();
        let entry = entry(
            pass,
            "channel removed",
            &channel.name,
            &json!(channel.wire()),
        );
        let writes = vec![Write::RemoveChannel(ChannelId(id)), entry];
        Ok(self.inner.hub.write(writes).await?)
    }

    /// Sends one message now, whatever the hour, and says what became of it.
    pub async fn test(&self, id: Uuid) -> Result<DeliveryResult, NotifyError> {
        let channel = self.state().channels.get(&id).cloned();
        let channel = channel.ok_or(NotifyError::Unknown)?;
        if !self.state().testing.insert(id) {
            return Err(NotifyError::Busy);
        }
        let sending = {
            let (channel, shared) = (channel, self.clone());
            // In a task of its own, so that it ends also when whoever asked has gone.
            tokio::spawn(async move {
                let sent = sending::send(Message::test(), &channel, &shared).await;
                shared.state().testing.remove(&channel.id);
                sent
            })
        };
        let sent = sending.await.map_err(|_| NotifyError::Fault)?;
        if sent.gone {
            self.drop_channel(id);
        } else {
            self.note_result(id, sent.result.clone());
        }
        Ok(sent.result)
    }

    pub async fn test_own(&self, pass: &Pass) -> Result<DeliveryResult, NotifyError> {
        let channel = self.own(pass).ok_or(NotifyError::Unknown)?;
        self.test(channel.id).await
    }

    fn own(&self, pass: &Pass) -> Option<Channel> {
        let state = self.state();
        let own = state
            .channels
            .values()
            .find(|channel| is_of(channel, pass.identity));
        own.cloned()
    }

    async fn keep(
        &self,
        pass: &Pass,
        channel: Channel,
        word: &str,
    ) -> Result<WireChannel, NotifyError> {
        let row = channel.row().map_err(|_| NotifyError::Fault)?;
        let wire = channel.wire();
        let entry = entry(pass, word, &channel.name, &json!(wire));
        self.inner
            .hub
            .write(vec![Write::PutChannel(row), entry])
            .await?;
        {
            let mut state = self.state();
            // A button that was switched off, or led elsewhere, does not work any more.
            state.tokens.forget_channel(channel.id);
            state.channels.insert(channel.id, channel);
            state.changed = true;
        }
        self.inner.changed.notify_one();
        Ok(wire)
    }
}

fn is_of(channel: &Channel, identity: Identity) -> bool {
    channel.device.map(Identity::Device) == Some(identity)
}

/// Everybody chooses what they are told. That a button allows is for those to say who administer.
fn may_set(
    pass: &Pass,
    before: &ChannelSettings,
    wanted: &ChannelSettings,
) -> Result<(), NotifyError> {
    check_settings(wanted)?;
    if !wanted.allow_button || before.allow_button {
        return Ok(());
    }
    if !pass.scopes.has(Scope::Admin) {
        return Err(NotifyError::Scope(Scope::Admin));
    }
    match pass.proof {
        Proof::Given => Ok(()),
        Proof::Missing => Err(NotifyError::Proof),
    }
}
