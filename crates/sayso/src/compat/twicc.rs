//! TWICC: processes, each with at most one pending request to show.

use indexmap::IndexMap;
use jiff::Timestamp;
use sayso_protocol::{RawJson, Session, SessionState, StartSession};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::native::{self, Line, Pending};
use super::{About, Desk, Dialect, Entry, Heard, News, Written, write};

pub(crate) const ENTRY: Entry = Entry {
    name: "twicc",
    example: r#"{"type":"send_message","text":"List the files here."}"#,
    policies: |options| options.limits_or("never"),
    open: || Box::new(Twicc),
};

struct Twicc;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said<'a> {
    ActiveProcesses {
        processes: Vec<Process<'a>>,
    },
    ProcessState(Process<'a>),
    SessionItemsAdded {
        session_id: Uuid,
        items: [Item<'a>; 1],
    },
    Error {
        code: sayso_protocol::ErrorCode,
        message: &'a str,
    },
}

#[derive(Serialize)]
struct Process<'a> {
    session_id: Uuid,
    project_id: String,
    state: SessionState,
    started_at: f64,
    state_changed_at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_request: Option<Shown<'a>>,
}

#[derive(Serialize)]
struct Shown<'a> {
    request_id: Uuid,
    request_type: &'static str,
    tool_name: &'a str,
    tool_input: &'a RawJson,
    created_at: f64,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Item<'a> {
    UserMessage {
        text: String,
    },
    AssistantMessage {
        text: &'a str,
    },
    ToolUse {
        tool_use_id: &'a str,
        tool_name: &'a str,
        tool_input: &'a RawJson,
    },
    ToolResult {
        tool_use_id: &'a str,
        is_error: bool,
        text: String,
    },
}

#[derive(Deserialize)]
struct Response {
    session_id: Option<Uuid>,
    request_id: Option<Uuid>,
    request_type: Option<String>,
    decision: Option<String>,
    message: Option<String>,
    updated_input: Option<RawJson>,
    answers: Option<IndexMap<String, String>>,
}

#[derive(Deserialize)]
struct Message {
    session_id: Option<Uuid>,
    text: String,
    permission_mode: Option<String>,
}

#[derive(Deserialize)]
struct Kill {
    session_id: Option<Uuid>,
}

impl Twicc {
    fn respond(response: Response, desk: &mut Desk) -> Result<(), String> {
        let session = response.session_id.ok_or("`session_id` is missing")?;
        let kind = response.request_type.ok_or("`request_type` is missing")?;
        // Without an id it is about the one that is shown.
        let shown = desk.pending(session).next();
        let shown = shown.ok_or("the session has no pending request")?;
        let id = shown.request_id;
        if response.request_id.is_some_and(|named| named != id) {
            return Err("`request_id` is not that of the pending request".to_owned());
        }
        match (kind.as_str(), shown.is_question()) {
            ("tool_approval", false) if response.decision.as_deref() == Some("allow") => {
                desk.allow(id, response.updated_input);
            }
            ("tool_approval", false) => {
                let message = response
                    .message
                    .unwrap_or_else(|| "User denied this action".to_owned());
                desk.deny(id, Some(message), false);
            }
            ("ask_user_question", true) => desk.answer(id, response.answers.unwrap_or_default()),
            _ => {
                return Err(format!(
                    "`request_type`: the pending request is not of type {kind}"
                ));
            }
        }
        Ok(())
    }

    fn message(message: Message, desk: &mut Desk) {
        match message.session_id {
            Some(session) => desk.join_and_send(session, message.text),
            None => {
                let start = StartSession {
                    prompt: Some(message.text),
                    permission_mode: message.permission_mode,
                    ..StartSession::default()
                };
                desk.start(start, "");
            }
        }
    }

    fn state(session: Uuid, desk: &mut Desk) {
        if let Some(known) = desk.session(session) {
            let said = write(&Said::ProcessState(process(known, desk)));
            desk.say(said);
        }
    }
}

impl Dialect for Twicc {
    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String> {
        match heard.kind() {
            "pending_request_response" => Self::respond(heard.read()?, desk)?,
            "send_message" => Self::message(heard.read()?, desk),
            "kill_process" => {
                let Kill { session_id } = heard.read()?;
                desk.stop(session_id.ok_or("`session_id` is missing")?);
            }
            "ping" => {}
            _ => heard.unknown()?,
        }
        Ok(())
    }

    /// The document asks for a warning in the log and nothing else.
    fn complain(&self, _problem: &str) -> Option<Written> {
        None
    }

    fn tell(&mut self, news: &News, desk: &mut Desk) {
        match news {
            News::Snapshot => {
                desk.join_named();
                let alive = desk
                    .sessions()
                    .filter(|session| session.state != SessionState::Dead);
                let processes = alive.map(|session| process(session, desk)).collect();
                let said = write(&Said::ActiveProcesses { processes });
                desk.say(said);
            }
            News::Session(session) | News::Started { session, .. } => Self::state(*session, desk),
            News::Opened(request) => {
                let session = desk.request(*request).map(|pending| pending.session_id);
                let is_shown = |session: &Uuid| {
                    let first = desk.pending(*session).next();
                    first.is_some_and(|first| first.request_id == *request)
                };
                if let Some(session) = session.filter(is_shown) {
                    Self::state(session, desk);
                }
            }
            News::Closed(pending, _) => Self::state(pending.session_id, desk),
            News::Line(session, line) => {
                if let Some(item) = item(line) {
                    desk.say(write(&Said::SessionItemsAdded {
                        session_id: *session,
                        items: [item],
                    }));
                }
            }
            News::Refused(About::Start { .. } | About::Message(_), refused) => {
                desk.say(write(&Said::Error {
                    code: refused.code,
                    message: &refused.message,
                }));
            }
            News::Refused(about, refused) => {
                let reason = &refused.message;
                tracing::warn!(dialect = "twicc", ?about, reason, "a message was refused");
            }
            News::SessionGone | News::Updated | News::Delta(..) | News::Done(_) => {}
        }
    }
}

fn process<'a>(session: &'a Session, desk: &'a Desk) -> Process<'a> {
    Process {
        session_id: session.session_id,
        project_id: project_id(&session.cwd),
        state: session.state,
        started_at: seconds(session.started_at),
        state_changed_at: seconds(session.state_changed_at),
        error: session.error.as_deref(),
        pending_request: desk.pending(session.session_id).next().map(shown),
    }
}

fn shown(pending: &Pending) -> Shown<'_> {
    Shown {
        request_id: pending.request_id,
        request_type: pending.kind(),
        tool_name: &pending.tool_name,
        tool_input: &pending.tool_input,
        created_at: seconds(pending.created_at),
    }
}

fn item(line: &Line) -> Option<Item<'_>> {
    Some(match line {
        Line::UserMessage(message) => Item::UserMessage {
            text: native::plain(&message.content),
        },
        Line::Text(text) => Item::AssistantMessage { text: &text.text },
        Line::ToolUse(tool) => Item::ToolUse {
            tool_use_id: &tool.tool_use_id,
            tool_name: &tool.tool_name,
            tool_input: &tool.tool_input,
        },
        Line::ToolResult(result) => Item::ToolResult {
            tool_use_id: &result.tool_use_id,
            is_error: result.is_error,
            text: native::plain(&result.content),
        },
        Line::TurnEnded(_) | Line::Other => return None,
    })
}

/// As Claude Code names a folder: every character that is no letter or digit becomes a dash.
fn project_id(cwd: &str) -> String {
    let dashed = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    cwd.chars().map(dashed).collect()
}

fn seconds(at: Timestamp) -> f64 {
    at.as_duration().as_secs_f64()
}
