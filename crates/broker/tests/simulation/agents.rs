//! Agents and the runners that hold them. Both outlive the server.
//!
//! A runner numbers what its agent says, keeps it until it is acknowledged,
//! and writes each answer to the agent once, however often it is sent.

use std::collections::{BTreeSet, VecDeque};

use sayso_broker::{
    AgentActivity, AgentAnswer, Ask, Json, Mode, RequestId, Ruling, SessionId, Verdict,
};
use uuid::Uuid;

use crate::asks::{AskShape, ruling};
use crate::random::Random;

pub(crate) fn session_id(index: usize) -> SessionId {
    SessionId(Uuid::from_u128(1_000_000 + index as u128))
}

/// The request that a line makes, always the same for the same line: this is
/// how a line that is read twice is known again. The agent's own id would not
/// do, because an agent that counts starts at one again in every run.
pub(crate) fn request_id(run: usize, line: u64) -> RequestId {
    RequestId(Uuid::from_u128(
        ((run as u128 + 1) << 64) | u128::from(line),
    ))
}

pub(crate) fn run_of(request: RequestId) -> usize {
    (request.0.as_u128() >> 64) as usize - 1
}

/// One line of a journal; its number is its place, from one.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// Index into the ledger.
    Asked(usize),
    TakenBack(usize),
    Active(AgentActivity),
    /// The agent took a mode that the named server asked for.
    Mode(Mode, u32),
}

/// What the agent knows of one ask, and who let it do what.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    /// A rule that covers it from the start.
    pub(crate) ruling: Option<Ruling>,
    pub(crate) state: AskState,
    /// What the runner wrote to the agent.
    pub(crate) answers: Vec<AgentAnswer>,
    /// A broker knows that the agent took it back.
    pub(crate) withdrawal_known: bool,
    /// Yeses that humans sent under the right digest, with the input they named.
    pub(crate) allowed_by_human: Vec<Option<Json>>,
    pub(crate) allowed_by_mode: BTreeSet<Mode>,
    pub(crate) allowed_by_rule: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskState {
    Waiting,
    Heard,
    TakenBack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// The server has not started it yet.
    Planned,
    Alive,
    /// The runner says so on every connection until it is told to forget.
    Ended,
    /// All of it is stored and the runner is gone, or it never was.
    Forgotten,
}

/// One run of one session's agent, with its runner.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) run: usize,
    pub(crate) session: usize,
    pub(crate) life: Life,
    pub(crate) journal: Vec<Line>,
    pub(crate) acknowledged: u64,
    pub(crate) asks: Vec<Asked>,
    /// Written by the runner, not yet read by the agent.
    pub(crate) input: VecDeque<RequestId>,
    pub(crate) written: BTreeSet<RequestId>,
}

impl Agent {
    pub(crate) fn new(run: usize, session: usize) -> Self {
        Self {
            run,
            session,
            life: Life::Planned,
            journal: Vec::new(),
            acknowledged: 0,
            asks: Vec::new(),
            input: VecDeque::new(),
            written: BTreeSet::new(),
        }
    }

    pub(crate) fn last_line(&self) -> u64 {
        self.journal.len() as u64
    }

    pub(crate) fn line(&self, number: u64) -> Option<&Line> {
        self.journal.get(usize::try_from(number).ok()? - 1)
    }

    pub(crate) fn asked(&mut self, request: RequestId) -> Option<&mut Asked> {
        self.asks.iter_mut().find(|asked| asked.ask.id == request)
    }

    pub(crate) fn waiting(&self) -> Vec<usize> {
        let waits = |index: &usize| self.asks[*index].state == AskState::Waiting;
        (0..self.asks.len()).filter(waits).collect()
    }

    pub(crate) fn ask(&mut self, random: &mut Random) {
        let shapes = [
            AskShape::Tool,
            AskShape::Tool,
            AskShape::Edit,
            AskShape::Unfaithful,
            AskShape::Interactive,
            AskShape::Guarded,
            AskShape::Question,
            AskShape::Plan,
            AskShape::Other,
        ];
        let shape = shapes[random.below(shapes.len())];
        let id = request_id(self.run, self.last_line() + 1);
        let mut ask = shape.build(id);
        // Agents count for themselves, so runs use the same ids.
        ask.native_id = Json::new(&(self.asks.len() + 1).to_string());
        let ruling = random.percent(15).then(|| ruling(id, random.percent(60)));
        let allowing = ruling
            .iter()
            .filter(|ruling| ruling.verdict == Verdict::Allow);
        self.journal.push(Line::Asked(self.asks.len()));
        self.asks.push(Asked {
            allowed_by_rule: allowing.map(|ruling| ruling.rule.id.clone()).collect(),
            ask,
            ruling,
            state: AskState::Waiting,
            answers: Vec::new(),
            withdrawal_known: false,
            allowed_by_human: Vec::new(),
            allowed_by_mode: BTreeSet::new(),
        });
    }

    pub(crate) fn take_back(&mut self, index: usize) {
        self.asks[index].state = AskState::TakenBack;
        self.journal.push(Line::TakenBack(index));
    }

    /// Reads one answer. One that it no longer waits for is thrown away: it
    /// took the request back while the answer was on its way.
    pub(crate) fn read_input(&mut self) -> bool {
        let Some(request) = self.input.pop_front() else {
            return false;
        };
        if let Some(asked) = self.asked(request) {
            assert_ne!(
                asked.state,
                AskState::Heard,
                "I1: {request} is answered twice"
            );
            if asked.state == AskState::Waiting {
                asked.state = AskState::Heard;
            }
        }
        true
    }
}
