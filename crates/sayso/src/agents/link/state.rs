//! What both sides of a link share: the protocol's state, and what is not with the runner yet.

use std::collections::{HashMap, VecDeque};

use sayso_claude::line::Line;
use sayso_claude::{AgentInput, ControlSession, ProtocolError, Reception, SendError, answer_id};
use sayso_runner::{AgentSignal, Handle, SendError as RunnerError};
use tokio::time::Instant;
use uuid::Uuid;

/// How many lines may wait here for an agent that does not read its input.
const WAITING_LINES: usize = 256;
/// So many answers wait only for an agent that asks on and on without reading them.
const FLOODED_LINES: usize = 4 * WAITING_LINES;
/// How many lines, and how many bytes of them, the runner may hold that it has not written. It refuses more than twice
/// as many, also what an earlier server sent, and what it refused could not be put in order again.
const LINES_WITH_RUNNER: usize = 128;
const BYTES_WITH_RUNNER: usize = 1024 * 1024;
/// So many lines are acknowledged together.
const ACKNOWLEDGED_AT_ONCE: u64 = 128;

#[derive(Debug)]
pub(super) struct State {
    session: ControlSession,
    runner: Runner,
    /// Nothing is given to the runner yet: the agent may have taken back what is to be answered.
    held: bool,
    /// Lines that the runner has not taken, oldest first.
    waiting: VecDeque<(Uuid, String)>,
    /// Lines that it has taken and not written yet: sent again over the next connection, should this one break.
    taken: VecDeque<(Uuid, String)>,
    /// Requests of the agent that are neither on disk nor answered, with the line that each came in.
    unsettled: HashMap<String, u64>,
    /// Answers to those, on their way.
    answers: HashMap<Uuid, String>,
    /// What the hub has stored.
    stored: u64,
    acknowledged: u64,
    /// The task knows that there is something to acknowledge soon.
    will_acknowledge: bool,
    pub(super) asked_to_end: bool,
    /// Since when the agent is to be dead.
    pub(super) killed_at: Option<Instant>,
    /// Nobody wants to know more of this agent.
    pub(super) forgotten: bool,
}

#[derive(Debug)]
enum Runner {
    NotYet,
    Connected(Handle),
    Gone,
}

impl State {
    pub(super) fn new(session: ControlSession) -> Self {
        Self {
            session,
            runner: Runner::NotYet,
            held: false,
            waiting: VecDeque::new(),
            taken: VecDeque::new(),
            unsettled: HashMap::new(),
            answers: HashMap::new(),
            stored: 0,
            acknowledged: 0,
            will_acknowledge: false,
            asked_to_end: false,
            killed_at: None,
            forgotten: false,
        }
    }

    pub(super) fn connected(&mut self, handle: Handle) {
        self.runner = Runner::Connected(handle);
        self.taken.append(&mut self.waiting);
        std::mem::swap(&mut self.taken, &mut self.waiting);
        self.flush();
    }

    /// Until all is read that the agent wrote for an earlier server.
    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    pub(super) fn release(&mut self) {
        self.held = false;
        self.flush();
    }

    pub(super) fn gone(&mut self) {
        self.runner = Runner::Gone;
        self.waiting.clear();
        self.taken.clear();
    }

    pub(super) fn with_runner(&self, say: impl FnOnce(&Handle) -> Result<(), RunnerError>) {
        if let Runner::Connected(handle) = &self.runner {
            // A connection that is closed ends the task, which tells.
            let _ = say(handle);
        }
    }

    /// Ends the agent and all it started, now. It does not have to listen for that.
    pub(super) fn kill(&mut self) {
        self.killed_at.get_or_insert_with(Instant::now);
        self.with_runner(|runner| runner.signal(AgentSignal::Kill));
    }

    pub(super) fn is_initializing(&self) -> bool {
        self.session.is_initializing()
    }

    pub(super) fn interrupt(&mut self) -> String {
        self.session.interrupt()
    }

    pub(super) fn send(&mut self, input: AgentInput) -> Result<Uuid, SendError> {
        if matches!(self.runner, Runner::Gone) {
            return Err(SendError::Closed);
        }
        // A tool that is about to run waits for this one, so it is not left to somebody to try it again.
        let must_wait_here = matches!(input, AgentInput::BeforeTool { .. });
        // The place comes first: once the session has noted an answer it must be written.
        if self.waiting.len() >= WAITING_LINES && !must_wait_here {
            return Err(SendError::Overloaded);
        }
        let id = input.line_id();
        let answered = match &input {
            AgentInput::Answer { request_id, .. }
            | AgentInput::AnswerElicitation { request_id, .. }
            | AgentInput::BeforeTool { request_id, .. }
            | AgentInput::Refuse { request_id, .. } => Some(request_id.clone()),
            AgentInput::UserMessage { .. } | AgentInput::Control { .. } => None,
        };
        let line = self.session.send(input)?;
        if let Some(request_id) = answered.filter(|id| self.unsettled.contains_key(id)) {
            self.answers.insert(id, request_id);
        }
        self.put(id, line);
        Ok(id)
    }

    pub(super) fn put(&mut self, id: Uuid, line: String) {
        if matches!(self.runner, Runner::Gone) {
            return;
        }
        self.waiting.push_back((id, line));
        self.flush();
    }

    /// The agent does not read, and it is owed more and more answers.
    pub(super) fn is_flooded(&self) -> bool {
        !self.held && self.waiting.len() >= FLOODED_LINES
    }

    /// Whether the next line can go to the runner before it has written what it holds. One of any length can go alone.
    fn runner_has_room(&self) -> bool {
        let bytes = self.taken.iter().chain(self.waiting.front());
        let bytes: usize = bytes.map(|(_, line)| line.len()).sum();
        self.taken.is_empty()
            || (self.taken.len() < LINES_WITH_RUNNER && bytes <= BYTES_WITH_RUNNER)
    }

    /// Gives the runner what it takes. True when there is nothing to offer again soon; what it has no room for is
    /// offered when it has written something.
    pub(super) fn flush(&mut self) -> bool {
        if self.held {
            return true;
        }
        let Runner::Connected(handle) = &self.runner else {
            return self.waiting.is_empty();
        };
        while self.runner_has_room()
            && let Some((id, line)) = self.waiting.pop_front()
        {
            match handle.write(id, line.as_bytes()) {
                // A closed connection is followed by another one, or by the end.
                Ok(()) | Err(RunnerError::Closed) => self.taken.push_back((id, line)),
                Err(RunnerError::Overloaded) => {
                    self.waiting.push_front((id, line));
                    return false;
                }
                Err(error) => tracing::error!(%error, "a line for an agent was dropped"),
            }
        }
        true
    }

    /// One line of the agent. Answers that need no human are on their way when this returns.
    pub(super) fn receive(&mut self, number: u64, line: &Line) -> Result<Reception, ProtocolError> {
        let mut reception = self.session.receive(line)?;
        if let Some(request_id) = reception.opened.take() {
            self.unsettled.insert(request_id, number);
        }
        for reply in std::mem::take(&mut reception.replies) {
            let id = answer_id(&reply.request_id);
            self.answers.insert(id, reply.request_id);
            self.put(id, reply.line);
        }
        Ok(reception)
    }

    /// The line is with the agent, or never will be.
    pub(super) fn over(&mut self, id: Uuid) {
        self.taken.retain(|(taken, _)| *taken != id);
        if let Some(request_id) = self.answers.remove(&id) {
            self.settle(&request_id);
        }
    }

    /// The agent has taken the request back. Says which line it will therefore never get.
    pub(super) fn withdraw(&mut self, request_id: &str) -> Option<Uuid> {
        self.settle(request_id);
        let answer = answer_id(request_id);
        let index = self.waiting.iter().position(|(id, _)| *id == answer)?;
        self.waiting.remove(index).map(|(id, _)| id)
    }

    /// A request that need not be found again after a restart.
    pub(super) fn settle(&mut self, request_id: &str) {
        self.unsettled.remove(request_id);
    }

    /// True when the task should know that there is something to acknowledge soon, and does not yet.
    pub(super) fn stored(&mut self, line: u64) -> bool {
        self.stored = self.stored.max(line);
        self.acknowledge(false);
        self.has_unacknowledged() && !std::mem::replace(&mut self.will_acknowledge, true)
    }

    fn unacknowledged(&self) -> u64 {
        let unsettled = self.unsettled.values().min();
        let upto = unsettled.map_or(self.stored, |first| {
            self.stored.min(first.saturating_sub(1))
        });
        upto.saturating_sub(self.acknowledged)
    }

    /// Tells the runner what it need not keep: when there is much of it, or `now`.
    pub(super) fn acknowledge(&mut self, now: bool) {
        self.will_acknowledge &= !now;
        let more = self.unacknowledged();
        if more >= ACKNOWLEDGED_AT_ONCE || (now && more > 0) {
            self.acknowledged += more;
            self.with_runner(|runner| runner.acknowledge(self.acknowledged));
        }
    }

    pub(super) fn has_unacknowledged(&self) -> bool {
        self.unacknowledged() > 0
    }
}
