//! What a dialect asks of Sayso.

use indexmap::IndexMap;
use sayso_protocol::{
    Allow, Answer, ClientFrame, ClientMessage, ContentBlock, Decision, Deny, RawJson, Respond,
    SendMessage, SessionState, SessionTarget, SetPermissionMode, StartSession, Subscribe,
};
use uuid::Uuid;

use super::super::native::Pending;
use super::super::options::Untrusted;
use super::{About, Desk, Step, Written};

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

    /// Starts a session with the dialect's policies. The answer carries the note.
    pub(crate) fn start(&mut self, start: StartSession, note: &str) {
        self.starting.entry(note.to_owned()).or_default();
        let policies = Some(self.policies.clone());
        self.begin(StartSession { policies, ..start }, note);
    }

    /// Keeps a message for a session that is starting.
    pub(crate) fn send_when_started(&mut self, note: &str, text: String) {
        if let Some(waiting) = self.starting.get_mut(note) {
            waiting.push(text);
        }
    }

    /// In the front end's folder.
    fn begin(&mut self, start: StartSession, note: &str) {
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
            return self.begin(start, "");
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

    /// A message that leads to nothing is in the log, as the documents ask.
    pub(crate) fn ignore(&self, problem: &str) {
        let dialect = self.dialect;
        tracing::warn!(dialect, problem, "a message was ignored");
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

    pub(super) fn watch(&mut self, session: Uuid, after: u64) {
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
