//! tofucode: every request is a prompt in every tab, and one response closes all of them.

use indexmap::IndexMap;
use sayso_protocol::{OutcomeKind, RawJson, Session, StartSession};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chat::{self, Chatter, Talk};
use super::native::{self, Line, Pending};
use super::{About, Desk, Entry, Heard, Written, write};

pub(crate) const ENTRY: Entry = Entry {
    name: "tofucode",
    example: r#"{"type":"prompt","prompt":"List the files here."}"#,
    policies: |options| options.limits_or("5m"),
    open: chat::open::<Tofucode>,
};

/// The document's own words.
const INVALID: &str = "Invalid permission response";
const NOT_FOUND: &str = "Permission request not found or expired";
const TIMED_OUT: &str = "Permission request timed out";

#[derive(Default)]
struct Tofucode;

#[derive(Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Said<'a> {
    SessionInfo {
        session_id: Uuid,
        project_path: &'a str,
        permission_mode: &'a str,
    },
    TaskStatus {
        session_id: Uuid,
        status: &'static str,
    },
    PermissionRequest {
        request_id: Uuid,
        tool_name: &'a str,
        tool_input: &'a RawJson,
        reason: Option<&'a str>,
        blocked_path: Option<&'a str>,
        session_id: Uuid,
    },
    QuestionRequest {
        request_id: Uuid,
        questions: RawJson,
        session_id: Uuid,
    },
    /// Closes the prompt in every tab.
    RequestClosed {
        request_id: Uuid,
        decision: &'static str,
        session_id: Uuid,
    },
    Text {
        session_id: Uuid,
        content: String,
    },
    ToolUse {
        session_id: Uuid,
        tool_use_id: &'a str,
        tool_name: &'a str,
        tool_input: &'a RawJson,
    },
    ToolResult {
        session_id: Uuid,
        tool_use_id: &'a str,
        is_error: bool,
        content: String,
    },
    Error {
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<Uuid>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt {
    prompt: String,
    session_id: Option<Uuid>,
    permission_mode: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    request_id: Option<String>,
    decision: Option<String>,
    answers: Option<IndexMap<String, String>>,
}

impl Tofucode {
    fn prompt(prompt: Prompt, desk: &mut Desk) {
        match prompt.session_id.or_else(|| desk.joined().last()) {
            Some(session) => desk.join_and_send(session, prompt.prompt),
            None => desk.start(
                StartSession {
                    prompt: Some(prompt.prompt),
                    permission_mode: prompt.permission_mode,
                    ..StartSession::default()
                },
                "",
            ),
        }
    }

    fn respond(response: Response, desk: &mut Desk) -> Result<(), String> {
        let id = response.request_id.ok_or(INVALID)?;
        if response.decision.is_none() && response.answers.is_none() {
            return Err(INVALID.to_owned());
        }
        let id = id.parse::<Uuid>().map_err(|_| NOT_FOUND)?;
        let is_question = desk.request(id).ok_or(NOT_FOUND)?.is_question();
        match (response.decision.as_deref(), response.answers) {
            (Some("deny"), _) => desk.deny(id, None, false),
            (Some("approve"), None) if !is_question => desk.allow(id, None),
            (None, Some(answers)) if is_question => desk.answer(id, answers),
            _ => return Err(INVALID.to_owned()),
        }
        Ok(())
    }
}

impl Chatter for Tofucode {
    type Said = Vec<Written>;

    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String> {
        match heard.kind() {
            "prompt" => Self::prompt(heard.read()?, desk),
            "permission_response" | "question_response" => {
                Self::respond(heard.read().map_err(|_| INVALID)?, desk)?;
            }
            _ => heard.unknown()?,
        }
        Ok(())
    }

    fn complain(problem: &str) -> Written {
        error(problem, None)
    }

    fn talk(&mut self, talk: Talk<'_>, desk: &mut Desk) -> Vec<Written> {
        let said = match talk {
            Talk::Joined { session, .. } => desk.session(session).map(session_info),
            Talk::Asked(request) => desk.request(request).map(asked),
            Talk::Over {
                request,
                session,
                end,
            } => {
                let what = end.map(|(_, outcome)| outcome.what);
                let timed_out =
                    (what == Some(OutcomeKind::Expired)).then(|| error(TIMED_OUT, Some(request)));
                let closed = write(&Said::RequestClosed {
                    request_id: request,
                    decision: what.map_or("unknown", decision),
                    session_id: session,
                });
                return timed_out.into_iter().chain([closed]).collect();
            }
            Talk::Text { session, text } => Some(write(&Said::Text {
                session_id: session,
                content: text,
            })),
            Talk::Line(session, line) => line_said(session, line),
            Talk::Died { reason, .. } => Some(error(&reason, None)),
            Talk::Late(request) => Some(error(NOT_FOUND, Some(request))),
            Talk::Refused(About::Decision(request), refused) => {
                Some(error(&refused.message, Some(*request)))
            }
            Talk::Refused(_, refused) => Some(error(&refused.message, None)),
            Talk::Changed(_) | Talk::Done(_) => None,
        };
        said.into_iter().collect()
    }
}

fn error(message: &str, request_id: Option<Uuid>) -> Written {
    write(&Said::Error {
        message,
        request_id,
    })
}

fn session_info(session: &Session) -> Written {
    write(&Said::SessionInfo {
        session_id: session.session_id,
        project_path: &session.cwd,
        permission_mode: &session.permission_mode,
    })
}

fn asked(pending: &Pending) -> Written {
    let (request_id, session_id) = (pending.request_id, pending.session_id);
    if pending.is_question() {
        return write(&Said::QuestionRequest {
            request_id,
            questions: pending.questions(),
            session_id,
        });
    }
    write(&Said::PermissionRequest {
        request_id,
        tool_name: &pending.tool_name,
        tool_input: &pending.tool_input,
        reason: pending.decision_reason.as_deref(),
        blocked_path: pending.blocked_path.as_deref(),
        session_id,
    })
}

fn line_said(session_id: Uuid, line: &Line) -> Option<Written> {
    Some(write(&match line {
        Line::ToolUse(tool) => Said::ToolUse {
            session_id,
            tool_use_id: &tool.tool_use_id,
            tool_name: &tool.tool_name,
            tool_input: &tool.tool_input,
        },
        Line::ToolResult(result) => Said::ToolResult {
            session_id,
            tool_use_id: &result.tool_use_id,
            is_error: result.is_error,
            content: native::plain(&result.content),
        },
        Line::TurnEnded(turn) => Said::TaskStatus {
            session_id,
            status: if turn.is_error { "error" } else { "completed" },
        },
        Line::UserMessage(_) => Said::TaskStatus {
            session_id,
            status: "running",
        },
        Line::Text(_) | Line::Other => return None,
    }))
}

fn decision(what: OutcomeKind) -> &'static str {
    match what {
        OutcomeKind::Allowed | OutcomeKind::Answered => "approve",
        OutcomeKind::Denied | OutcomeKind::Expired => "deny",
        OutcomeKind::Withdrawn | OutcomeKind::Orphaned => "withdrawn",
    }
}
