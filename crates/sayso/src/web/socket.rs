//! The native WebSocket: one reader, one writer, both bounded.

use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use sayso_broker::ClientId;
use sayso_protocol::{ClientFrame, ErrorCode, ErrorMessage, ServerMessage};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{MAXIMUM_MESSAGE, Web};
use crate::access::{Access, Pass};
use crate::hub::{Caller, Frame, HubHandle, HubMessage, Outbox, outbox};

/// Frames up to here are read to be refused by name; a larger one ends the connection.
const MAXIMUM_FRAME: usize = 2 * MAXIMUM_MESSAGE;
/// A client that takes longer to take one frame is gone.
const SEND_PATIENCE: Duration = Duration::from_secs(30);
/// A client that is told to go need not take it.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);
const PING_EVERY: Duration = Duration::from_secs(25);
/// A client that says nothing, not even to a ping, for this long is gone.
const SILENCE: Duration = Duration::from_secs(70);

pub(super) async fn upgrade(
    State(web): State<Web>,
    upgrade: WebSocketUpgrade,
    pass: Pass,
) -> Response {
    upgrade
        .max_message_size(MAXIMUM_FRAME)
        .max_frame_size(MAXIMUM_FRAME)
        .on_upgrade(move |socket| serve(socket, web.hub, web.access, pass))
}

async fn serve(socket: WebSocket, hub: HubHandle, access: Access, pass: Pass) {
    let client = ClientId(Uuid::new_v4());
    let (sink, stream) = socket.split();
    let (outbox, frames) = outbox();
    let (welcomed, welcome) = oneshot::channel();
    let connected = HubMessage::Connect {
        client,
        me: Box::new(access.me(&pass)),
        outbox: outbox.clone(),
        welcomed,
    };
    if hub.send(connected).await.is_err() || welcome.await.is_err() {
        return;
    }
    // From here on the devices are told, to this one too.
    let connection = access.connected(pass.identity);
    let mut writer = Writer {
        sink,
        frames,
        outbox: outbox.clone(),
        client,
        hub: hub.clone(),
    };
    let reader = Reader {
        outbox,
        client,
        hub: hub.clone(),
        access: access.clone(),
        pass: pass.clone(),
    };
    let end = tokio::select! {
        end = reader.run(stream) => end,
        end = writer.run() => end,
        () = connection.changed() => match access.pass(pass.identity, &pass.label) {
            Some(_) => End::Changed,
            None => End::Revoked,
        },
    };
    writer.close(end).await;
    // When the hub has ended it has no clients to remove.
    let _ = hub.send(HubMessage::Disconnect { client }).await;
}

/// Why a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The client has gone, or does not take what it is sent.
    Gone,
    ShuttingDown,
    /// What the device may do is different now; it connects again and sees.
    Changed,
    /// The device is not let in any more.
    Revoked,
}

impl End {
    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Gone => return None,
            Self::ShuttingDown => (close_code::AWAY, "Sayso is shutting down."),
            Self::Changed => (4100, "What this device may do has changed. Connect again."),
            Self::Revoked => (4401, "This device is not let in any more."),
        };
        let reason = reason.into();
        Some(CloseFrame { code, reason })
    }
}

struct Reader {
    outbox: Outbox,
    client: ClientId,
    hub: HubHandle,
    access: Access,
    pass: Pass,
}

impl Reader {
    async fn run(&self, mut stream: SplitStream<WebSocket>) -> End {
        while let Ok(Some(Ok(message))) = tokio::time::timeout(SILENCE, stream.next()).await {
            let text = match message {
                Message::Text(text) => text,
                Message::Binary(_) => {
                    let text = "Frames must be text, not binary.";
                    let code = ErrorCode::InvalidMessage;
                    if !complain(&self.outbox, None, code, text.to_owned()).await {
                        break;
                    }
                    continue;
                }
                Message::Ping(_) | Message::Pong(_) => continue,
                Message::Close(_) => break,
            };
            if let Err(end) = self.take(&text).await {
                return end;
            }
        }
        End::Gone
    }

    /// Reads one frame and hands it on with what the device may do at this moment.
    async fn take(&self, text: &str) -> Result<(), End> {
        if text.len() > MAXIMUM_MESSAGE {
            let text = format!("A frame may have at most {MAXIMUM_MESSAGE} bytes.");
            let told = complain(&self.outbox, None, ErrorCode::MessageTooLarge, text).await;
            return told.then_some(()).ok_or(End::Gone);
        }
        let frame = match ClientFrame::parse(text) {
            Ok(frame) => frame,
            Err(error) => {
                let told = complain(&self.outbox, error.id, error.code, error.message).await;
                return told.then_some(()).ok_or(End::Gone);
            }
        };
        let pass = self.access.pass(self.pass.identity, &self.pass.label);
        let pass = pass.ok_or(End::Revoked)?;
        self.access.seen(pass.identity);
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
}

async fn complain(outbox: &Outbox, id: Option<String>, code: ErrorCode, message: String) -> bool {
    let error = ServerMessage::Error(ErrorMessage {
        id,
        ..ErrorMessage::new(code, message)
    });
    match serde_json::to_string(&error) {
        Ok(text) => outbox.send(text.into()).await,
        Err(_) => false,
    }
}

struct Writer {
    sink: SplitSink<WebSocket, Message>,
    frames: mpsc::Receiver<Frame>,
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
                frame = self.frames.recv() => match frame {
                    Some(frame) => Message::Text(frame.text),
                    None => return End::ShuttingDown,
                },
                () = self.outbox.closed() => return End::ShuttingDown,
                _ = ping.tick() => Message::Ping(bytes::Bytes::new()),
            };
            let sent = tokio::time::timeout(SEND_PATIENCE, self.sink.send(message)).await;
            if !matches!(sent, Ok(Ok(()))) {
                return End::Gone;
            }
            let client = self.client;
            if self.outbox.is_lagging()
                && self.frames.is_empty()
                && self.hub.send(HubMessage::Resync { client }).await.is_err()
            {
                return End::ShuttingDown;
            }
        }
    }

    async fn close(mut self, end: End) {
        if let Some(frame) = end.frame() {
            let close = self.sink.send(Message::Close(Some(frame)));
            // The client may have gone already.
            let _ = tokio::time::timeout(CLOSE_PATIENCE, close).await;
        }
    }
}
