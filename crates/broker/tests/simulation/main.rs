//! I1 to I7 with everything around the broker: a store, detached agents, clients, time, and a server that can die
//! between any two effects. All of it follows from one seed.
//!
//! A failing seed is printed with the command that runs it again; it then fails in the same way.
//! `SAYSO_SIMULATION_SEEDS` is how many seeds are run, `SAYSO_SIMULATION_SEED` runs one of them, and
//! `SAYSO_SIMULATION_TRACE` is how many of its last steps are shown.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken invariant fails the test"
)]

mod agents;
#[path = "../world/asks.rs"]
mod asks;
mod checks;
mod clients;
mod effects;
mod finish;
mod links;
mod random;
mod restart;
mod server;
mod store;
mod trace;
mod world;
mod writes;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use trace::Trace;
use world::{Coverage, World};

const SEEDS: u64 = 10_000;
const THREADS: u64 = 2;
/// How many steps of a failing run are shown.
const SHOWN_STEPS: u64 = 60;

/// What no set of runs may miss: otherwise the checks prove nothing.
const MUST_HAPPEN: &[&str] = &[
    "allowed by a human",
    "allowed by a mode",
    "allowed by a rule",
    "answered",
    "came second",
    "clock went back",
    "crashed between two effects",
    "deliveries taken over",
    "denied",
    "expired",
    "lagged",
    "named another input",
    "open requests taken over",
    "queue was full",
    "record failed",
    "replayed ask passed over",
    "sent again, not written again",
    "session started again",
    "taken back before it was delivered again",
    "took over an agent that had ended",
    "written by a server that died before it knew",
];

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().expect("a number in the environment"))
}

fn run(seed: u64, trace: Trace) -> Result<Coverage, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new(seed, trace);
        world.run();
        world.coverage
    }))
}

/// Runs a failing seed again, this time with a trace.
fn explain(seed: u64) -> String {
    let length = number("SAYSO_SIMULATION_TRACE").unwrap_or(SHOWN_STEPS);
    let trace = Trace::of(length as usize);
    let outcome = run(seed, trace.clone());
    let reason = outcome.err().map(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        text.unwrap_or("no message").to_owned()
    });
    format!(
        "seed {seed} breaks an invariant.\nThe last steps:\n  {}\n{}\nTo run it again:\n  \
         SAYSO_SIMULATION_SEED={seed} cargo test -p sayso-broker --test simulation\n",
        trace.lines().join("\n  "),
        reason.unwrap_or_else(|| "it did not fail again, so it is not deterministic".to_owned()),
    )
}

/// The first seed that fails, or what happened in all of them.
fn run_all(seeds: impl Iterator<Item = u64>) -> Result<Coverage, u64> {
    let mut all = Coverage::new();
    for seed in seeds {
        let coverage = run(seed, Trace::default()).map_err(|_| seed)?;
        for (what, count) in coverage {
            *all.entry(what).or_default() += count;
        }
    }
    Ok(all)
}

#[test]
fn simulation_holds_for_every_seed() {
    if let Some(seed) = number("SAYSO_SIMULATION_SEED") {
        if run(seed, Trace::default()).is_err() {
            panic!("{}", explain(seed));
        }
        return;
    }
    let seeds = number("SAYSO_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let results: Vec<_> = std::thread::scope(|scope| {
        let share = |thread| (thread..seeds).step_by(THREADS as usize);
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || run_all(share(thread))))
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join();
        threads.into_iter().map(join).collect()
    });
    let mut all = Coverage::new();
    for result in results {
        match result.expect("panics are caught") {
            Ok(coverage) => {
                for (what, count) in coverage {
                    *all.entry(what).or_default() += count;
                }
            }
            Err(seed) => panic!("{}", explain(seed)),
        }
    }
    let missed = MUST_HAPPEN.iter().filter(|what| !all.contains_key(*what));
    let missed: Vec<_> = missed.collect();
    assert!(
        seeds < SEEDS || missed.is_empty(),
        "the simulation no longer reaches {missed:?}: {all:#?}"
    );
}

#[test]
fn a_seed_is_the_same_run_every_time() {
    let traced = |seed| {
        let trace = Trace::of(1000);
        let coverage = run(seed, trace.clone()).expect("a run that holds");
        (coverage, trace.lines())
    };
    for seed in 0..20 {
        assert_eq!(traced(seed), traced(seed));
    }
}
