//! The policies as written in the configuration and in `start_session`.

use std::time::Duration;

use sayso_broker::Policies;
use sayso_protocol::{OnTimeout, OnUnasked, PolicyOverrides, Responders, WhenUnattended};
use serde::{Deserialize, Serialize};

use super::{Limit, LimitError};

/// Each setting is optional; what is absent keeps the default.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// For tools, questions and plans, where those say nothing of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_timeout: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_timeout: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_unattended: Option<WhenUnattended>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unattended_grace: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responders: Option<Responders>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_text: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<Limit>,
    /// How long the mode that asks nothing lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypass_expiry: Option<Limit>,
    /// What follows when a tool ran that nobody allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_unasked: Option<OnUnasked>,
}

impl PolicySettings {
    pub fn policies(&self) -> Policies {
        let default = Policies::default();
        let limit = |own: Option<Limit>, default: Option<Duration>| {
            own.or(self.timeout).map_or(default, |limit| limit.0)
        };
        Policies {
            tool_timeout: limit(self.tool_timeout, default.tool_timeout),
            question_timeout: limit(self.question_timeout, default.question_timeout),
            plan_timeout: limit(self.plan_timeout, default.plan_timeout),
            on_timeout: self.on_timeout.map_or(default.on_timeout, on_timeout),
            when_unattended: self
                .when_unattended
                .map_or(default.when_unattended, when_unattended),
            unattended_grace: self
                .unattended_grace
                .map_or(default.unattended_grace, |grace| {
                    grace.0.unwrap_or(Duration::MAX)
                }),
            responders: self.responders.map_or(default.responders, responders),
            free_text: self.free_text.unwrap_or(default.free_text),
            idle_timeout: self
                .idle_timeout
                .map_or(default.idle_timeout, |limit| limit.0),
        }
    }

    /// The settings with what one session asks for on top.
    pub fn with(&self, overrides: &PolicyOverrides) -> Result<Self, LimitError> {
        let limit = |text: &Option<String>, base: Option<Limit>| match text {
            Some(text) => text.parse().map(Some),
            None => Ok(base),
        };
        Ok(Self {
            timeout: self.timeout,
            tool_timeout: limit(&overrides.tool_timeout, self.tool_timeout)?,
            question_timeout: limit(&overrides.question_timeout, self.question_timeout)?,
            plan_timeout: limit(&overrides.plan_timeout, self.plan_timeout)?,
            on_timeout: overrides.on_timeout.or(self.on_timeout),
            when_unattended: overrides.when_unattended.or(self.when_unattended),
            unattended_grace: limit(&overrides.unattended_grace, self.unattended_grace)?,
            responders: overrides.responders.or(self.responders),
            free_text: overrides.free_text.or(self.free_text),
            idle_timeout: limit(&overrides.idle_timeout, self.idle_timeout)?,
            bypass_expiry: limit(&overrides.bypass_expiry, self.bypass_expiry)?,
            on_unasked: overrides.on_unasked.or(self.on_unasked),
        })
    }
}

fn on_timeout(setting: OnTimeout) -> sayso_broker::OnTimeout {
    match setting {
        OnTimeout::Deny => sayso_broker::OnTimeout::Deny,
        OnTimeout::DenyAndInterrupt => sayso_broker::OnTimeout::DenyAndInterrupt,
    }
}

fn when_unattended(setting: WhenUnattended) -> sayso_broker::WhenUnattended {
    match setting {
        WhenUnattended::Wait => sayso_broker::WhenUnattended::Wait,
        WhenUnattended::Deny => sayso_broker::WhenUnattended::Deny,
        WhenUnattended::Pause => sayso_broker::WhenUnattended::Pause,
    }
}

fn responders(setting: Responders) -> sayso_broker::Responders {
    match setting {
        Responders::Any => sayso_broker::Responders::Any,
        Responders::Active => sayso_broker::Responders::Active,
    }
}
