//! Gobby: conversations with tool calls; questions are answered by the id of their call.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sayso_protocol::{OutcomeKind, PolicyOverrides, RawJson, RequestType, StartSession};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chat::{self, Chatter, Talk};
use super::native::{self, Line, Pending};
use super::options::AutoApprove;
use super::{About, Desk, Entry, Heard, Written, write};

const NAME: &str = "gobby";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    example: r#"{"type":"chat_message","conversation_id":"first","content":"Ask me something."}"#,
    policies: |options| PolicyOverrides {
        free_text: Some(options.free_text),
        ..options.limits_or("300s")
    },
    open: chat::open::<Gobby>,
};

#[derive(Default)]
struct Gobby {
    /// What each session is called here.
    conversations: HashMap<Uuid, String>,
    /// Calls that were told, until their result is.
    calls: HashSet<String>,
}

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
enum Status<'a> {
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
struct Message {
    conversation_id: Option<String>,
    content: String,
}

#[derive(Deserialize)]
struct Response {
    conversation_id: String,
    tool_call_id: Option<String>,
    answers: IndexMap<String, String>,
}

impl Gobby {
    fn name(&self, session: Uuid) -> Option<&str> {
        self.conversations.get(&session).map(String::as_str)
    }

    /// The session of a conversation: this connection's, another one's, or one of Sayso's by its id.
    fn session(&self, conversation: &str, desk: &Desk) -> Option<Uuid> {
        let mut own = self.conversations.iter();
        let own = own.find(|(_, name)| *name == conversation);
        own.map(|(session, _)| *session)
            .or_else(|| desk.names.find(NAME, conversation))
            .or_else(|| conversation.parse().ok())
            .filter(|session| desk.session(*session).is_some())
    }

    fn message(&mut self, message: Message, desk: &mut Desk) {
        let content = message.content;
        let last = || {
            let last = desk.joined().last()?;
            self.name(last).map(str::to_owned)
        };
        let conversation = message.conversation_id.or_else(last).unwrap_or_default();
        if desk.is_starting(&conversation) {
            return desk.send_when_started(&conversation, content);
        }
        if let Some(session) = self.session(&conversation, desk) {
            self.conversations.insert(session, conversation);
            return desk.join_and_send(session, content);
        }
        let start = StartSession {
            prompt: Some(content),
            ..StartSession::default()
        };
        desk.start(start, &conversation);
    }

    fn respond(&self, response: Response, desk: &mut Desk) {
        let session = self.session(&response.conversation_id, desk);
        let call = response.tool_call_id;
        let asked = session.and_then(|session| {
            let mut questions = desk.pending(session).filter(|open| open.is_question());
            let named = |question: &&Pending| call.is_none() || question.tool_use_id == call;
            questions.find(named).map(|question| question.request_id)
        });
        match asked {
            Some(question) => desk.answer(question, response.answers),
            None => desk.ignore("an answer to no open question"),
        }
    }

    fn joined(&mut self, session: Uuid, note: &str, desk: &Desk) {
        let known = || desk.names.of(NAME, session);
        let name = Some(note.to_owned()).filter(|note| !note.is_empty());
        let name = name.or_else(known).unwrap_or_else(|| session.to_string());
        desk.names.note(NAME, &name, session);
        self.conversations.entry(session).or_insert(name);
    }

    /// A call is told once: where it can be answered, or where the agent makes it.
    fn calling(
        &mut self,
        session: Uuid,
        call: &str,
        tool_name: &str,
        arguments: &RawJson,
    ) -> Option<Written> {
        let is_new = self.calls.insert(call.to_owned());
        let status = Status::Calling {
            tool_name,
            arguments,
        };
        is_new.then(|| self.status(session, call, status))?
    }

    /// The end of a call is told once as well.
    fn called(&mut self, session: Uuid, call: &str, status: Status<'_>) -> Option<Written> {
        let is_open = self.calls.remove(call);
        is_open.then(|| self.status(session, call, status))?
    }

    fn status(&self, session: Uuid, call: &str, status: Status<'_>) -> Option<Written> {
        Some(write(&Said::ToolStatus {
            conversation_id: self.name(session)?,
            tool_call_id: call,
            status,
        }))
    }

    fn stream(&self, session: Uuid, content: &str, done: bool) -> Option<Written> {
        Some(write(&Said::ChatStream {
            conversation_id: self.name(session)?,
            content,
            done,
        }))
    }

    fn line(&mut self, session: Uuid, line: &Line) -> Option<Written> {
        match line {
            // It is told when it can be answered.
            Line::ToolUse(tool) if tool.tool_name == "AskUserQuestion" => None,
            Line::ToolUse(tool) => self.calling(
                session,
                &tool.tool_use_id,
                &tool.tool_name,
                &tool.tool_input,
            ),
            Line::ToolResult(result) => {
                let text = native::plain(&result.content);
                let status = match result.is_error {
                    true => Status::Error { error: text },
                    false => Status::Completed { result: text },
                };
                self.called(session, &result.tool_use_id, status)
            }
            Line::TurnEnded(_) => self.stream(session, "", true),
            Line::UserMessage(_) | Line::Text(_) | Line::Other => None,
        }
    }
}

impl Chatter for Gobby {
    type Said = Option<Written>;

    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String> {
        match heard.kind() {
            "chat_message" => self.message(heard.read()?, desk),
            "ask_user_response" => self.respond(heard.read()?, desk),
            _ => heard.unknown()?,
        }
        Ok(())
    }

    fn complain(problem: &str) -> Written {
        error(None, problem)
    }

    fn talk(&mut self, talk: Talk<'_>, desk: &mut Desk) -> Option<Written> {
        match talk {
            Talk::Joined { session, note } => {
                self.joined(session, note, desk);
                None
            }
            Talk::Asked(request) => {
                let open = desk.request(request)?;
                let call = open.tool_use_id.as_deref();
                let said = call.and_then(|call| {
                    self.calling(open.session_id, call, &open.tool_name, &open.tool_input)
                });
                let is_tool = open.request_type == RequestType::ToolApproval;
                if is_tool && desk.options.auto_approve == Some(AutoApprove::Tools) {
                    desk.allow_automatically(request);
                }
                said
            }
            Talk::Over { session, end, .. } => {
                let (pending, outcome) = end?;
                let gone = [OutcomeKind::Withdrawn, OutcomeKind::Orphaned];
                // Other ends are told by the call's result, which does not come here.
                let call = pending.tool_use_id.as_ref();
                let call = call.filter(|_| gone.contains(&outcome.what))?;
                let error = "The agent does not wait any more".to_owned();
                self.called(session, call, Status::Error { error })
            }
            Talk::Text { session, text } => self.stream(session, &text, false),
            Talk::Line(session, line) => self.line(session, line),
            Talk::Died { session, reason } => Some(error(self.name(session), &reason)),
            Talk::Refused(about, refused) => {
                let conversation = match about {
                    About::Start { note } => Some(note.as_str()),
                    About::Message(session) => self.name(*session),
                    About::Decision(request) => {
                        let open = desk.request(*request);
                        open.and_then(|open| self.name(open.session_id))
                    }
                    _ => None,
                };
                Some(error(conversation, &refused.message))
            }
            // A question that was answered or given up elsewhere is told by its result.
            Talk::Late(_) | Talk::Changed(_) | Talk::Done(_) => None,
        }
    }

    /// Frees the agent at once.
    fn leave(&mut self, session: Uuid, desk: &mut Desk) {
        let why = "The user disconnected before they answered";
        desk.deny_where(session, Pending::is_question, why);
    }
}

fn error(conversation_id: Option<&str>, error: &str) -> Written {
    write(&Said::ChatError {
        conversation_id,
        error,
    })
}
