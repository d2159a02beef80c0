//! The native WebSocket: one reader, one writer, both bounded.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::rejection::QueryRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use sayso_broker::ClientId;
use sayso_protocol::{ClientFrame, ClientMessage, ErrorCode, ErrorMessage, ServerMessage};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::refused::Refused;
use super::{MAXIMUM_MESSAGE, Web, extension, frames};
use crate::access::{Access, Pass};
use crate::hub::{Caller, Frame, HubHandle, HubMessage, Interest, Outbox, outbox};
use crate::listen::Bucket;
use crate::notify::{Look, Notifications};

/// What one socket may say at once, pings included, and per second after that.
const MESSAGES_AT_ONCE: u32 = 20_000;
const MESSAGES_PER_SECOND: u32 = 10_000;
/// How many more frames go out with one that is sent.
const FRAMES_AT_ONCE: usize = 64;
/// A client that takes longer to take one frame is gone.
pub(super) const SEND_PATIENCE: Duration = Duration::from_secs(30);
pub(super) const PING_EVERY: Duration = Duration::from_secs(25);
/// A client that says nothing, not even to a ping, for this long is gone.
pub(super) const SILENCE: Duration = Duration::from_secs(70);
/// For the last frames in both directions.
pub(super) const GOODBYE: Duration = Duration::from_secs(1);

/// What the address says of the client.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wishes {
    only: Option<Only>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Only {
    Attended,
}

pub(super) async fn upgrade(
    State(web): State<Web>,
    wishes: Result<Query<Wishes>, QueryRejection>,
    pass: Pass,
    upgrade: WebSocketUpgrade,
) -> Response {
    let Ok(Query(wishes)) = wishes else {
        let text = "The address of the socket can say `only=attended`, and nothing else.";
        return Refused::new(ErrorCode::InvalidMessage, text).into_response();
    };
    let interest = match wishes.only {
        None => Interest::Everything,
        Some(Only::Attended) => Interest::Attended(HashSet::new()),
    };
    let upgrade = frames::bounded(upgrade).protocols([extension::PROTOCOL]);
    upgrade.on_upgrade(move |socket| serve(socket, web, pass, interest))
}

async fn serve(socket: WebSocket, web: Web, pass: Pass, interest: Interest) {
    let Web {
        hub,
        access,
        notifications,
        ..
    } = web;
    let client = ClientId(Uuid::new_v4());
    let (outbox, queued) = outbox();
    let (welcomed, welcome) = oneshot::channel();
    let connected = HubMessage::Connect {
        client,
        me: Box::new(access.me(&pass)),
        outbox: outbox.clone(),
        interest,
        welcomed,
    };
    if hub.send(connected).await.is_err() || welcome.await.is_err() {
        return;
    }
    let conversation = Conversation {
        client,
        hub: hub.clone(),
        access,
        pass,
        outbox,
        notifications,
        looking: Mutex::new(None),
    };
    // The hub is told of the end even when it is a panic, which has been logged then.
    let _ = AssertUnwindSafe(conversation.hold(socket, queued))
        .catch_unwind()
        .await;
    // When the hub has ended it has no clients to remove.
    let _ = hub.send(HubMessage::Disconnect { client }).await;
}

/// Why a connection is over.
#[derive(Debug)]
pub(super) enum End {
    /// The client has gone, or does not take what it is sent.
    Gone,
    /// It broke the rules of WebSockets.
    Broken(CloseFrame),
    ShuttingDown,
    /// What the device may do is different now; it connects again and sees.
    Changed,
    /// The device is not let in any more.
    Revoked,
}

impl End {
    pub(super) fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Gone => return None,
            Self::Broken(frame) => return Some(frame),
            Self::ShuttingDown => (close_code::AWAY, "Sayso is shutting down."),
            Self::Changed => (4100, "What this device may do has changed. Connect again."),
            Self::Revoked => (4401, "This device is not let in any more."),
        };
        let reason = reason.into();
        Some(CloseFrame { code, reason })
    }
}

/// One client that is connected.
struct Conversation {
    client: ClientId,
    hub: HubHandle,
    access: Access,
    pass: Pass,
    outbox: Outbox,
    notifications: Notifications,
    /// While a human can see this client's page.
    looking: Mutex<Option<Look>>,
}

impl Conversation {
    async fn hold(self, socket: WebSocket, queued: mpsc::Receiver<Frame>) {
        let (sink, mut stream) = socket.split();
        // From here on the devices are told, to this one too.
        let connection = self.access.connected(self.client, &self.pass);
        let mut writer = Writer {
            sink,
            queued,
            outbox: self.outbox.clone(),
            client: self.client,
            hub: self.hub.clone(),
        };
        let end = tokio::select! {
            end = self.read(&mut stream) => end,
            end = writer.run() => end,
            () = connection.changed() => {
                match self.access.pass(self.pass.identity, &self.pass.label) {
                    Some(_) => End::Changed,
                    None => End::Revoked,
                }
            }
        };
        let answers_first = matches!(end, End::Broken(_));
        let Some(frame) = end.frame() else {
            return;
        };
        let goodbye = async {
            while answers_first && let Ok(queued) = writer.queued.try_recv() {
                if writer.sink.send(Message::Text(queued.text)).await.is_err() {
                    return;
                }
            }
            if writer.sink.send(Message::Close(Some(frame))).await.is_ok() {
                // What the other side still says is of no interest, but it may finish.
                while let Some(Ok(_)) = stream.next().await {}
            }
        };
        // The client may have gone already.
        let _ = tokio::time::timeout(GOODBYE, goodbye).await;
    }

    async fn read(&self, stream: &mut SplitStream<WebSocket>) -> End {
        let mut pace = Pace::new();
        loop {
            let message = match tokio::time::timeout(SILENCE, stream.next()).await {
                Ok(Some(Ok(message))) => message,
                Ok(Some(Err(error))) => {
                    return frames::close_for(error).map_or(End::Gone, End::Broken);
                }
                Ok(None) | Err(_) => return End::Gone,
            };
            if let Message::Close(_) = message {
                // Reading on sends the answer to it.
                let _ = tokio::time::timeout(GOODBYE, stream.next()).await;
                return End::Gone;
            }
            if !pace.keep(&self.outbox).await {
                return End::Gone;
            }
            let taken = match message {
                Message::Text(text) => self.take(&text).await,
                Message::Binary(_) => {
                    let text = "Frames must be text, not binary.";
                    self.complain(None, ErrorCode::InvalidMessage, text).await
                }
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
            };
            if let Err(end) = taken {
                return end;
            }
        }
    }

    /// Reads one frame and hands it on with what the device may do at this moment.
    async fn take(&self, text: &str) -> Result<(), End> {
        crate::faults::strike("socket");
        if text.len() > MAXIMUM_MESSAGE {
            let text = format!("A frame may have at most {MAXIMUM_MESSAGE} bytes.");
            return self.complain(None, ErrorCode::MessageTooLarge, &text).await;
        }
        let frame = match ClientFrame::parse(text) {
            Ok(frame) => frame,
            Err(error) => return self.complain(error.id, error.code, &error.message).await,
        };
        let pass = self.access.pass(self.pass.identity, &self.pass.label);
        let pass = pass.ok_or(End::Revoked)?;
        self.access.seen(pass.identity);
        if let ClientMessage::Presence(presence) = &frame.message {
            let look = || self.notifications.look(pass.identity);
            let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
            *looking = presence.visible.then(look);
        }
        let caller = Caller::Socket {
            client: self.client,
            id: frame.id,
        };
        let command = HubMessage::Command {
            pass,
            caller,
            message: frame.message,
        };
        let sent = self.hub.send(command).await;
        sent.map_err(|_| End::ShuttingDown)
    }

    async fn complain(&self, id: Option<String>, code: ErrorCode, text: &str) -> Result<(), End> {
        let told = complain(&self.outbox, id, code, text).await;
        told.then_some(()).ok_or(End::Gone)
    }
}

async fn complain(outbox: &Outbox, id: Option<String>, code: ErrorCode, text: &str) -> bool {
    let error = ServerMessage::Error(ErrorMessage {
        id,
        ..ErrorMessage::new(code, text)
    });
    match serde_json::to_string(&error) {
        Ok(text) => outbox.send(text.into()).await,
        Err(_) => false,
    }
}

/// How fast one socket may speak. Beyond that it is read more slowly, and told so once.
pub(super) struct Pace {
    bucket: Bucket,
    told: bool,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self {
            bucket: Bucket::new(MESSAGES_AT_ONCE, MESSAGES_PER_SECOND, Instant::now()),
            told: false,
        }
    }

    pub(super) async fn keep(&mut self, outbox: &Outbox) -> bool {
        let wait = self.bucket.take(1, Instant::now());
        if wait.is_zero() {
            self.told &= !self.bucket.is_half_full();
            return true;
        }
        if !self.told {
            self.told = true;
            let text = format!(
                "You send faster than {MESSAGES_PER_SECOND} messages a second. Nothing is lost, \
                 but Sayso reads them at that pace."
            );
            if !complain(outbox, None, ErrorCode::Overloaded, &text).await {
                return false;
            }
        }
        tokio::time::sleep(wait).await;
        true
    }
}

struct Writer {
    sink: SplitSink<WebSocket, Message>,
    queued: mpsc::Receiver<Frame>,
    outbox: Outbox,
    client: ClientId,
    hub: HubHandle,
}

impl Writer {
    async fn run(&mut self) -> End {
        let mut ping = tokio::time::interval(PING_EVERY);
        // The first tick comes at once.
        ping.tick().await;
        loop {
            let message = tokio::select! {
                biased;
                frame = self.queued.recv() => match frame {
                    Some(frame) => Message::Text(frame.text),
                    None => return End::ShuttingDown,
                },
                () = self.outbox.closed() => return End::ShuttingDown,
                _ = ping.tick() => Message::Ping(bytes::Bytes::new()),
            };
            let sending = send_all(&mut self.sink, &mut self.queued, message);
            let giving = self.outbox.giving(sending);
            let sent = tokio::time::timeout(SEND_PATIENCE, giving).await;
            if !matches!(sent, Ok(Ok(()))) {
                return End::Gone;
            }
            let client = self.client;
            if self.outbox.is_lagging()
                && self.queued.is_empty()
                && self.hub.send(HubMessage::Resync { client }).await.is_err()
            {
                return End::ShuttingDown;
            }
        }
    }
}

/// What has queued up goes out in one piece.
async fn send_all(
    sink: &mut SplitSink<WebSocket, Message>,
    queued: &mut mpsc::Receiver<Frame>,
    first: Message,
) -> Result<(), axum::Error> {
    sink.feed(first).await?;
    for _ in 0..FRAMES_AT_ONCE {
        let Ok(frame) = queued.try_recv() else {
            break;
        };
        sink.feed(Message::Text(frame.text)).await?;
    }
    sink.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_too_fast_is_slowed_down_and_told_so_once() {
        let (outbox, mut told) = outbox();
        let mut pace = Pace::new();
        let started = tokio::time::Instant::now();
        for _ in 0..MESSAGES_AT_ONCE {
            assert!(pace.keep(&outbox).await);
        }
        assert!(told.try_recv().is_err(), "nothing to complain about");
        // By this clock no time passes but that which is waited for; by the other one little does.
        for _ in 0..MESSAGES_PER_SECOND {
            assert!(pace.keep(&outbox).await);
        }
        assert!(!started.elapsed().is_zero());
        let error = told.try_recv().unwrap().text;
        assert!(error.contains("overloaded"), "{error}");
        assert!(told.try_recv().is_err(), "once");
    }
}
