//! Clients: what each one is sent, the picture it makes of that, and what it does.

use std::collections::VecDeque;

use sayso_broker::{ClientId, Decision, Json, Kind, Mode, RequestId, RequestView};
use uuid::Uuid;

use crate::agents::run_of;
use crate::asks::{allow, answer, deny, edited};
use crate::world::{SESSIONS, World};

/// How many frames may wait for a client before it lags.
const ROOM: usize = 5;

#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Welcome(Vec<RequestView>),
    Opened(RequestView),
    Updated(RequestView),
    Closed(RequestId),
    Session,
    Reply,
}

#[derive(Clone, Debug)]
pub(crate) enum Message {
    Connect,
    Disconnect,
    Resync,
    Start(usize),
    Attach(usize),
    Decide {
        request: RequestId,
        digest: String,
        decision: Decision,
    },
    Hold(RequestId, bool),
    Extend(RequestId),
    SetMode(usize, Mode),
    Rule(RequestId, bool),
    ShutDown,
}

/// Between a client and the server. Ends with the server, or when the server has heard that the client left.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    pub(crate) messages: VecDeque<Message>,
    pub(crate) frames: VecDeque<Frame>,
    /// Frames were dropped; a new snapshot will come.
    pub(crate) lagging: bool,
    /// The server sends to it.
    pub(crate) known: bool,
    resyncing: bool,
}

impl Connection {
    pub(crate) fn send(&mut self, frame: Frame) {
        if self.lagging || self.frames.len() >= ROOM {
            self.lagging = true;
        } else {
            self.frames.push_back(frame);
        }
    }

    pub(crate) fn welcome(&mut self, shown: Vec<RequestView>) {
        self.lagging = false;
        self.resyncing = false;
        self.send(Frame::Welcome(shown));
    }
}

/// A browser: it outlives its connections and keeps what it saw last.
#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) connection: Option<ClientId>,
    pub(crate) picture: Vec<RequestView>,
    /// All it ever saw; an old tab decides about these too.
    remembered: Vec<RequestView>,
}

/// What a client does with a frame.
pub(crate) fn look(picture: &mut Vec<RequestView>, frame: Frame) {
    let place = |picture: &[RequestView], id: RequestId| {
        picture.iter().position(|request| request.ask.id == id)
    };
    match frame {
        Frame::Welcome(shown) => *picture = shown,
        Frame::Opened(request) => {
            let before = place(picture, request.ask.id);
            assert_eq!(before, None, "I6: {} is shown twice", request.ask.id);
            picture.push(request);
        }
        Frame::Updated(request) => {
            let before = place(picture, request.ask.id);
            let index = before.expect("I6: only what is shown is updated");
            picture[index] = request;
        }
        Frame::Closed(id) => picture.retain(|request| request.ask.id != id),
        Frame::Session | Frame::Reply => {}
    }
}

impl World {
    pub(crate) fn connect(&mut self, client: usize) {
        if self.server.is_none() || self.clients[client].connection.is_some() {
            return;
        }
        let id = ClientId(Uuid::from_u128(self.fresh()));
        self.clients[client].connection = Some(id);
        self.connections.insert(id, Connection::default());
        self.say(client, Message::Connect);
    }

    fn disconnect(&mut self, client: usize) {
        self.say(client, Message::Disconnect);
        self.clients[client].connection = None;
    }

    pub(crate) fn say(&mut self, client: usize, message: Message) {
        let id = self.clients[client].connection;
        if let Some(connection) = id.and_then(|id| self.connections.get_mut(&id)) {
            self.trace
                .say(|| format!("client {client} says {message:?}"));
            connection.messages.push_back(message);
        }
    }

    /// False when there is nothing to read.
    pub(crate) fn read_frame(&mut self, client: usize) -> bool {
        let Some(id) = self.clients[client].connection else {
            return false;
        };
        let Some(connection) = self.connections.get_mut(&id) else {
            return false;
        };
        match connection.frames.pop_front() {
            Some(frame) => {
                if let Frame::Opened(request) = &frame {
                    self.clients[client].remembered.push(request.clone());
                }
                look(&mut self.clients[client].picture, frame);
                true
            }
            None if connection.lagging && !connection.resyncing => {
                connection.resyncing = true;
                connection.messages.push_back(Message::Resync);
                self.count("lagged");
                true
            }
            None => false,
        }
    }

    pub(crate) fn client_acts(&mut self) {
        let client = self.random.below(self.clients.len());
        if self.clients[client].connection.is_none() {
            return self.connect(client);
        }
        let session = self.random.below(SESSIONS);
        match self.random.weighted(&[40, 24, 6, 3, 3, 6, 3, 2, 2, 1]) {
            0 => {
                self.read_frame(client);
            }
            1 => self.decide(client),
            2 => {
                if let Some(request) = self.request_in_view(client) {
                    let held = self.random.percent(60);
                    self.say(client, Message::Hold(request.ask.id, held));
                }
            }
            3 => {
                if let Some(request) = self.request_in_view(client) {
                    self.say(client, Message::Extend(request.ask.id));
                }
            }
            4 => self.say(client, Message::Attach(session)),
            5 => self.say(client, Message::Start(session)),
            6 => {
                let modes = ["acceptEdits", "bypassPermissions", "dontAsk", "plan"];
                let mode = modes[self.random.below(modes.len())];
                self.say(client, Message::SetMode(session, Mode::new(mode)));
            }
            7 => {
                if let Some(request) = self.request_in_view(client) {
                    let allows = self.random.percent(60);
                    self.say(client, Message::Rule(request.ask.id, allows));
                }
            }
            8 => self.disconnect(client),
            _ => {
                if self.random.percent(8) {
                    self.say(client, Message::ShutDown);
                }
            }
        }
    }

    fn request_in_view(&mut self, client: usize) -> Option<RequestView> {
        let client = &self.clients[client];
        if self.random.percent(80) && !client.picture.is_empty() {
            self.random.pick(&client.picture)
        } else {
            self.random.pick(&client.remembered)
        }
    }

    fn decide(&mut self, client: usize) {
        let Some(request) = self.request_in_view(client) else {
            return;
        };
        let times = if self.random.percent(15) { 2 } else { 1 };
        for _ in 0..times {
            let decision = self.some_decision(&request);
            let digest = if self.random.percent(92) {
                request.ask.digest.clone()
            } else {
                "the digest of another input".to_owned()
            };
            self.send_decision(client, &request, digest, decision);
        }
    }

    pub(crate) fn send_decision(
        &mut self,
        client: usize,
        request: &RequestView,
        digest: String,
        decision: Decision,
    ) {
        let id = request.ask.id;
        if let Decision::Allow(allowance) = &decision
            && digest == request.ask.digest
            && let Some(asked) = self.agents[run_of(id)].asked(id)
        {
            asked.allowed_by_human.push(allowance.updated_input.clone());
        }
        self.say(
            client,
            Message::Decide {
                request: id,
                digest,
                decision,
            },
        );
    }

    /// Mostly one that fits.
    fn some_decision(&mut self, request: &RequestView) -> Decision {
        let fitting = match &request.ask.kind {
            Kind::Tool | Kind::Plan(_) => vec![allow(), allow(), edited(), deny(false), deny(true)],
            Kind::Questions(_) => vec![answer("A"), answer("something else"), deny(false)],
            Kind::Elicitation(_) | Kind::Other => vec![deny(false)],
        };
        let odd = [allow(), answer(" "), Decision::Submit(Json::new("{}"))];
        let from = if self.random.percent(92) {
            fitting
        } else {
            odd.to_vec()
        };
        self.random.pick(&from).expect("there is always one")
    }
}
