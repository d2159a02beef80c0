use serde::Deserialize;
use serde_json::{Map, Value};

use super::lenient;
use crate::mode::PermissionMode;
use crate::raw::RawJson;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Init {
    /// The agent's own id of the conversation. It changes within one process, for instance on `/clear`.
    #[serde(rename = "session_id")]
    pub agent_session_id: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub model: Option<String>,
    #[serde(
        default,
        rename = "permissionMode",
        deserialize_with = "lenient::or_default"
    )]
    pub permission_mode: PermissionMode,
    #[serde(default, deserialize_with = "lenient::text")]
    pub cwd: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub tools: Vec<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub mcp_servers: Vec<McpServer>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub slash_commands: Vec<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub capabilities: Vec<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub claude_code_version: Option<String>,
    #[serde(default, rename = "apiKeySource", deserialize_with = "lenient::text")]
    pub api_key_source: Option<String>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct McpServer {
    pub name: String,
    #[serde(default)]
    pub status: String,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Status {
    #[serde(default, deserialize_with = "lenient::text")]
    pub status: Option<String>,
    #[serde(
        default,
        rename = "permissionMode",
        deserialize_with = "lenient::or_default"
    )]
    pub permission_mode: Option<PermissionMode>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SessionStateChanged {
    pub state: SessionState,
}

/// A level, not an edge: repeated values are normal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    Running,
    RequiresAction,
    Idle,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PermissionDenied {
    pub tool_name: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub agent_id: Option<String>,
    #[serde(
        default,
        rename = "decision_reason_type",
        deserialize_with = "lenient::text"
    )]
    pub reason_type: Option<String>,
    #[serde(
        default,
        rename = "decision_reason",
        deserialize_with = "lenient::text"
    )]
    pub reason: Option<String>,
    #[serde(default)]
    pub message: String,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ApiRetry {
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub attempt: u64,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub max_retries: u64,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub retry_delay_ms: f64,
    /// `None` when the API could not be reached at all.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub error_status: Option<i64>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub error: Option<String>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TaskUpdate {
    #[serde(rename = "subtype")]
    pub kind: TaskUpdateKind,
    pub task_id: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub task_type: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub(crate) status: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub subagent_type: Option<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub is_backgrounded: bool,
    #[serde(default, deserialize_with = "lenient::text")]
    pub summary: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub last_tool_name: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub usage: Option<RawJson>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub patch: Option<TaskPatch>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum TaskUpdateKind {
    #[serde(rename = "task_started")]
    Started,
    #[serde(rename = "task_progress")]
    Progress,
    #[serde(rename = "task_updated")]
    Updated,
    #[serde(rename = "task_notification")]
    Notification,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TaskPatch {
    #[serde(default, deserialize_with = "lenient::text")]
    pub status: Option<String>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TaskUpdate {
    /// The status, wherever this kind of update carries it.
    pub fn status(&self) -> Option<&str> {
        let patched = self
            .patch
            .as_ref()
            .and_then(|patch| patch.status.as_deref());
        self.status.as_deref().or(patched)
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolProgress {
    pub tool_use_id: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub parent_tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub tool_name: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub elapsed_time_seconds: f64,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub heartbeat: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommandLifecycle {
    #[serde(rename = "command_uuid")]
    pub message_uuid: String,
    pub state: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Compacted {
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub compact_metadata: CompactMetadata,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct CompactMetadata {
    #[serde(default, deserialize_with = "lenient::text")]
    pub trigger: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub pre_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub post_tokens: Option<u64>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ConversationReset {
    #[serde(default, deserialize_with = "lenient::text")]
    pub new_conversation_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub trigger: Option<String>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TitleChanged {
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Informational {
    pub content: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub level: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Notification {
    pub text: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub priority: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ElicitationComplete {
    #[serde(default)]
    pub mcp_server_name: String,
    #[serde(default)]
    pub elicitation_id: String,
}
