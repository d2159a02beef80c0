//! Agent Chat: questions for the one connection that is active; everything else is chat.

use std::collections::HashMap;

use indexmap::IndexMap;
use sayso_protocol::{
    ErrorCode, OnTimeout, Outcome, OutcomeKind, PolicyOverrides, RawJson, Responders, SessionState,
    StartSession,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chat::{self, Chatter, Talk};
use super::native::{Line, Pending};
use super::{About, Desk, Entry, Heard, Written, write};

pub(crate) const ENTRY: Entry = Entry {
    name: "agent-chat",
    example: r#"{"type":"chat_message","data":{"message":"Ask me something."}}"#,
    policies: |options| PolicyOverrides {
        question_timeout: options.timeout_or("55s"),
        on_timeout: Some(OnTimeout::DenyAndInterrupt),
        responders: Some(Responders::Active),
        ..PolicyOverrides::default()
    },
    open: chat::open::<AgentChat>,
};

#[derive(Default)]
struct AgentChat {
    /// What was last said of each session.
    statuses: HashMap<Uuid, Status>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said<'a> {
    SessionStatus(Status),
    AskUserQuestion {
        question_id: Uuid,
        questions: RawJson,
        timeout_seconds: Option<i64>,
    },
    AskUserTimeout {
        question_id: Uuid,
        error: &'static str,
    },
    /// The answer came from a connection that is not the active one.
    SessionTaken {
        question_id: Uuid,
        error: &'a str,
    },
    ChatChunk {
        session_id: Uuid,
        content: &'a str,
    },
    ChatComplete {
        session_id: Uuid,
    },
    ToolUse {
        session_id: Uuid,
        tool_name: &'a str,
        tool_input: &'a RawJson,
    },
    Error {
        error: &'a str,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
struct Status {
    session_id: Uuid,
    is_processing: bool,
    waiting_for_user: bool,
    pending_question_id: Option<Uuid>,
}

#[derive(Deserialize)]
struct With<T> {
    data: T,
}

#[derive(Deserialize)]
struct Message {
    message: String,
    permission_mode: Option<String>,
}

#[derive(Deserialize)]
struct Response {
    question_id: String,
    #[serde(default)]
    answers: IndexMap<String, String>,
    #[serde(default)]
    cancelled: bool,
}

impl AgentChat {
    fn message(data: Message, desk: &mut Desk) {
        // While the agent waits for an answer, Sayso keeps the message for it.
        if let Some(session) = desk.joined().last() {
            return desk.send(session, data.message);
        }
        let start = StartSession {
            prompt: Some(data.message),
            permission_mode: data.permission_mode,
            ..StartSession::default()
        };
        desk.start(start, "");
    }

    fn respond(data: Response, desk: &mut Desk) {
        let id = data.question_id.parse().ok();
        let open = id.and_then(|id: Uuid| desk.request(id));
        let Some(question) = open.filter(|pending| pending.is_question()) else {
            return desk.ignore("an answer to no open question");
        };
        let id = question.request_id;
        if data.cancelled {
            desk.deny(id, None, true);
        } else {
            desk.answer(id, data.answers);
        }
    }

    /// What the session does now, where that is new.
    fn status(&mut self, session: Uuid, desk: &Desk) -> Option<Written> {
        let state = desk.session(session)?.state;
        let mut pending = desk.pending(session);
        let question = pending.find(|pending| pending.is_question());
        let status = Status {
            session_id: session,
            is_processing: state == SessionState::AssistantTurn && question.is_none(),
            waiting_for_user: question.is_some(),
            pending_question_id: question.map(|question| question.request_id),
        };
        let before = self.statuses.insert(session, status);
        (before != Some(status)).then(|| write(&Said::SessionStatus(status)))
    }
}

impl Chatter for AgentChat {
    type Said = Vec<Written>;

    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String> {
        match heard.kind() {
            "chat_message" => Self::message(heard.read::<With<_>>()?.data, desk),
            "ask_user_response" => Self::respond(heard.read::<With<_>>()?.data, desk),
            _ => heard.unknown()?,
        }
        Ok(())
    }

    fn complain(problem: &str) -> Written {
        error(problem)
    }

    fn talk(&mut self, talk: Talk<'_>, desk: &mut Desk) -> Vec<Written> {
        let said = match talk {
            Talk::Joined { session, .. } | Talk::Changed(session) => self.status(session, desk),
            Talk::Asked(request) => {
                let pending = desk.request(request);
                let question = pending.filter(|pending| pending.is_question());
                let status = question.and_then(|asked| self.status(asked.session_id, desk));
                return question.map(asked).into_iter().chain(status).collect();
            }
            Talk::Over {
                request,
                session,
                end,
            } => {
                let status = self.status(session, desk);
                let given_up = end.and_then(|(pending, outcome)| given_up(pending, outcome));
                let timeout = given_up.map(|error| {
                    write(&Said::AskUserTimeout {
                        question_id: request,
                        error,
                    })
                });
                return timeout.into_iter().chain(status).collect();
            }
            Talk::Text { session, text } => Some(write(&Said::ChatChunk {
                session_id: session,
                content: &text,
            })),
            Talk::Line(session, line) => line_said(session, line),
            Talk::Died { reason, .. } => Some(error(&reason)),
            Talk::Refused(About::Decision(request), refused)
                if refused.code == ErrorCode::SessionTaken =>
            {
                Some(write(&Said::SessionTaken {
                    question_id: *request,
                    error: &refused.message,
                }))
            }
            Talk::Refused(_, refused) => Some(error(&refused.message)),
            Talk::Late(_) | Talk::Done(_) => None,
        };
        said.into_iter().collect()
    }
}

fn error(error: &str) -> Written {
    write(&Said::Error { error })
}

fn asked(question: &Pending) -> Written {
    write(&Said::AskUserQuestion {
        question_id: question.request_id,
        questions: question.questions(),
        timeout_seconds: question.limit_seconds(),
    })
}

/// Why a question ended without an answer.
fn given_up(pending: &Pending, outcome: &Outcome) -> Option<&'static str> {
    match outcome.what {
        _ if !pending.is_question() => None,
        OutcomeKind::Expired => Some("User response timed out"),
        OutcomeKind::Denied => Some("User cancelled the question"),
        OutcomeKind::Withdrawn | OutcomeKind::Orphaned => Some("The agent does not wait any more"),
        OutcomeKind::Allowed | OutcomeKind::Answered => None,
    }
}

fn line_said(session_id: Uuid, line: &Line) -> Option<Written> {
    Some(write(&match line {
        Line::ToolUse(tool) => Said::ToolUse {
            session_id,
            tool_name: &tool.tool_name,
            tool_input: &tool.tool_input,
        },
        Line::TurnEnded(_) => Said::ChatComplete { session_id },
        Line::UserMessage(_) | Line::ToolResult(_) | Line::Text(_) | Line::Other => return None,
    }))
}
