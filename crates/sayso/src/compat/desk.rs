//! What every dialect needs: what is going on, and a place to leave steps.

use std::collections::HashMap;

use indexmap::IndexMap;
use sayso_protocol::{
    Allow, Answer, ClientFrame, ClientMessage, ContentBlock, Decision, Delta, Deny, Outcome,
    PolicyOverrides, RawJson, Respond, SendMessage, Session, SessionState, SessionTarget,
    SetPermissionMode, StartSession, Subscribe,
};
use serde::Serialize;
use uuid::Uuid;

use super::native::{self, Line, Native, Pending, Refused};
use super::options::Untrusted;
use super::{Names, Options};

/// What is to be done after something was heard.
#[derive(Debug)]
pub(crate) enum Step {
    /// To the front end.
    Say(String),
    /// To Sayso.
    Ask(Box<ClientFrame>),
}

/// What Sayso said.
#[derive(Debug)]
pub(crate) enum News {
    /// Everything that is going on, at the beginning and whenever something was missed.
    Snapshot,
    Session(Uuid),
    SessionGone,
    Opened(Uuid),
    /// The clock of a request changed.
    Updated,
    /// It is not on the desk any more.
    Closed(Box<Pending>, Box<Outcome>),
    Line(Uuid, Line),
    Delta(Uuid, Delta),
    /// A session was started, or goes on again; the note is that of the start.
    Started {
        session: Uuid,
        note: String,
    },
    Done(About),
    Refused(About, Refused),
}

/// What an answer of Sayso's is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Start {
        note: String,
    },
    Message(Uuid),
    Decision(Uuid),
    Mode {
        session: Uuid,
        mode: String,
    },
    Stop(Uuid),
    Watching(Uuid),
    /// Not about anything that was asked, such as the pace of the front end.
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) options: Options,
    pub(crate) names: Names,
    cwd: String,
    sessions: IndexMap<Uuid, Session>,
    /// In the order in which they were asked.
    pending: Vec<Pending>,
    /// The sessions that the front end takes part in, with the last line it has of each.
    joined: IndexMap<Uuid, u64>,
    asked: HashMap<String, About>,
    count: u64,
    steps: Vec<Step>,
}

impl Desk {
    pub(crate) fn new(options: Options, names: Names) -> Self {
        Self {
            options,
            names,
            cwd: String::new(),
            sessions: IndexMap::new(),
            pending: Vec::new(),
            joined: IndexMap::new(),
            asked: HashMap::new(),
            count: 0,
            steps: Vec::new(),
        }
    }

    /// What is to be done now.
    pub(crate) fn steps(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    pub(crate) fn session(&self, id: Uuid) -> Option<&Session> {
        self.sessions.get(&id)
    }

    pub(crate) fn joined(&self) -> impl Iterator<Item = Uuid> {
        self.joined.keys().copied()
    }

    pub(crate) fn has_joined(&self, session: Uuid) -> bool {
        self.joined.contains_key(&session)
    }

    /// All open requests of a session, the oldest first.
    pub(crate) fn pending(&self, session: Uuid) -> impl Iterator<Item = &Pending> {
        let of_session = move |pending: &&Pending| pending.session_id == session;
        self.pending.iter().filter(of_session)
    }

    pub(crate) fn all_pending(&self) -> impl Iterator<Item = &Pending> {
        self.pending.iter()
    }

    pub(crate) fn request(&self, id: Uuid) -> Option<&Pending> {
        self.pending.iter().find(|pending| pending.request_id == id)
    }
}

/// What a dialect does.
impl Desk {
    /// Sends a frame to the front end.
    pub(crate) fn say(&mut self, frame: Written) {
        self.steps.push(Step::Say(frame.0));
    }

    /// Takes part in a session that is there; only what is new is told.
    pub(crate) fn join(&mut self, session: Uuid) {
        let last = self.session(session).map_or(0, |known| known.last_seq);
        self.joined.insert(session, last);
        self.watch(session, last);
    }

    /// Takes part in the session that the address names, if it does and that is not done yet.
    pub(crate) fn join_named(&mut self) {
        let named = self.options.session_id;
        if let Some(session) = named.filter(|session| !self.has_joined(*session)) {
            self.join(session);
        }
    }

    /// Sends to a session that the front end may not take part in yet.
    pub(crate) fn join_and_send(&mut self, session: Uuid, text: String) {
        if !self.has_joined(session) {
            self.join(session);
        }
        self.send(session, text);
    }

    /// Starts a session in the front end's folder. The answer carries the note.
    pub(crate) fn start(&mut self, start: StartSession, note: &str) {
        let start = StartSession {
            cwd: self.options.cwd.clone().unwrap_or_else(|| self.cwd.clone()),
            agent: self.options.agent.clone(),
            trust: self.options.trust.map(|Untrusted::False| false),
            ..start
        };
        let note = note.to_owned();
        self.ask(ClientMessage::StartSession(start), About::Start { note });
    }

    /// Sends a message; a session that has ended goes on with it.
    pub(crate) fn send(&mut self, session: Uuid, text: String) {
        let known = self.session(session);
        let resumes =
            known.is_some_and(|known| known.state == SessionState::Dead && known.can_resume);
        if resumes {
            let start = StartSession {
                resume: Some(session),
                prompt: Some(text),
                ..StartSession::default()
            };
            return self.start(start, "");
        }
        let message = ClientMessage::SendMessage(SendMessage {
            session_id: session,
            content: vec![ContentBlock::Text { text }],
        });
        self.ask(message, About::Message(session));
    }

    /// Allows a request; an input that is the same as the one asked for is no change.
    pub(crate) fn allow(&mut self, request: Uuid, updated_input: Option<RawJson>) {
        let unchanged = |input: &RawJson| {
            let known = self.request(request);
            known.is_some_and(|known| known.is_same_input(input))
        };
        let allow = Allow {
            updated_input: updated_input.filter(|input| !unchanged(input)),
            ..Allow::default()
        };
        self.decide(request, Decision::Allow(allow));
    }

    /// Allows a tool call because the front end asked for that to happen by itself.
    pub(crate) fn allow_automatically(&mut self, request: Uuid) {
        let allow = Allow {
            automatic: true,
            ..Allow::default()
        };
        self.decide(request, Decision::Allow(allow));
    }

    pub(crate) fn deny(&mut self, request: Uuid, message: Option<String>, interrupt: bool) {
        self.decide(request, Decision::Deny(Deny { message, interrupt }));
    }

    /// Denies all open requests of a session that are like this.
    pub(crate) fn deny_where(
        &mut self,
        session: Uuid,
        fits: impl Fn(&Pending) -> bool,
        message: &str,
    ) {
        let open = self.pending(session).filter(|pending| fits(pending));
        let open: Vec<Uuid> = open.map(|pending| pending.request_id).collect();
        for request in open {
            self.deny(request, Some(message.to_owned()), false);
        }
    }

    /// Answers questions, by their exact texts.
    pub(crate) fn answer(&mut self, request: Uuid, answers: IndexMap<String, String>) {
        let Some(known) = self.request(request) else {
            return;
        };
        let answers = answers.into_iter().map(|(question, text)| {
            let value = known.answer(&question, text);
            (question, value)
        });
        let answer = Answer {
            answers: answers.collect(),
            notes: IndexMap::new(),
        };
        self.decide(request, Decision::Answer(answer));
    }

    pub(crate) fn set_mode(&mut self, session: Uuid, mode: &str) {
        let message = ClientMessage::SetPermissionMode(SetPermissionMode {
            session_id: session,
            permission_mode: mode.to_owned(),
        });
        let mode = mode.to_owned();
        self.ask(message, About::Mode { session, mode });
    }

    pub(crate) fn stop(&mut self, session: Uuid) {
        let target = SessionTarget {
            session_id: session,
        };
        self.ask(ClientMessage::StopSession(target), About::Stop(session));
    }

    /// A request that is not open has no digest to bind a decision to.
    fn decide(&mut self, request: Uuid, decision: Decision) {
        let Some(known) = self.request(request) else {
            return;
        };
        let message = ClientMessage::Respond(Respond {
            request_id: request,
            input_digest: known.input_digest.clone(),
            decision,
        });
        self.ask(message, About::Decision(request));
    }

    fn watch(&mut self, session: Uuid, after: u64) {
        let message = ClientMessage::Subscribe(Subscribe {
            session_id: session,
            after: Some(after),
            last: None,
        });
        self.ask(message, About::Watching(session));
    }

    fn ask(&mut self, message: ClientMessage, about: About) {
        self.count += 1;
        let id = self.count.to_string();
        self.asked.insert(id.clone(), about);
        let id = Some(id);
        self.steps
            .push(Step::Ask(Box::new(ClientFrame { id, message })));
    }
}

/// What Sayso says.
impl Desk {
    /// Takes one of Sayso's frames; what is new in it, in order.
    pub(crate) fn take(&mut self, text: &str) -> Vec<News> {
        match Native::read(text) {
            Some(native) => self.note(native),
            None => {
                tracing::warn!("a frame for a dialect cannot be read");
                Vec::new()
            }
        }
    }

    fn note(&mut self, native: Native) -> Vec<News> {
        let news = match native {
            Native::Welcome(welcome) => return self.welcome(welcome),
            Native::Session(session) => {
                let id = session.session_id;
                self.sessions.insert(id, session);
                News::Session(id)
            }
            Native::SessionRemoved(id) => {
                self.sessions.shift_remove(&id);
                self.joined.shift_remove(&id);
                News::SessionGone
            }
            Native::Opened(pending) => {
                let id = pending.request_id;
                self.pending.push(pending);
                News::Opened(id)
            }
            Native::Updated(pending) => {
                let id = pending.request_id;
                let known = self.pending.iter_mut().find(|known| known.request_id == id);
                if let Some(known) = known {
                    *known = pending;
                }
                News::Updated
            }
            Native::Closed(closed) => {
                let place = self
                    .pending
                    .iter()
                    .position(|known| known.request_id == closed.request_id);
                let Some(place) = place else {
                    return Vec::new();
                };
                let pending = Box::new(self.pending.remove(place));
                News::Closed(pending, Box::new(closed.outcome))
            }
            Native::Transcript(transcript) => return self.lines(&transcript),
            Native::Delta(session, delta) => News::Delta(session, delta),
            Native::Ack(ack) => match self.about(ack.id.as_deref()) {
                About::Start { note } => {
                    let Some(session) = ack.session_id else {
                        return Vec::new();
                    };
                    self.go_on(session);
                    News::Started { session, note }
                }
                about => News::Done(about),
            },
            Native::Error(refused) => News::Refused(self.about(refused.id.as_deref()), refused),
            Native::Other => return Vec::new(),
        };
        vec![news]
    }

    /// What was known before is replaced; what was missed is asked for.
    fn welcome(&mut self, welcome: native::Welcome) -> Vec<News> {
        let sessions = welcome.sessions.into_iter();
        self.sessions = sessions
            .map(|session| (session.session_id, session))
            .collect();
        self.pending = welcome.pending_requests;
        self.cwd = welcome.defaults.cwd;
        let joined: Vec<(Uuid, u64)> = self.joined.iter().map(|(id, last)| (*id, *last)).collect();
        for (session, last) in joined {
            self.watch(session, last);
        }
        vec![News::Snapshot]
    }

    /// A session that goes on keeps its place; a new one is watched from its beginning.
    fn go_on(&mut self, session: Uuid) {
        let last = *self.joined.entry(session).or_insert(0);
        self.watch(session, last);
    }

    fn lines(&mut self, transcript: &native::Transcript) -> Vec<News> {
        let session = transcript.session_id;
        let Some(last) = self.joined.get_mut(&session) else {
            return Vec::new();
        };
        let lines = transcript
            .entries
            .iter()
            .filter_map(|entry| native::line(entry));
        let new = lines.filter_map(|(seq, line)| {
            let is_new = seq > *last;
            *last = seq.max(*last);
            is_new.then_some(News::Line(session, line))
        });
        new.collect()
    }

    fn about(&mut self, id: Option<&str>) -> About {
        let about = id.and_then(|id| self.asked.remove(id));
        about.unwrap_or(About::Nothing)
    }
}

/// A frame as text. It holds nothing of the desk, so it can be left there.
#[derive(Debug)]
pub(crate) struct Written(String);

pub(crate) fn write(frame: &impl Serialize) -> Written {
    // Maps with keys that are no texts are the only thing that cannot be written, and no frame has them.
    Written(serde_json::to_string(frame).unwrap_or_default())
}

/// The same limit for all kinds of requests.
pub(crate) fn limits(timeout: Option<String>) -> PolicyOverrides {
    PolicyOverrides {
        tool_timeout: timeout.clone(),
        question_timeout: timeout.clone(),
        plan_timeout: timeout,
        ..PolicyOverrides::default()
    }
}
