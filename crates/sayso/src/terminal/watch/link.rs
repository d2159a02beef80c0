//! The socket to the server: connects again by itself, and tells what it hears.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use sayso_protocol::AgentInfo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tungstenite::Message;
use uuid::Uuid;

use super::super::desk::Desk;
use super::super::request::Request;
use super::super::session::Session;
use super::super::trouble::{Exit, Trouble};
use crate::listen::Connection;

/// The server pings every 25 seconds; one that is silent for longer is gone.
const SILENCE: Duration = Duration::from_secs(60);
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The close code for a device that is not let in any more.
const REVOKED: u16 = 4401;

#[derive(Debug)]
pub(super) enum Heard {
    /// All there is; what was known before is replaced.
    Welcome {
        requests: Vec<Request>,
        sessions: Vec<Session>,
        agents: Vec<AgentInfo>,
    },
    Session(Session),
    Opened(Box<Request>),
    Updated(Box<Request>),
    Closed {
        request: Uuid,
        outcome: Box<RawValue>,
    },
    Done {
        id: String,
    },
    Failed {
        id: Option<String>,
        trouble: Trouble,
    },
    /// As it came, for whoever passes it on.
    Frame(String),
    /// The connection is gone; another one is on its way.
    Lost,
    /// It will not come back.
    Over(Trouble),
}

/// The server's frames, as far as they are of use here.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame {
    SessionState {
        session: Session,
    },
    Ack {
        id: Option<String>,
    },
    Error {
        id: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// Those with raw JSON, which a tagged enum cannot hold.
#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "type")]
    kind: String,
    pending_request: Option<Box<RawValue>>,
    pending_requests: Option<Vec<Box<RawValue>>>,
    sessions: Option<Vec<Session>>,
    agents: Option<Vec<Box<RawValue>>>,
    request_id: Option<Uuid>,
    outcome: Option<Box<RawValue>>,
}

/// Until nobody listens any more.
pub(super) async fn run(
    mut desk: Desk,
    mut to_say: mpsc::Receiver<String>,
    hearing: mpsc::Sender<Heard>,
    read: fn(&str) -> Option<Heard>,
) {
    let mut wait = FIRST_WAIT;
    loop {
        match desk.server().socket().await {
            Ok(socket) => {
                wait = FIRST_WAIT;
                // What was said to a connection that is gone was not heard, and is not said again.
                while to_say.try_recv().is_ok() {}
                let end = talk(socket, &mut to_say, &hearing, read).await;
                if end == Some(REVOKED) {
                    let message = "This token is not let in any more.";
                    let trouble = Trouble::new(Exit::Refused, "unauthorized", message);
                    let _ = hearing.send(Heard::Over(trouble)).await;
                    return;
                }
            }
            // A handshake does not say why it was refused.
            Err(_) => {
                if let Err(trouble) = desk.knock().await
                    && trouble.exit == Exit::Refused
                {
                    let _ = hearing.send(Heard::Over(trouble)).await;
                    return;
                }
            }
        }
        if hearing.send(Heard::Lost).await.is_err() {
            return;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Gives the code with which the server said goodbye.
async fn talk(
    socket: WebSocketStream<Connection>,
    to_say: &mut mpsc::Receiver<String>,
    hearing: &mpsc::Sender<Heard>,
    read: fn(&str) -> Option<Heard>,
) -> Option<u16> {
    let (mut sending, mut receiving) = socket.split();
    loop {
        tokio::select! {
            text = to_say.recv() => {
                sending.send(Message::text(text?)).await.ok()?;
            }
            frame = tokio::time::timeout(SILENCE, receiving.next()) => {
                match frame.ok()??.ok()? {
                    Message::Text(text) => {
                        if let Some(heard) = read(&text) {
                            hearing.send(heard).await.ok()?;
                        }
                    }
                    Message::Close(close) => return close.map(|close| close.code.into()),
                    Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_) => {}
                }
            }
        }
    }
}

/// A frame that cannot be read tells nothing; a request in it stays open, and can be answered elsewhere.
pub(super) fn read(text: &str) -> Option<Heard> {
    let raw: Raw = serde_json::from_str(text).ok()?;
    match raw.kind.as_str() {
        "welcome" => {
            let requests = raw.pending_requests?.into_iter();
            let agents = raw.agents.unwrap_or_default().into_iter();
            let agents = agents.filter_map(|raw| serde_json::from_str(raw.get()).ok());
            Some(Heard::Welcome {
                requests: requests.filter_map(|raw| Request::read(raw).ok()).collect(),
                sessions: raw.sessions?,
                agents: agents.collect(),
            })
        }
        "request_opened" => {
            let request = Request::read(raw.pending_request?).ok()?;
            Some(Heard::Opened(Box::new(request)))
        }
        "request_updated" => {
            let request = Request::read(raw.pending_request?).ok()?;
            Some(Heard::Updated(Box::new(request)))
        }
        "request_closed" => Some(Heard::Closed {
            request: raw.request_id?,
            outcome: raw.outcome?,
        }),
        _ => match serde_json::from_str(text).ok()? {
            Frame::SessionState { session } => Some(Heard::Session(session)),
            Frame::Ack { id } => Some(Heard::Done { id: id? }),
            Frame::Error { id } => Some(Heard::Failed {
                id,
                trouble: Trouble::told(text.as_bytes()),
            }),
            Frame::Other => None,
        },
    }
}
