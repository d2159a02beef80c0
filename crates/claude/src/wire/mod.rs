//! What the agent writes, line by line. Nothing is dropped: what is not understood is kept as it came.

mod control;
pub(crate) mod lenient;
mod message;
mod outcome;
mod system;
mod tagged;

use serde::{Deserialize, Deserializer};
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
#[derive(Debug, Clone)]
pub enum Inbound<'a> {
    Request(RequestLine),
    Response(ControlResponse),
    Cancel {
        request_id: String,
    },
    Assistant(AssistantLine<'a>),
    User(UserLine<'a>),
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

impl<'a> tagged::Kinds<'a> for Inbound<'a> {
    const KEY: &'static str = "type";

    fn read<D: Deserializer<'a>>(kind: &str, rest: D) -> Result<Self, D::Error> {
        match kind {
            "control_request" => {
                let envelope = control::RequestEnvelope::deserialize(rest)?;
                Ok(Inbound::Request(control::read_envelope(envelope)))
            }
            "assistant" => AssistantLine::deserialize(rest).map(Inbound::Assistant),
            "user" => UserLine::deserialize(rest).map(Inbound::User),
            "stream_event" => StreamLine::deserialize(rest).map(Inbound::Stream),
            _ => tagged::no_short_cut(),
        }
    }
}

pub fn parse(line: &Line) -> Result<Inbound<'_>, ParseError> {
    match tagged::read(&line.text) {
        Some(inbound) => Ok(inbound),
        None => parse_anyhow_written(&line.text),
    }
}

/// Whatever comes first, and whatever is wrong with it.
fn parse_anyhow_written(text: &str) -> Result<Inbound<'_>, ParseError> {
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

fn read<'a, T: Deserialize<'a>>(
    text: &'a str,
    into: impl FnOnce(T) -> Inbound<'a>,
) -> Result<Inbound<'a>, UnknownReason> {
    serde_json::from_str(text)
        .map(into)
        .map_err(|error| UnknownReason::Misfit(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line is read as, and whether that took the long way.
    fn read_both_ways(text: &str) -> (String, bool) {
        let shown = |read: Result<Inbound<'_>, ParseError>| format!("{read:?}");
        let long = shown(parse_anyhow_written(text));
        let short: Option<Inbound<'_>> = tagged::read(text);
        let short = short.map(|inbound| shown(Ok(inbound)));
        assert_eq!(short.as_ref().unwrap_or(&long), &long, "{text}");
        (long, short.is_none())
    }

    #[test]
    fn the_short_cut_leads_where_the_long_way_does() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
        let mut short = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_none_or(|extension| extension != "ndjson")
            {
                continue;
            }
            for record in std::fs::read_to_string(&path).unwrap().lines() {
                #[derive(Deserialize)]
                struct Record<'a> {
                    #[serde(borrow)]
                    line: Option<&'a serde_json::value::RawValue>,
                }
                let Ok(Record { line: Some(line) }) = serde_json::from_str(record) else {
                    continue;
                };
                short += usize::from(!read_both_ways(line.get()).1);
            }
        }
        assert!(short > 1000, "{short}");
    }

    #[test]
    fn what_is_written_oddly_takes_the_long_way() {
        for text in [
            r#"{"message":{"content":"a"},"type":"user"}"#,
            r#"{"type":"user","message":{"content":"a"},"type":"assistant"}"#,
            r#"{"type":"user","message":{"content":"a"},"t\u0079pe":"assistant"}"#,
            r#"{"type":"user","subtype":"a","message":{"content":"a"},"subtype":"b"}"#,
            r#"{"type":"user","message":{"content":null}}"#,
            r#"{"type":"user","message":{"content":"a"}} {}"#,
            r#"{"type":"user","message":{"content":"a"}"#,
            r#"{"type":1,"message":{"content":"a"}}"#,
            r#"{"type":"control_request","request":{"subtype":"can_use_tool"}}"#,
            "{}",
        ] {
            assert!(read_both_ways(text).1, "{text}");
        }
        for text in [
            r#"{"t\u0079pe":"us\u0065r","subtype":1,"message":{"content":"a"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text"},3,{"type":"tool_use","id":"1"}]}}"#,
            r#"{"type":"control_request","request_id":"1"}"#,
            r#"{"type":"control_request","request_id":"1","request":[]}"#,
        ] {
            assert!(!read_both_ways(text).1, "{text}");
        }
    }

    #[test]
    fn a_request_that_names_its_kind_twice_is_of_no_kind() {
        let body = |subtypes: &str| {
            let text = format!(
                r#"{{"type":"control_request","request_id":"1","request":{{{subtypes},"tool_name":"Bash","input":{{}}}}}}"#
            );
            let Inbound::Request(line) = parse(&Line::check(text).unwrap()).unwrap() else {
                panic!("it is a request");
            };
            (line.subtype, line.request)
        };
        let (subtype, request) = body(r#""subtype":"can_use_tool""#);
        assert_eq!(subtype, "can_use_tool");
        assert!(matches!(request, AgentRequest::CanUseTool(_)));
        let (subtype, request) = body(r#""subtype":"can_use_tool","subtype":"other""#);
        assert_eq!(subtype, "");
        assert_eq!(request, AgentRequest::Other { misfit: None });
    }
}
