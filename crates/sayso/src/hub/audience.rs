//! Who is told of which session: found by the session, so that a frame for ten does not cost a look at a thousand.

use sayso_broker::{ClientId, SessionId};

use super::ById;

#[derive(Debug, Default)]
pub(super) struct Audience {
    /// Those who are told of every session.
    everywhere: Vec<ClientId>,
    /// Those who are told of some, by session.
    attending: ById<SessionId, Vec<ClientId>>,
    /// Those who have a session's transcript and get what is added to it.
    watching: ById<SessionId, Vec<ClientId>>,
}

impl Audience {
    pub(super) fn tell_everything(&mut self, client: ClientId) {
        add(&mut self.everywhere, client);
    }

    pub(super) fn attend(&mut self, session: SessionId, client: ClientId) {
        add(self.attending.entry(session).or_default(), client);
    }

    pub(super) fn watch(&mut self, session: SessionId, client: ClientId) {
        add(self.watching.entry(session).or_default(), client);
    }

    pub(super) fn stop_watching(&mut self, session: SessionId, client: ClientId) {
        drop_from(&mut self.watching, session, client);
    }

    pub(super) fn stop_attending(&mut self, session: SessionId, client: ClientId) {
        drop_from(&mut self.attending, session, client);
    }

    pub(super) fn stop_telling_everything(&mut self, client: ClientId) {
        self.everywhere.retain(|known| *known != client);
    }

    pub(super) fn forget_session(&mut self, session: SessionId) {
        self.attending.remove(&session);
        self.watching.remove(&session);
    }

    pub(super) fn told_of(&self, session: SessionId) -> impl Iterator<Item = ClientId> {
        let attending = self.attending.get(&session).into_iter().flatten();
        self.everywhere.iter().chain(attending).copied()
    }

    pub(super) fn watchers_of(&self, session: SessionId) -> impl Iterator<Item = ClientId> {
        self.watching.get(&session).into_iter().flatten().copied()
    }
}

fn add(clients: &mut Vec<ClientId>, client: ClientId) {
    if !clients.contains(&client) {
        clients.push(client);
    }
}

fn drop_from(sessions: &mut ById<SessionId, Vec<ClientId>>, session: SessionId, client: ClientId) {
    if let Some(clients) = sessions.get_mut(&session) {
        clients.retain(|known| *known != client);
        if clients.is_empty() {
            sessions.remove(&session);
        }
    }
}
