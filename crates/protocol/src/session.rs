//! Sessions, agents and the policies that may be set for one session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One agent at work in one folder, as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Session {
    pub session_id: Uuid,
    pub title: String,
    pub cwd: String,
    /// The agent's name, as in `AgentInfo::agent`.
    pub agent: String,
    pub state: SessionState,
    pub permission_mode: String,
    pub model: Option<String>,
    #[cfg_attr(test, ts(type = "string"))]
    pub started_at: Timestamp,
    #[cfg_attr(test, ts(type = "string"))]
    pub state_changed_at: Timestamp,
    pub usage: Usage,
    /// How full the agent's memory is, once it has said so.
    pub context: Option<ContextUse>,
    pub archived: bool,
    /// The agent runs without the folder's own settings, because nobody trusted them.
    pub restricted: bool,
    /// Why the session is dead, or what is wrong with it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub error: Option<String>,
    /// The agent lives and does not react; `error` says it in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub unresponsive: Option<Unresponsive>,
    /// A tool ran that nobody allowed. Stands until a human has seen it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub alert: Option<Alert>,
    /// When the mode that asks nothing ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "string"))]
    pub bypass_until: Option<Timestamp>,
    /// True when typing a message would start the agent again with its history.
    pub can_resume: bool,
    /// The number of the last transcript entry; 0 when there is none.
    #[cfg_attr(test, ts(type = "number"))]
    pub last_seq: u64,
}

/// An agent that does not read what it is sent, or does not react to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Unresponsive {
    #[cfg_attr(test, ts(type = "string"))]
    pub since: Timestamp,
    /// When it is ended if it stays so; `None` when it is not.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub ends_at: Option<Timestamp>,
}

/// Tool calls that ran without anybody's say-so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Alert {
    /// The last one.
    pub tool_name: String,
    pub tool_use_id: String,
    /// What ran: the command, path or address.
    pub subject: String,
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// How many there were since a human last looked.
    pub count: u32,
    /// The agent was stopped for it.
    pub stopped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    Starting,
    AssistantTurn,
    UserTurn,
    Dead,
}

/// Running totals of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Usage {
    pub cost_usd: f64,
    pub turns: u32,
    pub tokens: Tokens,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Tokens {
    #[cfg_attr(test, ts(type = "number"))]
    pub input: u64,
    #[cfg_attr(test, ts(type = "number"))]
    pub output: u64,
    #[cfg_attr(test, ts(type = "number"))]
    pub cache_read: u64,
    #[cfg_attr(test, ts(type = "number"))]
    pub cache_write: u64,
}

/// Tokens in the agent's context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ContextUse {
    #[cfg_attr(test, ts(type = "number"))]
    pub used: u64,
    /// `None` while the agent has not said how large it is.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub window: Option<u64>,
}

/// An agent that sessions can run, and what it can and cannot express.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgentInfo {
    pub agent: String,
    pub label: String,
    pub available: bool,
    pub version: Option<String>,
    /// What is missing and how to mend it, when not available.
    pub problem: Option<String>,
    pub permission_modes: Vec<PermissionModeInfo>,
    /// What the agent offered when it last ran; empty before.
    pub models: Vec<ModelInfo>,
    pub capabilities: Capabilities,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelInfo {
    /// What `set_model` takes.
    pub value: String,
    pub label: String,
    pub description: Option<String>,
}

/// A command that the agent understands, written as `/name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CommandInfo {
    pub name: String,
    pub description: String,
    pub argument_hint: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PermissionModeInfo {
    pub mode: String,
    pub label: String,
    pub description: String,
    /// The human is asked nothing in this mode.
    pub dangerous: bool,
}

/// An answer that the agent cannot express is refused, never downgraded; a
/// client reads here what to offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Capabilities {
    pub edit_input: bool,
    pub deny_message: bool,
    pub interrupt: bool,
    pub set_permission_mode: bool,
    pub set_model: bool,
    pub resume: bool,
    pub images: bool,
}

/// Overrides of the server's policies for one session. Durations are written
/// as in the configuration: `"90s"`, `"5m"`, `"never"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct PolicyOverrides {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_timeout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_timeout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_unattended: Option<WhenUnattended>,
    /// How long nobody may be connected before `when_unattended = "deny"` acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unattended_grace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responders: Option<Responders>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_text: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<String>,
    /// How long the mode that asks nothing lasts; then the agent asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass_expiry: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_unasked: Option<OnUnasked>,
}

/// What follows when a tool ran that nobody allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OnUnasked {
    #[default]
    Alert,
    /// The agent is stopped as well.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    Deny,
    DenyAndInterrupt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WhenUnattended {
    Wait,
    Deny,
    Pause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Responders {
    Any,
    Active,
}
