//! How much a runner adds to the way of a line, and how much memory and time of a processor it takes:
//! `cargo run --release -p sayso-runner --example round_trip`.

use std::path::Path;
use std::time::{Duration, Instant};

use sayso_runner::{Connection, Event, LaunchSpec, Limits, run, start};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;
use uuid::Uuid;

type Failure = Box<dyn std::error::Error>;

const ROUNDS: usize = 20_000;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, folder] = arguments.as_slice()
        && command == "run"
    {
        return Ok(run(Path::new(folder))?);
    }
    tokio::runtime::Runtime::new()?.block_on(measure())
}

async fn measure() -> Result<(), Failure> {
    let direct = direct().await?;
    report("direct pipe", direct)?;
    let folder = std::env::temp_dir().join(format!("runner-{}", Uuid::new_v4()));
    let spec = LaunchSpec {
        program: "cat".into(),
        arguments: Vec::new(),
        folder: "/".into(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        limits: Limits::default(),
    };
    let started = start(&std::env::current_exe()?, &["run".into()], &folder, &spec).await?;
    memory("idle, nobody connected", started.runner_pid)?;
    let mut connection = Connection::connect(&folder, 0).await?;
    let before = processor_time(started.runner_pid)?;
    let through = through_runner(&mut connection).await?;
    let used = processor_time(started.runner_pid)?.saturating_sub(before);
    report("through a runner", through)?;
    per_line("the runner's own time", used);
    memory("after 20,000 lines", started.runner_pid)?;
    connection.handle.borrow()?;
    // The runner lends while somebody listens.
    let nothing = timeout(Duration::from_millis(200), connection.events.next()).await;
    if let Ok(event) = nothing {
        return Err(format!("{event:?}").into());
    }
    let before = processor_time(started.runner_pid)?;
    let borrowed = through_runner(&mut connection).await?;
    let used = processor_time(started.runner_pid)?.saturating_sub(before);
    report("with borrowed pipes", borrowed)?;
    per_line("the runner's own time", used);
    connection.handle.close_input()?;
    while !matches!(
        connection.events.next().await,
        None | Some(Event::Exited(_))
    ) {}
    connection.handle.forget()?;
    while connection.events.next().await.is_some() {}
    Ok(())
}

fn line() -> Vec<u8> {
    vec![b'x'; 300]
}

async fn direct() -> Result<Vec<Duration>, Failure> {
    let mut child = tokio::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut text = line();
    text.push(b'\n');
    let mut times = Vec::with_capacity(ROUNDS);
    let mut echo = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        input.write_all(&text).await?;
        echo.clear();
        output.read_until(b'\n', &mut echo).await?;
        times.push(begin.elapsed());
    }
    Ok(times)
}

async fn through_runner(connection: &mut Connection) -> Result<Vec<Duration>, Failure> {
    let text = line();
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        connection.handle.write(Uuid::new_v4(), &text)?;
        loop {
            match connection.events.next().await {
                Some(Event::Line { seq, .. }) => {
                    times.push(begin.elapsed());
                    connection.handle.acknowledge(seq)?;
                    break;
                }
                Some(Event::Written(_)) => {}
                other => return Err(format!("{other:?}").into()),
            }
        }
    }
    Ok(times)
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn report(name: &str, mut times: Vec<Duration>) -> Result<(), Failure> {
    times.sort();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    println!("{name}: median {:?}, 99 % {:?}", at(50), at(99));
    Ok(())
}

/// That a process has had so far.
fn processor_time(process: u32) -> Result<Duration, Failure> {
    let numbers = std::fs::read_to_string(format!("/proc/{process}/schedstat"))?;
    let nanoseconds = numbers.split(' ').next().unwrap_or_default().parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn per_line(name: &str, time: Duration) {
    let rounds = u32::try_from(ROUNDS).unwrap_or(u32::MAX);
    println!("{name}: {:?} for each line and its echo", time / rounds);
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn memory(name: &str, process: u32) -> Result<(), Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let of_interest = |line: &&str| line.starts_with("VmRSS") || line.starts_with("RssAnon");
    let lines: Vec<_> = status.lines().filter(of_interest).collect();
    println!("{name}: {}", lines.join(", "));
    Ok(())
}
