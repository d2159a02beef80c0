//! The native WebSocket: one reader, one writer, both bounded.

use std::pin::pin;
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Request, State};
use axum::http::header::USER_AGENT;
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use sayso_broker::ClientId;
use sayso_protocol::{ClientFrame, ErrorCode, ErrorMessage, ServerMessage};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{MAXIMUM_MESSAGE, Web, frames, label};
use crate::hub::{Caller, Frame, HubHandle, HubMessage, Outbox, outbox};
use crate::listen::Bucket;

/// What one socket may say at once, pings included, and per second after that.
const MESSAGES_AT_ONCE: u32 = 500;
const MESSAGES_PER_SECOND: u32 = 200;
/// A client that takes longer to take one frame is gone.
const SEND_PATIENCE: Duration = Duration::from_secs(30);
const PING_EVERY: Duration = Duration::from_secs(25);
/// A client that says nothing, not even to a ping, for this long is gone.
const SILENCE: Duration = Duration::from_secs(70);
/// For the last frames in both directions.
const GOODBYE: Duration = Duration::from_secs(5);

pub(super) async fn upgrade(
    State(web): State<Web>,
    upgrade: WebSocketUpgrade,
    request: Request,
) -> Response {
    let agent = request
        .headers()
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    let label = label::label(agent);
    frames::bounded(upgrade).on_upgrade(move |socket| serve(socket, web.hub, label))
}

async fn serve(socket: WebSocket, hub: HubHandle, label: String) {
    let client = ClientId(Uuid::new_v4());
    let (sink, stream) = socket.split();
    let (outbox, queued) = outbox();
    let (welcomed, welcome) = oneshot::channel();
    let connected = HubMessage::Connect {
        client,
        label,
        outbox: outbox.clone(),
        welcomed,
    };
    if hub.send(connected).await.is_err() || welcome.await.is_err() {
        return;
    }
    let (farewell, leaving) = oneshot::channel();
    let lag = outbox.clone();
    let mut writer = tokio::spawn(write(sink, queued, lag, client, hub.clone(), leaving));
    let mut reader = pin!(read(stream, outbox, client, &hub));
    tokio::select! {
        close = &mut reader => {
            // A writer that has ended has said goodbye already.
            let _ = farewell.send(close);
            if tokio::time::timeout(GOODBYE, &mut writer).await.is_err() {
                writer.abort();
            }
        }
        _ = &mut writer => {
            // What the other side still answers is of no interest, but it may finish.
            let _ = tokio::time::timeout(GOODBYE, &mut reader).await;
        }
    }
    // When the hub has ended it has no clients to remove.
    let _ = hub.send(HubMessage::Disconnect { client }).await;
}

/// Ends with what the client is told about the end, if it is told anything.
async fn read(
    mut stream: SplitStream<WebSocket>,
    outbox: Outbox,
    client: ClientId,
    hub: &HubHandle,
) -> Option<CloseFrame> {
    let mut pace = Pace::new();
    loop {
        let message = match tokio::time::timeout(SILENCE, stream.next()).await {
            Ok(Some(Ok(message))) => message,
            Ok(Some(Err(error))) => return frames::close_for(error),
            Ok(None) | Err(_) => return None,
        };
        if let Message::Close(_) = message {
            // Reading on sends the answer to it.
            let _ = tokio::time::timeout(GOODBYE, stream.next()).await;
            return None;
        }
        if !pace.keep(&outbox).await {
            return None;
        }
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                let text = "Frames must be text, not binary.";
                if !complain(&outbox, None, ErrorCode::InvalidMessage, text.to_owned()).await {
                    return None;
                }
                continue;
            }
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => continue,
        };
        if text.len() > MAXIMUM_MESSAGE {
            let text = format!("A frame may have at most {MAXIMUM_MESSAGE} bytes.");
            if !complain(&outbox, None, ErrorCode::MessageTooLarge, text).await {
                return None;
            }
            continue;
        }
        match ClientFrame::parse(&text) {
            Ok(frame) => {
                let caller = Caller::Socket {
                    client,
                    id: frame.id,
                };
                let command = HubMessage::Command {
                    caller,
                    message: frame.message,
                };
                if hub.send(command).await.is_err() {
                    return None;
                }
            }
            Err(error) => {
                if !complain(&outbox, error.id, error.code, error.message).await {
                    return None;
                }
            }
        }
    }
}

/// How fast one socket may speak. Beyond that it is read more slowly, and told so once.
struct Pace {
    bucket: Bucket,
    told: bool,
}

impl Pace {
    fn new() -> Self {
        Self {
            bucket: Bucket::new(MESSAGES_AT_ONCE, MESSAGES_PER_SECOND, Instant::now()),
            told: false,
        }
    }

    async fn keep(&mut self, outbox: &Outbox) -> bool {
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
            if !complain(outbox, None, ErrorCode::Overloaded, text).await {
                return false;
            }
        }
        tokio::time::sleep(wait).await;
        true
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

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut queued: mpsc::Receiver<Frame>,
    outbox: Outbox,
    client: ClientId,
    hub: HubHandle,
    mut leaving: oneshot::Receiver<Option<CloseFrame>>,
) {
    let mut ping = tokio::time::interval(PING_EVERY);
    // The first tick comes at once.
    ping.tick().await;
    loop {
        let message = tokio::select! {
            biased;
            frame = queued.recv() => match frame {
                Some(frame) => Message::Text(frame.text),
                None => break,
            },
            () = outbox.closed() => break,
            close = &mut leaving => {
                if let Ok(Some(close)) = close {
                    // The client may have gone already.
                    let _ = sink.send(Message::Close(Some(close))).await;
                }
                return;
            }
            _ = ping.tick() => Message::Ping(bytes::Bytes::new()),
        };
        let sent = tokio::time::timeout(SEND_PATIENCE, sink.send(message)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
        if outbox.is_lagging()
            && queued.is_empty()
            && hub.send(HubMessage::Resync { client }).await.is_err()
        {
            break;
        }
    }
    let close = CloseFrame {
        code: close_code::AWAY,
        reason: "Sayso is shutting down.".into(),
    };
    // The client may have gone already.
    let _ = tokio::time::timeout(SEND_PATIENCE, sink.send(Message::Close(Some(close)))).await;
}
