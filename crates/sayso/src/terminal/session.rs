//! The sessions that requests belong to.

use std::collections::HashMap;

use serde::Deserialize;
use uuid::Uuid;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Session {
    pub(super) session_id: Uuid,
    pub(super) title: String,
    pub(super) cwd: String,
    pub(super) agent: String,
}

pub(super) type Sessions = HashMap<Uuid, Session>;

pub(super) fn by_id(sessions: Vec<Session>) -> Sessions {
    let sessions = sessions.into_iter();
    sessions
        .map(|session| (session.session_id, session))
        .collect()
}
