//! One place where notifications go: checked when it is made, and as it is kept.

use jiff::Timestamp;
use sayso_protocol::{
    ChannelKind, ChannelSettings, ChannelTarget, DeliveryResult, PushSubscription, WebhookFormat,
};
use sayso_store::{ChannelId, ChannelRow, DeviceId, UnixMillis};
use serde::{Deserialize, Serialize};
use url::Url;
use uuid::Uuid;

use super::encrypt::Recipient;
use super::plan::Lane;
use super::quiet::Quiet;
use super::web_push;

const LONGEST_ADDRESS: usize = 2_048;
const LONGEST_NAME: usize = 80;
const LONGEST_DELAY: u32 = 24 * 60 * 60;
const SHORTEST_SECRET: usize = 16;
const LONGEST_SECRET: usize = 256;

/// What is wrong with what somebody wants; a sentence for them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub(super) String);

fn unfit<T>(text: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit(text.into()))
}

#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) device: Option<Uuid>,
    pub(super) target: Target,
    pub(super) settings: ChannelSettings,
    pub(super) created_at: Timestamp,
    pub(super) last_result: Option<DeliveryResult>,
}

/// With its secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Target {
    WebPush {
        endpoint: Url,
        p256dh: String,
        auth: String,
        /// The server's key that the browser subscribed with; no other can be used.
        server_key: String,
    },
    Ntfy {
        server: Url,
        topic: String,
        token: Option<String>,
    },
    Webhook {
        url: Url,
        format: WebhookFormat,
        secret: String,
    },
}

impl std::fmt::Debug for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} at {}", self.kind(), self.host())
    }
}

impl Target {
    pub(super) fn kind(&self) -> ChannelKind {
        match self {
            Self::WebPush { .. } => ChannelKind::WebPush,
            Self::Ntfy { .. } => ChannelKind::Ntfy,
            Self::Webhook { .. } => ChannelKind::Webhook,
        }
    }

    fn host(&self) -> &str {
        let (Self::WebPush { endpoint: url, .. }
        | Self::Ntfy { server: url, .. }
        | Self::Webhook { url, .. }) = self;
        url.host_str().unwrap_or_default()
    }

    pub(super) fn of_browser(
        wanted: &PushSubscription,
        server_key: &str,
        private: bool,
    ) -> Result<Self, Unfit> {
        let endpoint = address("endpoint", &wanted.endpoint)?;
        if endpoint.scheme() != "https" && !private {
            return unfit("`endpoint` must begin with `https://`.");
        }
        if recipient(&wanted.keys.p256dh, &wanted.keys.auth).is_none() {
            return unfit("`keys` are not those of a push subscription.");
        }
        Ok(Self::WebPush {
            endpoint,
            p256dh: wanted.keys.p256dh.clone(),
            auth: wanted.keys.auth.clone(),
            server_key: server_key.to_owned(),
        })
    }

    /// `secret` is for a webhook that comes without one.
    pub(super) fn of_admin(wanted: &ChannelTarget, secret: &str) -> Result<Self, Unfit> {
        match wanted {
            ChannelTarget::Ntfy {
                server,
                topic,
                token,
            } => {
                let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                if topic.is_empty() || topic.len() > 64 || !topic.bytes().all(named) {
                    return unfit("`topic` must have 1 to 64 letters, digits, `-` or `_`.");
                }
                let graphic = |token: &String| token.bytes().all(|byte| byte.is_ascii_graphic());
                let fits = |token: &String| token.len() <= LONGEST_SECRET && graphic(token);
                if !token.as_ref().is_none_or(fits) {
                    return unfit("`token` is not one of ntfy's.");
                }
                Ok(Self::Ntfy {
                    server: address("server", server)?,
                    topic: topic.clone(),
                    token: token.clone(),
                })
            }
            ChannelTarget::Webhook {
                url,
                format,
                secret: own,
            } => {
                let secret = own.as_deref().unwrap_or(secret);
                if !(SHORTEST_SECRET..=LONGEST_SECRET).contains(&secret.len()) {
                    return unfit(format!(
                        "`secret` must have {SHORTEST_SECRET} to {LONGEST_SECRET} bytes."
                    ));
                }
                Ok(Self::Webhook {
                    url: address("url", url)?,
                    format: *format,
                    secret: secret.to_owned(),
                })
            }
        }
    }
}

pub(super) fn recipient(p256dh: &str, auth: &str) -> Option<Recipient> {
    Recipient::new(&web_push::bytes(p256dh)?, &web_push::bytes(auth)?)
}

fn address(field: &str, text: &str) -> Result<Url, Unfit> {
    let url = Url::parse(text).ok().filter(|url| {
        let web = matches!(url.scheme(), "http" | "https");
        let named = url.host_str().is_some_and(|host| !host.is_empty());
        let open = url.username().is_empty() && url.password().is_none();
        web && named && open && text.len() <= LONGEST_ADDRESS
    });
    match url {
        Some(url) => Ok(url),
        None => unfit(format!(
            "`{field}` must be an address that begins with `https://`, without a password in it."
        )),
    }
}

pub(super) fn checked_name(name: &str) -> Result<String, Unfit> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        return unfit(format!("`name` must have 1 to {LONGEST_NAME} characters."));
    }
    Ok(name.to_owned())
}

pub(super) fn check_settings(settings: &ChannelSettings) -> Result<(), Unfit> {
    for (field, seconds) in [
        ("after_seconds", settings.after_seconds),
        ("remind_seconds", settings.remind_seconds),
    ] {
        if seconds > LONGEST_DELAY {
            return unfit(format!("`{field}` must be {LONGEST_DELAY} at most."));
        }
    }
    if settings.kinds.len() > sayso_protocol::NotificationKind::ALL.len() {
        return unfit("`kinds` must name each kind once.");
    }
    match settings.quiet_hours.as_ref().map(Quiet::read) {
        Some(Err(field)) => unfit(format!("`quiet_hours.{field}` cannot be read.")),
        Some(Ok(_)) | None => Ok(()),
    }
}

impl Channel {
    /// A row that cannot be read is told nothing.
    pub(super) fn read(row: &ChannelRow) -> Option<Self> {
        Some(Self {
            id: row.id.0,
            name: row.name.clone(),
            device: row.device_id.map(|device| device.0),
            target: serde_json::from_str(&row.target).ok()?,
            settings: serde_json::from_str(&row.settings).ok()?,
            created_at: Timestamp::from_millisecond(row.created_at.0).ok()?,
            last_result: row
                .last_result
                .as_deref()
                .and_then(|result| serde_json::from_str(result).ok()),
        })
    }

    pub(super) fn row(&self) -> Result<ChannelRow, serde_json::Error> {
        let result = self.last_result.as_ref().map(serde_json::to_string);
        Ok(ChannelRow {
            id: ChannelId(self.id),
            kind: match self.target.kind() {
                ChannelKind::WebPush => "web_push",
                ChannelKind::Ntfy => "ntfy",
                ChannelKind::Webhook => "webhook",
            }
            .to_owned(),
            device_id: self.device.map(DeviceId),
            name: self.name.clone(),
            target: serde_json::to_string(&self.target)?,
            settings: serde_json::to_string(&self.settings)?,
            created_at: UnixMillis(self.created_at.as_millisecond()),
            last_result: result.transpose()?,
        })
    }

    pub(super) fn wire(&self) -> sayso_protocol::Channel {
        sayso_protocol::Channel {
            channel_id: self.id,
            kind: self.target.kind(),
            name: self.name.clone(),
            device_id: self.device,
            host: self.target.host().to_owned(),
            settings: self.settings.clone(),
            created_at: self.created_at,
            last_result: self.last_result.clone(),
        }
    }

    pub(super) fn lane(&self) -> Lane {
        let hours = self.settings.quiet_hours.as_ref();
        let slack = matches!(
            self.target,
            Target::Webhook {
                format: WebhookFormat::Slack,
                ..
            }
        );
        Lane {
            settings: self.settings.clone(),
            quiet: hours.and_then(|hours| Quiet::read(hours).ok()),
            device: self.device,
            withdraws: !slack,
        }
    }
}
