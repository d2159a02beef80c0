//! The plug is pulled, again and again, while agents ask and humans answer. The agents keep a ledger of their
//! own; in the end it must agree with Sayso's records: nothing lost, nothing doubled, nothing allowed without a
//! record.

mod kill_test;
mod support;

use std::path::PathBuf;

use kill_test::ledger::Ledger;
use kill_test::world::World;

/// More of them with `SAYSO_KILL_CYCLES=10000`.
const CYCLES: u32 = 500;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i7_no_kill_loses_doubles_or_invents_anything() {
    let cycles = std::env::var("SAYSO_KILL_CYCLES").ok();
    let cycles = cycles.map_or(CYCLES, |text| text.parse().unwrap());
    let seed = std::env::var("SAYSO_KILL_SEED").ok();
    let seed = seed.map_or_else(any_seed, |text| text.parse().unwrap());
    println!("SAYSO_KILL_SEED={seed}");
    let mut world = World::new(seed).await;
    for cycle in 0..cycles {
        world.cycle(cycle).await;
    }
    world.finish().await;
}

fn any_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |now| u64::from(now.subsec_nanos()))
}

/// What runs as the agent: this test binary, called by a script that the world writes.
#[test]
#[ignore = "is the agent of the test above"]
fn ledger_agent() {
    let path = std::env::var_os("SAYSO_TEST_LEDGER").map(PathBuf::from);
    let path = path.expect("started as an agent");
    kill_test::agent::run(Ledger::new(path));
}
