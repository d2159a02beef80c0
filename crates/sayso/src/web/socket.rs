//! The native WebSocket: one reader, one writer, both bounded.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Request, State};
use axum::http::header::USER_AGENT;
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use sayso_broker::ClientId;
use sayso_protocol::{ClientFrame, ErrorCode, ErrorMessage, ServerMessage};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::{MAXIMUM_MESSAGE, Web, label};
use crate::hub::{Caller, Frame, HubHandle, HubMessage, Outbox, outbox};

/// Frames up to here are read to be refused by name; a larger one ends the connection.
const MAXIMUM_FRAME: usize = 2 * MAXIMUM_MESSAGE;
/// A client that takes longer to take one frame is gone.
const SEND_PATIENCE: Duration = Duration::from_secs(30);
const PING_EVERY: Duration = Duration::from_secs(25);
/// A client that says nothing, not even to a ping, for this long is gone.
const SILENCE: Duration = Duration::from_secs(70);

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
    upgrade
        .max_message_size(MAXIMUM_FRAME)
        .max_frame_size(MAXIMUM_FRAME)
        .on_upgrade(move |socket| serve(socket, web.hub, label))
}

async fn serve(socket: WebSocket, hub: HubHandle, label: String) {
    let client = ClientId(Uuid::new_v4());
    let (sink, stream) = socket.split();
    let (outbox, frames) = outbox();
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
    let lag = outbox.clone();
    let writer = tokio::spawn(write(sink, frames, lag, client, hub.clone()));
    // Each in a task of its own, so that the hub is told of the end even when it is a panic.
    let reader = tokio::spawn(read(stream, outbox, client, hub.clone()));
    let both = [writer.abort_handle(), reader.abort_handle()];
    tokio::select! {
        _ = reader => {}
        _ = writer => {}
    }
    both.iter().for_each(AbortHandle::abort);
    // When the hub has ended it has no clients to remove.
    let _ = hub.send(HubMessage::Disconnect { client }).await;
}

async fn read(
    mut stream: SplitStream<WebSocket>,
    outbox: Outbox,
    client: ClientId,
    hub: HubHandle,
) {
    while let Ok(Some(Ok(message))) = tokio::time::timeout(SILENCE, stream.next()).await {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                let text = "Frames must be text, not binary.";
                if !complain(&outbox, None, ErrorCode::InvalidMessage, text.to_owned()).await {
                    return;
                }
                continue;
            }
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return,
        };
        crate::faults::strike("socket");
        if text.len() > MAXIMUM_MESSAGE {
            let text = format!("A frame may have at most {MAXIMUM_MESSAGE} bytes.");
            if !complain(&outbox, None, ErrorCode::MessageTooLarge, text).await {
                return;
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
                    return;
                }
            }
            Err(error) => {
                if !complain(&outbox, error.id, error.code, error.message).await {
                    return;
                }
            }
        }
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
    mut frames: mpsc::Receiver<Frame>,
    outbox: Outbox,
    client: ClientId,
    hub: HubHandle,
) {
    let mut ping = tokio::time::interval(PING_EVERY);
    // The first tick comes at once.
    ping.tick().await;
    loop {
        let message = tokio::select! {
            biased;
            frame = frames.recv() => match frame {
                Some(frame) => Message::Text(frame.text),
                None => break,
            },
            () = outbox.closed() => break,
            _ = ping.tick() => Message::Ping(bytes::Bytes::new()),
        };
        let sent = tokio::time::timeout(SEND_PATIENCE, sink.send(message)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
        if outbox.is_lagging()
            && frames.is_empty()
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
