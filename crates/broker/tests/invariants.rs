//! I1 to I6 under random interleavings of agents, humans, disk and time.
//!
//! The reference state only steers generation towards interesting events; the
//! invariants themselves are checked in `world` at every effect and at the end.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken invariant fails the test"
)]

mod world;

use std::time::Duration;

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use sayso_broker::{Decision, Event, OnTimeout, Policies, Responders, WhenUnattended};
use world::{AskShape, SESSIONS, World, allow, answer, deny, edited, session_id};

#[derive(Clone, Debug)]
enum Step {
    Start(usize, Policies),
    Ask(usize, AskShape),
    /// Covered by a rule that allows, or denies.
    AskRuled(usize, AskShape, bool),
    Rule(usize, bool),
    Withdraw(usize),
    Decide {
        ask: usize,
        right_digest: bool,
        decision: Decision,
    },
    Hold(usize, bool),
    Extend(usize),
    Connect,
    Disconnect(usize),
    Attach(usize, usize),
    Disk(bool),
    Delivery(bool),
    Mode(usize, &'static str),
    Advance(u64),
    Restart(usize),
    EndAgent(usize),
    ShutDown,
}

/// How many of each thing there are, so that steps can name them.
#[derive(Clone, Debug, Default)]
struct Counts {
    asks: usize,
    clients: usize,
}

fn policies() -> impl Strategy<Value = Policies> {
    let timeout = prop_oneof![Just(None), Just(Some(Duration::from_secs(60)))];
    let unattended = prop_oneof![
        Just(WhenUnattended::Wait),
        Just(WhenUnattended::Deny),
        Just(WhenUnattended::Pause),
    ];
    let on_timeout = prop_oneof![Just(OnTimeout::Deny), Just(OnTimeout::DenyAndInterrupt)];
    let responders = prop_oneof![Just(Responders::Any), Just(Responders::Active)];
    (timeout, unattended, on_timeout, responders, any::<bool>()).prop_map(
        |(timeout, when_unattended, on_timeout, responders, free_text)| Policies {
            tool_timeout: timeout,
            question_timeout: timeout,
            plan_timeout: timeout,
            on_timeout,
            when_unattended,
            responders,
            free_text,
            ..Policies::default()
        },
    )
}

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        4 => Just(allow()),
        2 => Just(edited()),
        2 => Just(deny(false)),
        1 => Just(deny(true)),
        2 => Just(answer("A")),
        1 => Just(answer("something else")),
        1 => Just(answer(" ")),
        1 => Just(Decision::Submit(sayso_broker::Json::new("{}"))),
    ]
}

fn shape() -> impl Strategy<Value = AskShape> {
    prop_oneof![
        Just(AskShape::Tool),
        Just(AskShape::Edit),
        Just(AskShape::Unfaithful),
        Just(AskShape::Interactive),
        Just(AskShape::Guarded),
        Just(AskShape::Question),
        Just(AskShape::Plan),
        Just(AskShape::Other),
    ]
}

struct Reference;

impl ReferenceStateMachine for Reference {
    type State = Counts;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Counts> {
        Just(Counts::default()).boxed()
    }

    fn transitions(counts: &Counts) -> BoxedStrategy<Step> {
        let session = 0..SESSIONS;
        let mut steps: Vec<(u32, BoxedStrategy<Step>)> = vec![
            (
                2,
                (session.clone(), policies())
                    .prop_map(|(at, policies)| Step::Start(at, policies))
                    .boxed(),
            ),
            (
                8,
                (session.clone(), shape())
                    .prop_map(|(at, shape)| Step::Ask(at, shape))
                    .boxed(),
            ),
            (
                3,
                (session.clone(), shape(), any::<bool>())
                    .prop_map(|(at, shape, allows)| Step::AskRuled(at, shape, allows))
                    .boxed(),
            ),
            (14, prop::bool::weighted(0.85).prop_map(Step::Disk).boxed()),
            (
                8,
                prop::bool::weighted(0.9).prop_map(Step::Delivery).boxed(),
            ),
            (2, Just(Step::Connect).boxed()),
            (3, (1_u64..90).prop_map(Step::Advance).boxed()),
            (1, session.clone().prop_map(Step::Restart).boxed()),
            (1, session.clone().prop_map(Step::EndAgent).boxed()),
            (
                2,
                (
                    session.clone(),
                    prop_oneof![
                        Just("acceptEdits"),
                        Just("bypassPermissions"),
                        Just("dontAsk"),
                        Just("plan")
                    ],
                )
                    .prop_map(|(at, mode)| Step::Mode(at, mode))
                    .boxed(),
            ),
        ];
        if counts.asks > 0 {
            // Late asks are the ones that are still open.
            let ask = (counts.asks.saturating_sub(4)..counts.asks).boxed();
            steps.push((
                12,
                (ask.clone(), prop::bool::weighted(0.9), decision())
                    .prop_map(|(ask, right_digest, decision)| Step::Decide {
                        ask,
                        right_digest,
                        decision,
                    })
                    .boxed(),
            ));
            steps.push((2, ask.clone().prop_map(Step::Withdraw).boxed()));
            steps.push((
                2,
                (ask.clone(), any::<bool>())
                    .prop_map(|(ask, allows)| Step::Rule(ask, allows))
                    .boxed(),
            ));
            steps.push((
                2,
                (ask.clone(), any::<bool>())
                    .prop_map(|(ask, held)| Step::Hold(ask, held))
                    .boxed(),
            ));
            steps.push((1, ask.prop_map(Step::Extend).boxed()));
            steps.push((1, Just(Step::ShutDown).boxed()));
        }
        if counts.clients > 0 {
            steps.push((1, (0..counts.clients).prop_map(Step::Disconnect).boxed()));
            steps.push((
                2,
                (0..counts.clients, session)
                    .prop_map(|(client, at)| Step::Attach(client, at))
                    .boxed(),
            ));
        }
        prop::strategy::Union::new_weighted(steps).boxed()
    }

    fn apply(mut counts: Counts, step: &Step) -> Counts {
        match step {
            Step::Ask(..) | Step::AskRuled(..) => counts.asks += 1,
            Step::Connect => counts.clients += 1,
            Step::Disconnect(_) => counts.clients -= 1,
            _ => {}
        }
        counts
    }

    fn preconditions(counts: &Counts, step: &Step) -> bool {
        match step {
            Step::Withdraw(ask)
            | Step::Hold(ask, _)
            | Step::Extend(ask)
            | Step::Rule(ask, _)
            | Step::Decide { ask, .. } => *ask < counts.asks,
            Step::Disconnect(client) | Step::Attach(client, _) => *client < counts.clients,
            _ => true,
        }
    }
}

struct BrokerInItsWorld;

impl StateMachineTest for BrokerInItsWorld {
    type SystemUnderTest = World;
    type Reference = Reference;

    fn init_test(_: &Counts) -> World {
        World::new()
    }

    fn apply(mut world: World, _: &Counts, step: Step) -> World {
        match step {
            Step::Start(session, policies) => {
                if !world.alive[session] {
                    world.start(session, policies);
                }
            }
            Step::Ask(session, shape) => world.ask(session, shape),
            Step::AskRuled(session, shape, allows) => world.ask_ruled(session, shape, allows),
            Step::Rule(ask, allows) => world.rule(ask, allows),
            Step::Withdraw(ask) => world.withdraw(ask),
            Step::Decide {
                ask,
                right_digest,
                decision,
            } => {
                let digest = if right_digest {
                    world.asks[ask].digest.clone()
                } else {
                    "the digest of another input".to_owned()
                };
                world.decide(ask, digest, decision);
            }
            Step::Hold(ask, held) => {
                let (request, reply) = (world.asks[ask].id, world.fresh_reply());
                world.handle(Event::SetHeld {
                    request,
                    held,
                    reply,
                });
            }
            Step::Extend(ask) => {
                let (request, reply) = (world.asks[ask].id, world.fresh_reply());
                world.handle(Event::Extended {
                    request,
                    by: Duration::from_secs(30),
                    reply,
                });
            }
            Step::Connect => world.connect(),
            Step::Disconnect(client) => world.disconnect(client),
            Step::Attach(client, session) => {
                let client = world.clients[client];
                world.handle(Event::ClientAttached {
                    client,
                    session: session_id(session),
                });
            }
            Step::Disk(works) => world.disk_step(works),
            Step::Delivery(works) => world.delivery_step(works),
            Step::Mode(session, mode) => world.confirm_mode(session, mode),
            Step::Advance(seconds) => world.advance(Duration::from_secs(seconds)),
            Step::Restart(session) => {
                world.restart(session);
            }
            Step::EndAgent(session) => world.end_agent(session),
            Step::ShutDown => {
                world.handle(Event::ShutDown);
            }
        }
        world
    }

    fn teardown(world: World, _: Counts) {
        world.finish();
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn i1_to_i6_hold_under_any_interleaving(sequential 1..60 => BrokerInItsWorld);
}
