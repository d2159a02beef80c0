//! What every dialect needs: what is going on, and a place to leave steps.

mod asking;
mod news;
mod taking;

use std::collections::HashMap;

use indexmap::IndexMap;
use sayso_protocol::{ClientFrame, PolicyOverrides, Session};
use serde::Serialize;
use uuid::Uuid;

use super::native::Pending;
use super::{Entry, Names, Options};
pub(crate) use news::{About, News};

/// What is to be done after something was heard.
#[derive(Debug)]
pub(crate) enum Step {
    /// To the front end.
    Say(String),
    /// To Sayso.
    Ask(Box<ClientFrame>),
}

#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) options: Options,
    pub(crate) names: Names,
    dialect: &'static str,
    /// Of the sessions that are started here.
    policies: PolicyOverrides,
    cwd: String,
    sessions: IndexMap<Uuid, Session>,
    /// In the order in which they were asked.
    pending: Vec<Pending>,
    /// The sessions that the front end takes part in, with the last line it has of each.
    joined: IndexMap<Uuid, u64>,
    /// Sessions that are not there yet, by the note of their start, with what was said to them meanwhile.
    starting: HashMap<String, Vec<String>>,
    asked: HashMap<String, About>,
    count: u64,
    steps: Vec<Step>,
}

impl Desk {
    pub(crate) fn new(entry: &Entry, options: Options, names: Names) -> Self {
        Self {
            policies: (entry.policies)(&options),
            options,
            names,
            dialect: entry.name,
            cwd: String::new(),
            sessions: IndexMap::new(),
            pending: Vec::new(),
            joined: IndexMap::new(),
            starting: HashMap::new(),
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

    /// A session was started with this note and is not there yet.
    pub(crate) fn is_starting(&self, note: &str) -> bool {
        self.starting.contains_key(note)
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

/// A frame as text. It holds nothing of the desk, so it can be left there.
#[derive(Debug)]
pub(crate) struct Written(String);

pub(crate) fn write(frame: &impl Serialize) -> Written {
    // Maps with keys that are no texts are the only thing that cannot be written, and no frame has them.
    Written(serde_json::to_string(frame).unwrap_or_default())
}
