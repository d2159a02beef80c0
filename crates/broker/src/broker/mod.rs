//! The state machine: `handle` takes one event and returns what follows.

mod attendance;
mod closing;
mod deciding;
mod opening;
mod restoring;
mod sessions;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::request::{Phase, Request};
use crate::session::Session;
use crate::{
    ClientId, Effect, Event, Policies, RecordId, RequestId, RequestView, Resolution, SessionId,
    SessionView, Timestamp, WhenUnattended,
};

/// How many closed requests are remembered for `already_decided`; the store
/// has the rest.
const REMEMBERED_CLOSED: usize = 1024;
/// How many requests of one session may be open; more are refused.
const MAXIMUM_OPEN: usize = 256;
/// How long after a failed write the next automatic try comes.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// All live sessions and requests. Owned by one task, never shared.
#[derive(Debug)]
pub struct Broker {
    sessions: BTreeMap<SessionId, Session>,
    requests: BTreeMap<RequestId, Box<Request>>,
    /// Writes that are under way, and what they are for.
    records: BTreeMap<RecordId, RequestId>,
    next_record: u64,
    closed: VecDeque<(RequestId, Resolution)>,
    /// How many requests were shown.
    shown: u64,
    clients: BTreeMap<ClientId, String>,
    /// Since when nobody is connected.
    unattended_since: Option<Timestamp>,
    shutting_down: bool,
    /// When the last event came, to see the clock go back.
    last_event_at: Timestamp,
}

impl Broker {
    pub fn new(now: Timestamp) -> Self {
        Self {
            sessions: BTreeMap::new(),
            requests: BTreeMap::new(),
            records: BTreeMap::new(),
            next_record: 0,
            closed: VecDeque::new(),
            shown: 0,
            clients: BTreeMap::new(),
            unattended_since: Some(now),
            shutting_down: false,
            last_event_at: now,
        }
    }

    /// Takes one event and returns what has to be done, in order.
    pub fn handle(&mut self, now: Timestamp, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        if now < self.last_event_at {
            self.clock_went_back(now);
        }
        self.last_event_at = now;
        self.step(now, event, &mut effects);
        effects
    }

    /// Somebody set the machine's clock. What was to be tried again in a moment would otherwise wait until the
    /// clock is back where it was.
    fn clock_went_back(&mut self, now: Timestamp) {
        let soon = now.plus(RETRY_AFTER);
        for request in self.requests.values_mut() {
            request.quiet_until = request.quiet_until.map(|quiet| quiet.min(soon));
            if let Phase::Unrecorded { retry_at, .. } = &mut request.phase {
                *retry_at = soon.min(*retry_at);
            }
        }
        self.unattended_since = self.unattended_since.map(|since| since.min(now));
    }

    fn step(&mut self, now: Timestamp, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::SessionStarted { session, spec } => {
                self.session_started(now, session, spec, effects);
            }
            Event::SessionRestored { session, restored } => {
                self.restored(now, session, *restored, effects);
            }
            Event::AgentActive { session, activity } => {
                self.agent_active(now, session, activity, effects);
            }
            Event::AgentMode { session, mode } => self.agent_mode(session, mode, effects),
            Event::Restarting { session, mode } => {
                self.restarting(now, session, &mode, effects);
            }
            Event::ModeConfirmed { session, mode } => {
                self.mode_confirmed(now, session, mode, effects);
            }
            Event::AgentEnded { session, reason } => {
                self.agent_ended(now, session, reason, effects);
            }
            Event::SessionRemoved { session } => self.session_removed(now, session, effects),
            Event::Asked {
                session,
                ask,
                ruling,
            } => self.asked(now, session, *ask, ruling, effects),
            Event::Ruled { request, ruling } => self.ruled(now, request, ruling, effects),
            Event::Withdrawn { session, native_id } => {
                self.withdrawn(now, session, &native_id, effects);
            }
            Event::Decided {
                request,
                client,
                digest,
                decision,
                reply,
            } => {
                let result = self.decided(now, request, client, &digest, decision, reply, effects);
                if let Err(refusal) = result {
                    effects.push(Effect::Reply {
                        to: reply,
                        result: Err(refusal),
                    });
                }
            }
            Event::SetHeld {
                request,
                held,
                reply,
            } => {
                let result = self.change_clock(request, effects, |clock| clock.set_held(now, held));
                effects.push(Effect::Reply { to: reply, result });
            }
            Event::Extended { request, by, reply } => {
                let result = self.change_clock(request, effects, |clock| clock.extend(by));
                effects.push(Effect::Reply { to: reply, result });
            }
            Event::Delivered { request, delivery } => self.delivered(request, delivery, effects),
            Event::Recorded { record } => self.recorded(now, record, effects),
            Event::RecordFailed { record, reason } => {
                self.record_failed(now, record, &reason, effects);
            }
            Event::ClientConnected { client, label } => {
                self.client_connected(now, client, label, effects);
            }
            Event::ClientDisconnected { client } => self.client_disconnected(now, client, effects),
            Event::ClientAttached { client, session } => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.active = Some(client);
                }
            }
            Event::Tick => self.tick(now, effects),
            Event::ShutDown => self.shut_down(now, effects),
        }
    }

    /// When `Event::Tick` is due, if ever.
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        let requests = self
            .requests
            .values()
            .filter_map(|request| self.request_wakeup(request));
        let sessions = self.sessions.values().filter_map(Session::idle_deadline);
        requests.chain(sessions).min()
    }

    fn request_wakeup(&self, request: &Request) -> Option<Timestamp> {
        match &request.phase {
            Phase::Unrecorded { retry_at, .. } => Some(*retry_at),
            Phase::Open => {
                let deadline = [request.clock.deadline(), self.unattended_deadline(request)];
                let due = deadline.into_iter().flatten().min()?;
                Some(request.quiet_until.map_or(due, |quiet| quiet.max(due)))
            }
            Phase::Opening { .. } | Phase::Deciding(_) | Phase::Delivering(_) => None,
        }
    }

    /// When a request is refused because nobody is connected.
    fn unattended_deadline(&self, request: &Request) -> Option<Timestamp> {
        let since = self.unattended_since?;
        let policies = &self.sessions.get(&request.session)?.policies;
        (policies.when_unattended == WhenUnattended::Deny)
            .then(|| since.plus(policies.unattended_grace))
    }

    fn tick(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        let due: Vec<RequestId> = self
            .requests
            .iter()
            .filter(|(_, request)| self.request_wakeup(request).is_some_and(|at| at <= now))
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            self.request_due(now, id, effects);
        }
        self.stop_idle_sessions(now, effects);
    }

    fn record_id(&mut self, request: RequestId) -> RecordId {
        self.next_record += 1;
        let record = RecordId(self.next_record);
        self.records.insert(record, request);
        record
    }

    pub fn session(&self, id: SessionId) -> Option<SessionView> {
        self.sessions.get(&id).map(Session::view)
    }

    pub fn policies(&self, id: SessionId) -> Option<&Policies> {
        self.sessions.get(&id).map(|session| &session.policies)
    }

    /// What clients see: exactly the requests that were shown and not closed,
    /// in the order in which they were shown.
    pub fn shown_requests(&self) -> Vec<RequestView> {
        let mut shown: Vec<&Request> = self
            .sessions
            .values()
            .flat_map(|session| &session.requests)
            .filter_map(|id| self.requests.get(id).map(Box::as_ref))
            .filter(|request| request.is_shown())
            .collect();
        shown.sort_by_key(|request| request.place);
        shown.into_iter().map(Request::view).collect()
    }

    pub fn request(&self, id: RequestId) -> Option<RequestView> {
        self.requests.get(&id).map(|request| request.view())
    }

    /// How a request that was closed a while ago ended.
    pub fn closed(&self, id: RequestId) -> Option<&Resolution> {
        self.closed
            .iter()
            .rev()
            .find(|(closed, _)| *closed == id)
            .map(|(_, resolution)| resolution)
    }

    /// Something of this session is open or under way.
    pub fn has_requests(&self, session: SessionId) -> bool {
        self.sessions
            .get(&session)
            .is_some_and(|session| !session.requests.is_empty())
    }

    /// Nothing is open or under way any more.
    pub fn is_quiet(&self) -> bool {
        self.requests.is_empty()
    }
}
