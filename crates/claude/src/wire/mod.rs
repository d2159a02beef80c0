//! What the agent writes, line by line. Nothing is dropped: what is not understood is kept as it came.

mod control;
pub(crate) mod lenient;
mod message;
mod outcome;
mod system;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::event::UnknownReason;
use crate::line::Line;
use crate::raw::RawJson;

pub use control::{
    AgentRequest, ControlResponse, ElicitationRequest, HookCallback, InitializeAnswer, RequestLine,
    ResponseBody,
};
pub use control::{Command, ModelInfo};
pub use message::{
    AssistantLine, ContentBlockStart, MessageBody, RawBlock, StreamDelta, StreamEvent, StreamLine,
    TokenUsage, UserLine,
};
pub use outcome::{ModelUsage, TurnResult};
pub use system::{
    ApiRetry, CommandLifecycle, Compacted, ConversationReset, ElicitationComplete, Informational,
    Init, McpServer, Notification, PermissionDenied, SessionState, SessionStateChanged, Status,
    TaskUpdate, TaskUpdateKind, TitleChanged, ToolProgress,
};

/// One line of the agent, read.
#[derive(Debug, Clone, PartialEq)]
pub enum Inbound {
    Request(RequestLine),
    Response(ControlResponse),
    Cancel {
        request_id: String,
    },
    Assistant(AssistantLine),
    User(UserLine),
    Stream(StreamLine),
    Result(TurnResult),
    Init(Init),
    Status(Status),
    State(SessionStateChanged),
    PermissionDenied(PermissionDenied),
    ApiRetry(ApiRetry),
    Task(TaskUpdate),
    ToolProgress(ToolProgress),
    CommandLifecycle(CommandLifecycle),
    Compacted(Compacted),
    ConversationReset(ConversationReset),
    Title(TitleChanged),
    Informational(Informational),
    Notification(Notification),
    ElicitationComplete(ElicitationComplete),
    Unknown {
        kind: String,
        subtype: Option<String>,
        reason: UnknownReason,
        raw: RawJson,
    },
}

#[derive(Debug, Error)]
pub enum ParseError {
    #[error("the agent sent a line that is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// Such a request could never be answered, and the agent would wait for ever.
    #[error("the agent sent a request whose id cannot be read")]
    UnreadableRequestId,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type", default, deserialize_with = "lenient::text")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    subtype: Option<String>,
}

pub fn parse(line: &Line) -> Result<Inbound, ParseError> {
    let text = line.text.as_str();
    let envelope: Envelope = serde_json::from_str(text).map_err(ParseError::NotJson)?;
    let kind = envelope.kind.unwrap_or_default();
    let subtype = envelope.subtype;
    let read = match (kind.as_str(), subtype.as_deref()) {
        ("control_request", _) => return control::read_request(text).map(Inbound::Request),
        ("control_response", _) => read(text, Inbound::Response),
        ("control_cancel_request", _) => {
            read(text, |cancel: control::CancelLine| Inbound::Cancel {
                request_id: cancel.request_id,
            })
        }
        ("assistant", _) => read(text, Inbound::Assistant),
        ("user", _) => read(text, Inbound::User),
        ("stream_event", _) => read(text, Inbound::Stream),
        ("result", _) => read(text, Inbound::Result),
        ("tool_progress", _) => read(text, Inbound::ToolProgress),
        ("command_lifecycle", _) => read(text, Inbound::CommandLifecycle),
        ("conversation_reset", _) => read(text, Inbound::ConversationReset),
        ("system", Some("init")) => read(text, Inbound::Init),
        ("system", Some("status")) => read(text, Inbound::Status),
        ("system", Some("session_state_changed")) => read(text, Inbound::State),
        ("system", Some("permission_denied")) => read(text, Inbound::PermissionDenied),
        ("system", Some("api_retry")) => read(text, Inbound::ApiRetry),
        (
            "system",
            Some("task_started" | "task_progress" | "task_updated" | "task_notification"),
        ) => read(text, Inbound::Task),
        ("system", Some("compact_boundary")) => read(text, Inbound::Compacted),
        ("system", Some("session_title_changed")) => read(text, Inbound::Title),
        ("system", Some("informational")) => read(text, Inbound::Informational),
        ("system", Some("notification")) => read(text, Inbound::Notification),
        ("system", Some("elicitation_complete")) => read(text, Inbound::ElicitationComplete),
        (
            "system",
            Some(
                "thinking_tokens"
                | "background_tasks_changed"
                | "control_request_progress"
                | "ui_invalidate"
                | "model_refusal_no_fallback",
            ),
        ) => Err(UnknownReason::NotModelled),
        _ => Err(UnknownReason::NewKind),
    };
    match read {
        Ok(inbound) => Ok(inbound),
        Err(reason) => Ok(Inbound::Unknown {
            kind,
            subtype,
            reason,
            raw: RawJson::parse_text(text.to_owned()).map_err(ParseError::NotJson)?,
        }),
    }
}

fn read<T: DeserializeOwned>(
    text: &str,
    into: impl FnOnce(T) -> Inbound,
) -> Result<Inbound, UnknownReason> {
    serde_json::from_str(text)
        .map(into)
        .map_err(|error| UnknownReason::Misfit(error.to_string()))
}
