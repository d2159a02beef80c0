//! UI Chatter: a handshake starts the session; every request is sent at once and answered in any order.

mod frames;

use std::collections::HashMap;

use sayso_protocol::{ErrorCode, OutcomeKind, PolicyOverrides, StartSession, WhenUnattended};
use uuid::Uuid;

use super::chat::{Chat, Talk};
use super::desk::{Written, limits};
use super::native::{self, Line, Tag};
use super::{About, Desk, Dialect, Entry, News, Options};
use frames::{Handshake, Message, ModeUpdate, Response, activity, chunk, error};

pub(crate) const ENTRY: Entry = Entry {
    name: "ui-chatter",
    example: r#"{"type":"handshake","permission_mode":"default"}"#,
    open: |options| Box::new(UiChatter::new(options)),
};

const BYPASS: &str = "bypassPermissions";

struct UiChatter {
    policies: PolicyOverrides,
    chat: Chat,
    /// A handshake was heard, and its session is not there yet.
    starting: bool,
    /// What was said meanwhile.
    waiting: Vec<String>,
    /// The names of tools whose result is not there yet.
    tools: HashMap<String, String>,
}

impl UiChatter {
    fn new(options: &Options) -> Self {
        let policies = PolicyOverrides {
            when_unattended: Some(WhenUnattended::Deny),
            unattended_grace: Some("1s".to_owned()),
            ..limits(options.timeout_or("60s"))
        };
        Self {
            policies,
            chat: Chat::default(),
            starting: false,
            waiting: Vec::new(),
            tools: HashMap::new(),
        }
    }

    fn handshake(&mut self, text: &str, desk: &mut Desk) -> Result<(), String> {
        let handshake: Handshake = native::heard(text)?;
        // The session that the address names is joined already.
        if desk.options.session_id.is_some() {
            return Ok(());
        }
        if self.starting || desk.joined().next().is_some() {
            return Err("There was a handshake already".to_owned());
        }
        self.starting = true;
        let start = StartSession {
            permission_mode: handshake.permission_mode,
            policies: Some(self.policies.clone()),
            ..StartSession::default()
        };
        desk.start(start, "");
        Ok(())
    }

    fn message(&mut self, text: &str, desk: &mut Desk) -> Result<(), String> {
        let Message { message } = native::heard(text)?;
        let session = desk.joined().next();
        match session {
            Some(session) => desk.send(session, message),
            None if self.starting => self.waiting.push(message),
            None => return Err("A handshake comes before the first chat message".to_owned()),
        }
        Ok(())
    }

    fn respond(text: &str, desk: &mut Desk) -> Result<(), String> {
        let response: Response = native::heard(text)?;
        let id = response
            .request_id
            .ok_or("Missing request_id in permission_response")?;
        let open = id.parse().ok().and_then(|id: Uuid| desk.request(id));
        let Some(pending) = open else {
            tracing::warn!(
                dialect = "ui-chatter",
                "an answer to no open request was ignored"
            );
            return Ok(());
        };
        let (id, is_question) = (pending.request_id, pending.is_question());
        match (response.approved, is_question) {
            (true, true) => desk.answer(id, response.answers.unwrap_or_default()),
            (true, false) => desk.allow(id, response.modified_input),
            (false, _) => {
                let own = if is_question {
                    "User did not answer"
                } else {
                    "User denied permission"
                };
                let reason = response.reason.unwrap_or_else(|| own.to_owned());
                desk.deny(id, Some(reason), false);
            }
        }
        Ok(())
    }

    /// The document makes the backend anew, which refuses what is open; the agent here goes on.
    fn update_mode(text: &str, desk: &mut Desk) -> Result<(), String> {
        let update: ModeUpdate = native::heard(text)?;
        let mode = update.permission_mode;
        let session = desk.joined().next();
        let session = session.ok_or("A handshake comes before a change of the mode")?;
        let why =
            format!("The permission mode was changed to {mode} while this request was pending");
        desk.deny_where(session, |_| true, &why);
        desk.set_mode(session, &mode);
        Ok(())
    }

    fn line(&mut self, session: Uuid, line: &Line, desk: &Desk) -> Vec<Written> {
        match line {
            Line::ToolUse(tool) => {
                let (id, name) = (&tool.tool_use_id, &tool.tool_name);
                self.tools.insert(id.clone(), name.clone());
                // In other modes it may be asked about first, and that is told first.
                let unasked = desk
                    .session(session)
                    .is_some_and(|session| session.permission_mode == BYPASS);
                let begun = unasked.then(|| activity(name, id, "executing", None));
                begun.into_iter().collect()
            }
            Line::ToolResult(result) => {
                let id = &result.tool_use_id;
                let Some(name) = self.tools.remove(id) else {
                    return Vec::new();
                };
                let status = if result.is_error {
                    "failed"
                } else {
                    "completed"
                };
                let output = Some(native::plain(&result.content));
                vec![activity(&name, id, status, output)]
            }
            Line::TurnEnded(turn) => {
                let reason = turn.text.as_deref().or(turn.reason.as_deref());
                let failed = turn.is_error.then(|| {
                    let message = reason.unwrap_or("The turn ended with an error");
                    error("agent_error", message)
                });
                failed.into_iter().chain([chunk("", true)]).collect()
            }
            Line::UserMessage(_) | Line::Text(_) | Line::Other => Vec::new(),
        }
    }

    fn talk(&mut self, talk: Talk<'_>, desk: &mut Desk) -> Vec<Written> {
        match talk {
            Talk::Joined { session, .. } => {
                for message in std::mem::take(&mut self.waiting) {
                    desk.send(session, message);
                }
                let known = desk.session(session);
                let mode = known.map_or("", |known| &known.permission_mode);
                vec![frames::created(session, mode)]
            }
            Talk::Asked(request) => desk
                .request(request)
                .map(frames::asked)
                .into_iter()
                .collect(),
            Talk::Over { request, end, .. } => {
                let outcome = end.map(|(_, outcome)| outcome.what);
                let closed = frames::closed(request, outcome);
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
            Talk::Done(About::Mode { mode, .. }) => vec![frames::mode_updated(mode)],
            // Somebody or something else was first; that it is closed was told.
            Talk::Refused(About::Decision(_), refused)
                if refused.code == ErrorCode::AlreadyDecided =>
            {
                Vec::new()
            }
            Talk::Refused(about, refused) => {
                self.starting &= !matches!(about, About::Start { .. });
                vec![frames::refused(refused)]
            }
            Talk::Changed(_) | Talk::Done(_) => Vec::new(),
        }
    }
}

impl Dialect for UiChatter {
    fn hear(&mut self, text: &str, desk: &mut Desk) {
        let heard = native::heard::<Tag>(text).and_then(|tag| match tag.r#type.as_deref() {
            Some("handshake") => self.handshake(text, desk),
            Some("chat") => self.message(text, desk),
            Some("permission_response") => Self::respond(text, desk),
            Some("update_permission_mode") => Self::update_mode(text, desk),
            other => Err(native::no_such(other)),
        });
        if let Err(problem) = heard {
            desk.say(error("invalid_request", &problem));
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
