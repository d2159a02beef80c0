//! Connected clients: what each one is sent, and what happens when it is slow.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::ws::Utf8Bytes;
use sayso_broker::{ClientId, SessionId};
use sayso_protocol::{Me, Scope, ServerMessage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::ById;
use super::audience::Audience;

/// How many frames may wait for one client.
const FRAMES: usize = 1024;
/// How many bytes may wait for one client; a larger frame goes alone.
const BYTES: usize = 16 * 1024 * 1024;
/// How many bytes of history may wait beside them, so that reading back does
/// not push out what happens now.
const HISTORY_BYTES: usize = 4 * 1024 * 1024;

/// The sending half of a client's queue. A client that does not keep up is
/// marked as lagging instead of being waited for.
#[derive(Clone, Debug)]
pub struct Outbox {
    frames: mpsc::Sender<Frame>,
    room: Arc<Semaphore>,
    history_room: Arc<Semaphore>,
    lagging: Arc<AtomicBool>,
    closing: CancellationToken,
}

/// One text frame. Its share of the client's room is free again when it is dropped.
#[derive(Debug)]
pub struct Frame {
    pub text: Utf8Bytes,
    _share: OwnedSemaphorePermit,
}

/// A queue for one client: the hub fills it, the socket empties it.
pub fn outbox() -> (Outbox, mpsc::Receiver<Frame>) {
    let (frames, receiver) = mpsc::channel(FRAMES);
    let outbox = Outbox {
        frames,
        room: Arc::new(Semaphore::new(BYTES)),
        history_room: Arc::new(Semaphore::new(HISTORY_BYTES)),
        closing: CancellationToken::new(),
        lagging: Arc::new(AtomicBool::new(false)),
    };
    (outbox, receiver)
}

impl Outbox {
    /// Queues without waiting. `false` means that the client lags.
    fn try_send(&self, text: Utf8Bytes) -> bool {
        if self.is_lagging() {
            return false;
        }
        let share = u32::try_from(text.len().min(BYTES)).unwrap_or(u32::MAX);
        let sent = Arc::clone(&self.room)
            .try_acquire_many_owned(share)
            .is_ok_and(|share| {
                let frame = Frame {
                    text,
                    _share: share,
                };
                self.frames.try_send(frame).is_ok()
            });
        if !sent {
            self.lagging.store(true, Ordering::Release);
        }
        sent
    }

    /// Waits for room; for history, which may be large. `false` when the client has gone.
    pub async fn send(&self, text: Utf8Bytes) -> bool {
        let share = u32::try_from(text.len().min(HISTORY_BYTES)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.history_room);
        let Ok(share) = room.acquire_many_owned(share).await else {
            return false;
        };
        self.frames
            .send(Frame {
                text,
                _share: share,
            })
            .await
            .is_ok()
    }

    pub fn is_lagging(&self) -> bool {
        self.lagging.load(Ordering::Acquire)
    }

    /// Ends when the server says goodbye.
    pub async fn closed(&self) {
        self.closing.cancelled().await;
    }

    fn caught_up(&self) {
        self.lagging.store(false, Ordering::Release);
    }
}

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
            client.outbox.closing.cancel();
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
