//! What the operator says about notifications.

use serde::{Deserialize, Serialize};

/// Stands where the operator's address should be.
const NOBODY: &str = "mailto:sayso@example.org";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotificationSettings {
    /// Whom push services write to when something is wrong: a `mailto:` or `https:` address.
    pub contact: String,
    /// Where other devices find this server, such as `https://sayso.example.org`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Push services may be in this server's own network, and without encryption.
    pub private_push_services: bool,
}

impl Default for NotificationSettings {
    fn default() -> Self {
        Self {
            contact: NOBODY.to_owned(),
            public_url: None,
            private_push_services: false,
        }
    }
}

impl NotificationSettings {
    pub fn has_contact(&self) -> bool {
        self.contact != NOBODY
    }
}
