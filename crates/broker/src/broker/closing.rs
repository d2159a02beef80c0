//! How requests end: delivered, taken back, or lost with their agent.

use super::{Broker, REMEMBERED_CLOSED};
use crate::request::{Phase, Then};
use crate::{
    Broadcast, DecidedBy, Decision, Delivery, Effect, EndReason, FollowUp, Json, OutcomeKind,
    Refusal, RequestId, Resolution, SessionId, Timestamp,
};

impl Broker {
    /// The answer went out (or could not): the request is over.
    pub(super) fn delivered(
        &mut self,
        id: RequestId,
        delivery: Delivery,
        effects: &mut Vec<Effect>,
    ) {
        let Some(request) = self.requests.get(&id) else {
            return;
        };
        let Phase::Delivering(deciding) = &request.phase else {
            return;
        };
        let deciding = deciding.clone();
        let view = request.view();
        let mut resolution = deciding.resolution;
        resolution.delivery = delivery;
        if delivery == Delivery::Sent {
            let follow_up = lost_reason(view.session, id, &resolution);
            effects.extend(follow_up.map(Effect::FollowUp));
        }
        // Afterwards: what is delivered as far as is known is not followed up after a crash.
        effects.push(Effect::NoteDelivery {
            request: id,
            delivery,
        });
        effects.push(Effect::Broadcast(Broadcast::Closed {
            request: view,
            resolution: resolution.clone(),
        }));
        if let Some(to) = deciding.reply {
            effects.push(Effect::Reply { to, result: Ok(()) });
        }
        for to in deciding.later {
            effects.push(Effect::Reply {
                to,
                result: Err(Refusal::AlreadyDecided(Box::new(resolution.clone()))),
            });
        }
        self.remember_closed(id, resolution);
    }

    /// The agent takes a request back by its own id.
    pub(super) fn withdrawn(
        &mut self,
        now: Timestamp,
        session: SessionId,
        native_id: &Json,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(id) = self.open_by_native_id(session, native_id) {
            self.withdraw(now, id, effects);
        }
    }

    pub(super) fn withdraw(&mut self, now: Timestamp, id: RequestId, effects: &mut Vec<Effect>) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        match &mut request.phase {
            Phase::Opening { then } => *then = Then::Withdraw,
            // It was never written and never shown: nothing to tell.
            Phase::Unrecorded { .. } => self.forget(id),
            Phase::Open => self.close_withdrawn(now, id, effects),
            Phase::Deciding(deciding) => deciding.withdrawn = true,
            Phase::Delivering(_) => self.delivered(id, Delivery::TooLate, effects),
        }
    }

    /// Closes an open request without an answer. Nothing waits for the write:
    /// no tool runs because of it.
    pub(super) fn close_withdrawn(
        &mut self,
        now: Timestamp,
        id: RequestId,
        effects: &mut Vec<Effect>,
    ) {
        let Some(request) = self.requests.get(&id) else {
            return;
        };
        let view = request.view();
        let session = self.sessions.get(&view.session);
        let lost = session.is_some_and(|session| matches!(session.ended, Some(EndReason::Lost(_))));
        let resolution = Resolution {
            outcome: match lost {
                true => OutcomeKind::Orphaned,
                false => OutcomeKind::Withdrawn,
            },
            by: DecidedBy::Agent,
            decision: None,
            at: now,
            delivery: Delivery::None,
        };
        effects.push(Effect::Note {
            request: view.clone(),
            resolution: resolution.clone(),
        });
        effects.push(Effect::Broadcast(Broadcast::Closed {
            request: view,
            resolution: resolution.clone(),
        }));
        self.remember_closed(id, resolution);
    }

    pub(super) fn open_by_native_id(
        &self,
        session: SessionId,
        native_id: &Json,
    ) -> Option<RequestId> {
        let session = self.sessions.get(&session)?;
        session.requests.iter().copied().find(|id| {
            self.requests
                .get(id)
                .is_some_and(|request| request.ask.native_id == *native_id)
        })
    }

    fn remember_closed(&mut self, id: RequestId, resolution: Resolution) {
        self.forget(id);
        if self.closed.len() == REMEMBERED_CLOSED {
            self.closed.pop_front();
        }
        self.closed.push_back((id, resolution));
    }

    /// Removes a request; writes that are under way for it end unheard.
    pub(super) fn forget(&mut self, id: RequestId) {
        if let Some(request) = self.requests.remove(&id)
            && let Some(session) = self.sessions.get_mut(&request.session)
        {
            session.requests.retain(|open| *open != id);
        }
        self.records.retain(|_, request| *request != id);
    }
}

/// The agent throws away the words of a refusal that stops its turn.
fn lost_reason(
    session: SessionId,
    request: RequestId,
    resolution: &Resolution,
) -> Option<FollowUp> {
    match (&resolution.by, &resolution.decision) {
        (
            DecidedBy::Human(_),
            Some(Decision::Deny {
                message: Some(text),
                interrupt: true,
            }),
        ) => Some(FollowUp {
            request,
            session,
            text: text.clone(),
        }),
        _ => None,
    }
}
