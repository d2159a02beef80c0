//! What an agent tells its host, in the agent's own vocabulary.

use crate::ask::{Elicitation, ToolAsk, ToolStart};
use crate::driver::AgentFault;
use crate::mode::PermissionMode;
use crate::raw::RawJson;

pub use crate::wire::{
    ApiRetry, Command, CommandLifecycle, Compacted, ConversationReset, Init, McpServer, ModelInfo,
    ModelUsage, PermissionDenied, SessionState, TaskUpdate, TaskUpdateKind, TokenUsage, TurnResult,
};

#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// The answer to `initialize`: the agent runs and takes messages.
    Initialized(Box<Initialized>),
    /// At the start of every turn, also of those the agent starts itself.
    Init(Box<Init>),
    StateChanged(SessionState),
    ModeChanged {
        mode: PermissionMode,
    },
    Asked(Box<ToolAsk>),
    /// A tool is about to run; the agent waits for [`crate::AgentInput::BeforeTool`].
    ToolStarting(Box<ToolStart>),
    /// A tool has run, whether it worked or not.
    ToolRan {
        tool_use_id: String,
    },
    Elicited(Box<Elicitation>),
    /// The agent finished a URL elicitation by itself.
    ElicitationCompleted {
        mcp_server_name: String,
        elicitation_id: String,
    },
    /// The agent took a request back: nobody may answer it any more.
    Withdrawn {
        request_id: String,
        /// True when it had been answered already, so that the answer came too late to count.
        answered: bool,
    },
    /// A request of a kind that no human answers here. `mcp_message` has been answered
    /// by the session; all others are left open and can only be refused with [`crate::AgentInput::Refuse`].
    OtherRequest {
        request_id: String,
        subtype: String,
        answered: bool,
        /// Why a known kind could not be read.
        reason: Option<String>,
        raw: RawJson,
    },
    Assistant(Box<AssistantMessage>),
    User(Box<UserMessage>),
    BlockStarted {
        message_id: String,
        index: u64,
        kind: BlockKind,
        parent_tool_use_id: Option<String>,
    },
    Delta {
        message_id: String,
        index: u64,
        kind: DeltaKind,
        text: String,
        parent_tool_use_id: Option<String>,
    },
    /// One turn is over. Requests may still be open, and more turns may start by themselves.
    TurnEnded(Box<TurnResult>),
    /// A call was refused without asking (rule, mode or classifier).
    PermissionDenied(Box<PermissionDenied>),
    ApiRetry(Box<ApiRetry>),
    TaskUpdate(Box<TaskUpdate>),
    ToolProgress {
        tool_use_id: String,
        tool_name: Option<String>,
        elapsed_seconds: f64,
    },
    /// What became of a user message, by its uuid: queued, started, completed, cancelled.
    CommandLifecycle(CommandLifecycle),
    Compacted(Box<Compacted>),
    ConversationReset(Box<ConversationReset>),
    TitleChanged {
        title: String,
    },
    Notice {
        level: NoticeLevel,
        text: String,
    },
    /// What the agent is busy with ("requesting", "compacting"); empty when it no longer is.
    Status {
        text: String,
    },
    ControlDone {
        token: u64,
        result: Result<Option<RawJson>, ControlError>,
    },
    Unknown {
        kind: String,
        subtype: Option<String>,
        reason: UnknownReason,
        raw: RawJson,
    },
    /// A line that was not JSON.
    Noise(String),
    /// Always the last event, exactly once.
    Exited(Box<Exited>),
}

impl AgentEvent {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Initialized(_) => "initialized",
            Self::Init(_) => "init",
            Self::StateChanged(_) => "state_changed",
            Self::ModeChanged { .. } => "mode_changed",
            Self::Asked(_) => "asked",
            Self::ToolStarting(_) => "tool_starting",
            Self::ToolRan { .. } => "tool_ran",
            Self::Elicited(_) => "elicited",
            Self::ElicitationCompleted { .. } => "elicitation_completed",
            Self::Withdrawn { .. } => "withdrawn",
            Self::OtherRequest { .. } => "other_request",
            Self::Assistant(_) => "assistant",
            Self::User(_) => "user",
            Self::BlockStarted { .. } => "block_started",
            Self::Delta { .. } => "delta",
            Self::TurnEnded(_) => "turn_ended",
            Self::PermissionDenied(_) => "permission_denied",
            Self::ApiRetry(_) => "api_retry",
            Self::TaskUpdate(_) => "task_update",
            Self::ToolProgress { .. } => "tool_progress",
            Self::CommandLifecycle(_) => "command_lifecycle",
            Self::Compacted(_) => "compacted",
            Self::ConversationReset(_) => "conversation_reset",
            Self::TitleChanged { .. } => "title_changed",
            Self::Notice { .. } => "notice",
            Self::Status { .. } => "status",
            Self::ControlDone { .. } => "control_done",
            Self::Unknown { .. } => "unknown",
            Self::Noise(_) => "noise",
            Self::Exited(_) => "exited",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Initialized {
    pub version: Option<String>,
    pub models: Vec<ModelInfo>,
    pub commands: Vec<Command>,
    pub permission_mode: Option<PermissionMode>,
    /// Where the key comes from; `None` means that the agent is not logged in.
    pub account_key_source: Option<String>,
    pub raw: RawJson,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AssistantMessage {
    /// Several lines share it: the agent sends one line per finished block.
    pub message_id: String,
    pub model: Option<String>,
    /// Of the request to the model that gave this message; its output is not counted to the end yet.
    pub usage: Option<TokenUsage>,
    pub blocks: Vec<Block>,
    pub parent_tool_use_id: Option<String>,
    pub agent_id: Option<String>,
    pub subagent_type: Option<String>,
    pub error: Option<String>,
    pub is_api_error: bool,
    pub aborted: bool,
    pub uuid: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The place within the message; equals the `index` of the streamed block.
    pub index: u64,
    pub content: BlockContent,
}

#[derive(Debug, Clone, PartialEq)]
pub enum BlockContent {
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: RawJson,
    },
    Other {
        kind: String,
        raw: RawJson,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct UserMessage {
    pub blocks: Vec<UserBlock>,
    pub parent_tool_use_id: Option<String>,
    pub agent_id: Option<String>,
    pub subagent_type: Option<String>,
    /// Written by the agent itself, not by a person.
    pub synthetic: bool,
    pub replay: bool,
    pub uuid: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum UserBlock {
    ToolResult(ToolResult),
    Text { text: String },
    Other { kind: String, raw: RawJson },
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub tool_use_id: String,
    pub is_error: bool,
    pub content: ToolResultContent,
    /// The tool's own record of the result, for a richer view than the text the model got.
    pub structured: Option<RawJson>,
    /// Who decided, as the agent noted it.
    pub meta: Option<RawJson>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ToolResultContent {
    Text(String),
    Blocks(RawJson),
    Empty,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    Text,
    Thinking,
    ToolUse { id: String, name: String },
    Other(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeltaKind {
    Text,
    Thinking,
    /// A piece of the tool's input as JSON text.
    ToolInput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeLevel {
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    pub message: String,
    pub code: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownReason {
    /// A kind this version has never heard of.
    NewKind,
    /// A known kind that carries nothing for a host to act on.
    NotModelled,
    /// A known kind in an unknown shape.
    Misfit(String),
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Exited {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// The last part of what it wrote to stderr.
    pub stderr_tail: String,
    /// What went wrong, for a human; `None` for an end that was asked for or was the agent's own.
    pub error: Option<AgentFault>,
}
