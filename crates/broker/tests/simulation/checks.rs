//! What must hold at every step; I1 to I7 are in `ARCHITECTURE.md`.

use std::collections::BTreeSet;

use sayso_broker::{
    AgentAnswer, DecidedBy, Kind, OutcomeKind, Refusal, RequestId, RequestView, SessionId,
    WhenUnattended,
};

use crate::agents::run_of;
use crate::clients::look;
use crate::server::{After, Answer, Asker};
use crate::store::Status;
use crate::world::World;

pub(crate) fn ids(requests: &[RequestView]) -> Vec<RequestId> {
    requests.iter().map(|request| request.ask.id).collect()
}

impl World {
    /// At the moment the runner writes: the agent can hear it from now on.
    pub(crate) fn check_answer(&mut self, answer: &Answer) {
        let id = answer.request;
        let row = self.store.rows.requests.get(&id);
        let row = row.expect("I5: the request is on disk before its answer is heard");
        let decision = row.decision.clone();
        let decision = decision.expect("I5: the decision is on disk before the agent hears it");
        let asked = self.agents[run_of(id)].asked(id).expect("it was asked");
        assert!(asked.answers.is_empty(), "I1: a second answer to {id}");
        asked.answers.push(answer.answer.clone());
        let ask = &asked.ask;
        let (outcomes, counted): (&[OutcomeKind], _) = match &answer.answer {
            AgentAnswer::Allow(allowance) => {
                let input = &allowance.updated_input;
                assert!(
                    ask.input_faithful || input.is_some(),
                    "I4: an input that could not be shown runs"
                );
                let counted = match &decision.by {
                    DecidedBy::Human(_) => {
                        assert!(
                            asked.allowed_by_human.contains(input),
                            "I3/I4: no human allowed this input under its digest"
                        );
                        "allowed by a human"
                    }
                    DecidedBy::Mode(mode) => {
                        assert!(
                            asked.allowed_by_mode.contains(mode) && input.is_none(),
                            "I3: this mode does not allow {id}"
                        );
                        "allowed by a mode"
                    }
                    DecidedBy::Rule(rule) => {
                        let may = ask.rules_may_allow && !ask.requires_user_interaction;
                        assert!(
                            asked.allowed_by_rule.contains(&rule.id)
                                && input.is_none()
                                && may
                                && ask.kind == Kind::Tool,
                            "I3: no rule allows {id}"
                        );
                        "allowed by a rule"
                    }
                    DecidedBy::Timeout | DecidedBy::Policy(_) | DecidedBy::Agent => {
                        panic!("I3: {id} is allowed by {:?}", decision.by)
                    }
                };
                (&[OutcomeKind::Allowed], counted)
            }
            AgentAnswer::Deny { .. } if decision.outcome == OutcomeKind::Expired => {
                (&[OutcomeKind::Expired], "expired")
            }
            AgentAnswer::Deny { .. } => (&[OutcomeKind::Denied], "denied"),
            AgentAnswer::Answers(_) | AgentAnswer::Submit(_) => {
                (&[OutcomeKind::Answered], "answered")
            }
        };
        assert!(
            outcomes.contains(&decision.outcome),
            "I5: {id} hears something else than what was recorded"
        );
        self.count(counted);
    }

    /// Two writes about the same thing would be two decisions.
    pub(crate) fn check_record(&self, id: RequestId, opens: bool, decides: bool) {
        let server = self.server.as_ref().expect("the server runs");
        let twice = server.writes.values().any(|after| match after {
            After::Record {
                request,
                open,
                decides: decided,
                ..
            } => *request == id && ((*open && opens) || (*decided && decides)),
            After::Note(..)
            | After::Clock(_)
            | After::Session(_)
            | After::Spawn(_)
            | After::Cursor(..) => false,
        });
        assert!(!twice, "I2: {id} is being written twice at once");
    }

    pub(crate) fn check_opened(&self, request: &RequestView) {
        let durable = self.store.rows.requests.contains_key(&request.ask.id);
        assert!(durable, "I7: a request is on disk before it is shown");
    }

    pub(crate) fn check_reply(&mut self, asker: Asker, result: &Result<(), Refusal>) {
        let row = self.store.rows.requests.get(&asker.request);
        let decision = row.and_then(|row| row.decision.as_ref());
        match result {
            Ok(()) if asker.decides => {
                let decision = decision.expect("I5: a decision is acknowledged when it is on disk");
                let own = matches!(&decision.by, DecidedBy::Human(by) if by.id == asker.client);
                assert!(own, "I2: told that it stands, but {:?} does", decision.by);
            }
            // Nobody waits until a withdrawal is written: nothing runs because of it.
            Err(Refusal::AlreadyDecided(told))
                if !matches!(told.outcome, OutcomeKind::Withdrawn | OutcomeKind::Orphaned) =>
            {
                let stands = decision.expect("I2: what is already decided is on disk");
                assert_eq!(
                    (&told.by, told.outcome),
                    (&stands.by, stands.outcome),
                    "I2: told of a decision that does not stand"
                );
                self.count("came second");
            }
            Err(Refusal::DigestMismatch) => self.count("named another input"),
            Ok(()) | Err(_) => {}
        }
    }

    /// Whoever has read all that was sent sees exactly what is open.
    pub(crate) fn check_pictures(&mut self) {
        let server = self.server.as_ref().expect("the server runs");
        let mut shown = None;
        for client in &self.clients {
            let connection = client.connection.and_then(|id| self.connections.get(&id));
            let Some(connection) = connection.filter(|connection| connection.known) else {
                continue;
            };
            if connection.lagging {
                continue;
            }
            let mut picture = client.picture.clone();
            for frame in &connection.frames {
                look(&mut picture, frame.clone());
            }
            let shown = shown.get_or_insert_with(|| server.broker.shown_requests());
            assert_eq!(
                ids(&picture),
                ids(shown),
                "I6: a client sees exactly the open requests, in order"
            );
            assert!(
                picture == *shown,
                "I6: a client sees them as they are now, clocks too"
            );
        }
    }

    /// Right after a session was taken over.
    pub(crate) fn check_restored(&mut self, session: SessionId) {
        let unfinished = self.store.rows.unfinished(session);
        let rows: Vec<RequestId> = unfinished.iter().map(|row| row.request.ask.id).collect();
        let open = unfinished.iter().filter(|row| row.status == Status::Open);
        let open = open.count();
        let pending = unfinished.len() - open;
        let server = self.server.as_ref().expect("the server runs");
        let shown = server.broker.shown_requests().into_iter();
        let shown: Vec<RequestView> = shown.filter(|request| request.session == session).collect();
        let policies = server.broker.policies(session);
        let pauses =
            policies.is_some_and(|policies| policies.when_unattended == WhenUnattended::Pause);
        for (request, row) in shown.iter().zip(&unfinished) {
            // Nobody is connected to a server that has just begun.
            assert!(
                request.clock == row.request.clock || (pauses && !request.clock.held),
                "I7: {} has another clock than before",
                request.ask.id
            );
        }
        let shown = ids(&shown);
        assert_eq!(shown, rows, "I7: what was unfinished on disk goes on");
        if open > 0 {
            self.count("open requests taken over");
        }
        if pending > 0 {
            self.count("deliveries taken over");
        }
    }

    /// After its runner is gone nobody would end what is left of a run.
    pub(crate) fn check_forgotten(&mut self, run: usize) {
        let rows = self.store.rows.requests.values();
        let left: BTreeSet<RequestId> = rows
            .filter(|row| row.is_unfinished())
            .map(|row| row.request.ask.id)
            .filter(|id| run_of(*id) == run)
            .collect();
        assert_eq!(left, BTreeSet::new(), "I7: forgotten, but not finished");
    }
}
