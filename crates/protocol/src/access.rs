//! Who may do what: devices, scopes, pairing and the second proof.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One of the things that a device may do. The server gives them out; what a
/// client says about itself counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// See sessions, requests, transcripts, rules and the history.
    View,
    /// Answer questions, refuse tools, write to agents, interrupt and stop them.
    Answer,
    /// Allow tools and plans, start sessions, change modes.
    Approve,
    /// Remember decisions: rules, trust in folders, the mode that asks nothing.
    Rules,
    /// Devices, tokens and the password.
    Admin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A browser, known by its cookie.
    Browser,
    /// A script, known by its token.
    Token,
    /// A browser's extension, known by its token and its origin.
    Extension,
}

/// Something that may come in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Device {
    pub device_id: Uuid,
    pub kind: DeviceKind,
    /// Of an extension: the only place that its token comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    pub name: String,
    pub scopes: Vec<Scope>,
    #[cfg_attr(test, ts(type = "string"))]
    pub created_at: Timestamp,
    #[cfg_attr(test, ts(type = "string"))]
    pub last_seen_at: Timestamp,
    /// When it must be paired again; a browser's moves on with each visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "string"))]
    pub expires_at: Option<Timestamp>,
    /// How many sockets it has open.
    pub connections: u32,
}

/// A device that wants to come in, or a code that waits for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Pairing {
    pub pairing_id: Uuid,
    pub scopes: Vec<Scope>,
    #[cfg_attr(test, ts(type = "string"))]
    pub expires_at: Timestamp,
    /// What used the link and waits to be let in; absent while nothing has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Claim {
    /// "Safari on iPhone": what the browser says of itself.
    pub name: String,
    pub address: String,
    /// Six digits that the other device shows too.
    pub code: String,
}

/// `GET /api/devices`, and the `devices` message to those who may change them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Devices {
    pub devices: Vec<Device>,
    pub pairings: Vec<Pairing>,
}

/// Who a client is to the server: `GET /api/me`, and `me` in the welcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Me {
    /// Absent for whoever shows the server's own token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<Uuid>,
    pub name: String,
    pub scopes: Vec<Scope>,
    /// A password is asked for before risky actions.
    pub password_set: bool,
    /// Until when it need not be asked for again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "string"))]
    pub proven_until: Option<Timestamp>,
}

/// `POST /api/devices/pairings`: makes a link for another device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NewPairing {
    pub scopes: Vec<Scope>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct PairingLink {
    pub pairing: Pairing,
    /// With the secret behind the `#`; shown once.
    pub url: String,
    pub qr: QrCode,
    /// The SHA-256 of the server's certificate, to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// A square of dark and light modules, row by row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QrCode {
    pub size: u32,
    /// `size` × `size` characters, `1` for dark.
    pub modules: String,
}

/// `POST /api/devices/pairings/{id}/confirm`: lets the waiting device in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ConfirmPairing {
    /// The code that was compared.
    pub code: String,
    pub name: String,
    pub scopes: Vec<Scope>,
}

/// `POST /api/pair`: shows the secret of a link. The only call without a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Pair {
    #[cfg_attr(test, ts(optional = false))]
    pub secret: String,
    /// What an extension was given to keep its place, in place of a browser's cookie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

/// What became of it. While it waits, ask again with the same secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Paired {
    /// The answer set the cookie, or holds the token of an extension, which has none.
    Paired {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        token: Option<String>,
    },
    /// Somebody has to confirm it on a device that is paired already.
    Waiting {
        code: String,
        #[cfg_attr(test, ts(type = "string"))]
        expires_at: Timestamp,
        /// For an extension to show with the next try; only the first time.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        ticket: Option<String>,
    },
    Refused,
}

/// `POST /api/devices/tokens`: makes a token for a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    #[cfg_attr(test, ts(optional = false))]
    pub name: String,
    #[cfg_attr(test, ts(optional = false))]
    pub scopes: Vec<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_days: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MadeToken {
    pub device: Device,
    /// Shown once; only its hash is kept.
    pub token: String,
}

/// `POST /api/devices/{id}`: another name, other scopes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct ChangeDevice {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<Scope>>,
}

/// `POST /api/prove`: the password, before something risky.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Prove {
    pub password: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Proven {
    #[cfg_attr(test, ts(type = "string"))]
    pub proven_until: Timestamp,
}

/// `POST /api/password`: sets, changes or (without `new`) removes the password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct SetPassword {
    /// The one that is set now, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl Scope {
    pub const ALL: [Self; 5] = [
        Self::View,
        Self::Answer,
        Self::Approve,
        Self::Rules,
        Self::Admin,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Answer => "answer",
            Self::Approve => "approve",
            Self::Rules => "rules",
            Self::Admin => "admin",
        }
    }
}

/// Passwords never get into a log.
impl std::fmt::Debug for Prove {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Prove(…)")
    }
}

impl std::fmt::Debug for SetPassword {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SetPassword(…)")
    }
}
