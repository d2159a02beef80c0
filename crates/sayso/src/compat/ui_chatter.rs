//! UI Chatter: a handshake starts the session; every request is sent at once and answered in any order.

use std::collections::HashMap;

use indexmap::IndexMap;
use jiff::Timestamp;
use sayso_protocol::{OutcomeKind, PolicyOverrides, RawJson, Risk, StartSession, WhenUnattended};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::chat::{self, Chatter, Talk};
use super::native::{self, Line, Pending};
use super::{About, Desk, Entry, Heard, Written, write};

pub(crate) const ENTRY: Entry = Entry {
    name: "ui-chatter",
    example: r#"{"type":"handshake","permission_mode":"default"}"#,
    policies: |options| PolicyOverrides {
        when_unattended: Some(WhenUnattended::Deny),
        unattended_grace: Some("1s".to_owned()),
        ..options.limits_or("60s")
    },
    open: chat::open::<UiChatter>,
};

const BYPASS: &str = "bypassPermissions";

#[derive(Default)]
struct UiChatter {
    /// The names of tools whose result is not there yet.
    tools: HashMap<String, String>,
}

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
        /// The dialect's own or a native one.
        code: Value,
        message: &'a str,
    },
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
struct Handshake {
    permission_mode: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    message: String,
}

#[derive(Deserialize)]
struct ModeUpdate {
    #[serde(alias = "mode")]
    permission_mode: String,
}

#[derive(Deserialize)]
struct Response {
    request_id: Option<String>,
    #[serde(default)]
    approved: bool,
    modified_input: Option<RawJson>,
    answers: Option<IndexMap<String, String>>,
    reason: Option<String>,
}

impl UiChatter {
    fn handshake(handshake: Handshake, desk: &mut Desk) -> Result<(), String> {
        // The session that the address names is joined already.
        if desk.options.session_id.is_some() {
            return Ok(());
        }
        if desk.is_starting("") || desk.joined().next().is_some() {
            return Err("There was a handshake already".to_owned());
        }
        let start = StartSession {
            permission_mode: handshake.permission_mode,
            ..StartSession::default()
        };
        desk.start(start, "");
        Ok(())
    }

    fn message(message: String, desk: &mut Desk) -> Result<(), String> {
        let session = desk.joined().next();
        match session {
            Some(session) => desk.send(session, message),
            None if desk.is_starting("") => desk.send_when_started("", message),
            None => return Err("A handshake comes before the first chat message".to_owned()),
        }
        Ok(())
    }

    fn respond(response: Response, desk: &mut Desk) -> Result<(), String> {
        let id = response.request_id;
        let id = id.ok_or("Missing request_id in permission_response")?;
        let open = id.parse().ok().and_then(|id: Uuid| desk.request(id));
        let Some(pending) = open else {
            desk.ignore("an answer to no open request");
            return Ok(());
        };
        let (id, is_question) = (pending.request_id, pending.is_question());
        match (response.approved, is_question) {
            (true, true) => desk.answer(id, response.answers.unwrap_or_default()),
            (true, false) => desk.allow(id, response.modified_input),
            (false, _) => {
                let own = match is_question {
                    true => "User did not answer",
                    false => "User denied permission",
                };
                let reason = response.reason.unwrap_or_else(|| own.to_owned());
                desk.deny(id, Some(reason), false);
            }
        }
        Ok(())
    }

    /// The document makes the backend anew, which refuses what is open; the agent here goes on.
    fn update_mode(mode: &str, desk: &mut Desk) -> Result<(), String> {
        let session = desk.joined().next();
        let session = session.ok_or("A handshake comes before a change of the mode")?;
        let why =
            format!("The permission mode was changed to {mode} while this request was pending");
        desk.deny_where(session, |_| true, &why);
        desk.set_mode(session, mode);
        Ok(())
    }

    fn line(&mut self, session: Uuid, line: &Line, desk: &Desk) -> Vec<Written> {
        match line {
            Line::ToolUse(tool) => {
                let (id, name) = (&tool.tool_use_id, &tool.tool_name);
                self.tools.insert(id.clone(), name.clone());
                // In other modes it may be asked about first, and that is told first.
                let session = desk.session(session);
                let unasked = session.is_some_and(|session| session.permission_mode == BYPASS);
                let begun = unasked.then(|| activity(name, id, "executing", None));
                begun.into_iter().collect()
            }
            Line::ToolResult(result) => {
                let id = &result.tool_use_id;
                let Some(name) = self.tools.remove(id) else {
                    return Vec::new();
                };
                let status = match result.is_error {
                    true => "failed",
                    false => "completed",
                };
                let output = Some(native::plain(&result.content));
                vec![activity(&name, id, status, output)]
            }
            Line::TurnEnded(turn) => {
                let reason = turn.text.as_deref().or(turn.reason.as_deref());
                let reason = reason.unwrap_or("The turn ended with an error");
                let failed = turn.is_error.then(|| error("agent_error", reason));
                failed.into_iter().chain([chunk("", true)]).collect()
            }
            Line::UserMessage(_) | Line::Text(_) | Line::Other => Vec::new(),
        }
    }
}

impl Chatter for UiChatter {
    type Said = Vec<Written>;

    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String> {
        match heard.kind() {
            "handshake" => Self::handshake(heard.read()?, desk),
            "chat" => Self::message(heard.read::<Message>()?.message, desk),
            "permission_response" => Self::respond(heard.read()?, desk),
            "update_permission_mode" => {
                Self::update_mode(&heard.read::<ModeUpdate>()?.permission_mode, desk)
            }
            _ => heard.unknown(),
        }
    }

    fn complain(problem: &str) -> Written {
        error("invalid_request", problem)
    }

    fn talk(&mut self, talk: Talk<'_>, desk: &mut Desk) -> Vec<Written> {
        match talk {
            Talk::Joined { session, .. } => {
                let known = desk.session(session);
                vec![write(&Said::SessionCreated {
                    session_id: session,
                    permission_mode: known.map_or("", |known| &known.permission_mode),
                })]
            }
            Talk::Asked(request) => desk.request(request).map(asked).into_iter().collect(),
            Talk::Over { request, end, .. } => {
                let outcome = end.map(|(_, outcome)| outcome.what);
                let closed = write(&Said::PermissionClosed {
                    request_id: request,
                    outcome,
                });
                let allowed = end.filter(|_| outcome == Some(OutcomeKind::Allowed));
                let begun = allowed.and_then(|(pending, _)| {
                    let id = pending.tool_use_id.as_deref()?;
                    Some(activity(&pending.tool_name, id, "executing", None))
                });
                [closed].into_iter().chain(begun).collect()
            }
            Talk::Text { text, .. } => vec![chunk(&text, false)],
            Talk::Line(session, line) => self.line(session, line, desk),
            Talk::Died { reason, .. } => vec![error("session_ended", &reason)],
            Talk::Done(About::Mode { mode, .. }) => vec![write(&Said::PermissionModeUpdated {
                permission_mode: mode,
            })],
            Talk::Refused(_, refused) => vec![error(refused.code, &refused.message)],
            // Somebody or something else was first; that it is closed was told.
            Talk::Late(_) | Talk::Changed(_) | Talk::Done(_) => Vec::new(),
        }
    }
}

fn asked(pending: &Pending) -> Written {
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

fn activity(name: &str, id: &str, status: &'static str, output: Option<String>) -> Written {
    write(&Said::ToolActivity {
        tool_name: name,
        tool_use_id: id,
        status,
        output,
    })
}

fn chunk(content: &str, done: bool) -> Written {
    write(&Said::ResponseChunk { content, done })
}

fn error(code: impl Serialize, message: &str) -> Written {
    let code = json!(code);
    write(&Said::Error { code, message })
}
