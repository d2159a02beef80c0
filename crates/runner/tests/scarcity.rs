//! Pipes that cannot be borrowed for want of numbers for open files, in a process of its own.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod common;

use common::{Rig, line, next, rest, spec, write};
use pretty_assertions::assert_eq;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sayso_runner::Event;

fn highest_number() -> u64 {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let numbers = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    numbers.map(|number| number.parse().unwrap()).max().unwrap()
}

#[tokio::test]
async fn whoever_has_no_room_for_the_pipes_goes_on_without_them() {
    let usual = getrlimit(Resource::Nofile);
    for room in 0..8 {
        let rig = Rig::start(&spec("cat", &[])).await;
        let mut connection = rig.connect(0).await;
        connection.handle.borrow().unwrap();
        let scarce = Rlimit {
            current: Some(highest_number() + room),
            ..usual
        };
        setrlimit(Resource::Nofile, scarce).unwrap();
        for number in 1..=5 {
            let id = write(&mut connection, "hello").await;
            assert_eq!(next(&mut connection).await, Event::Written(id));
            assert_eq!(line(&mut connection).await, (number, "hello".to_owned()));
        }
        connection.handle.stop().unwrap();
        let (lines, exited) = rest(&mut connection).await;
        assert_eq!((lines, exited.code), (Vec::new(), Some(0)));
        setrlimit(Resource::Nofile, usual).unwrap();
    }
}
