//! The invariants one by one, each on its plainest example. `invariants.rs`
//! looks for the examples that nobody thought of.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a failure in the world fails the test"
)]

mod world;

use std::time::Duration;

use pretty_assertions::assert_eq;
use sayso_broker::{
    AgentAnswer, Broadcast, DecidedBy, Effect, EndReason, Event, FollowUp, OnTimeout, OutcomeKind,
    Policies, Refusal, Resolution, WhenUnattended,
};
use world::{AskShape, World, allow, answer, deny, session_id};

/// A world with one session, one client and one request on every screen.
fn asked(shape: AskShape, policies: Policies) -> World {
    let mut world = World::new();
    world.connect();
    world.start(0, policies);
    world.ask(0, shape);
    world.disk_step(true);
    world
}

fn digest(world: &World) -> String {
    world.asks[0].digest.clone()
}

fn closings(effects: &[Effect]) -> Vec<Resolution> {
    let closed = |effect: &Effect| match effect {
        Effect::Broadcast(Broadcast::Closed { resolution, .. }) => Some(resolution.clone()),
        _ => None,
    };
    effects.iter().filter_map(closed).collect()
}

fn answers(effects: &[Effect]) -> Vec<AgentAnswer> {
    let delivered = |effect: &Effect| match effect {
        Effect::Deliver { answer, .. } => Some(answer.clone()),
        _ => None,
    };
    effects.iter().filter_map(delivered).collect()
}

#[test]
fn i1_a_request_that_the_agent_takes_back_gets_no_answer() {
    let mut world = asked(AskShape::Tool, Policies::default());
    let digest = digest(&world);
    world.decide(0, digest, allow());
    world.withdraw(0);
    // The decision was being written; the world fails if it is delivered now.
    world.disk_step(true);
    world.finish();
}

#[test]
fn the_agents_message_is_held_until_it_is_on_record_and_no_longer() {
    let mut world = World::new();
    world.connect();
    world.start(0, Policies::default());
    world.ask(0, AskShape::Tool);
    let holds_message = |world: &World| {
        let request = world.broker.request(world.asks[0].id);
        request.expect("it is there").ask.raw.is_some()
    };
    world.disk_step(false);
    assert!(holds_message(&world), "it is written again");
    world.advance(Duration::from_secs(1));
    assert!(holds_message(&world));
    world.disk_step(true);
    assert_eq!(world.shown().len(), 1);
    assert!(!holds_message(&world));
    world.finish();
}

/// An agent that asks without end is told so, and what was open before stays so.
#[test]
fn the_request_after_the_most_that_may_be_open_is_refused_and_no_other() {
    let mut world = asked(AskShape::Tool, Policies::default());
    let ask = |world: &mut World| {
        world.ask(0, AskShape::Tool);
        world.disk_step(true);
    };
    for _ in 1..256 {
        ask(&mut world);
    }
    assert_eq!(world.shown().len(), 256);
    assert!(world.asks.iter().all(|asked| asked.answers.is_empty()));
    ask(&mut world);
    let last = &world.asks[256];
    assert!(
        matches!(
            &last.answers[..],
            [AgentAnswer::Deny {
                interrupt: false,
                ..
            }]
        ),
        "{:?}",
        last.answers
    );
    let delivered = world.handle(Event::Delivered {
        request: world.asks[256].id,
        delivery: sayso_broker::Delivery::Sent,
    });
    let by: Vec<DecidedBy> = closings(&delivered).into_iter().map(|one| one.by).collect();
    assert_eq!(by, [DecidedBy::Policy("too_many_requests")]);
    assert_eq!(world.shown().len(), 256, "those before it are still open");
    let digest = digest(&world);
    world.decide(0, digest, allow());
    world.disk_step(true);
    world.handle(Event::Delivered {
        request: world.asks[0].id,
        delivery: sayso_broker::Delivery::Sent,
    });
    ask(&mut world);
    assert_eq!(world.shown().len(), 256, "there is room again");
}

#[test]
fn i2_the_first_decision_wins_and_the_second_hears_of_it() {
    let mut world = asked(AskShape::Tool, Policies::default());
    let first = world.decide(0, digest(&world), deny(false));
    assert!(answers(&first).is_empty(), "not before it is on disk");
    let second = world.decide(0, digest(&world), allow());
    assert_eq!(second, [], "waits for how the first one ends");
    world.disk_step(true);
    let request = world.asks[0].id;
    let sent = sayso_broker::Delivery::Sent;
    let effects = world.handle(Event::Delivered {
        request,
        delivery: sent,
    });
    let refused = effects.iter().any(|effect| {
        matches!(effect, Effect::Reply { result: Err(Refusal::AlreadyDecided(told)), .. }
            if told.outcome == OutcomeKind::Denied)
    });
    assert!(refused, "{effects:?}");
}

#[test]
fn i3_nothing_but_a_human_or_a_mode_allows() {
    for on_timeout in [OnTimeout::Deny, OnTimeout::DenyAndInterrupt] {
        let policies = Policies {
            on_timeout,
            ..Policies::default()
        };
        let mut world = asked(AskShape::Tool, policies);
        world.advance(Duration::from_secs(300));
        let id = world.asks[0].id;
        assert_eq!(
            world.broker.request(id).map(|_| ()),
            Some(()),
            "being written"
        );
        world.disk_step(true);
        world.finish();
    }
}

#[test]
fn i4_a_decision_on_another_input_changes_nothing() {
    let mut world = asked(AskShape::Tool, Policies::default());
    // The world checks that the refusal is the only effect.
    world.decide(0, "another digest".to_owned(), allow());
    world.decide(0, digest(&world), allow());
    world.disk_step(true);
    world.finish();
}

#[test]
fn i5_a_decision_that_cannot_be_written_does_not_exist() {
    let mut world = asked(AskShape::Tool, Policies::default());
    world.decide(0, digest(&world), allow());
    world.disk_step(false);
    let session = world.broker.session(session_id(0));
    let problem = session.and_then(|session| session.store_problem);
    assert_eq!(
        problem.as_deref(),
        Some("disk full"),
        "the human is told why"
    );
    assert_eq!(world.broker.shown_requests().len(), 1, "open again");
    world.decide(0, digest(&world), allow());
    world.disk_step(true);
    world.finish();
}

#[test]
fn i6_a_request_is_shown_only_once_it_is_on_disk() {
    let mut world = World::new();
    world.connect();
    world.start(0, Policies::default());
    world.ask(0, AskShape::Tool);
    assert_eq!(world.broker.shown_requests(), []);
    world.disk_step(false);
    assert_eq!(world.broker.shown_requests(), []);
    world.advance(Duration::from_secs(2));
    world.disk_step(true);
    assert_eq!(world.broker.shown_requests().len(), 1);
    world.finish();
}

#[test]
fn a_question_without_an_answer_stays_open() {
    let mut world = asked(AskShape::Question, Policies::default());
    let effects = world.decide(0, digest(&world), answer(" "));
    assert!(matches!(
        effects[..],
        [Effect::Reply {
            result: Err(Refusal::InvalidAnswer(_)),
            ..
        }]
    ));
    let free_text = Policies {
        free_text: false,
        ..Policies::default()
    };
    let mut strict = asked(AskShape::Question, free_text);
    let effects = strict.decide(0, digest(&strict), answer("my own words"));
    assert!(matches!(
        effects[..],
        [Effect::Reply {
            result: Err(Refusal::InvalidAnswer(_)),
            ..
        }]
    ));
}

#[test]
fn nobody_connected_refuses_only_after_the_grace() {
    let policies = Policies {
        when_unattended: WhenUnattended::Deny,
        ..Policies::default()
    };
    let mut world = asked(AskShape::Tool, policies);
    world.disconnect(0);
    world.advance(Duration::from_secs(5));
    world.connect();
    world.advance(Duration::from_secs(60));
    assert_eq!(
        world.broker.shown_requests().len(),
        1,
        "a reload refuses nothing"
    );
    world.disconnect(0);
    world.advance(Duration::from_secs(10));
    let request = world.asks[0].id;
    world.disk_step(true);
    let delivery = sayso_broker::Delivery::Sent;
    let effects = world.handle(Event::Delivered { request, delivery });
    let [closed] = &closings(&effects)[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(closed.by, DecidedBy::Policy("when_unattended"));
}

#[test]
fn a_session_with_an_open_request_is_never_idle() {
    let mut world = asked(
        AskShape::Tool,
        Policies {
            tool_timeout: None,
            ..Policies::default()
        },
    );
    assert_eq!(world.broker.next_wakeup(), None);
    world.withdraw(0);
    let session = session_id(0);
    let activity = sayso_broker::AgentActivity::Idle;
    world.handle(Event::AgentActive { session, activity });
    let idle = world.now.plus(Duration::from_secs(30 * 60));
    assert_eq!(world.broker.next_wakeup(), Some(idle));
}

#[test]
fn the_reason_of_a_refusal_that_stops_is_brought_afterwards() {
    let mut world = asked(AskShape::Tool, Policies::default());
    let decision = sayso_broker::Decision::Deny {
        message: Some("Use the other folder.".to_owned()),
        interrupt: true,
    };
    world.decide(0, digest(&world), decision);
    world.disk_step(true);
    let request = world.asks[0].id;
    let delivery = sayso_broker::Delivery::Sent;
    let effects = world.handle(Event::Delivered { request, delivery });
    let follow_up = FollowUp {
        request,
        session: session_id(0),
        text: "Use the other folder.".to_owned(),
    };
    // In this order: a crash between the two brings it again, and not never.
    let noted = Effect::NoteDelivery { request, delivery };
    assert_eq!(effects[..2], [Effect::FollowUp(follow_up), noted]);
}

#[test]
fn what_a_lost_agent_asked_is_orphaned_and_what_a_failed_one_asked_is_withdrawn() {
    let lost = EndReason::Lost("its runner is gone".to_owned());
    let failed = EndReason::Failed("it crashed".to_owned());
    for (reason, outcome) in [
        (lost, OutcomeKind::Orphaned),
        (failed, OutcomeKind::Withdrawn),
    ] {
        let mut world = asked(AskShape::Tool, Policies::default());
        let session = session_id(0);
        let effects = world.handle(Event::AgentEnded { session, reason });
        let noted = effects.iter().find_map(|effect| match effect {
            Effect::Note { resolution, .. } => Some((resolution.outcome, &resolution.by)),
            _ => None,
        });
        assert_eq!(noted, Some((outcome, &DecidedBy::Agent)));
    }
}

#[test]
fn an_agent_that_starts_again_hears_a_refusal_first() {
    let mut world = asked(AskShape::Tool, Policies::default());
    world.restart(0);
    assert!(world.broker.has_requests(session_id(0)));
    world.disk_step(true);
    let request = world.asks[0].id;
    let delivery = sayso_broker::Delivery::Sent;
    let effects = world.handle(Event::Delivered { request, delivery });
    let closed = closings(&effects);
    let [closed] = closed.as_slice() else {
        panic!("one closing: {effects:?}");
    };
    assert_eq!(closed.outcome, OutcomeKind::Denied);
    assert!(matches!(closed.by, DecidedBy::Mode(_)));
    assert!(
        closed
            .message()
            .is_some_and(|text| text.contains("start again"))
    );
    assert!(!world.broker.has_requests(session_id(0)));
}

#[test]
fn i3_a_rule_allows_only_what_needs_no_human() {
    for (shape, outcome) in [
        (AskShape::Tool, Some(OutcomeKind::Allowed)),
        (AskShape::Unfaithful, None),
        (AskShape::Interactive, None),
        (AskShape::Guarded, None),
        (AskShape::Question, None),
        (AskShape::Plan, None),
        (AskShape::Other, None),
    ] {
        let mut world = World::new();
        world.connect();
        world.start(0, Policies::default());
        world.ask_ruled(0, shape, true);
        world.disk_step(true);
        assert_eq!(
            world.asks[0].answers.len(),
            usize::from(outcome.is_some()),
            "{shape:?}"
        );
        assert_eq!(world.shown().is_empty(), outcome.is_some(), "{shape:?}");
    }
}

#[test]
fn a_rule_that_denies_says_why() {
    let mut world = asked(AskShape::Tool, Policies::default());
    world.rule(0, false);
    world.disk_step(true);
    let [AgentAnswer::Deny { message, interrupt }] = &world.asks[0].answers[..] else {
        panic!("denied: {:?}", world.asks[0].answers);
    };
    assert!(message.contains("Bash(ls)"), "{message}");
    assert!(!interrupt);
}

#[test]
fn i1_a_write_is_tried_again_although_the_clock_went_back() {
    let mut world = World::new();
    world.connect();
    world.start(0, Policies::default());
    world.ask(0, AskShape::Tool);
    world.disk_step(false);
    world.now.0 -= 60 * 60 * 1000;
    world.handle(Event::Tick);
    world.advance(Duration::from_secs(1));
    world.disk_step(true);
    assert_eq!(world.shown(), [world.asks[0].id]);
}

#[test]
fn i3_a_refusal_of_the_left_alone_comes_although_the_clock_went_back() {
    let policies = Policies {
        when_unattended: WhenUnattended::Deny,
        ..Policies::default()
    };
    let mut world = asked(AskShape::Tool, policies);
    world.disconnect(0);
    world.now.0 -= 60 * 60 * 1000;
    world.handle(Event::Tick);
    world.advance(Duration::from_secs(10));
    world.disk_step(true);
    assert_eq!(world.asks[0].answers.len(), 1);
}

#[test]
fn i6_requests_stay_in_their_order_although_the_clock_went_back() {
    let mut world = asked(AskShape::Tool, Policies::default());
    world.now.0 -= 60 * 60 * 1000;
    world.ask(0, AskShape::Tool);
    world.disk_step(true);
    assert_eq!(world.shown(), [world.asks[0].id, world.asks[1].id]);
}

#[test]
fn i6_a_request_that_was_written_late_is_last_for_everybody() {
    let mut world = World::new();
    world.connect();
    world.start(0, Policies::default());
    world.ask(0, AskShape::Tool);
    world.ask(0, AskShape::Tool);
    world.disk_step(false);
    world.disk_step(true);
    world.advance(Duration::from_secs(1));
    world.disk_step(true);
    world.connect();
    assert_eq!(world.shown(), [world.asks[1].id, world.asks[0].id]);
}
