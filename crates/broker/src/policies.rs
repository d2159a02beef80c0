//! The settings on which people disagree, each with a default.

use std::time::Duration;

/// What Sayso does by itself, per session. Nothing in here can allow a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    /// How long a tool approval may stay open; `None` is for ever.
    pub tool_timeout: Option<Duration>,
    pub question_timeout: Option<Duration>,
    pub plan_timeout: Option<Duration>,
    pub on_timeout: OnTimeout,
    pub when_unattended: WhenUnattended,
    /// How long nobody may be connected before `when_unattended = deny` acts,
    /// so that reloading a page refuses nothing.
    pub unattended_grace: Duration,
    pub responders: Responders,
    /// Questions take text that is not one of the options.
    pub free_text: bool,
    /// How long a session may wait for its human before its agent is stopped.
    pub idle_timeout: Option<Duration>,
}

impl Default for Policies {
    fn default() -> Self {
        let five_minutes = Some(Duration::from_secs(5 * 60));
        Self {
            tool_timeout: five_minutes,
            question_timeout: five_minutes,
            plan_timeout: five_minutes,
            on_timeout: OnTimeout::Deny,
            when_unattended: WhenUnattended::Wait,
            unattended_grace: Duration::from_secs(10),
            responders: Responders::Any,
            free_text: true,
            idle_timeout: Some(Duration::from_secs(30 * 60)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTimeout {
    Deny,
    /// Also ends the agent's turn.
    DenyAndInterrupt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenUnattended {
    Wait,
    Deny,
    /// The clock stops while nobody is connected.
    Pause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Responders {
    Any,
    /// Only the client that opened the session last.
    Active,
}
