//! The words of the dialect.

use indexmap::IndexMap;
use sayso_protocol::RawJson;
use serde::{Deserialize, Serialize};

use super::super::desk::{Written, write};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said<'a> {
    ToolStatus {
        conversation_id: &'a str,
        tool_call_id: &'a str,
        #[serde(flatten)]
        status: Status<'a>,
    },
    ChatStream {
        conversation_id: &'a str,
        content: &'a str,
        done: bool,
    },
    ChatError {
        conversation_id: Option<&'a str>,
        error: &'a str,
    },
}

#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(super) enum Status<'a> {
    Calling {
        tool_name: &'a str,
        arguments: &'a RawJson,
    },
    Completed {
        result: String,
    },
    Error {
        error: String,
    },
}

#[derive(Deserialize)]
pub(super) struct Message {
    pub(super) conversation_id: Option<String>,
    pub(super) content: String,
}

#[derive(Deserialize)]
pub(super) struct Response {
    pub(super) conversation_id: String,
    pub(super) tool_call_id: Option<String>,
    pub(super) answers: IndexMap<String, String>,
}

pub(super) fn tool_status(
    conversation_id: &str,
    tool_call_id: &str,
    status: Status<'_>,
) -> Written {
    write(&Said::ToolStatus {
        conversation_id,
        tool_call_id,
        status,
    })
}

pub(super) fn stream(conversation_id: &str, content: &str, done: bool) -> Written {
    write(&Said::ChatStream {
        conversation_id,
        content,
        done,
    })
}

pub(super) fn error(conversation_id: Option<&str>, error: &str) -> Written {
    write(&Said::ChatError {
        conversation_id,
        error,
    })
}
