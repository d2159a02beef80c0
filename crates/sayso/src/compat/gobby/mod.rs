//! Gobby: conversations with tool calls; questions are answered by the id of their call.

mod frames;

use std::collections::{HashMap, HashSet};

use sayso_protocol::{ErrorCode, OutcomeKind, PolicyOverrides, RequestType, StartSession};
use uuid::Uuid;

use super::chat::{Chat, Talk};
use super::desk::{Written, limits};
use super::native::{self, Line, Pending, Tag};
use super::options::AutoApprove;
use super::{About, Desk, Dialect, Entry, News, Options};
use frames::{Message, Response, Status, error, stream, tool_status};

const NAME: &str = "gobby";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    example: r#"{"type":"chat_message","conversation_id":"first","content":"Ask me something."}"#,
    open: |options| Box::new(Gobby::new(options)),
};

struct Gobby {
    policies: PolicyOverrides,
    approves_tools: bool,
    chat: Chat,
    /// What each session is called here.
    conversations: HashMap<Uuid, String>,
    /// What was said in conversations whose session is not there yet.
    starting: HashMap<String, Vec<String>>,
    /// Calls that were told, until their result is.
    calls: HashSet<String>,
}

impl Gobby {
    fn new(options: &Options) -> Self {
        let policies = PolicyOverrides {
            free_text: Some(options.free_text),
            ..limits(options.timeout_or("300s"))
        };
        Self {
            policies,
            approves_tools: options.auto_approve == Some(AutoApprove::Tools),
            chat: Chat::default(),
            conversations: HashMap::new(),
            starting: HashMap::new(),
            calls: HashSet::new(),
        }
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

    fn message(&mut self, text: &str, desk: &mut Desk) -> Result<(), String> {
        let heard: Message = native::heard(text)?;
        let content = heard.content;
        let last = || {
            let last = desk.joined().last()?;
            self.conversations.get(&last).cloned()
        };
        let conversation = heard.conversation_id.or_else(last).unwrap_or_default();
        if let Some(waiting) = self.starting.get_mut(&conversation) {
            waiting.push(content);
            return Ok(());
        }
        if let Some(session) = self.session(&conversation, desk) {
            self.conversations.insert(session, conversation);
            desk.join_and_send(session, content);
            return Ok(());
        }
        self.starting.insert(conversation.clone(), Vec::new());
        let start = StartSession {
            prompt: Some(content),
            policies: Some(self.policies.clone()),
            ..StartSession::default()
        };
        desk.start(start, &conversation);
        Ok(())
    }

    fn respond(&self, text: &str, desk: &mut Desk) -> Result<(), String> {
        let response: Response = native::heard(text)?;
        let session = self.session(&response.conversation_id, desk);
        let call = response.tool_call_id;
        let asked = session.and_then(|session| {
            let mut questions = desk.pending(session).filter(|open| open.is_question());
            let named = |question: &&Pending| call.is_none() || question.tool_use_id == call;
            questions.find(named).map(|question| question.request_id)
        });
        match asked {
            Some(question) => desk.answer(question, response.answers),
            None => tracing::warn!(dialect = NAME, "an answer to no open question was ignored"),
        }
        Ok(())
    }

    fn joined(&mut self, session: Uuid, note: &str, desk: &mut Desk) {
        let known = || desk.names.of(NAME, session);
        let name = Some(note.to_owned()).filter(|note| !note.is_empty());
        let name = name.or_else(known).unwrap_or_else(|| session.to_string());
        desk.names.note(NAME, &name, session);
        self.conversations.entry(session).or_insert(name);
        for content in self.starting.remove(note).unwrap_or_default() {
            desk.send(session, content);
        }
    }

    fn talk(&mut self, talk: Talk<'_>, desk: &mut Desk) -> Option<Written> {
        match talk {
            Talk::Joined { session, note } => {
                self.joined(session, note, desk);
                None
            }
            Talk::Asked(request) => {
                let pending = desk.request(request)?;
                let said = self.calling(pending);
                if self.approves_tools && pending.request_type == RequestType::ToolApproval {
                    desk.allow_automatically(request);
                }
                said
            }
            Talk::Text { session, text } => Some(stream(self.name(session)?, &text, false)),
            Talk::Line(session, line) => self.line(session, line),
            Talk::Died { session, reason } => Some(error(self.name(session), &reason)),
            // The question was answered or given up elsewhere; its result tells.
            Talk::Refused(About::Decision(_), refused)
                if refused.code == ErrorCode::AlreadyDecided =>
            {
                None
            }
            Talk::Refused(about, refused) => {
                let text = &refused.message;
                if let About::Start { note } = about {
                    self.starting.remove(note);
                    return Some(error(Some(note), text));
                }
                let session = match about {
                    About::Message(session) => Some(*session),
                    About::Decision(request) => desk.request(*request).map(|open| open.session_id),
                    _ => None,
                };
                Some(error(session.and_then(|session| self.name(session)), text))
            }
            Talk::Over { session, end, .. } => {
                let (pending, outcome) = end?;
                let gone = [OutcomeKind::Withdrawn, OutcomeKind::Orphaned];
                let call = pending.tool_use_id.as_ref()?;
                // Other ends are told by the call's result, which does not come here.
                if !gone.contains(&outcome.what) || !self.calls.remove(call) {
                    return None;
                }
                let error = "The agent does not wait any more".to_owned();
                let status = Status::Error { error };
                Some(tool_status(self.name(session)?, call, status))
            }
            Talk::Changed(_) | Talk::Done(_) => None,
        }
    }

    /// Questions are told here, other calls where this connection came later.
    fn calling(&mut self, pending: &Pending) -> Option<Written> {
        let call = pending.tool_use_id.as_ref()?;
        if !self.calls.insert(call.clone()) {
            return None;
        }
        let status = Status::Calling {
            tool_name: &pending.tool_name,
            arguments: &pending.tool_input,
        };
        Some(tool_status(self.name(pending.session_id)?, call, status))
    }

    fn line(&mut self, session: Uuid, line: &Line) -> Option<Written> {
        match line {
            // It is told when it can be answered.
            Line::ToolUse(tool) if tool.tool_name == "AskUserQuestion" => None,
            Line::ToolUse(tool) => {
                let call = &tool.tool_use_id;
                let status = Status::Calling {
                    tool_name: &tool.tool_name,
                    arguments: &tool.tool_input,
                };
                let is_new = self.calls.insert(call.clone());
                let name = self.name(session).filter(|_| is_new)?;
                Some(tool_status(name, call, status))
            }
            Line::ToolResult(result) => {
                let call = &result.tool_use_id;
                // A call that was given up has ended already.
                if !self.calls.remove(call) {
                    return None;
                }
                let text = native::plain(&result.content);
                let status = match result.is_error {
                    true => Status::Error { error: text },
                    false => Status::Completed { result: text },
                };
                Some(tool_status(self.name(session)?, call, status))
            }
            Line::TurnEnded(_) => Some(stream(self.name(session)?, "", true)),
            Line::UserMessage(_) | Line::Text(_) | Line::Other => None,
        }
    }

    fn name(&self, session: Uuid) -> Option<&str> {
        self.conversations.get(&session).map(String::as_str)
    }
}

impl Dialect for Gobby {
    fn hear(&mut self, text: &str, desk: &mut Desk) {
        let heard = native::heard::<Tag>(text).and_then(|tag| match tag.r#type.as_deref() {
            Some("chat_message") => self.message(text, desk),
            Some("ask_user_response") => self.respond(text, desk),
            other => Err(native::no_such(other)),
        });
        if let Err(problem) = heard {
            desk.say(error(None, &problem));
        }
    }

    fn tell(&mut self, news: &News, desk: &mut Desk) {
        for talk in self.chat.take(news, desk) {
            if let Some(said) = self.talk(talk, desk) {
                desk.say(said);
            }
        }
    }

    /// Frees the agent at once.
    fn leave(&mut self, session: Uuid, desk: &mut Desk) {
        let why = "The user disconnected before they answered";
        desk.deny_where(session, Pending::is_question, why);
    }
}
