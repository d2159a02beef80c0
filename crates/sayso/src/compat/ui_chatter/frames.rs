//! The words of the dialect.

use indexmap::IndexMap;
use jiff::Timestamp;
use sayso_protocol::{ErrorCode, OutcomeKind, RawJson, Risk};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::desk::{Written, write};
use super::super::native::{Pending, Refused};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said<'a> {
    SessionCreated {
        session_id: Uuid,
        permission_mode: &'a str,
    },
    PermissionRequest(Request<'a>),
    PermissionClosed {
        request_id: Uuid,
        /// Absent when its end was missed.
        outcome: Option<OutcomeKind>,
    },
    PermissionModeUpdated {
        permission_mode: &'a str,
    },
    ToolActivity {
        tool_name: &'a str,
        tool_use_id: &'a str,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
    },
    ResponseChunk {
        content: &'a str,
        done: bool,
    },
    Error {
        code: Code,
        message: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Code {
    Own(&'static str),
    Native(ErrorCode),
}

#[derive(Serialize)]
struct Request<'a> {
    request_id: Uuid,
    request_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_data: Option<&'a RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<RawJson>,
    /// What a human should know of a tool call before they look closer.
    #[serde(skip_serializing_if = "<[Risk]>::is_empty")]
    risks: &'a [Risk],
    timeout_seconds: Option<i64>,
    timestamp: Timestamp,
}

#[derive(Deserialize)]
pub(super) struct Handshake {
    pub(super) permission_mode: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Message {
    pub(super) message: String,
}

#[derive(Deserialize)]
pub(super) struct ModeUpdate {
    #[serde(alias = "mode")]
    pub(super) permission_mode: String,
}

#[derive(Deserialize)]
pub(super) struct Response {
    pub(super) request_id: Option<String>,
    #[serde(default)]
    pub(super) approved: bool,
    pub(super) modified_input: Option<RawJson>,
    pub(super) answers: Option<IndexMap<String, String>>,
    pub(super) reason: Option<String>,
}

pub(super) fn asked(pending: &Pending) -> Written {
    let question = pending.is_question();
    write(&Said::PermissionRequest(Request {
        request_id: pending.request_id,
        request_type: pending.kind(),
        tool_name: (!question).then_some(&pending.tool_name),
        input_data: (!question).then_some(&pending.tool_input),
        questions: question.then(|| pending.questions()),
        risks: &pending.risks,
        timeout_seconds: pending.limit_seconds(),
        timestamp: pending.created_at,
    }))
}

pub(super) fn activity(
    name: &str,
    id: &str,
    status: &'static str,
    output: Option<String>,
) -> Written {
    write(&Said::ToolActivity {
        tool_name: name,
        tool_use_id: id,
        status,
        output,
    })
}

pub(super) fn chunk(content: &str, done: bool) -> Written {
    write(&Said::ResponseChunk { content, done })
}

/// A problem of the dialect's own.
pub(super) fn error(code: &'static str, message: &str) -> Written {
    let code = Code::Own(code);
    write(&Said::Error { code, message })
}

pub(super) fn refused(refused: &Refused) -> Written {
    let code = Code::Native(refused.code);
    let message = &refused.message;
    write(&Said::Error { code, message })
}

pub(super) fn created(session_id: Uuid, permission_mode: &str) -> Written {
    write(&Said::SessionCreated {
        session_id,
        permission_mode,
    })
}

pub(super) fn closed(request_id: Uuid, outcome: Option<OutcomeKind>) -> Written {
    write(&Said::PermissionClosed {
        request_id,
        outcome,
    })
}

pub(super) fn mode_updated(permission_mode: &str) -> Written {
    write(&Said::PermissionModeUpdated { permission_mode })
}
