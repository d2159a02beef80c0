//! The conversation as numbered, durable entries, and the text still streaming.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Outcome, RawJson, RequestType, Tokens};

/// One numbered line of a session's transcript. Numbers have no gaps.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TranscriptEntry {
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// Set when a subagent did this: the tool call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub parent_tool_use_id: Option<String>,
    #[serde(flatten)]
    pub body: EntryBody,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntryBody {
    /// What the human (or the host in the human's name) sent.
    UserMessage {
        message_id: Uuid,
        content: Vec<ContentBlock>,
        /// Sent while the agent was at work; it stands where the agent read it.
        queued: bool,
    },
    AssistantText {
        message_id: String,
        index: u32,
        text: String,
    },
    Thinking {
        message_id: String,
        index: u32,
        text: String,
    },
    ToolUse {
        message_id: String,
        index: u32,
        tool_use_id: String,
        tool_name: String,
        #[cfg_attr(test, ts(type = "unknown"))]
        tool_input: RawJson,
    },
    ToolResult {
        tool_use_id: String,
        is_error: bool,
        content: Vec<ContentBlock>,
        /// The agent's structured result, where it gives one.
        #[cfg_attr(test, ts(type = "unknown"))]
        structured: Option<RawJson>,
    },
    /// Where a decision fell.
    Decision {
        request_id: Uuid,
        request_type: RequestType,
        tool_name: String,
        tool_use_id: Option<String>,
        outcome: Outcome,
        /// The answers given to questions, as sent to the agent.
        #[cfg_attr(test, ts(type = "unknown"))]
        answers: Option<RawJson>,
        /// What the human added to the answers, by question.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "Record<string, string>"))]
        notes: Option<RawJson>,
        /// What ran in place of what the agent asked for.
        #[cfg_attr(test, ts(type = "unknown"))]
        updated_input: Option<RawJson>,
    },
    /// The agent ran a tool that must ask, without asking: no decision, no mode and no rule explains it.
    UnaskedTool {
        tool_use_id: String,
        tool_name: String,
        /// What ran: the command, path or address.
        subject: String,
        /// The agent was stopped for it.
        stopped: bool,
    },
    Notice {
        level: NoticeLevel,
        text: String,
    },
    TurnEnded {
        is_error: bool,
        reason: Option<String>,
        text: Option<String>,
        #[cfg_attr(test, ts(type = "number"))]
        duration_ms: u64,
        /// What this turn cost.
        cost_usd: f64,
        tokens: Tokens,
    },
    /// An agent message that this version does not understand, kept as it came.
    Unknown {
        label: String,
        #[cfg_attr(test, ts(type = "unknown"))]
        message: RawJson,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    Info,
    Warning,
    Error,
}

/// A piece of a message, from a human or from a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    Text {
        text: String,
    },
    /// Base64.
    Image {
        media_type: String,
        data: String,
    },
    /// Base64 for PDF, plain for text.
    Document {
        media_type: String,
        data: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        title: Option<String>,
    },
}

/// Text that is still being written. Not durable: the entry with the same
/// `message_id` and `index` replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Delta {
    pub message_id: String,
    pub index: u32,
    pub kind: DeltaKind,
    pub text: String,
    /// The text so far, not an addition: sent to a client that joins late.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub restart: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    Text,
    Thinking,
    ToolInput,
}
