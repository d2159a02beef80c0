//! What the desk takes from Sayso.

use uuid::Uuid;

use super::super::native::{self, Native};
use super::{About, Desk, News};

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
                    for text in self.starting.remove(&note).unwrap_or_default() {
                        self.send(session, text);
                    }
                    News::Started { session, note }
                }
                about => News::Done(about),
            },
            Native::Error(refused) => {
                let about = self.about(refused.id.as_deref());
                if let About::Start { note } = &about {
                    self.starting.remove(note);
                }
                News::Refused(about, refused)
            }
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
