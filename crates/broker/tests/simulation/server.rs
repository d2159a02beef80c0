//! The server: a broker and a small hub that carries out one effect at a time,
//! so that a crash can come between any two.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sayso_broker::{
    AgentAnswer, Broker, ClientId, Effect, Event, RecordId, ReplyTo, RequestId, SessionId,
    SessionSpec, Timestamp,
};

use crate::agents::Life;
use crate::links::Link;
use crate::store::Write;
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
    pub(crate) next_token: u64,
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
    /// Requests whose answer the broker wanted delivered.
    pub(crate) answered: BTreeSet<RequestId>,
    /// How many notes about a request are not durable yet.
    pub(crate) notes: BTreeMap<RequestId, usize>,
    pub(crate) session_notes: BTreeMap<SessionId, usize>,
    pub(crate) runs: BTreeMap<SessionId, (usize, SessionSpec)>,
}

impl Server {
    /// Knows nothing yet.
    pub(crate) fn new(now: Timestamp, number: u32) -> Self {
        Self {
            broker: Broker::new(now),
            number,
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
            answered: BTreeSet::new(),
            notes: BTreeMap::new(),
            session_notes: BTreeMap::new(),
            runs: BTreeMap::new(),
        }
    }

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
}
