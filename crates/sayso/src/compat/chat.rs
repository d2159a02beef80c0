//! What is common to front ends that chat: they join sessions, are told of each
//! request once and of its end once, and hear text as it comes.

use std::collections::HashSet;

use sayso_protocol::{ErrorCode, Outcome, SessionState};
use uuid::Uuid;

use super::native::{Line, Pending, Refused};
use super::stream::Stream;
use super::told::Told;
use super::{About, Desk, Dialect, Heard, News, Written};

/// News for somebody who takes part in some sessions.
#[derive(Debug)]
pub(crate) enum Talk<'a> {
    /// The front end takes part from here on. The note is that of the start.
    Joined {
        session: Uuid,
        note: &'a str,
    },
    /// A request is to be shown.
    Asked(Uuid),
    /// A request that was shown is over.
    Over {
        request: Uuid,
        session: Uuid,
        /// Absent when its end was missed.
        end: Option<(&'a Pending, &'a Outcome)>,
    },
    /// A piece of what the agent says.
    Text {
        session: Uuid,
        text: String,
    },
    /// Anything but the agent's text.
    Line(Uuid, &'a Line),
    /// A session that the front end takes part in has changed.
    Changed(Uuid),
    /// Its agent is gone, and this is why.
    Died {
        session: Uuid,
        reason: String,
    },
    Done(&'a About),
    /// A decision about a request that had ended already.
    Late(Uuid),
    Refused(&'a About, &'a Refused),
}

/// How one front end that chats says things.
pub(crate) trait Chatter: Default + Send {
    /// None, one or several frames.
    type Said: IntoIterator<Item = Written>;

    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String>;

    /// As in [`Dialect::complain`].
    fn complain(problem: &str) -> Written;

    fn talk(&mut self, talk: Talk<'_>, desk: &mut Desk) -> Self::Said;

    /// As in [`Dialect::leave`].
    fn leave(&mut self, _session: Uuid, _desk: &mut Desk) {}
}

#[derive(Default)]
struct Chatting<T> {
    chatter: T,
    chat: Chat,
}

pub(crate) fn open<T: Chatter + 'static>() -> Box<dyn Dialect> {
    Box::<Chatting<T>>::default()
}

impl<T: Chatter> Dialect for Chatting<T> {
    fn hear(&mut self, heard: &Heard<'_>, desk: &mut Desk) -> Result<(), String> {
        self.chatter.hear(heard, desk)
    }

    fn complain(&self, problem: &str) -> Option<Written> {
        Some(T::complain(problem))
    }

    fn tell(&mut self, news: &News, desk: &mut Desk) {
        for talk in self.chat.take(news, desk) {
            for said in self.chatter.talk(talk, desk) {
                desk.say(said);
            }
        }
    }

    fn leave(&mut self, session: Uuid, desk: &mut Desk) {
        self.chatter.leave(session, desk);
    }
}

#[derive(Debug, Default)]
struct Chat {
    told: Told,
    stream: Stream,
    joined: HashSet<Uuid>,
}

impl Chat {
    fn take<'a>(&mut self, news: &'a News, desk: &mut Desk) -> Vec<Talk<'a>> {
        match news {
            News::Snapshot => {
                desk.join_named();
                let missed = self.told.missed(desk).into_iter();
                let missed = missed.map(|(request, session)| Talk::Over {
                    request,
                    session,
                    end: None,
                });
                let mut talks: Vec<Talk<'a>> = missed.collect();
                // Where the session is not there yet, this comes with joining it.
                talks.extend(self.asked(desk));
                talks
            }
            News::Started { session, note } => self.join(*session, note, desk),
            News::Done(about @ About::Watching(session)) => {
                let mut talks = self.join(*session, "", desk);
                talks.push(Talk::Done(about));
                talks
            }
            News::Opened(_) => self.asked(desk),
            News::Closed(pending, outcome) => {
                let over = Talk::Over {
                    request: pending.request_id,
                    session: pending.session_id,
                    end: Some((pending, outcome)),
                };
                let was_told = self.told.close(pending.request_id);
                was_told.then_some(over).into_iter().collect()
            }
            News::Line(session, Line::Text(text)) => {
                let own = text.parent_tool_use_id.is_none();
                let piece = self.stream.finish(*session, text).filter(|_| own);
                piece.map(|text| said(*session, text)).into_iter().collect()
            }
            News::Line(session, line) => vec![Talk::Line(*session, line)],
            News::Delta(session, delta) if desk.has_joined(*session) => {
                let piece = self.stream.delta(*session, delta);
                piece.map(|text| said(*session, text)).into_iter().collect()
            }
            News::Session(session) if desk.has_joined(*session) => changed(*session, desk),
            News::Done(about) => vec![Talk::Done(about)],
            News::Refused(About::Decision(request), refused) if is_late(refused) => {
                vec![Talk::Late(*request)]
            }
            News::Refused(about, refused) => vec![Talk::Refused(about, refused)],
            News::Session(_) | News::SessionGone | News::Updated | News::Delta(..) => Vec::new(),
        }
    }

    fn join<'a>(&mut self, session: Uuid, note: &'a str, desk: &Desk) -> Vec<Talk<'a>> {
        let is_new = self.joined.insert(session);
        let joined = is_new.then_some(Talk::Joined { session, note });
        joined.into_iter().chain(self.asked(desk)).collect()
    }

    /// Nothing is asked before the front end knows the session.
    fn asked<'a>(&mut self, desk: &Desk) -> Vec<Talk<'a>> {
        let new = self.told.new_ones(&self.joined, desk).into_iter();
        new.map(Talk::Asked).collect()
    }
}

fn is_late(refused: &Refused) -> bool {
    matches!(
        refused.code,
        ErrorCode::AlreadyDecided | ErrorCode::UnknownRequest
    )
}

fn said<'a>(session: Uuid, text: String) -> Talk<'a> {
    Talk::Text { session, text }
}

fn changed<'a>(session: Uuid, desk: &Desk) -> Vec<Talk<'a>> {
    let known = desk.session(session);
    let dead = known.filter(|known| known.state == SessionState::Dead);
    let reason = dead.and_then(|known| known.error.clone());
    let died = reason.map(|reason| Talk::Died { session, reason });
    std::iter::once(Talk::Changed(session))
        .chain(died)
        .collect()
}
