//! What each key does.

use std::time::Instant;

use sayso_protocol::{Allow, Decision, Deny, PermissionModeInfo};
use serde_json::json;
use uuid::Uuid;

use super::super::form::Form;
use super::super::interview::Interview;
use super::super::line::Style;
use super::super::request::{Kind, Request};
use super::keys::Key;
use super::prompt::{Prompt, Purpose};
use super::state::{Effect, Link, Open, State, View};

/// What `+` adds to a clock.
const EXTENSION_SECONDS: u32 = 300;

impl State {
    pub(super) fn key(&mut self, now: Instant, key: Key) -> Vec<Effect> {
        if key == Key::Repaint {
            return vec![Effect::Repaint];
        }
        if let Some(prompt) = self.prompt.take() {
            return self.type_in(now, prompt, key);
        }
        match (key, self.view) {
            (Key::Interrupt, _) | (Key::Letter('q'), View::List) => vec![Effect::Leave(None)],
            (_, View::Help) => {
                self.view = View::List;
                self.guard.unsettle(now);
                Vec::new()
            }
            (Key::Letter('?'), _) => {
                self.view = View::Help;
                Vec::new()
            }
            (_, View::List) => self.in_list(now, key),
            (_, View::Open(open)) => self.in_request(now, open, key),
        }
    }

    fn in_list(&mut self, now: Instant, key: Key) -> Vec<Effect> {
        match key {
            Key::Up | Key::Letter('k') => self.move_by(-1),
            Key::Down | Key::Letter('j') => self.move_by(1),
            Key::PageUp => self.move_by(-10),
            Key::PageDown => self.move_by(10),
            Key::Home | Key::Letter('g') => self.move_by(isize::MIN / 2),
            Key::End | Key::Letter('G') => self.move_by(isize::MAX / 2),
            Key::Enter | Key::Letter('a') => {
                let counts = self.guard.press(pressed(key), now);
                if let Some(request) = self.chosen.filter(|_| counts || key == Key::Enter) {
                    return self.open(now, request);
                }
            }
            _ => return self.on_request(now, self.chosen, key),
        }
        Vec::new()
    }

    fn open(&mut self, now: Instant, request: Uuid) -> Vec<Effect> {
        self.view = View::Open(Open {
            request,
            top: 0,
            seen: 0,
            all_seen: false,
            at_end: false,
        });
        self.guard.unsettle(now);
        let request = self.request(request).cloned();
        let is_call = |request: &Request| request.kind == Kind::Tool;
        let request = request.filter(is_call).map(Box::new);
        request.map(Effect::LookAt).into_iter().collect()
    }

    fn move_by(&mut self, by: isize) {
        let is_chosen = |id: Uuid| Some(id) == self.chosen;
        let place = self
            .requests
            .iter()
            .position(|request| is_chosen(request.id));
        let last = self.requests.len().saturating_sub(1);
        let place = place.unwrap_or(0).saturating_add_signed(by).min(last);
        self.chosen = self.requests.get(place).map(|request| request.id);
    }

    fn in_request(&mut self, now: Instant, open: Open, key: Key) -> Vec<Effect> {
        let page = self.page_rows.saturating_sub(1).max(1);
        let top = match key {
            Key::Up | Key::Letter('k') => open.top.saturating_sub(1),
            Key::Down | Key::Letter('j') => open.top + 1,
            Key::PageUp | Key::Letter('b') => open.top.saturating_sub(page),
            Key::PageDown | Key::Letter(' ') => open.top + page,
            Key::Home | Key::Letter('g') => 0,
            // As far as there is something; drawing knows where that is.
            Key::End | Key::Letter('G') => usize::MAX / 2,
            Key::Escape | Key::Letter('q') | Key::Backspace => {
                self.view = View::List;
                if self.link == Link::Connected {
                    // It told of this request; in the list it would be about another one.
                    self.note = None;
                }
                self.guard.unsettle(now);
                return Vec::new();
            }
            Key::Letter('a') | Key::Enter => return self.accept(now, open, key),
            _ => return self.on_request(now, Some(open.request), key),
        };
        let at_end = false;
        self.view = View::Open(Open {
            top,
            at_end,
            ..open
        });
        Vec::new()
    }

    /// `a` on an open request.
    fn accept(&mut self, now: Instant, open: Open, key: Key) -> Vec<Effect> {
        let Some(request) = self.request(open.request) else {
            return Vec::new();
        };
        let (kind, is_risky) = (request.kind, request.is_risky());
        let (form, free_text) = (Form::of(request), request.detail.free_text);
        let is_faithful = request.detail.input_faithful;
        if key == Key::Enter && form.is_none() {
            self.tell(now, Style::Faint, "Press a to allow it, d to deny it.");
            return Vec::new();
        }
        if !self.guard.press(pressed(key), now) {
            self.tell(
                now,
                Style::Faint,
                "Too quick to be meant. Wait a moment, then press a.",
            );
            return Vec::new();
        }
        if let Some(form) = form {
            let interview = Interview::new(form, free_text);
            self.prompt = Some(Prompt::new(open.request, Purpose::Interview(interview)));
            return Vec::new();
        }
        if kind == Kind::Other || !is_faithful {
            self.tell(now, Style::Careful, "This one can only be denied here.");
            return Vec::new();
        }
        if !open.all_seen {
            let next = open.seen.saturating_sub(1).min(open.top + self.page_rows);
            let at_end = false;
            self.view = View::Open(Open {
                top: next,
                at_end,
                ..open
            });
            let text = "There is more of it. Read to its end, then press a.";
            self.tell(now, Style::Careful, text);
            return Vec::new();
        }
        if is_risky {
            self.prompt = Some(Prompt::new(open.request, Purpose::Confirm));
            return Vec::new();
        }
        self.allow(now, open.request)
    }

    /// A plan also says what follows it: the first of the modes is the most careful one.
    fn allow(&mut self, now: Instant, id: Uuid) -> Vec<Effect> {
        let request = self.request(id);
        let modes = match request.filter(|request| request.kind == Kind::Plan) {
            Some(plan) => self.modes_after(plan.session),
            None => Vec::new(),
        };
        if modes.is_empty() {
            return self.decide(now, id, Decision::Allow(Allow::default()));
        }
        self.prompt = Some(Prompt::new(id, Purpose::Mode(modes)));
        Vec::new()
    }

    /// Those that an approved plan can lead to; none of them asks nothing.
    fn modes_after(&self, session: Uuid) -> Vec<PermissionModeInfo> {
        let session = self.sessions.get(&session);
        let agent = session.and_then(|session| {
            let mut agents = self.agents.iter();
            agents.find(|agent| {
                agent.agent == session.agent && agent.capabilities.set_permission_mode
            })
        });
        let modes = agent
            .map_or(&[][..], |agent| &agent.permission_modes)
            .iter();
        modes
            .filter(|mode| mode.mode != "plan" && !mode.dangerous)
            .cloned()
            .collect()
    }

    /// Keys that do the same in the list and on an open request.
    fn on_request(&mut self, now: Instant, chosen: Option<Uuid>, key: Key) -> Vec<Effect> {
        let Some(id) = chosen else {
            return Vec::new();
        };
        match key {
            Key::Letter(letter @ ('d' | 's')) => {
                if self.guard.press(letter, now) {
                    let purpose = Purpose::Reason {
                        stop: letter == 's',
                    };
                    self.prompt = Some(Prompt::new(id, purpose));
                }
                Vec::new()
            }
            Key::Letter('h') => {
                let held = self.request(id).is_some_and(|request| request.held);
                let kind = if held { "resume_clock" } else { "hold" };
                say(&json!({"type": kind, "request_id": id}))
            }
            Key::Letter('+') => {
                let seconds = EXTENSION_SECONDS;
                say(&json!({"type": "extend", "request_id": id, "seconds": seconds}))
            }
            _ => Vec::new(),
        }
    }

    fn type_in(&mut self, now: Instant, mut prompt: Prompt, key: Key) -> Vec<Effect> {
        match key {
            Key::Escape | Key::Interrupt => {
                self.guard.unsettle(now);
                self.tell(now, Style::Faint, "Nothing was decided.");
                return Vec::new();
            }
            Key::Enter => return self.typed(now, prompt),
            Key::Backspace => {
                prompt.typed.pop();
            }
            Key::Clear => prompt.typed.clear(),
            Key::Letter(letter) => prompt.add(letter.encode_utf8(&mut [0; 4])),
            _ => {}
        }
        self.prompt = Some(prompt);
        Vec::new()
    }

    fn typed(&mut self, now: Instant, mut prompt: Prompt) -> Vec<Effect> {
        let (id, typed) = (prompt.request, std::mem::take(&mut prompt.typed));
        match prompt.purpose {
            Purpose::Reason { stop } => {
                let said = typed.trim();
                let deny = Deny {
                    message: (!said.is_empty()).then(|| said.to_owned()),
                    interrupt: stop,
                };
                self.decide(now, id, Decision::Deny(deny))
            }
            Purpose::Confirm if typed.trim().eq_ignore_ascii_case("allow") => self.allow(now, id),
            Purpose::Confirm => {
                self.tell(
                    now,
                    Style::Careful,
                    "That was not the word allow. Nothing was decided.",
                );
                Vec::new()
            }
            Purpose::Interview(mut interview) => {
                if let Err(problem) = interview.take(&typed) {
                    self.tell(now, Style::Careful, problem);
                }
                if interview.prompt().is_some() {
                    self.prompt = Some(Prompt::new(id, Purpose::Interview(interview)));
                    return Vec::new();
                }
                match interview.decision() {
                    Ok(decision) => self.decide(now, id, decision),
                    Err(problem) => {
                        self.tell(now, Style::Danger, problem);
                        Vec::new()
                    }
                }
            }
            Purpose::Mode(modes) => {
                let number = match typed.trim() {
                    "" => Ok(1),
                    typed => typed.parse::<usize>(),
                };
                let place = number.ok().and_then(|number| number.checked_sub(1));
                let Some(mode) = place.and_then(|place| modes.get(place)) else {
                    let text = format!("Type a number from 1 to {}.", modes.len());
                    self.tell(now, Style::Careful, text);
                    self.prompt = Some(Prompt::new(id, Purpose::Mode(modes)));
                    return Vec::new();
                };
                let allow = Allow {
                    permission_mode: Some(mode.mode.clone()),
                    ..Allow::default()
                };
                self.decide(now, id, Decision::Allow(allow))
            }
            Purpose::Password(chosen) => self.prove(chosen, typed),
        }
    }
}

/// Enter and `a` do the same in places; the one is no repetition of the other.
fn pressed(key: Key) -> char {
    if key == Key::Enter { '\n' } else { 'a' }
}

fn say(message: &serde_json::Value) -> Vec<Effect> {
    vec![Effect::Say(message.to_string())]
}
