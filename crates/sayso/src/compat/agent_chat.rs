//! Agent Chat: questions for the one connection that is active; everything else is chat.

use std::collections::HashMap;

use indexmap::IndexMap;
use sayso_protocol::{
    ErrorCode, OnTimeout, Outcome, OutcomeKind, PolicyOverrides, RawJson, Responders, SessionState,
    StartSession,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chat::{Chat, Talk};
use super::desk::{Written, write};
use super::native::{self, Line, Pending, Tag};
use super::{About, Desk, Dialect, Entry, News, Options};

pub(crate) const ENTRY: Entry = Entry {
    name: "agent-chat",
    example: r#"{"type":"chat_message","data":{"message":"Ask me something."}}"#,
    open: |options| Box::new(AgentChat::new(options)),
};

struct AgentChat {
    policies: PolicyOverrides,
    chat: Chat,
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
    fn new(options: &Options) -> Self {
        let policies = PolicyOverrides {
            question_timeout: options.timeout_or("55s"),
            on_timeout: Some(OnTimeout::DenyAndInterrupt),
            responders: Some(Responders::Active),
            ..PolicyOverrides::default()
        };
        Self {
            policies,
            chat: Chat::default(),
            statuses: HashMap::new(),
        }
    }

    fn message(&self, text: &str, desk: &mut Desk) -> Result<(), String> {
        let With { data } = native::heard::<With<Message>>(text)?;
        // While the agent waits for an answer, Sayso keeps the message for it.
        if let Some(session) = desk.joined().last() {
            desk.send(session, data.message);
            return Ok(());
        }
        let start = StartSession {
            prompt: Some(data.message),
            permission_mode: data.permission_mode,
            policies: Some(self.policies.clone()),
            ..StartSession::default()
        };
        desk.start(start, "");
        Ok(())
    }

    fn respond(text: &str, desk: &mut Desk) -> Result<(), String> {
        let With { data } = native::heard::<With<Response>>(text)?;
        let id = data.question_id.parse().ok();
        let open = id.and_then(|id: Uuid| desk.request(id));
        let Some(question) = open.filter(|pending| pending.is_question()) else {
            tracing::warn!(
                dialect = "agent-chat",
                "an answer to no open question was ignored"
            );
            return Ok(());
        };
        let id = question.request_id;
        if data.cancelled {
            desk.deny(id, None, true);
        } else {
            desk.answer(id, data.answers);
        }
        Ok(())
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

    fn talk(&mut self, talk: Talk<'_>, desk: &Desk) -> Vec<Written> {
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
            Talk::Refused(About::Decision(request), refused) => match refused.code {
                ErrorCode::SessionTaken => Some(write(&Said::SessionTaken {
                    question_id: *request,
                    error: &refused.message,
                })),
                // Late.
                ErrorCode::AlreadyDecided | ErrorCode::UnknownRequest => None,
                _ => Some(error(&refused.message)),
            },
            Talk::Refused(_, refused) => Some(error(&refused.message)),
            Talk::Done(_) => None,
        };
        said.into_iter().collect()
    }
}

impl Dialect for AgentChat {
    fn hear(&mut self, text: &str, desk: &mut Desk) {
        let heard = native::heard::<Tag>(text).and_then(|tag| match tag.r#type.as_deref() {
            Some("chat_message") => self.message(text, desk),
            Some("ask_user_response") => Self::respond(text, desk),
            other => Err(native::no_such(other)),
        });
        if let Err(problem) = heard {
            desk.say(error(&problem));
        }
    }

    fn tell(&mut self, news: &News, desk: &mut Desk) {
        for talk in self.chat.take(news, desk) {
            for said in self.talk(talk, desk) {
                desk.say(said);
            }
        }
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
