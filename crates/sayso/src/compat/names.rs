//! What front ends call their sessions, so that they find them again on another connection.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use uuid::Uuid;

/// As many as are kept; the oldest go first.
const LIMIT: usize = 10_000;

type Name = (&'static str, String);

/// Shared by all sockets. It lasts as long as the server runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    known: Arc<Mutex<IndexMap<Name, Uuid>>>,
}

impl Names {
    pub(crate) fn note(&self, dialect: &'static str, name: &str, session: Uuid) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((dialect, name.to_owned()), session);
        if known.len() > LIMIT {
            known.shift_remove_index(0);
        }
    }

    pub(crate) fn find(&self, dialect: &'static str, name: &str) -> Option<Uuid> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(dialect, name.to_owned())).copied()
    }

    /// What a session is called.
    pub(crate) fn of(&self, dialect: &'static str, session: Uuid) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = known.iter().rev();
        let found = names.find(|((of, _), named)| *of == dialect && **named == session);
        found.map(|((_, name), _)| name.clone())
    }
}
