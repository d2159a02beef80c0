//! A socket that speaks another dialect: the same client to the hub, with a translation in between.

use std::panic::AssertUnwindSafe;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use sayso_broker::ClientId;
use sayso_protocol::{ClientFrame, ErrorCode};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use uuid::Uuid;

use super::refused::Refused;
use super::socket::{End, GOODBYE, PING_EVERY, Pace, SEND_PATIENCE, SILENCE};
use super::{MAXIMUM_MESSAGE, Web, frames};
use crate::access::Pass;
use crate::compat::{self, Desk, Dialect, Entry, Options, Seat, Step};
use crate::hub::{Caller, Frame, HubMessage, Interest, Outbox, outbox};

pub(super) async fn upgrade(
    State(web): State<Web>,
    Path(name): Path<String>,
    options: Result<Query<Options>, axum::extract::rejection::QueryRejection>,
    pass: Pass,
    upgrade: WebSocketUpgrade,
) -> Response {
    let Some(entry) = compat::find(&name) else {
        let text = "There is no such dialect. `sayso serve --print-compat` lists them.";
        return Refused::new(ErrorCode::NotFound, text).into_response();
    };
    match options {
        Ok(Query(options)) => frames::bounded(upgrade)
            .on_upgrade(move |socket| serve(socket, web, pass, entry, options)),
        Err(error) => {
            // The address may hold a token, so nothing of it is repeated.
            tracing::debug!(dialect = name, "the address of a socket cannot be read");
            let _ = error;
            let text = "The address cannot be read. Known are `token`, `cwd`, `session_id` (a UUID), `agent`, \
                `timeout` (such as `90s`), `auto_approve=tools`, `free_text=true` and `trust=false`.";
            Refused::new(ErrorCode::InvalidMessage, text).into_response()
        }
    }
}

async fn serve(socket: WebSocket, web: Web, pass: Pass, entry: Entry, options: Options) {
    let client = ClientId(Uuid::new_v4());
    let (outbox, queued) = outbox();
    let (welcomed, welcome) = oneshot::channel();
    let connected = HubMessage::Connect {
        client,
        me: Box::new(web.access.me(&pass)),
        outbox: outbox.clone(),
        interest: Interest::Everything,
        welcomed,
    };
    if web.hub.send(connected).await.is_err() || welcome.await.is_err() {
        return;
    }
    let hub = web.hub.clone();
    let (sink, stream) = socket.split();
    let front_end = FrontEnd {
        dialect: (entry.open)(),
        desk: Desk::new(&entry, options, web.names.clone()),
        name: entry.name,
        seats: Vec::new(),
        web,
        pass,
        client,
        outbox,
        sink,
    };
    // The hub is told of the end even when it is a panic, which has been logged then.
    let _ = AssertUnwindSafe(front_end.hold(stream, queued))
        .catch_unwind()
        .await;
    // When the hub has ended it has no clients to remove.
    let _ = hub.send(HubMessage::Disconnect { client }).await;
}

struct FrontEnd {
    dialect: Box<dyn Dialect>,
    desk: Desk,
    name: &'static str,
    seats: Vec<Seat>,
    web: Web,
    pass: Pass,
    client: ClientId,
    outbox: Outbox,
    sink: SplitSink<WebSocket, Message>,
}

/// What comes next.
enum Next {
    Heard(Option<Result<Message, axum::Error>>),
    Told(Option<Frame>),
    Ping,
    End(End),
}

impl FrontEnd {
    async fn hold(mut self, mut stream: SplitStream<WebSocket>, mut queued: mpsc::Receiver<Frame>) {
        let end = self.converse(&mut stream, &mut queued).await;
        // A server that goes down comes back, and its requests are still open then.
        if !matches!(end, End::ShuttingDown) {
            self.leave().await;
        }
        let Some(frame) = end.frame() else {
            return;
        };
        let goodbye = async {
            if self.sink.send(Message::Close(Some(frame))).await.is_ok() {
                while let Some(Ok(_)) = stream.next().await {}
            }
        };
        // The front end may have gone already.
        let _ = tokio::time::timeout(GOODBYE, goodbye).await;
    }

    async fn converse(
        &mut self,
        stream: &mut SplitStream<WebSocket>,
        queued: &mut mpsc::Receiver<Frame>,
    ) -> End {
        let connection = self.web.access.connected(self.client, &self.pass);
        let (access, outbox) = (self.web.access.clone(), self.outbox.clone());
        let mut ping = tokio::time::interval(PING_EVERY);
        // The first tick comes at once.
        ping.tick().await;
        let mut pace = Pace::new();
        let mut last_heard = Instant::now();
        // The welcome is queued: nothing is heard before the desk knows what is going on.
        let Some(welcome) = queued.recv().await else {
            return End::ShuttingDown;
        };
        if let Err(end) = self.told(&welcome, queued.is_empty()).await {
            return end;
        }
        loop {
            let next = tokio::select! {
                frame = queued.recv() => Next::Told(frame),
                message = stream.next() => Next::Heard(message),
                () = outbox.closed() => Next::End(End::ShuttingDown),
                _ = ping.tick() => Next::Ping,
                () = tokio::time::sleep_until(last_heard + SILENCE) => Next::End(End::Gone),
                () = connection.changed() => Next::End(match access.pass(self.pass.identity, &self.pass.label) {
                    Some(_) => End::Changed,
                    None => End::Revoked,
                }),
            };
            let done = match next {
                Next::Told(Some(frame)) => self.told(&frame, queued.is_empty()).await,
                Next::Told(None) => Err(End::ShuttingDown),
                Next::Heard(Some(Ok(message))) => {
                    last_heard = Instant::now();
                    if !pace.keep(&outbox).await {
                        return End::Gone;
                    }
                    self.heard(message).await
                }
                Next::Heard(Some(Err(error))) => {
                    Err(frames::close_for(error).map_or(End::Gone, End::Broken))
                }
                Next::Heard(None) => Err(End::Gone),
                Next::Ping => self.send(Message::Ping(bytes::Bytes::new())).await,
                Next::End(end) => Err(end),
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn heard(&mut self, message: Message) -> Result<(), End> {
        match message {
            Message::Text(text) if text.len() <= MAXIMUM_MESSAGE => {
                compat::hear(&mut *self.dialect, &text, &mut self.desk);
                self.carry_out().await
            }
            Message::Text(_) | Message::Binary(_) => {
                tracing::warn!(
                    dialect = self.name,
                    "a frame that is too large or binary was ignored"
                );
                Ok(())
            }
            Message::Close(_) => Err(End::Gone),
            Message::Ping(_) | Message::Pong(_) => Ok(()),
        }
    }

    async fn told(&mut self, frame: &Frame, caught_up: bool) -> Result<(), End> {
        for news in self.desk.take(&frame.text) {
            self.dialect.tell(&news, &mut self.desk);
        }
        self.carry_out().await?;
        if self.outbox.is_lagging() && caught_up {
            let resync = HubMessage::Resync {
                client: self.client,
            };
            let sent = self.web.hub.send(resync).await;
            return sent.map_err(|_| End::ShuttingDown);
        }
        Ok(())
    }

    async fn carry_out(&mut self) -> Result<(), End> {
        for step in self.desk.steps() {
            match step {
                Step::Say(text) => self.send(Message::text(text)).await?,
                Step::Ask(frame) => self.ask(*frame).await?,
            }
        }
        for session in self.desk.joined() {
            if !self.seats.iter().any(|seat| seat.session() == session) {
                self.seats.push(self.web.attending.sit(self.name, session));
            }
        }
        Ok(())
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        let giving = self.outbox.giving(self.sink.send(message));
        let sent = tokio::time::timeout(SEND_PATIENCE, giving).await;
        matches!(sent, Ok(Ok(()))).then_some(()).ok_or(End::Gone)
    }

    /// Hands a message on with what the device may do at this moment.
    async fn ask(&mut self, frame: ClientFrame) -> Result<(), End> {
        let pass = self.web.access.pass(self.pass.identity, &self.pass.label);
        let pass = pass.ok_or(End::Revoked)?;
        self.web.access.seen(pass.identity);
        let command = HubMessage::Command {
            pass,
            caller: Caller::Socket {
                client: self.client,
                id: frame.id,
            },
            message: frame.message,
        };
        let sent = self.web.hub.send(command).await;
        sent.map_err(|_| End::ShuttingDown)
    }

    /// What the dialect wants to have done when nobody of its kind is left.
    async fn leave(&mut self) {
        for seat in std::mem::take(&mut self.seats) {
            let session = seat.session();
            if seat.leave() {
                self.dialect.leave(session, &mut self.desk);
            }
        }
        for step in self.desk.steps() {
            if let Step::Ask(frame) = step
                && self.ask(*frame).await.is_err()
            {
                return;
            }
        }
    }
}
