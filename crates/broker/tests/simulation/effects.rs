//! What the server does with each effect, and with each message of a client.

use std::time::Duration;

use sayso_broker::{
    Broadcast, ClientId, ClientRef, Effect, Event, Mode, ModeEffect, ReplyTo, RequestId, SessionId,
    SessionSpec, SessionState, StopReason, Verdict,
};

use crate::agents::{Agent, Life, Line, run_of, session_id};
use crate::asks::ruling;
use crate::clients::{Frame, Message};
use crate::server::{After, Answer, Asker};
use crate::store::{SessionRow, Write};
use crate::trace;
use crate::world::World;

impl World {
    pub(crate) fn carry_out(&mut self, effect: Effect) {
        self.trace
            .say(|| format!("effect: {}", trace::effect(&effect)));
        match effect {
            Effect::Record {
                record,
                request,
                open,
                resolution,
            } => {
                let id = request.ask.id;
                let decides = resolution.is_some();
                self.check_record(id, open, decides);
                let mut writes = Vec::with_capacity(2);
                if open {
                    writes.push(Write::Open(request));
                }
                writes.extend(resolution.map(|resolution| Write::Decide(id, resolution)));
                self.submit(
                    writes,
                    After::Record {
                        record,
                        request: id,
                        open,
                        decides,
                    },
                );
            }
            Effect::Note {
                request,
                resolution,
            } => self.note(request.ask.id, Write::Decide(request.ask.id, resolution)),
            Effect::NoteDelivery { request, delivery } => {
                self.note(request, Write::SetDelivery(request, delivery));
            }
            Effect::NoteClock { request } => {
                let id = request.ask.id;
                self.submit(vec![Write::Clock(id, request.clock)], After::Clock(id));
            }
            Effect::Deliver {
                request, answer, ..
            } => {
                // The runner would write it once all the same; the broker must not rely on that.
                let first = self.running().answered.insert(request);
                assert!(first, "I1: {request} is to be delivered twice");
                self.deliver(Answer { request, answer });
            }
            Effect::FollowUp(_) => {}
            Effect::Broadcast(broadcast) => self.broadcast(broadcast),
            Effect::Reply { to, result } => {
                let asker = self.running().replies.remove(&to);
                let asker = asker.expect("I1: one reply, and only to somebody who waits");
                self.check_reply(asker, &result);
                if let Some(connection) = self.connections.get_mut(&asker.client) {
                    connection.send(Frame::Reply);
                }
            }
            Effect::StopAgent { session, reason } => {
                assert_eq!(
                    reason,
                    StopReason::Idle,
                    "no agent here uses an id twice: a line was taken twice"
                );
                if let Some((run, _)) = self.running().runs.get(&session) {
                    let run = *run;
                    self.end_agent(run);
                }
            }
        }
    }

    fn note(&mut self, request: RequestId, write: Write) {
        *self.running().notes.entry(request).or_default() += 1;
        self.submit(vec![write.clone()], After::Note(request, write));
    }

    fn broadcast(&mut self, broadcast: Broadcast) {
        let frame = match broadcast {
            Broadcast::SessionChanged(session) => {
                if let Some(write) = self.session_row(session) {
                    *self.running().session_notes.entry(session).or_default() += 1;
                    self.submit(vec![write], After::Session(session));
                }
                Frame::Session
            }
            Broadcast::Opened(request) => {
                self.check_opened(&request);
                Frame::Opened(request)
            }
            Broadcast::Updated(request) => Frame::Updated(request),
            Broadcast::Closed { request, .. } => Frame::Closed(request.ask.id),
        };
        for connection in self.connections.values_mut() {
            if connection.known {
                connection.send(frame.clone());
            }
        }
    }

    /// The session as the broker knows it now; `None` once its run is forgotten.
    pub(crate) fn session_row(&mut self, session: SessionId) -> Option<Write> {
        let server = self.running();
        let (run, spec) = server.runs.get(&session)?;
        let view = server.broker.session(session)?;
        let spec = SessionSpec {
            mode: view.mode,
            ..spec.clone()
        };
        let row = SessionRow {
            run: *run,
            spec,
            state: view.state,
            state_changed_at: view.state_changed_at,
        };
        Some(Write::PutSession(session, row))
    }

    fn reply_to(&mut self, client: ClientId, request: RequestId, decides: bool) -> ReplyTo {
        let reply = ReplyTo(self.fresh() as u64);
        let asker = Asker {
            client,
            request,
            decides,
        };
        self.running().replies.insert(reply, asker);
        reply
    }

    pub(crate) fn message(&mut self, client: ClientId) {
        let connection = self.connections.get_mut(&client);
        let Some(message) = connection.and_then(|connection| connection.messages.pop_front())
        else {
            return;
        };
        let label = "a browser".to_owned();
        let event = match message {
            Message::Connect => {
                self.running().welcome = Some(client);
                Event::ClientConnected { client, label }
            }
            Message::Disconnect => {
                self.connections.remove(&client);
                Event::ClientDisconnected { client }
            }
            Message::Resync => {
                self.running().welcome = Some(client);
                return;
            }
            Message::Start(session) => return self.start(session),
            Message::Attach(session) => Event::ClientAttached {
                client,
                session: session_id(session),
            },
            Message::Decide {
                request,
                digest,
                decision,
            } => Event::Decided {
                request,
                client: ClientRef { id: client, label },
                digest,
                decision,
                reply: self.reply_to(client, request, true),
            },
            Message::Hold(request, held) => Event::SetHeld {
                request,
                held,
                reply: self.reply_to(client, request, false),
            },
            Message::Extend(request) => Event::Extended {
                request,
                by: Duration::from_secs(300),
                reply: self.reply_to(client, request, false),
            },
            Message::SetMode(session, mode) => return self.set_mode(session, mode),
            Message::Rule(request, allows) => {
                let ruling = ruling(request, allows);
                let asked = self.agents[run_of(request)].asked(request);
                if let (Some(asked), Verdict::Allow) = (asked, &ruling.verdict) {
                    asked.allowed_by_rule.insert(ruling.rule.id.clone());
                }
                Event::Ruled { request, ruling }
            }
            Message::ShutDown => Event::ShutDown,
        };
        self.running().events.push_back(event);
    }

    /// The row that names the runner is durable before there is a runner.
    fn start(&mut self, session: usize) {
        let id = session_id(session);
        if self.running().runs.contains_key(&id) {
            return;
        }
        let run = self.agents.len();
        if self.agents.iter().any(|agent| agent.session == session) {
            self.count("session started again");
        }
        self.agents.push(Agent::new(run, session));
        let spec = self.some_spec();
        let row = SessionRow {
            run,
            spec: spec.clone(),
            state: SessionState::Starting,
            state_changed_at: self.now,
        };
        let server = self.running();
        server.runs.insert(id, (run, spec.clone()));
        server
            .events
            .push_back(Event::SessionStarted { session: id, spec });
        self.submit(vec![Write::PutSession(id, row)], After::Spawn(run));
    }

    /// The agent takes the mode at once and says so in its journal.
    fn set_mode(&mut self, session: usize, mode: Mode) {
        let server = self.running();
        let number = server.number;
        let Some((run, _)) = server.runs.get(&session_id(session)).cloned() else {
            return;
        };
        let agent = &mut self.agents[run];
        if agent.life != Life::Alive {
            return;
        }
        for asked in &mut agent.asks {
            let mut effects = asked.ask.mode_effects.iter();
            let allows =
                effects.any(|(name, effect)| *name == mode && *effect == ModeEffect::Allows);
            if allows && asked.ask.input_faithful && !asked.ask.requires_user_interaction {
                asked.allowed_by_mode.insert(mode.clone());
            }
        }
        agent.journal.push(Line::Mode(mode, number));
    }
}
