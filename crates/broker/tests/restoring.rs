//! What a new server takes over: the same requests, with the time they had left, and decisions delivered once.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a failure in the world fails the test"
)]

mod world;

use std::time::Duration;

use pretty_assertions::assert_eq;
use sayso_broker::{
    Allowance, Ask, Broadcast, Broker, ClientId, ClientRef, ClockView, DecidedBy, Decision,
    Delivery, Effect, Event, Mode, OutcomeKind, Policies, ReplyTo, RequestId, Resolution,
    RestoredRequest, RestoredSession, SessionId, SessionSpec, SessionState, Timestamp,
    WhenUnattended,
};
use uuid::Uuid;

const SESSION: SessionId = SessionId(Uuid::from_u128(7));
const NOW: Timestamp = Timestamp(1_000_000);

fn ask(number: u128) -> Ask {
    world::AskShape::Tool.build(RequestId(Uuid::from_u128(number)))
}

fn restored(policies: Policies, requests: Vec<RestoredRequest>) -> (Broker, Vec<Effect>) {
    let mut broker = Broker::new(NOW);
    let session = RestoredSession {
        spec: SessionSpec {
            policies,
            mode: Mode::new("default"),
        },
        state: SessionState::AssistantTurn,
        state_changed_at: Timestamp(5),
        requests,
    };
    let effects = broker.handle(
        NOW,
        Event::SessionRestored {
            session: SESSION,
            restored: Box::new(session),
        },
    );
    (broker, effects)
}

fn request(number: u128, clock: ClockView, decided: Option<Resolution>) -> RestoredRequest {
    RestoredRequest {
        ask: Box::new(ask(number)),
        created_at: Timestamp(10),
        clock,
        decided,
    }
}

const RUNNING: ClockView = ClockView {
    deadline: Some(Timestamp(1_060_000)),
    remaining: None,
    held: false,
};

fn allowed() -> Resolution {
    Resolution {
        outcome: OutcomeKind::Allowed,
        by: DecidedBy::Timeout,
        decision: Some(Decision::Allow(Allowance::default())),
        at: Timestamp(20),
        delivery: Delivery::Pending,
    }
}

fn deliveries(effects: &[Effect]) -> usize {
    let deliver = |effect: &&Effect| matches!(effect, Effect::Deliver { .. });
    effects.iter().filter(deliver).count()
}

#[test]
fn i7_open_requests_are_open_again_with_the_deadline_they_had() {
    let requests = vec![request(1, RUNNING, None), request(2, RUNNING, None)];
    let (mut broker, effects) = restored(Policies::default(), requests);
    assert_eq!(deliveries(&effects), 0);
    let shown = broker.shown_requests();
    let ids: Vec<_> = shown.iter().map(|request| request.ask.id).collect();
    assert_eq!(ids, [ask(1).id, ask(2).id]);
    assert!(shown.iter().all(|request| request.clock == RUNNING));
    assert_eq!(broker.next_wakeup(), RUNNING.deadline);
    let early = broker.handle(Timestamp(1_059_999), Event::Tick);
    assert_eq!(early, []);
    let late = broker.handle(Timestamp(1_060_000), Event::Tick);
    assert_eq!(late.len(), 2, "both have expired and are written: {late:?}");
}

#[test]
fn i7_a_restored_request_can_be_decided_like_any_other() {
    let (mut broker, _) = restored(Policies::default(), vec![request(1, RUNNING, None)]);
    let ask = ask(1);
    let effects = broker.handle(
        NOW,
        Event::Decided {
            request: ask.id,
            client: ClientRef {
                id: ClientId(Uuid::nil()),
                label: "a browser".to_owned(),
            },
            digest: ask.digest.clone(),
            decision: Decision::Allow(Allowance::default()),
            reply: ReplyTo(1),
        },
    );
    let [Effect::Record { record, open, .. }] = effects.as_slice() else {
        panic!("it is written first: {effects:?}");
    };
    assert!(!open, "the request itself is on disk");
    let effects = broker.handle(NOW, Event::Recorded { record: *record });
    assert_eq!(deliveries(&effects), 1);
}

#[test]
fn i1_a_decision_that_was_not_delivered_is_delivered_once() {
    let (mut broker, effects) = restored(
        Policies::default(),
        vec![request(1, RUNNING, Some(allowed()))],
    );
    assert_eq!(deliveries(&effects), 1);
    let request = ask(1).id;
    let delivery = Delivery::Sent;
    let effects = broker.handle(NOW, Event::Delivered { request, delivery });
    let closed = |effect: &Effect| matches!(effect, Effect::Broadcast(Broadcast::Closed { .. }));
    assert_eq!(effects.iter().filter(|effect| closed(effect)).count(), 1);
    assert_eq!(deliveries(&effects), 0);
    assert!(broker.is_quiet());
}

#[test]
fn held_clocks_stay_held_and_paused_ones_run_when_somebody_comes() {
    let left = Duration::from_secs(30);
    let stopped = |held| ClockView {
        deadline: None,
        remaining: Some(left),
        held,
    };
    let policies = Policies {
        when_unattended: WhenUnattended::Pause,
        ..Policies::default()
    };
    let requests = vec![
        request(1, stopped(true), None),
        request(2, stopped(false), None),
        request(3, RUNNING, None),
    ];
    let (mut broker, _) = restored(policies, requests);
    assert_eq!(broker.next_wakeup(), None, "nobody is connected");
    let client = ClientId(Uuid::from_u128(3));
    let label = "a browser".to_owned();
    broker.handle(NOW, Event::ClientConnected { client, label });
    let clocks: Vec<ClockView> = broker
        .shown_requests()
        .iter()
        .map(|request| request.clock)
        .collect();
    assert_eq!(clocks[0], stopped(true));
    assert_eq!(clocks[1].deadline, Some(NOW.plus(left)));
    assert_eq!(clocks[2].deadline, RUNNING.deadline);
}

#[test]
fn a_session_is_restored_once() {
    let (mut broker, _) = restored(Policies::default(), vec![request(1, RUNNING, None)]);
    let again = RestoredSession {
        spec: SessionSpec {
            policies: Policies::default(),
            mode: Mode::new("default"),
        },
        state: SessionState::UserTurn,
        state_changed_at: NOW,
        requests: vec![request(2, RUNNING, Some(allowed()))],
    };
    let event = Event::SessionRestored {
        session: SESSION,
        restored: Box::new(again),
    };
    assert_eq!(broker.handle(NOW, event), []);
    assert_eq!(broker.shown_requests().len(), 1);
}

#[test]
fn i6_restored_requests_keep_their_order_whatever_the_clock_said() {
    let mut requests = vec![request(2, RUNNING, None), request(1, RUNNING, None)];
    requests[1].created_at = Timestamp(3);
    let (broker, _) = restored(Policies::default(), requests);
    let shown = broker.shown_requests();
    let ids: Vec<_> = shown.iter().map(|request| request.ask.id).collect();
    assert_eq!(ids, [ask(2).id, ask(1).id]);
}
