//! Connected clients, and what each one is sent.

use std::collections::HashSet;

use axum::extract::ws::Utf8Bytes;
use sayso_broker::{ClientId, SessionId};
use sayso_protocol::{Me, Scope, ServerMessage};

use super::ById;
use super::audience::Audience;
use super::outbox::Outbox;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subscription {
    /// Entries come from the store until the client has them all.
    CatchingUp,
    Live,
}

/// What a client is told of.
#[derive(Debug)]
pub enum Interest {
    Everything,
    /// Only the sessions that it started or subscribed to.
    Attended(HashSet<SessionId>),
}

impl Interest {
    fn covers(&self, session: SessionId) -> bool {
        match self {
            Self::Everything => true,
            Self::Attended(sessions) => sessions.contains(&session),
        }
    }
}

#[derive(Debug)]
struct Client {
    me: Me,
    outbox: Outbox,
    interest: Interest,
    subscriptions: ById<SessionId, Subscription>,
}

#[derive(Debug, Default)]
pub struct Clients {
    clients: ById<ClientId, Client>,
    audience: Audience,
}

impl Clients {
    pub fn insert(&mut self, id: ClientId, me: Me, outbox: Outbox, interest: Interest) {
        match &interest {
            Interest::Everything => self.audience.tell_everything(id),
            Interest::Attended(sessions) => {
                for session in sessions {
                    self.audience.attend(*session, id);
                }
            }
        }
        let client = Client {
            me,
            outbox,
            interest,
            subscriptions: ById::default(),
        };
        self.clients.insert(id, client);
    }

    pub(super) fn remove(&mut self, id: ClientId) {
        let Some(client) = self.clients.remove(&id) else {
            return;
        };
        match &client.interest {
            Interest::Everything => self.audience.stop_telling_everything(id),
            Interest::Attended(sessions) => {
                for session in sessions {
                    self.audience.stop_attending(*session, id);
                }
            }
        }
        for session in client.subscriptions.keys() {
            self.audience.stop_watching(*session, id);
        }
    }

    pub(super) fn close(&mut self) {
        for (_, client) in self.clients.drain() {
            client.outbox.close();
        }
        self.audience = Audience::default();
    }

    pub(super) fn label(&self, id: ClientId) -> &str {
        self.clients.get(&id).map_or("", |client| &client.me.name)
    }

    pub(super) fn me(&self, id: ClientId) -> Option<&Me> {
        self.clients.get(&id).map(|client| &client.me)
    }

    pub(super) fn outbox(&self, id: ClientId) -> Option<Outbox> {
        self.clients.get(&id).map(|client| client.outbox.clone())
    }

    /// A snapshot follows: whatever the client was told before no longer counts.
    pub(super) fn start_over(&mut self, id: ClientId) {
        if let Some(client) = self.clients.get_mut(&id) {
            for (session, _) in client.subscriptions.drain() {
                self.audience.stop_watching(session, id);
            }
            client.outbox.caught_up();
        }
    }

    pub(super) fn subscribe(&mut self, id: ClientId, session: SessionId, state: Subscription) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.subscriptions.insert(session, state);
            match state {
                Subscription::Live => self.audience.watch(session, id),
                Subscription::CatchingUp => self.audience.stop_watching(session, id),
            }
        }
    }

    /// True when the client had not been told of the session before.
    pub(super) fn attend(&mut self, id: ClientId, session: SessionId) -> bool {
        match self.clients.get_mut(&id).map(|client| &mut client.interest) {
            Some(Interest::Attended(sessions)) => {
                self.audience.attend(session, id);
                sessions.insert(session)
            }
            Some(Interest::Everything) | None => false,
        }
    }

    pub(super) fn is_told_of(&self, id: ClientId, session: SessionId) -> bool {
        let client = self.clients.get(&id);
        client.is_some_and(|client| client.interest.covers(session))
    }

    pub(super) fn unsubscribe(&mut self, id: ClientId, session: SessionId) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.subscriptions.remove(&session);
            self.audience.stop_watching(session, id);
        }
    }

    pub(super) fn subscription(&self, id: ClientId, session: SessionId) -> Option<Subscription> {
        let client = self.clients.get(&id)?;
        client.subscriptions.get(&session).copied()
    }

    pub(super) fn forget_session(&mut self, session: SessionId) {
        self.audience.forget_session(session);
        for client in self.clients.values_mut() {
            client.subscriptions.remove(&session);
            if let Interest::Attended(sessions) = &mut client.interest {
                sessions.remove(&session);
            }
        }
    }

    pub(super) fn send(&self, id: ClientId, message: &ServerMessage) {
        if let (Some(client), Some(text)) = (self.clients.get(&id), frame(message)) {
            client.outbox.try_send(text);
        }
    }

    pub(super) fn broadcast(&self, message: &ServerMessage) {
        let Some(text) = frame(message) else {
            return;
        };
        for client in self.clients.values() {
            client.outbox.try_send(text.clone());
        }
    }

    /// To all who are told of the session.
    pub fn broadcast_about(&self, session: SessionId, message: &ServerMessage) {
        self.send_to(self.audience.told_of(session), message);
    }

    /// To those who may do this.
    pub(super) fn broadcast_to(&self, scope: Scope, message: &ServerMessage) {
        let Some(text) = frame(message) else {
            return;
        };
        let able = |client: &&Client| client.me.scopes.contains(&scope);
        for client in self.clients.values().filter(able) {
            client.outbox.try_send(text.clone());
        }
    }

    /// To those who watch the session and have its history.
    pub(super) fn broadcast_to_watchers(&self, session: SessionId, message: &ServerMessage) {
        self.send_to(self.audience.watchers_of(session), message);
    }

    /// The frame is made once, and only when there is somebody to get it.
    fn send_to(&self, ids: impl Iterator<Item = ClientId>, message: &ServerMessage) {
        let mut clients = ids.filter_map(|id| self.clients.get(&id)).peekable();
        if clients.peek().is_none() {
            return;
        }
        let Some(text) = frame(message) else {
            return;
        };
        for client in clients {
            client.outbox.try_send(text.clone());
        }
    }
}

pub(super) fn frame(message: &ServerMessage) -> Option<Utf8Bytes> {
    let mut text = Vec::with_capacity(message.common_length());
    match serde_json::to_writer(&mut text, message) {
        // What serde writes is UTF-8.
        Ok(()) => Utf8Bytes::try_from(text).ok(),
        Err(error) => {
            tracing::error!(%error, "a message could not be written as JSON");
            None
        }
    }
}

#[cfg(test)]
mod tests;
