//! What the server says, and what that does to the list.

use std::time::Instant;

use serde_json::value::RawValue;
use uuid::Uuid;

use super::super::line::Style;
use super::super::request::Request;
use super::super::session;
use super::super::trouble::Trouble;
use super::super::words::{self, Ended};
use super::link::Heard;
use super::prompt::{Prompt, Purpose};
use super::state::{Effect, Link, State, View};

impl State {
    pub(super) fn hear(&mut self, now: Instant, heard: Heard) -> Vec<Effect> {
        match heard {
            Heard::Welcome {
                requests,
                sessions,
                agents,
            } => {
                if self.link == Link::Lost && self.note.is_some() {
                    self.tell(now, Style::Added, "Connected again.");
                }
                self.link = Link::Connected;
                self.sent.clear();
                let was_open: Vec<Uuid> = self.requests.iter().map(|open| open.id).collect();
                self.sessions = session::by_id(sessions);
                self.agents = agents;
                self.requests = requests;
                for gone in was_open {
                    if self.request(gone).is_none() {
                        self.leave_request(now, gone);
                    }
                }
                self.choose_some(now);
                Vec::new()
            }
            Heard::Session(session) => {
                self.sessions.insert(session.session_id, session);
                Vec::new()
            }
            Heard::Opened(request) => {
                let is_first = self.requests.is_empty();
                if self.request(request.id).is_none() {
                    self.requests.push(*request);
                }
                self.choose_some(now);
                if is_first {
                    vec![Effect::Ring]
                } else {
                    Vec::new()
                }
            }
            Heard::Updated(updated) => {
                let is_it = |request: &&mut Request| request.id == updated.id;
                if let Some(request) = self.requests.iter_mut().find(is_it) {
                    *request = *updated;
                }
                Vec::new()
            }
            Heard::Closed { request, outcome } => {
                self.closed(now, request, &outcome);
                Vec::new()
            }
            Heard::Done { id } => {
                self.sent.remove(&id);
                Vec::new()
            }
            Heard::Failed { id, trouble } => {
                self.failed(now, id, &trouble);
                Vec::new()
            }
            Heard::Lost => {
                let text = "The connection is lost. Trying again…";
                self.link = Link::Lost;
                self.tell(now, Style::Careful, text);
                Vec::new()
            }
            Heard::Over(trouble) => vec![Effect::Leave(Some(trouble))],
            Heard::Frame(_) => Vec::new(),
        }
    }

    fn closed(&mut self, now: Instant, id: Uuid, outcome: &RawValue) {
        let Some(request) = self.request(id) else {
            return;
        };
        let ended = serde_json::from_str::<Ended>(outcome.get());
        let words = ended.map_or_else(|_| "Over".to_owned(), |ended| words::outcome_words(&ended));
        let text = format!("{} {}: {words}.", self.short(id), words::label(request));
        self.tell(now, Style::Plain, text);
        self.leave_request(now, id);
    }

    /// It is not open any more, so nothing may act on it.
    fn leave_request(&mut self, now: Instant, id: Uuid) {
        let place = self.requests.iter().position(|request| request.id == id);
        self.requests.retain(|request| request.id != id);
        self.files.remove(&id);
        if self
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.request == id)
        {
            self.prompt = None;
        }
        if matches!(self.view, View::Open(open) if open.request == id) {
            self.view = View::List;
            self.guard.unsettle(now);
        }
        if self.chosen == Some(id) {
            let place = place
                .unwrap_or(0)
                .min(self.requests.len().saturating_sub(1));
            self.chosen = self.requests.get(place).map(|request| request.id);
            self.guard.unsettle(now);
        }
    }

    fn choose_some(&mut self, now: Instant) {
        let is_there = self
            .chosen
            .is_some_and(|chosen| self.request(chosen).is_some());
        if !is_there {
            self.chosen = self.requests.first().map(|request| request.id);
            self.guard.unsettle(now);
        }
    }

    fn failed(&mut self, now: Instant, id: Option<String>, trouble: &Trouble) {
        let chosen = id.and_then(|id| self.sent.remove(&id));
        match chosen {
            Some(chosen) if trouble.is("proof_required") => {
                self.prompt = Some(Prompt::new(chosen.request, Purpose::Password(chosen)));
            }
            _ => self.tell(now, Style::Danger, trouble.message().to_owned()),
        }
    }
}
