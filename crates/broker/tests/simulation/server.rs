//! The server: a broker and a small hub that carries out one effect at a time,
//! so that a crash can come between any two.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sayso_broker::{
    AgentAnswer, Broker, ClientId, Delivery, Effect, EndReason, Event, RecordId, ReplyTo,
    RequestId, RestoredRequest, RestoredSession, SessionId, SessionSpec, SessionState, Timestamp,
};

use crate::agents::{Life, run_of};
use crate::links::Link;
use crate::store::{RequestRow, Write, WriteError};
use crate::trace;
use crate::world::World;

/// What a write is waited for.
#[derive(Clone, Debug)]
pub(crate) enum After {
    Record {
        record: RecordId,
        request: RequestId,
        open: bool,
        decides: bool,
    },
    /// How a request ended, or how its answer arrived.
    Note(RequestId, Write),
    Clock(RequestId),
    Session(SessionId),
    /// The runner may be started.
    Spawn(usize),
    Cursor(usize, u64),
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) request: RequestId,
    pub(crate) answer: AgentAnswer,
}

/// Who waits for a reply, and about what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    pub(crate) client: ClientId,
    pub(crate) request: RequestId,
    pub(crate) decides: bool,
}

/// What an idle server can turn to.
#[derive(Clone, Copy, Debug)]
enum Input {
    Completion,
    Line(usize),
    Heard(usize),
    Exit(usize),
    Message(ClientId),
    Tick,
    Deliver,
    WriteAgain,
}

/// All of it is lost in a crash.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) broker: Broker,
    pub(crate) number: u32,
    pub(crate) events: VecDeque<Event>,
    pub(crate) effects: VecDeque<Effect>,
    /// Who is sent a snapshot once the event under way is through.
    pub(crate) welcome: Option<ClientId>,
    pub(crate) writes: BTreeMap<u64, After>,
    next_token: u64,
    /// The clock was set back. Timers run on another clock, so the one that was set before still goes off.
    pub(crate) timer: bool,
    /// Notes that could not be written. Nothing waits for them, but until they are there, a restart would
    /// bring back what is over: so they are never given up.
    pub(crate) again: Vec<After>,
    pub(crate) links: BTreeMap<usize, Link>,
    /// Answers that wait for their agent to have room, or for its journal to be read.
    pub(crate) undelivered: Vec<Answer>,
    pub(crate) replies: BTreeMap<ReplyTo, Asker>,
    /// Requests that this server has written.
    pub(crate) recorded: BTreeSet<RequestId>,
    /// How many notes about a request are not durable yet.
    pub(crate) notes: BTreeMap<RequestId, usize>,
    pub(crate) session_notes: BTreeMap<SessionId, usize>,
    pub(crate) runs: BTreeMap<SessionId, (usize, SessionSpec)>,
}

impl Server {
    pub(crate) fn is_idle(&self) -> bool {
        self.events.is_empty() && self.effects.is_empty() && self.welcome.is_none()
    }
}

impl World {
    pub(crate) fn running(&mut self) -> &mut Server {
        self.server.as_mut().expect("the server runs")
    }

    /// One step of the server: an effect, an event, or the next input. False when there is nothing to do.
    pub(crate) fn proceed(&mut self) -> bool {
        let Some(server) = &mut self.server else {
            return false;
        };
        if let Some(effect) = server.effects.pop_front() {
            self.carry_out(effect);
        } else if let Some(event) = server.events.pop_front() {
            self.handle(event);
        } else if let Some(client) = server.welcome.take() {
            let shown = server.broker.shown_requests();
            if let Some(connection) = self.connections.get_mut(&client) {
                connection.known = true;
                connection.welcome(shown);
            }
        } else {
            self.check_pictures();
            self.settle_links();
            let inputs = self.inputs();
            let Some(input) = self.random.pick(&inputs) else {
                return false;
            };
            self.take(input);
        }
        true
    }

    fn inputs(&self) -> Vec<Input> {
        let Some(server) = &self.server else {
            return Vec::new();
        };
        let mut inputs = Vec::new();
        if self.store.has_completions() {
            inputs.push(Input::Completion);
        }
        for (run, link) in &server.links {
            let agent = &self.agents[*run];
            if link.next <= agent.last_line() {
                inputs.push(Input::Line(*run));
            } else if agent.life == Life::Ended && !link.exited {
                inputs.push(Input::Exit(*run));
            }
            if !link.heard.is_empty() {
                inputs.push(Input::Heard(*run));
            }
        }
        for (id, connection) in &self.connections {
            if !connection.messages.is_empty() {
                inputs.push(Input::Message(*id));
            }
        }
        let due = |at: Timestamp| at <= self.now;
        if server.timer || server.broker.next_wakeup().is_some_and(due) {
            inputs.push(Input::Tick);
        }
        if server
            .undelivered
            .iter()
            .any(|answer| server.can_go(answer))
        {
            inputs.push(Input::Deliver);
        }
        if !server.again.is_empty() && self.store.waiting() == 0 {
            inputs.push(Input::WriteAgain);
        }
        inputs
    }

    fn take(&mut self, input: Input) {
        self.trace.say(|| format!("server takes {input:?}"));
        match input {
            Input::Completion => {
                if let Some((token, result)) = self.store.completion() {
                    self.completed(token, result);
                }
            }
            Input::Line(run) => self.line(run),
            Input::Heard(run) => self.heard(run),
            Input::Exit(run) => self.exited(run),
            Input::Message(client) => self.message(client),
            Input::Tick => {
                let server = self.running();
                server.timer = false;
                server.events.push_back(Event::Tick);
            }
            Input::Deliver => {
                let server = self.running();
                let answers = std::mem::take(&mut server.undelivered);
                for answer in answers {
                    // It may have been taken back in the meantime.
                    if self.running().broker.request(answer.request).is_some() {
                        self.deliver(answer);
                    } else {
                        self.count("taken back before it was delivered again");
                    }
                }
            }
            Input::WriteAgain => {
                for after in std::mem::take(&mut self.running().again) {
                    self.write_again(after);
                }
            }
        }
    }

    fn handle(&mut self, event: Event) {
        self.trace
            .say(|| format!("broker hears {}", trace::event(&event)));
        if let Event::Withdrawn { session, native_id } = &event
            && let Some((run, _)) = self.running().runs.get(session)
        {
            let run = *run;
            let mut asks = self.agents[run].asks.iter_mut();
            if let Some(asked) = asks.find(|asked| asked.ask.native_id == *native_id) {
                asked.withdrawal_known = true;
            }
        }
        let restored = match &event {
            Event::SessionRestored { session, .. } => Some(*session),
            _ => None,
        };
        let now = self.now;
        let server = self.running();
        let effects = server.broker.handle(now, event);
        server.effects.extend(effects);
        if let Some(session) = restored {
            self.check_restored(session);
        }
    }

    /// Queues a write and keeps what is waited for.
    pub(crate) fn submit(&mut self, writes: Vec<Write>, after: After) {
        let server = self.server.as_mut().expect("the server runs");
        server.next_token += 1;
        let token = server.next_token;
        if self.store.submit(token, writes) {
            server.writes.insert(token, after);
        } else {
            self.count("queue was full");
            self.not_written(after, &WriteError::Unavailable);
        }
    }

    fn completed(&mut self, token: u64, result: Result<(), WriteError>) {
        let Some(after) = self.running().writes.remove(&token) else {
            return;
        };
        match result {
            Ok(()) => self.written(after),
            Err(error) => self.not_written(after, &error),
        }
    }

    fn written(&mut self, after: After) {
        match after {
            After::Record {
                record,
                request,
                open,
                ..
            } => {
                let server = self.running();
                if open {
                    server.recorded.insert(request);
                }
                server.events.push_back(Event::Recorded { record });
            }
            After::Note(request, _) => one_less(&mut self.running().notes, request),
            After::Clock(_) => {}
            After::Session(session) => one_less(&mut self.running().session_notes, session),
            After::Spawn(run) => {
                self.agents[run].life = Life::Alive;
                self.running().links.insert(run, Link::new(0, 0));
            }
            After::Cursor(run, line) => self.cursor_written(run, line),
        }
    }

    fn not_written(&mut self, after: After, error: &WriteError) {
        self.trace.say(|| format!("not written: {after:?}"));
        match after {
            After::Record { record, .. } => {
                assert_eq!(
                    *error,
                    WriteError::Unavailable,
                    "I1/I2: a write that can never succeed"
                );
                self.count("record failed");
                let reason = "disk full".to_owned();
                self.running()
                    .events
                    .push_back(Event::RecordFailed { record, reason });
            }
            // The request was decided first: its clock no longer matters.
            After::Clock(_) if *error == WriteError::AlreadyDecided => {}
            After::Note(..) | After::Session(_) | After::Clock(_) => {
                assert_eq!(*error, WriteError::Unavailable, "a note that fits nothing");
                self.running().again.push(after);
            }
            After::Spawn(run) => {
                let agent = &mut self.agents[run];
                agent.life = Life::Forgotten;
                let session = crate::agents::session_id(agent.session);
                let reason = EndReason::Failed("disk full".to_owned());
                let server = self.running();
                server.runs.remove(&session);
                server
                    .events
                    .push_back(Event::AgentEnded { session, reason });
            }
            After::Cursor(run, _) => {
                if let Some(link) = self.running().links.get_mut(&run) {
                    link.noting = false;
                }
            }
        }
    }

    fn write_again(&mut self, after: After) {
        match &after {
            After::Note(_, write) => {
                let write = write.clone();
                self.submit(vec![write], after);
            }
            // What is true now, not what was true when it failed.
            After::Clock(request) => {
                if let Some(view) = self.running().broker.request(*request) {
                    self.submit(vec![Write::Clock(*request, view.clock)], after);
                }
            }
            After::Session(session) => match self.session_row(*session) {
                Some(write) => self.submit(vec![write], after),
                None => one_less(&mut self.running().session_notes, *session),
            },
            After::Record { .. } | After::Spawn(_) | After::Cursor(..) => {}
        }
    }

    /// The server dies. What it had sent to runners may still arrive.
    pub(crate) fn crash(&mut self) {
        let Some(server) = &self.server else {
            return;
        };
        self.trace.say(|| "*** the server dies".to_owned());
        let runs: Vec<usize> = server.links.keys().copied().collect();
        if !self.running().is_idle() {
            self.count("crashed between two effects");
        }
        if self.store.has_completions() {
            self.count("written by a server that died before it knew");
        }
        for run in runs {
            while self.random.percent(50) && self.runner_reads(run, false) {}
        }
        self.server = None;
        self.store.crash();
        self.connections.clear();
        for client in &mut self.clients {
            client.connection = None;
        }
    }

    /// A new server takes over what the store has.
    ///
    /// A session is taken over if its runner is still there, whatever its row says: one that is written as dead
    /// may still have requests whose end is not written. It is alive until the runner says again that it ended.
    pub(crate) fn boot(&mut self) {
        self.booted += 1;
        let mut server = Server {
            broker: Broker::new(self.now),
            number: self.booted,
            events: VecDeque::new(),
            effects: VecDeque::new(),
            welcome: None,
            writes: BTreeMap::new(),
            next_token: 0,
            timer: false,
            again: Vec::new(),
            links: BTreeMap::new(),
            undelivered: Vec::new(),
            replies: BTreeMap::new(),
            recorded: BTreeSet::new(),
            notes: BTreeMap::new(),
            session_notes: BTreeMap::new(),
            runs: BTreeMap::new(),
        };
        for agent in &mut self.agents {
            if agent.life == Life::Planned {
                agent.life = Life::Forgotten;
            }
        }
        for (session, row) in &self.store.rows.sessions {
            let agent = &self.agents[row.run];
            if agent.life == Life::Forgotten {
                continue;
            }
            let unfinished = self.store.rows.unfinished(*session);
            let restored = RestoredSession {
                spec: row.spec.clone(),
                state: match row.state {
                    SessionState::Dead => SessionState::AssistantTurn,
                    alive => alive,
                },
                state_changed_at: row.state_changed_at,
                requests: unfinished.into_iter().map(restored).collect(),
            };
            server.runs.insert(*session, (row.run, row.spec.clone()));
            server.events.push_back(Event::SessionRestored {
                session: *session,
                restored: Box::new(restored),
            });
            let stored = self.store.rows.cursors.get(&row.run).copied().unwrap_or(0);
            assert!(
                agent.acknowledged <= stored,
                "I7: lines of run {} are gone that are not stored",
                row.run
            );
            let mut link = Link::new(stored, agent.last_line());
            let ids = self.store.rows.requests.keys().copied();
            link.stored = ids.filter(|id| run_of(*id) == row.run).collect();
            server.links.insert(row.run, link);
        }
        let ended = |run: &usize| self.agents[*run].life == Life::Ended;
        if server.links.keys().any(ended) {
            self.count("took over an agent that had ended");
        }
        self.server = Some(server);
        self.count("restarted");
    }
}

fn restored(row: &RequestRow) -> RestoredRequest {
    let pending = row.decision.as_ref();
    RestoredRequest {
        ask: Box::new(row.request.ask.as_ref().clone()),
        created_at: row.request.created_at,
        clock: row.request.clock,
        decided: pending
            .filter(|decision| decision.delivery == Delivery::Pending)
            .cloned(),
    }
}

fn one_less<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}
