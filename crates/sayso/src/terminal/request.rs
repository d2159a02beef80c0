//! A pending request as the command line reads it.

use indexmap::IndexMap;
use jiff::Timestamp;
use sayso_protocol::{OnTimeout, RequestDetail};
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

/// What can be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tool,
    Questions,
    Plan,
    Form,
    /// Can be refused, or left open.
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: Uuid,
    pub(super) session: Uuid,
    pub(super) kind: Kind,
    pub(super) tool_name: String,
    pub(super) input: Box<RawValue>,
    pub(super) digest: String,
    pub(super) created_at: Timestamp,
    pub(super) deadline: Option<Timestamp>,
    pub(super) on_timeout: OnTimeout,
    pub(super) held: bool,
    pub(super) remaining_seconds: Option<u64>,
    pub(super) detail: RequestDetail,
    /// As the server sent it.
    raw: Box<RawValue>,
}

/// The fields beside `RequestDetail`. Read apart from it, because raw JSON cannot stand in a struct
/// that is spread into another.
#[derive(Deserialize)]
struct Head {
    request_id: Uuid,
    session_id: Uuid,
    request_type: String,
    tool_name: String,
    tool_input: Box<RawValue>,
    input_digest: String,
    created_at: Timestamp,
    deadline: Option<Timestamp>,
    on_timeout: OnTimeout,
    held: bool,
    remaining_seconds: Option<u64>,
}

impl Request {
    pub(super) fn read(raw: Box<RawValue>) -> serde_json::Result<Self> {
        let head: Head = serde_json::from_str(raw.get())?;
        let detail = serde_json::from_str(raw.get())?;
        Ok(Self {
            id: head.request_id,
            session: head.session_id,
            kind: match head.request_type.as_str() {
                "tool_approval" => Kind::Tool,
                "ask_user_question" => Kind::Questions,
                "plan_approval" => Kind::Plan,
                "elicitation" => Kind::Form,
                _ => Kind::Other,
            },
            tool_name: head.tool_name,
            input: head.tool_input,
            digest: head.input_digest,
            created_at: head.created_at,
            deadline: head.deadline,
            on_timeout: head.on_timeout,
            held: head.held,
            remaining_seconds: head.remaining_seconds,
            detail,
            raw,
        })
    }

    /// Wants more than one key or word before it is allowed.
    pub(super) fn is_risky(&self) -> bool {
        self.detail.destructive || self.detail.default_to_no || !self.detail.risks.is_empty()
    }

    /// The input's fields in their order, each as it was written; `None` when it is no object.
    pub(super) fn fields(&self) -> Option<IndexMap<String, Box<RawValue>>> {
        serde_json::from_str(self.input.get()).ok()
    }

    /// A field of the input that is text.
    pub(super) fn text_field(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.fields()?.get(name)?.get()).ok()
    }

    /// As the server sent it, with what the command line adds in front.
    pub(super) fn with(&self, added: IndexMap<&str, String>) -> serde_json::Result<String> {
        let sent: IndexMap<&str, &RawValue> = serde_json::from_str(self.raw.get())?;
        let mut all = IndexMap::new();
        for (name, value) in added {
            all.insert(name, serde_json::value::to_raw_value(&value)?);
        }
        for (name, value) in sent {
            all.insert(name, value.to_owned());
        }
        serde_json::to_string(&all)
    }
}
