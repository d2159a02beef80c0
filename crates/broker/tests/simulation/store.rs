//! A model of the durable store: jobs wait in order, a commit makes a prefix of
//! them durable, a crash loses the rest. It refuses what `crates/store` refuses.

use std::collections::{BTreeMap, VecDeque};

use sayso_broker::{
    ClockView, Delivery, OutcomeKind, RequestId, RequestView, Resolution, SessionId, SessionSpec,
    SessionState, Timestamp,
};

/// How many jobs may wait; more are refused at once.
const QUEUE: usize = 6;

#[derive(Clone, Debug)]
pub(crate) enum Write {
    PutSession(SessionId, SessionRow),
    Open(RequestView),
    Clock(RequestId, ClockView),
    Decide(RequestId, Resolution),
    SetDelivery(RequestId, Delivery),
    /// The lines of a run up to this one need not be read again.
    Cursor(usize, u64),
}

#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    /// Names the runner.
    pub(crate) run: usize,
    pub(crate) spec: SessionSpec,
    pub(crate) state: SessionState,
    pub(crate) state_changed_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct RequestRow {
    pub(crate) request: RequestView,
    pub(crate) status: Status,
    pub(crate) decision: Option<Resolution>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Open,
    Decided,
    Withdrawn,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    Constraint,
    AlreadyDecided,
    UnknownRequest,
    Unavailable,
}

#[derive(Debug)]
struct Job {
    token: u64,
    writes: Vec<Write>,
}

/// What a crash leaves.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) sessions: BTreeMap<SessionId, SessionRow>,
    pub(crate) requests: BTreeMap<RequestId, RequestRow>,
    /// In the order in which they were written.
    pub(crate) order: Vec<RequestId>,
    pub(crate) cursors: BTreeMap<usize, u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) rows: Rows,
    queue: VecDeque<Job>,
    completions: VecDeque<(u64, Result<(), WriteError>)>,
}

impl Store {
    /// False when there is no room.
    pub(crate) fn submit(&mut self, token: u64, writes: Vec<Write>) -> bool {
        let room = self.queue.len() < QUEUE;
        if room {
            self.queue.push_back(Job { token, writes });
        }
        room
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Commits the first `count` jobs; those that `fails` names are not written.
    pub(crate) fn commit(&mut self, count: usize, mut fails: impl FnMut() -> bool) {
        for _ in 0..count {
            let Some(job) = self.queue.pop_front() else {
                return;
            };
            let result = if fails() {
                Err(WriteError::Unavailable)
            } else {
                self.rows.apply(job.writes)
            };
            self.completions.push_back((job.token, result));
        }
    }

    pub(crate) fn completion(&mut self) -> Option<(u64, Result<(), WriteError>)> {
        self.completions.pop_front()
    }

    pub(crate) fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }

    pub(crate) fn crash(&mut self) {
        self.queue.clear();
        self.completions.clear();
    }
}

impl Rows {
    /// All or nothing. A second write is only ever the end of what the first opens, so the first refusal
    /// comes before anything has changed.
    fn apply(&mut self, writes: Vec<Write>) -> Result<(), WriteError> {
        for write in writes {
            match write {
                Write::PutSession(session, row) => {
                    self.sessions.insert(session, row);
                }
                Write::Open(request) => self.open(request)?,
                Write::Clock(id, clock) => self.still_open(id)?.request.clock = clock,
                Write::Decide(id, resolution) => {
                    let row = self.still_open(id)?;
                    row.status = match resolution.outcome {
                        OutcomeKind::Withdrawn | OutcomeKind::Orphaned => Status::Withdrawn,
                        OutcomeKind::Allowed
                        | OutcomeKind::Denied
                        | OutcomeKind::Answered
                        | OutcomeKind::Expired => Status::Decided,
                    };
                    assert_eq!(row.decision, None, "I2: {id} is decided twice on disk");
                    row.decision = Some(resolution);
                }
                Write::SetDelivery(id, delivery) => {
                    let row = self.requests.get_mut(&id);
                    let decision = row.and_then(|row| row.decision.as_mut());
                    decision.ok_or(WriteError::UnknownRequest)?.delivery = delivery;
                }
                Write::Cursor(run, line) => {
                    let before = self.cursors.insert(run, line).unwrap_or(0);
                    assert!(before < line, "the cursor of run {run} moves forward");
                }
            }
        }
        Ok(())
    }

    fn open(&mut self, request: RequestView) -> Result<(), WriteError> {
        let id = request.ask.id;
        if self.requests.contains_key(&id) {
            return Err(WriteError::Constraint);
        }
        let row = RequestRow {
            request,
            status: Status::Open,
            decision: None,
        };
        self.requests.insert(id, row);
        self.order.push(id);
        Ok(())
    }

    fn still_open(&mut self, id: RequestId) -> Result<&mut RequestRow, WriteError> {
        let row = self.requests.get_mut(&id);
        let row = row.ok_or(WriteError::UnknownRequest)?;
        match row.status {
            Status::Open => Ok(row),
            Status::Decided | Status::Withdrawn => Err(WriteError::AlreadyDecided),
        }
    }

    /// What a new server has to take over, in the order in which it was written.
    pub(crate) fn unfinished(&self, session: SessionId) -> Vec<&RequestRow> {
        let rows = self.order.iter().filter_map(|id| self.requests.get(id));
        let of_session = rows.filter(|row| row.request.session == session);
        of_session.filter(|row| row.is_unfinished()).collect()
    }
}

impl RequestRow {
    /// Open, or decided and perhaps not heard.
    pub(crate) fn is_unfinished(&self) -> bool {
        let pending = |decision: &Resolution| decision.delivery == Delivery::Pending;
        self.status == Status::Open || self.decision.as_ref().is_some_and(pending)
    }
}
