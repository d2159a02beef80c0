//! From a decision to the agent's answer: one compare-and-set, written first.

use super::Broker;
use super::opening::refused_by_policy;
use crate::clock::Clock;
use crate::request::{Deciding, Phase, Then};
use crate::{
    Broadcast, ClientId, ClientRef, DecidedBy, Decision, Delivery, Effect, OnTimeout, OutcomeKind,
    Refusal, ReplyTo, RequestId, Resolution, Responders, Timestamp, answer, words,
};

impl Broker {
    /// A human decides. `Err` means that nothing has changed.
    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of one event, each of its own type"
    )]
    pub(super) fn decided(
        &mut self,
        now: Timestamp,
        id: RequestId,
        client: ClientRef,
        digest: &str,
        decision: Decision,
        reply: ReplyTo,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refusal> {
        let Some(request) = self.requests.get(&id) else {
            return Err(match self.closed(id) {
                Some(resolution) => Refusal::AlreadyDecided(Box::new(resolution.clone())),
                None => Refusal::UnknownRequest,
            });
        };
        if !request.is_shown() {
            return Err(Refusal::UnknownRequest);
        }
        if request.ask.digest != digest {
            return Err(Refusal::DigestMismatch);
        }
        self.check_responder(id, client.id)?;
        let (outcome, decision) = answer::check(&request.ask, request.free_text, decision)?;
        let by = match &decision {
            Decision::Allow(allowance) if allowance.automatic => DecidedBy::Policy("auto_approve"),
            _ => DecidedBy::Human(client),
        };
        let resolution = Resolution {
            outcome,
            by,
            decision: Some(decision),
            at: now,
            delivery: Delivery::Pending,
        };
        match self.requests.get_mut(&id).map(|request| &mut request.phase) {
            Some(Phase::Deciding(first) | Phase::Delivering(first)) => first.later.push(reply),
            Some(Phase::Open | Phase::Opening { .. } | Phase::Unrecorded { .. }) | None => {
                self.resolve(id, resolution, Some(reply), effects);
            }
        }
        Ok(())
    }

    fn check_responder(&self, id: RequestId, client: ClientId) -> Result<(), Refusal> {
        let session = self
            .requests
            .get(&id)
            .and_then(|request| self.sessions.get(&request.session));
        let Some(session) = session else {
            return Err(Refusal::UnknownRequest);
        };
        match session.policies.responders {
            Responders::Any => Ok(()),
            Responders::Active => match session.active {
                Some(active) if active != client => match self.clients.get(&active) {
                    Some(label) => Err(Refusal::SessionTaken(label.clone())),
                    None => Ok(()),
                },
                Some(_) | None => Ok(()),
            },
        }
    }

    /// Starts to write the decision. The request must be open.
    pub(super) fn resolve(
        &mut self,
        id: RequestId,
        resolution: Resolution,
        reply: Option<ReplyTo>,
        effects: &mut Vec<Effect>,
    ) {
        let record = self.record_id(id);
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        effects.push(Effect::Record {
            record,
            request: request.view(),
            open: false,
            resolution: Some(resolution.clone()),
        });
        request.phase = Phase::Deciding(Box::new(Deciding {
            resolution,
            reply,
            later: Vec::new(),
            withdrawn: false,
            unseen: false,
        }));
    }

    /// Resolves a request by itself, wherever it is on its way. One that is
    /// being decided keeps its decision.
    pub(super) fn resolve_automatically(
        &mut self,
        id: RequestId,
        resolution: Resolution,
        effects: &mut Vec<Effect>,
    ) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        match &mut request.phase {
            Phase::Open => self.resolve(id, resolution, None, effects),
            Phase::Opening { then } | Phase::Unrecorded { then, .. } => {
                if matches!(then, Then::Show) {
                    *then = Then::Resolve(Box::new(resolution));
                }
            }
            Phase::Deciding(_) | Phase::Delivering(_) => {}
        }
    }

    /// The decision is on disk: the agent may hear it.
    pub(super) fn deliver(
        &mut self,
        id: RequestId,
        deciding: Box<Deciding>,
        effects: &mut Vec<Effect>,
    ) {
        let withdrawn = deciding.withdrawn;
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        let decision = deciding.resolution.decision.as_ref();
        let answer = decision.map(|decision| answer::for_agent(&request.ask.kind, decision));
        request.phase = Phase::Delivering(deciding);
        match answer {
            Some(answer) if !withdrawn => effects.push(Effect::Deliver {
                session: request.session,
                request: id,
                native_id: request.ask.native_id.clone(),
                answer,
            }),
            Some(_) => self.delivered(id, Delivery::TooLate, effects),
            None => self.delivered(id, Delivery::None, effects),
        }
    }

    /// A deadline has come, or a write is to be tried again.
    pub(super) fn request_due(&mut self, now: Timestamp, id: RequestId, effects: &mut Vec<Effect>) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        if let Phase::Unrecorded { then, .. } = &request.phase {
            let then = then.clone();
            self.record_opening(id, then, effects);
            return;
        }
        request.quiet_until = None;
        let expired = request.clock.deadline().is_some_and(|at| at <= now);
        let resolution = if expired {
            self.expiry(now, id)
        } else {
            Some(refused_by_policy(now, "when_unattended", words::UNATTENDED))
        };
        if let Some(resolution) = resolution {
            self.resolve_automatically(id, resolution, effects);
        }
    }

    fn expiry(&self, now: Timestamp, id: RequestId) -> Option<Resolution> {
        let request = self.requests.get(&id)?;
        let waited = request.created_at.until(now);
        Some(Resolution {
            outcome: OutcomeKind::Expired,
            by: DecidedBy::Timeout,
            decision: Some(Decision::Deny {
                message: Some(words::expired(waited)),
                interrupt: request.on_timeout == OnTimeout::DenyAndInterrupt,
            }),
            at: now,
            delivery: Delivery::Pending,
        })
    }

    /// Holds, resumes or extends the clock of an open request.
    pub(super) fn change_clock(
        &mut self,
        id: RequestId,
        effects: &mut Vec<Effect>,
        change: impl FnOnce(&mut Clock),
    ) -> Result<(), Refusal> {
        let closed = self.closed(id).cloned();
        match self.requests.get_mut(&id) {
            Some(request) if request.is_shown() => {
                change(&mut request.clock);
                let view = request.view();
                effects.push(Effect::NoteClock {
                    request: view.clone(),
                });
                effects.push(Effect::Broadcast(Broadcast::Updated(view)));
                Ok(())
            }
            Some(_) | None => Err(closed.map_or(Refusal::UnknownRequest, |resolution| {
                Refusal::AlreadyDecided(Box::new(resolution))
            })),
        }
    }
}
