//! A small world around a broker: a disk, agents and clients that see exactly
//! the effects, and that check the invariants at every one of them.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

mod asks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use sayso_broker::{
    AgentAnswer, Allowance, Ask, Broadcast, Broker, ClientId, ClientRef, DecidedBy, Decision,
    Delivery, Effect, EndReason, Event, Json, Kind, Mode, ModeEffect, OutcomeKind, Policies,
    RecordId, Refusal, ReplyTo, RequestId, Resolution, Ruling, SessionId, SessionSpec, Timestamp,
    Verdict,
};
use uuid::Uuid;

use asks::ruling;
#[allow(
    unused_imports,
    reason = "shared by several tests, each of which uses a part"
)]
pub(crate) use asks::{AskShape, allow, answer, deny, edited};

pub(crate) const SESSIONS: usize = 2;

#[derive(Clone, Debug)]
struct PendingRecord {
    record: RecordId,
    request: RequestId,
    open: bool,
    resolution: Option<Resolution>,
}

/// What the world knows of one ask, beside the broker.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: RequestId,
    pub(crate) session: usize,
    pub(crate) digest: String,
    pub(crate) ask: Ask,
    /// The agent took it back or died.
    pub(crate) gone: bool,
    pub(crate) answers: Vec<AgentAnswer>,
    closed: Vec<Resolution>,
    /// Allows of humans that named the right digest.
    allowed_by_human: Vec<Option<Json>>,
    /// Modes that humans chose while it was open and that would allow it.
    allowed_by_mode: BTreeSet<Mode>,
    allowed_by_rule: BTreeSet<String>,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) broker: Broker,
    pub(crate) now: Timestamp,
    pub(crate) asks: Vec<Asked>,
    pub(crate) clients: Vec<ClientId>,
    pub(crate) started: [bool; SESSIONS],
    pub(crate) alive: [bool; SESSIONS],
    disk: VecDeque<PendingRecord>,
    deliveries: VecDeque<RequestId>,
    opened_on_disk: BTreeSet<RequestId>,
    decided_on_disk: BTreeMap<RequestId, Resolution>,
    views: BTreeMap<ClientId, Vec<RequestId>>,
    replies: BTreeMap<ReplyTo, Vec<Result<(), Refusal>>>,
    next_id: u128,
}

pub(crate) fn session_id(index: usize) -> SessionId {
    SessionId(Uuid::from_u128(1_000_000 + index as u128))
}

impl World {
    pub(crate) fn new() -> Self {
        let now = Timestamp(1_000_000);
        Self {
            broker: Broker::new(now),
            now,
            asks: Vec::new(),
            clients: Vec::new(),
            started: [false; SESSIONS],
            alive: [false; SESSIONS],
            disk: VecDeque::new(),
            deliveries: VecDeque::new(),
            opened_on_disk: BTreeSet::new(),
            decided_on_disk: BTreeMap::new(),
            views: BTreeMap::new(),
            replies: BTreeMap::new(),
            next_id: 0,
        }
    }

    fn fresh(&mut self) -> Uuid {
        self.next_id += 1;
        Uuid::from_u128(self.next_id)
    }

    pub(crate) fn fresh_reply(&mut self) -> ReplyTo {
        self.next_id += 1;
        let reply = ReplyTo(self.next_id as u64);
        self.replies.insert(reply, Vec::new());
        reply
    }

    pub(crate) fn handle(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.broker.handle(self.now, event);
        for effect in &effects {
            self.carry_out(effect);
        }
        self.check_views();
        effects
    }

    fn carry_out(&mut self, effect: &Effect) {
        match effect {
            Effect::Record {
                record,
                request,
                open,
                resolution,
            } => {
                assert!(
                    !open || request.ask.raw.is_some(),
                    "I7: what is written first has the agent's message"
                );
                self.disk.push_back(PendingRecord {
                    record: *record,
                    request: request.ask.id,
                    open: *open,
                    resolution: resolution.clone(),
                });
            }
            Effect::Note {
                request,
                resolution,
            } => {
                assert!(
                    matches!(
                        resolution.outcome,
                        OutcomeKind::Withdrawn | OutcomeKind::Orphaned
                    ),
                    "I5: only a withdrawal or a loss needs no record first"
                );
                let before = self
                    .decided_on_disk
                    .insert(request.ask.id, resolution.clone());
                assert_eq!(before, None, "I2: decided twice on disk");
            }
            Effect::Deliver {
                request, answer, ..
            } => {
                self.check_delivery(*request, answer);
                self.deliveries.push_back(*request);
            }
            Effect::Broadcast(broadcast) => self.see(broadcast),
            Effect::Reply { to, result } => {
                let replies = self
                    .replies
                    .get_mut(to)
                    .expect("a reply that somebody waits for");
                replies.push(result.clone());
                assert_eq!(replies.len(), 1, "I1: {to:?} was answered twice");
            }
            Effect::NoteClock { .. }
            | Effect::NoteDelivery { .. }
            | Effect::FollowUp(_)
            | Effect::StopAgent { .. } => {}
        }
    }

    fn asked(&mut self, id: RequestId) -> &mut Asked {
        self.asks
            .iter_mut()
            .find(|asked| asked.id == id)
            .expect("only what was asked is answered")
    }

    fn check_delivery(&mut self, id: RequestId, answer: &AgentAnswer) {
        let on_disk = self.decided_on_disk.get(&id).cloned();
        let opened = self.opened_on_disk.contains(&id);
        let asked = self.asked(id);
        assert!(asked.answers.is_empty(), "I1: a second answer to {id}");
        assert!(!asked.gone, "I1: an answer to a request that is gone");
        let resolution = on_disk.expect("I5: the decision is on disk before the agent hears it");
        assert!(
            opened,
            "I5: the request is on disk before the agent hears of it"
        );
        if let AgentAnswer::Allow(Allowance { updated_input, .. }) = answer {
            assert_eq!(
                resolution.outcome,
                OutcomeKind::Allowed,
                "I5: what is delivered is what was recorded"
            );
            match &resolution.by {
                DecidedBy::Human(_) => assert!(
                    asked.allowed_by_human.contains(updated_input),
                    "I3/I4: no human allowed this input under its digest"
                ),
                DecidedBy::Mode(mode) => assert!(
                    asked.allowed_by_mode.contains(mode) && updated_input.is_none(),
                    "I3: this mode does not allow it"
                ),
                DecidedBy::Rule(rule) => assert!(
                    asked.allowed_by_rule.contains(&rule.id)
                        && updated_input.is_none()
                        && asked.ask.kind == Kind::Tool
                        && !asked.ask.requires_user_interaction
                        && asked.ask.rules_may_allow,
                    "I3: no rule allows this"
                ),
                DecidedBy::Timeout | DecidedBy::Policy(_) | DecidedBy::Agent => {
                    panic!("I3: allowed by {:?}", resolution.by)
                }
            }
            assert!(
                asked.ask.input_faithful || updated_input.is_some(),
                "I4: an input that could not be shown ran"
            );
        }
        asked.answers.push(answer.clone());
    }

    fn see(&mut self, broadcast: &Broadcast) {
        match broadcast {
            Broadcast::Opened(request) => {
                let id = request.ask.id;
                assert!(
                    self.opened_on_disk.contains(&id),
                    "a request is durable before it is shown"
                );
                for view in self.views.values_mut() {
                    assert!(!view.contains(&id), "I6: shown twice");
                    view.push(id);
                }
            }
            Broadcast::Closed {
                request,
                resolution,
            } => {
                let id = request.ask.id;
                for view in self.views.values_mut() {
                    view.retain(|open| *open != id);
                }
                let asked = self.asked(id);
                asked.closed.push(resolution.clone());
                assert_eq!(
                    asked.closed.len(),
                    1,
                    "every request ends in one request_closed"
                );
            }
            Broadcast::Updated(_) | Broadcast::SessionChanged(_) => {}
        }
    }

    pub(crate) fn shown(&self) -> Vec<RequestId> {
        self.broker
            .shown_requests()
            .iter()
            .map(|request| request.ask.id)
            .collect()
    }

    fn check_views(&self) {
        let shown = self.shown();
        for (client, view) in &self.views {
            assert_eq!(
                *view, shown,
                "I6: {client} sees exactly the open requests, in order"
            );
        }
    }

    pub(crate) fn start(&mut self, session: usize, policies: Policies) {
        self.started[session] = true;
        self.alive[session] = true;
        let spec = SessionSpec {
            policies,
            mode: Mode::new("default"),
        };
        self.handle(Event::SessionStarted {
            session: session_id(session),
            spec,
        });
    }

    pub(crate) fn ask(&mut self, session: usize, shape: AskShape) {
        self.ask_as(session, shape, None);
    }

    /// An ask of a kind that no shape has.
    pub(crate) fn ask_as(&mut self, session: usize, shape: AskShape, kind: Option<Kind>) {
        let id = RequestId(self.fresh());
        let mut ask = shape.build(id);
        ask.kind = kind.unwrap_or(ask.kind);
        self.put(session, ask, None);
    }

    /// An ask that a rule covers from the start.
    pub(crate) fn ask_ruled(&mut self, session: usize, shape: AskShape, allows: bool) {
        let id = RequestId(self.fresh());
        self.put(session, shape.build(id), Some(ruling(id, allows)));
    }

    fn put(&mut self, session: usize, ask: Ask, ruling: Option<Ruling>) {
        let allowing = ruling
            .iter()
            .filter(|ruling| ruling.verdict == Verdict::Allow);
        self.asks.push(Asked {
            id: ask.id,
            session,
            digest: ask.digest.clone(),
            ask: ask.clone(),
            gone: !self.alive[session],
            answers: Vec::new(),
            closed: Vec::new(),
            allowed_by_human: Vec::new(),
            allowed_by_mode: BTreeSet::new(),
            allowed_by_rule: allowing.map(|ruling| ruling.rule.id.clone()).collect(),
        });
        self.handle(Event::Asked {
            session: session_id(session),
            ask: Box::new(ask),
            ruling,
        });
    }

    /// A rule is made that covers an ask of before.
    pub(crate) fn rule(&mut self, index: usize, allows: bool) {
        let asked = &mut self.asks[index];
        let request = asked.id;
        let ruling = ruling(request, allows);
        if allows {
            asked.allowed_by_rule.insert(ruling.rule.id.clone());
        }
        self.handle(Event::Ruled { request, ruling });
    }

    pub(crate) fn withdraw(&mut self, index: usize) {
        let asked = &mut self.asks[index];
        asked.gone = true;
        let event = Event::Withdrawn {
            session: session_id(asked.session),
            native_id: asked.ask.native_id.clone(),
        };
        self.handle(event);
    }

    pub(crate) fn decide(
        &mut self,
        index: usize,
        digest: String,
        decision: Decision,
    ) -> Vec<Effect> {
        let client = self
            .clients
            .last()
            .copied()
            .unwrap_or(ClientId(Uuid::from_u128(7)));
        let client = ClientRef {
            id: client,
            label: "a browser".to_owned(),
        };
        let reply = self.fresh_reply();
        let asked = &mut self.asks[index];
        let request = asked.id;
        let digest_fits = digest == asked.digest;
        if let (true, Decision::Allow(Allowance { updated_input, .. })) = (digest_fits, &decision) {
            asked.allowed_by_human.push(updated_input.clone());
        }
        let open = self.shown().contains(&request);
        let effects = self.handle(Event::Decided {
            request,
            client,
            digest,
            decision,
            reply,
        });
        if open && !digest_fits {
            let refused = Effect::Reply {
                to: reply,
                result: Err(Refusal::DigestMismatch),
            };
            assert_eq!(effects, vec![refused], "I4: a wrong digest changes nothing");
        }
        effects
    }

    pub(crate) fn confirm_mode(&mut self, session: usize, mode: &str) {
        let mode = Mode::new(mode);
        for asked in self
            .asks
            .iter_mut()
            .filter(|asked| asked.session == session)
        {
            let allows = asked
                .ask
                .mode_effects
                .iter()
                .any(|(name, effect)| *name == mode && *effect == ModeEffect::Allows);
            if allows && asked.ask.input_faithful && !asked.ask.requires_user_interaction {
                asked.allowed_by_mode.insert(mode.clone());
            }
        }
        self.handle(Event::ModeConfirmed {
            session: session_id(session),
            mode,
        });
    }

    pub(crate) fn restart(&mut self, session: usize) -> Vec<Effect> {
        self.handle(Event::Restarting {
            session: session_id(session),
            mode: Mode::new("bypassPermissions"),
        })
    }

    pub(crate) fn end_agent(&mut self, session: usize) {
        self.alive[session] = false;
        for asked in self
            .asks
            .iter_mut()
            .filter(|asked| asked.session == session)
        {
            asked.gone = true;
        }
        let reason = match self.now.0 % 2 {
            0 => EndReason::Lost("gone".to_owned()),
            _ => EndReason::Failed("killed".to_owned()),
        };
        self.handle(Event::AgentEnded {
            session: session_id(session),
            reason,
        });
    }

    pub(crate) fn connect(&mut self) {
        let client = ClientId(self.fresh());
        self.clients.push(client);
        self.handle(Event::ClientConnected {
            client,
            label: "a browser".to_owned(),
        });
        let snapshot = self.shown();
        self.views.insert(client, snapshot);
        self.check_views();
    }

    pub(crate) fn disconnect(&mut self, index: usize) {
        let client = self.clients.remove(index);
        self.views.remove(&client);
        self.handle(Event::ClientDisconnected { client });
    }

    /// The oldest write reaches the disk, or fails.
    pub(crate) fn disk_step(&mut self, works: bool) {
        let Some(write) = self.disk.pop_front() else {
            return;
        };
        if !works {
            self.handle(Event::RecordFailed {
                record: write.record,
                reason: "disk full".to_owned(),
            });
            return;
        }
        if write.open {
            assert!(
                self.opened_on_disk.insert(write.request),
                "opened twice on disk"
            );
        }
        if let Some(resolution) = write.resolution {
            assert!(
                self.opened_on_disk.contains(&write.request),
                "decided before it was opened"
            );
            let before = self.decided_on_disk.insert(write.request, resolution);
            assert_eq!(before, None, "I2: decided twice on disk");
        }
        self.handle(Event::Recorded {
            record: write.record,
        });
    }

    pub(crate) fn delivery_step(&mut self, works: bool) {
        let Some(request) = self.deliveries.pop_front() else {
            return;
        };
        let delivery = if works {
            Delivery::Sent
        } else {
            Delivery::Failed
        };
        self.handle(Event::Delivered { request, delivery });
    }

    pub(crate) fn advance(&mut self, duration: Duration) {
        self.now = self.now.plus(duration);
        while let Some(at) = self.broker.next_wakeup().filter(|at| *at <= self.now) {
            self.handle(Event::Tick);
            let next = self.broker.next_wakeup();
            assert!(
                next.is_none_or(|next| next > at || next > self.now),
                "a tick makes progress"
            );
        }
    }

    /// Lets everything run out, then checks what must hold at the end.
    pub(crate) fn finish(mut self) {
        for _ in 0..50 {
            while !self.disk.is_empty() || !self.deliveries.is_empty() {
                self.disk_step(true);
                self.delivery_step(true);
            }
            self.advance(Duration::from_secs(100_000));
        }
        let unlimited: Vec<usize> = (0..self.asks.len())
            .filter(|index| self.broker.request(self.asks[*index].id).is_some())
            .collect();
        for index in unlimited {
            self.withdraw(index);
        }
        assert!(self.broker.is_quiet(), "I1: nothing hangs");
        for asked in &self.asks {
            let answers = asked.answers.len();
            assert!(
                answers == 1 || asked.gone,
                "I1: {} has {answers} answers",
                asked.id
            );
        }
        for (to, replies) in &self.replies {
            assert_eq!(replies.len(), 1, "I1: {to:?} waits for ever");
            if let Err(Refusal::AlreadyDecided(told)) = &replies[0] {
                let stands = self.asks.iter().any(|asked| {
                    asked.closed.first().is_some_and(|closed| {
                        closed.by == told.by && closed.outcome == told.outcome
                    })
                });
                assert!(stands, "I2: told of a decision that does not stand");
            }
        }
    }
}
