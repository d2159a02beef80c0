//! Server to client.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{
    AgentInfo, CommandInfo, ContentBlock, Delta, Devices, ErrorCode, FolderFindings, Me, ModelInfo,
    Outcome, PendingRequest, Rule, Session,
};

/// Every frame that the server sends.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    Welcome(Welcome),
    SessionState {
        session: Session,
    },
    SessionRemoved {
        session_id: Uuid,
    },
    /// The agents, when something about them became known.
    Agents {
        agents: Vec<AgentInfo>,
    },
    /// What a session's agent reported that it can do; for those who watch it.
    SessionFeatures {
        session_id: Uuid,
        commands: Vec<CommandInfo>,
        models: Vec<ModelInfo>,
    },
    /// All messages that the agent has not read yet; for those who watch the session.
    Queue {
        session_id: Uuid,
        messages: Vec<QueuedMessage>,
    },
    /// All of Sayso's rules, whenever one of them changed.
    Rules {
        rules: Vec<Rule>,
    },
    /// One of them answered a request; only its counters changed.
    RuleUsed {
        rule: Rule,
    },
    /// All devices and pairings, whenever one of them changed; for those who may change them.
    Devices(Devices),
    RequestOpened {
        pending_request: PendingRequest,
    },
    RequestUpdated {
        pending_request: PendingRequest,
    },
    RequestClosed {
        request_id: Uuid,
        session_id: Uuid,
        outcome: Outcome,
    },
    Transcript {
        session_id: Uuid,
        /// Serialized `TranscriptEntry` values, as they were stored.
        #[cfg_attr(test, ts(type = "Array<TranscriptEntry>"))]
        entries: Vec<Arc<RawValue>>,
    },
    Delta {
        session_id: Uuid,
        #[serde(flatten)]
        delta: Delta,
    },
    Ack(Ack),
    Error(ErrorMessage),
}

impl ServerMessage {
    /// About how long it is as JSON, so that it can be written without making room again and again.
    pub fn common_length(&self) -> usize {
        match self {
            Self::RequestOpened { pending_request } | Self::RequestUpdated { pending_request } => {
                2048 + pending_request.tool_input.get().len()
            }
            Self::Transcript { entries, .. } => {
                let entries = entries.iter().map(|entry| entry.get().len() + 1);
                80 + entries.sum::<usize>()
            }
            Self::Delta { delta, .. } => 256 + delta.text.len(),
            Self::Welcome(_) | Self::Rules { .. } | Self::Devices(_) => 4096,
            _ => 512,
        }
    }
}

/// The snapshot: first on every connection, and again after lag. Whatever a
/// client knew of sessions and requests before is replaced by it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Welcome {
    pub server_version: String,
    pub client_id: Uuid,
    /// For countdowns on clients whose clock is off.
    #[cfg_attr(test, ts(type = "string"))]
    pub server_time: Timestamp,
    pub sessions: Vec<Session>,
    pub pending_requests: Vec<PendingRequest>,
    pub agents: Vec<AgentInfo>,
    pub rules: Vec<Rule>,
    pub defaults: Defaults,
    /// Who this client is to the server.
    pub me: Me,
}

/// What a new session starts from when the human says nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Defaults {
    pub cwd: String,
    pub agent: String,
    pub permission_mode: String,
}

/// A message of the human that waits for the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QueuedMessage {
    pub message_id: Uuid,
    pub content: Vec<ContentBlock>,
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
}

/// The answer to a client message that carried an `id` and was carried out.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Ack {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// The rule that was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<Uuid>,
    /// What the agent answered, for messages that ask it something.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown"))]
    pub data: Option<Arc<RawValue>>,
}

/// The answer to a client message that was not carried out.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ErrorMessage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[cfg_attr(test, ts(optional = false))]
    pub code: ErrorCode,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Uuid>,
    /// With `already_decided`: who decided what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<Outcome>>,
    /// With `folder_not_trusted`: what the folder would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Box<FolderFindings>>,
    /// With `too_many_attempts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

impl ErrorMessage {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            id: None,
            code,
            message: message.into(),
            request_id: None,
            outcome: None,
            trust: None,
            retry_after_seconds: None,
        }
    }
}
