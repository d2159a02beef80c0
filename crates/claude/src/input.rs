//! What a host tells its agent.

use indexmap::IndexMap;
use serde_json::Value;
use thiserror::Error;
use uuid::Uuid;

use crate::mode::PermissionMode;
use crate::raw::RawJson;

#[derive(Debug, Clone, PartialEq)]
pub enum AgentInput {
    UserMessage {
        /// A fresh one for every message; a message sent again with the same uuid is swallowed by the agent.
        uuid: Uuid,
        content: Vec<ContentBlock>,
        /// False only appends the message to the conversation, without a turn.
        should_query: bool,
        priority: Option<Priority>,
    },
    Answer {
        request_id: String,
        answer: PermissionAnswer,
    },
    AnswerElicitation {
        request_id: String,
        answer: ElicitationAnswer,
    },
    /// Lets a tool go on to the agent's own checks, or not; see [`crate::AgentEvent::ToolStarting`].
    BeforeTool {
        request_id: String,
        verdict: BeforeTool,
    },
    /// Answers any open request with an error: the tool does not run and the agent reads the message.
    Refuse { request_id: String, message: String },
    Control {
        /// Comes back in [`crate::AgentEvent::ControlDone`].
        token: u64,
        request: ControlRequest,
    },
}

/// Names the host's answer to a request of the agent, the same whoever makes it and however often: so that one
/// that was sent before a host ended is not written twice.
pub fn answer_id(request_id: &str) -> Uuid {
    const ANSWERS: Uuid = Uuid::from_u128(0x5b0f_6c1e_9d57_4c33_8a41_2f6c_7d5e_a9b0);
    Uuid::new_v5(&ANSWERS, request_id.as_bytes())
}

impl AgentInput {
    /// The name of the line that this becomes. Never the same for two different inputs.
    pub fn line_id(&self) -> Uuid {
        match self {
            Self::UserMessage { uuid, .. } => *uuid,
            Self::Answer { request_id, .. }
            | Self::AnswerElicitation { request_id, .. }
            | Self::BeforeTool { request_id, .. }
            | Self::Refuse { request_id, .. } => answer_id(request_id),
            Self::Control { .. } => Uuid::new_v4(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentBlock {
    Text {
        text: String,
    },
    Image {
        media_type: String,
        base64: String,
    },
    /// A PDF.
    Document {
        media_type: String,
        base64: String,
        title: Option<String>,
    },
    TextDocument {
        text: String,
        title: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Aborts the running turn.
    Now,
    Next,
    /// Is not folded into the running turn.
    Later,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PermissionAnswer {
    Allow {
        /// `None` sends the agent's own input back, byte for byte.
        updated_input: Option<RawJson>,
        /// Entries of `permission_suggestions`, verbatim. The whole list of a Bash ask also switches the mode.
        updated_permissions: Vec<RawJson>,
        permanent: bool,
    },
    /// The agent reads exactly `message`, unless `interrupt` ends the turn: then the message is lost.
    Deny { message: String, interrupt: bool },
    /// The answer to AskUserQuestion, keyed by the exact question text.
    Answers {
        answers: IndexMap<String, AnswerValue>,
        /// Per question: `{preview?, notes?, unanswered?}`.
        annotations: Option<RawJson>,
        /// A reply to the whole card; the agent then drops `answers`.
        response: Option<String>,
    },
}

impl PermissionAnswer {
    /// What runs in place of the agent's own input.
    pub fn updated_input(&self) -> Option<&RawJson> {
        match self {
            Self::Allow { updated_input, .. } => updated_input.as_ref(),
            Self::Deny { .. } | Self::Answers { .. } => None,
        }
    }
}

/// The host's word on a tool that is about to run. There is no allowing here: that is for an answer to an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeTool {
    NoOpinion,
    /// The agent asks, whatever its mode and its own rules say.
    Ask {
        reason: String,
    },
    /// The model reads the reason.
    Deny {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerValue {
    Text(String),
    Labels(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationAnswer {
    Accept { content: RawJson },
    Decline,
    Cancel,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ControlRequest {
    Interrupt {
        cancel_queued: bool,
    },
    SetPermissionMode {
        mode: PermissionMode,
    },
    /// `None` goes back to the default model.
    SetModel {
        model: Option<String>,
    },
    SetMaxThinkingTokens {
        max_thinking_tokens: Option<u64>,
    },
    StopTask {
        task_id: String,
    },
    GetContextUsage,
    ListModels,
    McpStatus,
    FileSuggestions {
        query: String,
    },
    RenameSession {
        title: String,
    },
    CancelQueuedMessage {
        message_uuid: Uuid,
    },
    RewindFiles {
        user_message_id: Uuid,
        dry_run: bool,
    },
    GetSettings,
    /// Small, and answered at once whatever the agent does.
    GetBinaryVersion,
    ListPermissionRules,
    /// Settings over those of the command line, in the place of what was given this way before.
    ApplySettings {
        settings: Value,
    },
    EndSession,
    /// A whole request object with its `subtype`.
    Raw(Value),
}

/// Why an input was not sent. Nothing reached the agent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SendError {
    #[error("request {request_id} is not open: it was answered, withdrawn or never asked")]
    NotOpen { request_id: String },
    #[error(
        "request {request_id} holds characters that cannot be sent back unchanged; it can be denied, or allowed with an edited input"
    )]
    Unfaithful { request_id: String },
    #[error("request {request_id} does not take this kind of answer")]
    WrongKind { request_id: String },
    #[error("the changed input of request {request_id} is not a JSON object")]
    NotAnObject { request_id: String },
    #[error("request {request_id} holds no questions")]
    NoQuestions { request_id: String },
    #[error("there is no question {question:?} in this request")]
    UnknownQuestion { question: String },
    #[error("the question {question:?} has no answer")]
    Unanswered { question: String },
    #[error("the message has no content")]
    EmptyMessage,
    #[error("the control request is not an object with a subtype")]
    InvalidControlRequest,
    #[error("the message cannot be written as JSON: {0}")]
    Unwritable(String),
    #[error("the agent is not reading its input; try again later")]
    Overloaded,
    #[error("the agent is gone")]
    Closed,
}
