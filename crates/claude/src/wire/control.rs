use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{ParseError, lenient, tagged};
use crate::ask::ToolAsk;
use crate::mode::PermissionMode;
use crate::raw::RawJson;

const CAN_USE_TOOL: &str = "can_use_tool";
const HOOK_CALLBACK: &str = "hook_callback";

/// A request of the agent to the host.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestLine {
    pub request_id: String,
    pub subtype: String,
    pub request: AgentRequest,
    /// The `request` object, verbatim.
    pub raw: RawJson,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AgentRequest {
    CanUseTool(Box<ToolAsk>),
    Elicitation(ElicitationRequest),
    HookCallback(HookCallback),
    McpMessage,
    /// A kind of request this version does not know, or a known one that could not be read.
    Other {
        misfit: Option<String>,
    },
}

/// A report about a tool call, to a name that the host gave at `initialize`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "HookCallbackLine")]
pub struct HookCallback {
    pub callback_id: String,
    pub tool_use_id: Option<String>,
    pub event: String,
    pub tool_name: String,
    pub tool_input: Option<RawJson>,
    pub permission_mode: Option<PermissionMode>,
    pub agent_id: Option<String>,
}

#[derive(Deserialize)]
struct HookCallbackLine {
    #[serde(default, deserialize_with = "lenient::or_default")]
    callback_id: String,
    #[serde(default, deserialize_with = "lenient::text")]
    tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    input: HookInput,
}

#[derive(Default, Deserialize)]
struct HookInput {
    #[serde(default, deserialize_with = "lenient::or_default")]
    hook_event_name: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    tool_name: String,
    #[serde(default)]
    tool_input: Option<RawJson>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    permission_mode: Option<PermissionMode>,
    #[serde(default, deserialize_with = "lenient::text")]
    agent_id: Option<String>,
}

impl From<HookCallbackLine> for HookCallback {
    fn from(line: HookCallbackLine) -> Self {
        Self {
            callback_id: line.callback_id,
            tool_use_id: line.tool_use_id,
            event: line.input.hook_event_name,
            tool_name: line.input.tool_name,
            tool_input: line.input.tool_input,
            permission_mode: line.input.permission_mode,
            agent_id: line.input.agent_id,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ElicitationRequest {
    pub mcp_server_name: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub message: String,
    #[serde(default, deserialize_with = "lenient::text")]
    pub mode: Option<String>,
    #[serde(default)]
    pub requested_schema: Option<RawJson>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub property_order: Vec<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub url: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub elicitation_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct RequestEnvelope<'a> {
    request_id: String,
    #[serde(default, borrow)]
    request: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Subtype {
    #[serde(default, deserialize_with = "lenient::text")]
    subtype: Option<String>,
}

pub(super) fn read_request(text: &str) -> Result<RequestLine, ParseError> {
    serde_json::from_str(text)
        .map(read_envelope)
        .map_err(|_| ParseError::UnreadableRequestId)
}

pub(super) fn read_envelope(envelope: RequestEnvelope<'_>) -> RequestLine {
    let raw = envelope.request.map_or_else(RawJson::null, RawJson::from);
    let (subtype, request) = match tagged::read(raw.as_str()) {
        Some(Tagged { subtype, request }) => (subtype.to_owned(), request),
        None => read_body(&raw),
    };
    RequestLine {
        request_id: envelope.request_id,
        subtype,
        request,
        raw,
    }
}

/// What the agent asks all the time.
struct Tagged {
    subtype: &'static str,
    request: AgentRequest,
}

impl<'de> tagged::Kinds<'de> for Tagged {
    const KEY: &'static str = "subtype";

    fn read<D: Deserializer<'de>>(kind: &str, rest: D) -> Result<Self, D::Error> {
        let (subtype, request) = match kind {
            CAN_USE_TOOL => {
                let ask = ToolAsk::deserialize(rest)?;
                (CAN_USE_TOOL, AgentRequest::CanUseTool(Box::new(ask)))
            }
            HOOK_CALLBACK => {
                let callback = HookCallback::deserialize(rest)?;
                (HOOK_CALLBACK, AgentRequest::HookCallback(callback))
            }
            _ => return tagged::no_short_cut(),
        };
        Ok(Self { subtype, request })
    }
}

fn read_body(raw: &RawJson) -> (String, AgentRequest) {
    let subtype = raw
        .parse::<Subtype>()
        .ok()
        .and_then(|peek| peek.subtype)
        .unwrap_or_default();
    let request = match subtype.as_str() {
        CAN_USE_TOOL => raw
            .parse()
            .map(|request| AgentRequest::CanUseTool(Box::new(request)))
            .unwrap_or_else(misfit),
        "elicitation" => raw
            .parse()
            .map(AgentRequest::Elicitation)
            .unwrap_or_else(misfit),
        HOOK_CALLBACK => raw
            .parse()
            .map(AgentRequest::HookCallback)
            .unwrap_or_else(misfit),
        "mcp_message" => AgentRequest::McpMessage,
        _ => AgentRequest::Other { misfit: None },
    };
    (subtype, request)
}

fn misfit(error: serde_json::Error) -> AgentRequest {
    AgentRequest::Other {
        misfit: Some(error.to_string()),
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ControlResponse {
    pub response: ResponseBody,
}

/// An answer to a request of the host.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ResponseBody {
    pub subtype: String,
    pub request_id: String,
    #[serde(default)]
    pub response: Option<RawJson>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub error: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub error_code: Option<String>,
    /// Whole `control_request` objects that are still open, given with the answer to `initialize`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub pending_permission_requests: Vec<RawJson>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub pending_user_dialog_requests: Vec<RawJson>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CancelLine {
    pub(super) request_id: String,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct InitializeAnswer {
    #[serde(default, deserialize_with = "lenient::text")]
    pub claude_code_version: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub models: Vec<ModelInfo>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub commands: Vec<Command>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub current_permission_mode: Option<PermissionMode>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub account: Account,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    #[serde(default, deserialize_with = "lenient::text")]
    pub api_key_source: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    pub value: String,
    #[serde(default)]
    pub display_name: String,
    #[serde(default)]
    pub description: String,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Command {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub argument_hint: String,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
