//! Client to server.
//!
//! Messages are read field by field so that raw JSON stays byte-faithful and
//! an error can name the field. Unknown fields are refused: a misspelt
//! `updated_input` that is ignored would run what the human had changed.

use indexmap::IndexMap;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{
    AddRule, Allow, Answer, ContentBlock, Decision, Deny, EnableRule, ErrorCode, PolicyOverrides,
    RemoveRule, Submit, UpdateRule,
};

/// Every frame that a client sends, without its optional `id`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    StartSession(StartSession),
    StopSession(SessionTarget),
    RemoveSession(SessionTarget),
    RenameSession(RenameSession),
    ArchiveSession(ArchiveSession),
    ImportConversation(ImportConversation),
    Interrupt(SessionTarget),
    SendMessage(SendMessage),
    EditQueued(EditQueued),
    RemoveQueued(RemoveQueued),
    SetPermissionMode(SetPermissionMode),
    SetModel(SetModel),
    Subscribe(Subscribe),
    Unsubscribe(SessionTarget),
    Respond(Respond),
    Hold(RequestTarget),
    ResumeClock(RequestTarget),
    Extend(Extend),
    AddRule(AddRule),
    UpdateRule(UpdateRule),
    EnableRule(EnableRule),
    RemoveRule(RemoveRule),
    ListAgentRules(SessionTarget),
    DismissAlert(SessionTarget),
    Presence(Presence),
    Ping(Ping),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct StartSession {
    #[cfg_attr(test, ts(optional = false))]
    pub cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The first message, sent as soon as the agent is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// A session that has ended: it goes on under its own id, with its history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<PolicyOverrides>,
    /// For a folder that would run something by itself: true accepts what it
    /// would run, false starts the agent without the folder's own settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<bool>,
    /// With `resume`: the agent takes up the turn in which it was cut off, and asks again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub ask_again: bool,
    /// With `trust: true`: the digest of the findings that the human saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust_digest: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SessionTarget {
    pub session_id: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct RenameSession {
    pub session_id: Uuid,
    pub title: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ArchiveSession {
    pub session_id: Uuid,
    /// False brings the session back into the list.
    pub archived: bool,
}

/// Opens a conversation that was held outside of Sayso as a session that has
/// ended, with its history; a message goes on with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ImportConversation {
    pub cwd: String,
    pub conversation_id: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    pub session_id: Uuid,
    pub content: Vec<ContentBlock>,
}

/// Changes a message that the agent has not read yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct EditQueued {
    pub session_id: Uuid,
    pub message_id: Uuid,
    pub content: Vec<ContentBlock>,
}

/// Takes back a message that the agent has not read yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct RemoveQueued {
    pub session_id: Uuid,
    pub message_id: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SetPermissionMode {
    pub session_id: Uuid,
    pub permission_mode: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SetModel {
    pub session_id: Uuid,
    pub model: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    #[cfg_attr(test, ts(optional = false))]
    pub session_id: Uuid,
    /// The number of the last entry the client has; what follows is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number"))]
    pub after: Option<u64>,
    /// Without `after`: only so many of the last entries. Earlier ones are
    /// read with `GET /api/sessions/{id}/transcript?before=`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Respond {
    pub request_id: Uuid,
    /// The digest of the input that the human saw.
    pub input_digest: String,
    pub decision: Decision,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct RequestTarget {
    pub request_id: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Extend {
    pub request_id: Uuid,
    pub seconds: u32,
}

/// Whether a human can see this client's page right now. Nobody is taken to look until this is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Presence {
    pub visible: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Ping {}

/// Why a frame could not be read. Nothing has been done with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// The frame's own `id`, when that much could be read.
    pub id: Option<String>,
    pub code: ErrorCode,
    pub message: String,
}

/// A client frame: its optional `id` and the message.
#[derive(Clone, Debug)]
pub struct ClientFrame {
    pub id: Option<String>,
    pub message: ClientMessage,
}

/// In characters. The longest reason of our own lists the fields of `start_session`.
const LONGEST_QUOTE: usize = 300;

type Fields = IndexMap<String, Box<RawValue>>;

impl ClientFrame {
    /// Reads one text frame.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut fields: Fields = serde_json::from_str(text).map_err(|error| ParseError {
            id: None,
            code: ErrorCode::InvalidMessage,
            message: format!(
                "A frame must be one JSON object: {}.",
                short(&error.to_string())
            ),
        })?;
        let id = take_string(&mut fields, "id", None)?;
        let Some(kind) = take_string(&mut fields, "type", id.as_deref())? else {
            return Err(ParseError {
                id,
                code: ErrorCode::InvalidMessage,
                message: "The field `type` is missing.".to_owned(),
            });
        };
        match ClientMessage::read(&kind, fields) {
            Ok(message) => Ok(Self { id, message }),
            Err((code, message)) => Err(ParseError { id, code, message }),
        }
    }
}

impl ClientMessage {
    fn read(kind: &str, fields: Fields) -> Result<Self, (ErrorCode, String)> {
        let message = match kind {
            "start_session" => Self::StartSession(read(kind, fields)?),
            "stop_session" => Self::StopSession(read(kind, fields)?),
            "remove_session" => Self::RemoveSession(read(kind, fields)?),
            "rename_session" => Self::RenameSession(read(kind, fields)?),
            "archive_session" => Self::ArchiveSession(read(kind, fields)?),
            "import_conversation" => Self::ImportConversation(read(kind, fields)?),
            "interrupt" => Self::Interrupt(read(kind, fields)?),
            "send_message" => Self::SendMessage(read(kind, fields)?),
            "edit_queued" => Self::EditQueued(read(kind, fields)?),
            "remove_queued" => Self::RemoveQueued(read(kind, fields)?),
            "set_permission_mode" => Self::SetPermissionMode(read(kind, fields)?),
            "set_model" => Self::SetModel(read(kind, fields)?),
            "subscribe" => Self::Subscribe(read(kind, fields)?),
            "unsubscribe" => Self::Unsubscribe(read(kind, fields)?),
            "respond" => Self::Respond(read(kind, fields)?),
            "hold" => Self::Hold(read(kind, fields)?),
            "resume_clock" => Self::ResumeClock(read(kind, fields)?),
            "extend" => Self::Extend(read(kind, fields)?),
            "add_rule" => Self::AddRule(read(kind, fields)?),
            "update_rule" => Self::UpdateRule(read(kind, fields)?),
            "enable_rule" => Self::EnableRule(read(kind, fields)?),
            "remove_rule" => Self::RemoveRule(read(kind, fields)?),
            "list_agent_rules" => Self::ListAgentRules(read(kind, fields)?),
            "dismiss_alert" => Self::DismissAlert(read(kind, fields)?),
            "presence" => Self::Presence(read(kind, fields)?),
            "ping" => Self::Ping(read(kind, fields)?),
            _ => {
                return Err((
                    ErrorCode::UnknownType,
                    format!("There is no client message of type `{}`.", short(kind)),
                ));
            }
        };
        Ok(message)
    }
}

/// Reads a REST body with the same rules and the same error texts.
pub fn parse_body<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, ParseError> {
    let invalid = |message| ParseError {
        id: None,
        code: ErrorCode::InvalidMessage,
        message,
    };
    let fields: Fields = serde_json::from_str(text).map_err(|error| {
        let error = error.to_string();
        invalid(format!(
            "The body must be one JSON object: {}.",
            short(&error)
        ))
    })?;
    read(name, fields).map_err(|(_, message)| invalid(message))
}

fn take_string(
    fields: &mut Fields,
    name: &str,
    id: Option<&str>,
) -> Result<Option<String>, ParseError> {
    let Some(raw) = fields.shift_remove(name) else {
        return Ok(None);
    };
    serde_json::from_str(raw.get())
        .map(Some)
        .map_err(|_| ParseError {
            id: id.map(str::to_owned),
            code: ErrorCode::InvalidMessage,
            message: format!("The field `{name}` must be a string."),
        })
}

/// Reasons quote what was sent. A refusal that is as long as what it refuses would let a client make the server
/// write as much as it reads.
fn short(text: &str) -> String {
    let mut rest = text.chars();
    let mut shown: String = rest.by_ref().take(LONGEST_QUOTE).collect();
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

/// A borrowed raw value, read by whatever type the field has.
struct Field<'a>(&'a RawValue);

impl<'a> IntoDeserializer<'a, serde_json::Error> for Field<'a> {
    type Deserializer = &'a RawValue;

    fn into_deserializer(self) -> Self::Deserializer {
        self.0
    }
}

fn read<T: DeserializeOwned>(kind: &str, fields: Fields) -> Result<T, (ErrorCode, String)> {
    let entries = fields.iter().map(|(name, raw)| (name.as_str(), Field(raw)));
    let deserializer = MapDeserializer::<_, serde_json::Error>::new(entries);
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner().to_string();
        // Positions count from the start of the field, which nobody can see.
        let reason = short(reason.split(" at line ").next().unwrap_or(&reason));
        let message = if path == "." {
            format!("`{kind}`: {reason}.")
        } else {
            format!("`{kind}`: field `{}`: {reason}.", short(&path))
        };
        (ErrorCode::InvalidMessage, message)
    })
}

/// An internally tagged enum cannot hold raw JSON, so this reads in two steps.
impl<'de> Deserialize<'de> for Decision {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        read_decision(&raw).map_err(D::Error::custom)
    }
}

fn read_decision(raw: &RawValue) -> Result<Decision, String> {
    let mut fields: Fields =
        serde_json::from_str(raw.get()).map_err(|_| "expected an object".to_owned())?;
    let behavior = take_string(&mut fields, "behavior", None)
        .map_err(|error| error.message)?
        .ok_or_else(|| "the field `behavior` is missing".to_owned())?;
    let decision = match behavior.as_str() {
        "allow" => read::<Allow>("allow", fields).map(Decision::Allow),
        "deny" => read::<Deny>("deny", fields).map(Decision::Deny),
        "answer" => read::<Answer>("answer", fields).map(Decision::Answer),
        "submit" => read::<Submit>("submit", fields).map(Decision::Submit),
        _ => return Err("`behavior` must be `allow`, `deny`, `answer` or `submit`".to_owned()),
    };
    decision.map_err(|(_, message)| message.trim_end_matches('.').to_owned())
}
