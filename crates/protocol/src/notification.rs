//! Notifications: where they go, what is sent when, and what became of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::RequestType;

/// What a human is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    /// An agent wants to use a tool.
    Tool,
    /// An agent or a tool server has a question.
    Question,
    Plan,
    TurnFinished,
    /// An agent ended or hangs, or ran what nobody allowed.
    Error,
}

impl NotificationKind {
    pub const ALL: [Self; 5] = [
        Self::Tool,
        Self::Question,
        Self::Plan,
        Self::TurnFinished,
        Self::Error,
    ];

    pub fn of(request: RequestType) -> Self {
        match request {
            RequestType::ToolApproval | RequestType::Other => Self::Tool,
            RequestType::AskUserQuestion | RequestType::Elicitation => Self::Question,
            RequestType::PlanApproval => Self::Plan,
        }
    }
}

/// What one channel is sent, and when. What is absent is as in [`Default`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields, default)]
pub struct ChannelSettings {
    pub enabled: bool,
    pub kinds: Vec<NotificationKind>,
    /// Also a part of what the agent wrote, such as the command: masked and cut.
    pub detail: bool,
    /// A button to deny.
    pub deny_button: bool,
    /// A button to allow, for requests without any known risk. Takes the scope `admin` to switch on.
    pub allow_button: bool,
    /// Only what is unanswered for so long: how one channel comes after another.
    pub after_seconds: u32,
    /// Once more so long before a time limit ends; 0 for never.
    pub remind_seconds: u32,
    /// Not while anybody looks at Sayso. A device is never told while its own human looks.
    pub only_when_away: bool,
    pub quiet_hours: Option<QuietHours>,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            kinds: vec![
                NotificationKind::Tool,
                NotificationKind::Question,
                NotificationKind::Plan,
                NotificationKind::Error,
            ],
            detail: false,
            deny_button: true,
            allow_button: false,
            after_seconds: 0,
            remind_seconds: 0,
            only_when_away: false,
            quiet_hours: None,
        }
    }
}

/// Nothing is sent from one time of the day until another. What still waits then is sent at their end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct QuietHours {
    /// `22:00`
    pub from: String,
    /// `07:00`, of the next day when it is earlier.
    pub until: String,
    /// `Europe/Berlin`
    pub time_zone: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    WebPush,
    Ntfy,
    Webhook,
}

/// Where notifications go. Secrets are not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Channel {
    pub channel_id: Uuid,
    pub kind: ChannelKind,
    pub name: String,
    /// The device that a push subscription belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<Uuid>,
    /// The host that it is sent to; the rest of the address may be a secret.
    pub host: String,
    pub settings: ChannelSettings,
    #[cfg_attr(test, ts(type = "string"))]
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_result: Option<DeliveryResult>,
}

/// What became of a try to send something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DeliveryResult {
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    pub delivered: bool,
    /// For people.
    pub text: String,
}

/// `GET /api/notifications`: all channels for those with the scope `admin`, else the device's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Notifications {
    pub channels: Vec<Channel>,
    /// The server's VAPID key, for `PushManager.subscribe`.
    pub public_key: String,
    /// Whether push services are told of somebody to write to, and not of the example in its place.
    pub contact_set: bool,
}

/// `POST /api/notifications/push`: this browser's subscription, as `PushSubscription.toJSON()` gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct SubscribePush {
    #[cfg_attr(test, ts(optional = false))]
    pub subscription: PushSubscription,
    /// Those before, or the defaults, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<ChannelSettings>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct PushSubscription {
    pub endpoint: String,
    /// Browsers send it; the server finds out by itself when a subscription has ended.
    #[serde(default, rename = "expirationTime", skip_serializing)]
    #[cfg_attr(test, ts(optional, type = "number | null"))]
    pub expiration_time: Option<serde_json::Number>,
    pub keys: PushKeys,
}

/// In base64url without padding.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct PushKeys {
    pub p256dh: String,
    pub auth: String,
}

/// `PUT /api/notifications/push`: what this browser is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ChangePush {
    pub settings: ChannelSettings,
}

/// `POST /api/notifications/channels`, and `PUT` of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct PutChannel {
    #[cfg_attr(test, ts(optional = false))]
    pub name: String,
    /// Stays as it is when absent; a new channel needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ChannelTarget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<ChannelSettings>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChannelTarget {
    Ntfy {
        /// `https://ntfy.sh`
        server: String,
        topic: String,
        /// For topics that are protected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        token: Option<String>,
    },
    Webhook {
        url: String,
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<WebhookFormat>"))]
        format: WebhookFormat,
        /// What bodies are signed with; one is made when it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        secret: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WebhookFormat {
    /// Everything, as `docs/notifications.md` says.
    #[default]
    Sayso,
    /// `{"text": …}`, as incoming webhooks of Slack, Mattermost and others take it.
    Slack,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct MadeChannel {
    pub channel: Channel,
    /// What bodies are signed with, when the server made it; shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// `POST /api/notifications/act`: a button of a notification. Needs no credential but the token, which is good once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Act {
    pub token: String,
}

/// What a service worker finds in a push message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PushPayload {
    Show(PushNotice),
    /// Close what is shown under this tag.
    Withdraw {
        tag: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct PushNotice {
    /// One notification at a time has it; a later one takes its place.
    pub tag: String,
    pub kind: NotificationKind,
    /// In the server's words.
    pub title: String,
    pub body: String,
    /// The path of the page to open.
    pub path: String,
    /// Said once more because the time limit ends soon.
    pub reminder: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "string"))]
    pub deadline: Option<Timestamp>,
    pub actions: Vec<PushAction>,
}

/// A button, for `POST /api/notifications/act`.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PushAction {
    pub action: ActionKind,
    pub token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    Deny,
    Allow,
}

macro_rules! not_printed {
    ($($name:ident),*) => {
        $(
            /// Secrets never get into a log.
            impl std::fmt::Debug for $name {
                fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str(concat!(stringify!($name), "(…)"))
                }
            }
        )*
    };
}

not_printed!(Act, ChannelTarget, PushAction, PushKeys, PushSubscription);
