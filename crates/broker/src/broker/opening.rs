//! From the agent's question to a request on every screen.

use std::sync::Arc;
use std::time::Duration;

use super::{Broker, MAXIMUM_OPEN, RETRY_AFTER};
use crate::clock::Clock;
use crate::request::{Deciding, Phase, Place, Request, Then};
use crate::{
    Ask, Broadcast, DecidedBy, Decision, Delivery, Effect, Kind, OutcomeKind, Policies, RecordId,
    Refusal, RequestId, Resolution, Ruling, SessionId, SessionState, StopReason, Timestamp,
    WhenUnattended, words,
};

impl Broker {
    pub(super) fn asked(
        &mut self,
        now: Timestamp,
        session_id: SessionId,
        ask: Ask,
        ruling: Option<Ruling>,
        effects: &mut Vec<Effect>,
    ) {
        let unattended = self.unattended_since;
        let shutting_down = self.shutting_down;
        let repeated = self.open_by_native_id(session_id, &ask.native_id).is_some();
        let Some(session) = self.sessions.get_mut(&session_id) else {
            return;
        };
        if session.state == SessionState::Dead {
            return;
        }
        if repeated || self.requests.contains_key(&ask.id) {
            session.stopping = true;
            effects.push(Effect::StopAgent {
                session: session_id,
                reason: StopReason::RepeatedRequest,
            });
            return;
        }
        if session.enter(now, SessionState::AssistantTurn) {
            effects.push(Effect::Broadcast(Broadcast::SessionChanged(session_id)));
        }
        let policies = &session.policies;
        let left_alone = policies.when_unattended == WhenUnattended::Deny
            && unattended.is_some_and(|since| since.plus(policies.unattended_grace) <= now);
        let refusal = if shutting_down {
            Some(("shutting_down", words::SHUTTING_DOWN))
        } else if session.requests.len() >= MAXIMUM_OPEN {
            Some(("too_many_requests", words::TOO_MANY))
        } else if left_alone {
            Some(("when_unattended", words::UNATTENDED))
        } else {
            None
        };
        let mut clock = Clock::start(now, limit(&ask.kind, policies));
        if policies.when_unattended == WhenUnattended::Pause && unattended.is_some() {
            clock.set_paused(now, true);
        }
        let id = ask.id;
        // What Sayso must refuse now, no rule can allow.
        let resolution = match refusal {
            Some((policy, text)) => Some(refused_by_policy(now, policy, text)),
            None => ruling.and_then(|ruling| ruling.on(&ask, now)),
        };
        let request = Request {
            session: session_id,
            ask: Arc::new(ask),
            created_at: now,
            clock,
            on_timeout: policies.on_timeout,
            free_text: policies.free_text,
            phase: Phase::Unrecorded {
                retry_at: now,
                then: Then::Show,
            },
            quiet_until: None,
            place: Place {
                number: 0,
                since: now,
            },
        };
        session.requests.push(id);
        self.requests.insert(id, Box::new(request));
        let then = resolution.map_or(Then::Show, |resolution| Then::Resolve(Box::new(resolution)));
        self.record_opening(id, then, effects);
    }

    pub(super) fn ruled(
        &mut self,
        now: Timestamp,
        id: RequestId,
        ruling: Ruling,
        effects: &mut Vec<Effect>,
    ) {
        let Some(request) = self.requests.get(&id) else {
            return;
        };
        if let Some(resolution) = ruling.on(&request.ask, now) {
            self.resolve_automatically(id, resolution, effects);
        }
    }

    /// Writes the request, and what is known of its end in the same step.
    pub(super) fn record_opening(&mut self, id: RequestId, then: Then, effects: &mut Vec<Effect>) {
        let record = self.record_id(id);
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        let (phase, resolution) = match then {
            Then::Show | Then::Withdraw => (Phase::Opening { then }, None),
            Then::Resolve(resolution) => {
                let deciding = Deciding {
                    resolution: (*resolution).clone(),
                    reply: None,
                    later: Vec::new(),
                    withdrawn: false,
                    unseen: true,
                };
                (Phase::Deciding(Box::new(deciding)), Some(*resolution))
            }
        };
        request.phase = phase;
        effects.push(Effect::Record {
            record,
            request: request.view(),
            open: true,
            resolution,
        });
    }

    pub(super) fn recorded(&mut self, now: Timestamp, record: RecordId, effects: &mut Vec<Effect>) {
        let Some(id) = self.records.remove(&record) else {
            return;
        };
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        let session = request.session;
        match std::mem::replace(&mut request.phase, Phase::Open) {
            Phase::Opening { then } => match then {
                Then::Show => {
                    request.forget_message();
                    self.show(id, effects);
                }
                Then::Withdraw => self.close_withdrawn(now, id, effects),
                // Never decided unseen: it is shown, then settled.
                Then::Resolve(resolution) => {
                    self.show(id, effects);
                    self.resolve(id, *resolution, None, effects);
                }
            },
            Phase::Deciding(deciding) => self.deliver(id, deciding, effects),
            other @ (Phase::Unrecorded { .. } | Phase::Open | Phase::Delivering(_)) => {
                request.phase = other;
            }
        }
        self.store_recovered(session, effects);
    }

    fn show(&mut self, id: RequestId, effects: &mut Vec<Effect>) {
        if let Some(request) = self.requests.get_mut(&id) {
            self.shown += 1;
            request.place.number = self.shown;
            effects.push(Effect::Broadcast(Broadcast::Opened(request.view())));
        }
    }

    pub(super) fn record_failed(
        &mut self,
        now: Timestamp,
        record: RecordId,
        reason: &str,
        effects: &mut Vec<Effect>,
    ) {
        let Some(id) = self.records.remove(&record) else {
            return;
        };
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        let session = request.session;
        let retry_at = now.plus(RETRY_AFTER);
        match std::mem::replace(&mut request.phase, Phase::Open) {
            Phase::Opening { then } => {
                request.phase = Phase::Unrecorded { retry_at, then };
                if matches!(
                    request.phase,
                    Phase::Unrecorded {
                        then: Then::Withdraw,
                        ..
                    }
                ) {
                    self.forget(id);
                }
            }
            Phase::Deciding(deciding) => self.reopen(now, id, *deciding, reason, effects),
            other @ (Phase::Unrecorded { .. } | Phase::Open | Phase::Delivering(_)) => {
                request.phase = other;
            }
        }
        if let Some(session_state) = self.sessions.get_mut(&session) {
            session_state.store_problem = Some(reason.to_owned());
            effects.push(Effect::Broadcast(Broadcast::SessionChanged(session)));
        }
    }

    /// The decision did not reach the disk, so it does not exist: the request
    /// is open again and everybody who decided hears why.
    fn reopen(
        &mut self,
        now: Timestamp,
        id: RequestId,
        deciding: Deciding,
        reason: &str,
        effects: &mut Vec<Effect>,
    ) {
        for to in deciding.reply.into_iter().chain(deciding.later) {
            effects.push(Effect::Reply {
                to,
                result: Err(Refusal::StoreUnavailable(reason.to_owned())),
            });
        }
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        let retry_at = now.plus(RETRY_AFTER);
        request.quiet_until = Some(retry_at);
        if !deciding.unseen {
            request.phase = Phase::Open;
            if deciding.withdrawn {
                self.close_withdrawn(now, id, effects);
            }
        } else if deciding.withdrawn {
            self.forget(id);
        } else {
            request.phase = Phase::Unrecorded {
                retry_at,
                then: Then::Resolve(Box::new(deciding.resolution)),
            };
        }
    }

    fn store_recovered(&mut self, id: SessionId, effects: &mut Vec<Effect>) {
        if let Some(session) = self.sessions.get_mut(&id)
            && session.store_problem.take().is_some()
        {
            effects.push(Effect::Broadcast(Broadcast::SessionChanged(id)));
        }
    }
}

fn limit(kind: &Kind, policies: &Policies) -> Option<Duration> {
    match kind {
        Kind::Tool | Kind::Other => policies.tool_timeout,
        Kind::Questions(_) | Kind::Elicitation(_) => policies.question_timeout,
        Kind::Plan(_) => policies.plan_timeout,
    }
}

pub(super) fn refused_by_policy(now: Timestamp, policy: &'static str, text: &str) -> Resolution {
    Resolution {
        outcome: OutcomeKind::Denied,
        by: DecidedBy::Policy(policy),
        decision: Some(Decision::Deny {
            message: Some(text.to_owned()),
            interrupt: false,
        }),
        at: now,
        delivery: Delivery::Pending,
    }
}
