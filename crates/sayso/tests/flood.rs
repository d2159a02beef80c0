//! Floods on loopback, bounded in count and time, against a real server
//! process, while an honest client goes on with its work.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a failure in a helper fails the test; figures are for whoever reads them"
)]

mod support;

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::raw::{CLOSE, CONTINUATION, FINAL, PING, Raw, TEXT, frame};
use support::{TOKEN, printed_url};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(60);
const HALF_OPEN: usize = 10_000;
const WAVE: usize = 1_000;
/// What the server keeps of those that have shown nothing.
const KEPT: usize = 512;
const MEBIBYTE: usize = 1024 * 1024;

struct Process {
    child: Child,
    address: SocketAddr,
    folder: TempDir,
}

impl Process {
    /// `limit` is how many files it may open; its own limit if there is none.
    async fn start(limit: Option<u32>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let limit = limit.map_or_else(String::new, |files| format!("ulimit -n {files}; "));
        let mut child = Command::new("/bin/sh")
            .args(["-c", &format!("{limit}exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_sayso"))
            .args(["demo", "--listen", "127.0.0.1:0", "--token", TOKEN])
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .env("HOME", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = printed_url(child.stdout.take().unwrap()).await;
        let address = url.strip_prefix("http://").unwrap().parse().unwrap();
        Self {
            child,
            address,
            folder,
        }
    }

    /// The most memory it ever had, in bytes.
    fn peak_memory(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id().unwrap());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().nth(1));
        kibibytes.unwrap().parse::<usize>().unwrap() * 1024
    }

    fn open_files(&self) -> usize {
        let path = format!("/proc/{}/fd", self.child.id().unwrap());
        std::fs::read_dir(path).unwrap().count()
    }

    async fn stop(mut self) {
        let id = self.child.id().unwrap();
        let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        assert!(ended.expect("it ends in order").unwrap().success());
    }
}

/// How long each answer took, on one socket and on a new connection each time.
#[derive(Default)]
struct Measured {
    on_socket: Vec<Duration>,
    on_new_connections: Vec<Duration>,
    /// New connections that were closed for the sake of others before they were answered.
    tried_again: usize,
}

/// Asks and is answered until it is told to stop. Any missing answer fails the test.
async fn honest(address: SocketAddr, stop: CancellationToken) -> Measured {
    let mut measured = Measured::default();
    let mut socket = Raw::upgraded(address).await;
    let mut tick = tokio::time::interval(Duration::from_millis(20));
    let mut number = 0;
    while !stop.is_cancelled() {
        tick.tick().await;
        number += 1;
        let asked = Instant::now();
        let id = format!("honest-{number}");
        let message = json!({"type": "ping", "id": id}).to_string();
        socket
            .send(&frame(FINAL | TEXT, message.as_bytes()))
            .await
            .unwrap();
        loop {
            let answer = socket
                .frame()
                .await
                .expect("the honest client is never closed");
            if String::from_utf8_lossy(&answer.payload).contains(&id) {
                break;
            }
        }
        measured.on_socket.push(asked.elapsed());
        if number % 10 == 0 {
            let asked = Instant::now();
            while !visit(address).await {
                measured.tried_again += 1;
            }
            measured.on_new_connections.push(asked.elapsed());
        }
    }
    measured
}

/// A request over a connection of its own. False when it was not answered.
async fn visit(address: SocketAddr) -> bool {
    let mut raw = Raw::connect(address).await;
    let request = format!(
        "GET /api/me HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
    );
    raw.send(request.as_bytes()).await.is_ok() && raw.head().await.starts_with("HTTP/1.1 200 ")
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    println!(
        "{name}: {} answers, median {:.1} ms, 99th percentile {:.1} ms, longest {:.1} ms",
        times.len(),
        at(50),
        at(99),
        at(100)
    );
}

/// Upgrades that never end, in waves. The server keeps a part of each wave and closes the rest.
async fn half_open(server: &Process) {
    let address = server.address;
    for _ in 0..HALF_OPEN / WAVE {
        let mut wave = tokio::task::JoinSet::new();
        for _ in 0..WAVE {
            wave.spawn(async move {
                let mut raw = Raw::connect(address).await;
                let head = format!(
                    "GET /api/ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: web"
                );
                // It may be closed before it has said that much.
                let _ = raw.send(head.as_bytes()).await;
                raw.rest().await
            });
        }
        for number in 0..WAVE - KEPT {
            let ended = tokio::time::timeout(PATIENCE, wave.join_next()).await;
            let answer = ended.expect("the server makes room").unwrap().unwrap();
            assert_eq!(answer, b"", "nothing is said to a stranger");
            // From the first on: later they could also have run out of time.
            if number % 50 == 0 {
                let files = server.open_files();
                assert!(files < KEPT + 128, "{files} files are open");
            }
        }
    }
}

/// Messages and fragments of one byte, as fast as the server reads them.
async fn small_frames(address: SocketAddr, messages: bool) {
    let mut raw = Raw::upgraded(address).await;
    let first = if messages { FINAL | TEXT } else { CONTINUATION };
    if !messages {
        raw.send(&frame(TEXT, b"x")).await.unwrap();
    }
    let many = frame(first, b"x").repeat(10_000);
    let send = async {
        for _ in 0..30 {
            if raw.send(&many).await.is_err() {
                break;
            }
        }
    };
    // It is slowed down, not refused; nobody waits for its end.
    let _ = tokio::time::timeout(Duration::from_secs(4), send).await;
}

async fn pings(address: SocketAddr) {
    let mut raw = Raw::upgraded(address).await;
    let many = frame(FINAL | PING, &[b'x'; 125]).repeat(1_000);
    let send = async {
        for _ in 0..100 {
            if raw.send(&many).await.is_err() {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(4), send).await;
}

/// A gibibyte in fragments. Gives back how much of it the server took before it ended the connection.
async fn gibibyte(address: SocketAddr) -> usize {
    let mut raw = Raw::upgraded(address).await;
    let fragment = frame(CONTINUATION, &vec![b'x'; MEBIBYTE]);
    raw.send(&frame(TEXT, b"x")).await.unwrap();
    let mut sent = 0;
    while sent < 1024 * MEBIBYTE && raw.send(&fragment).await.is_ok() {
        sent += MEBIBYTE;
    }
    while let Some(frame) = raw.frame().await {
        if frame.first == FINAL | CLOSE {
            assert_eq!(frame.close_code(), Some(1009));
            return sent;
        }
    }
    // The reset of the connection may have overtaken the close frame.
    sent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_takes_neither_the_memory_nor_the_answers() {
    let server = Process::start(None).await;
    let address = server.address;
    let stop = CancellationToken::new();
    let honest = tokio::spawn(honest(address, stop.clone()));
    half_open(&server).await;
    let mut small = tokio::task::JoinSet::new();
    for number in 0..8 {
        small.spawn(small_frames(address, number % 2 == 0));
    }
    small.join_all().await;
    let mut large = tokio::task::JoinSet::new();
    for _ in 0..4 {
        large.spawn(gibibyte(address));
    }
    for sent in large.join_all().await {
        assert!(sent < 64 * MEBIBYTE, "{sent} bytes were taken");
    }
    let mut pinging = tokio::task::JoinSet::new();
    for _ in 0..8 {
        pinging.spawn(pings(address));
    }
    pinging.join_all().await;
    stop.cancel();
    let mut measured = honest.await.unwrap();
    report("on one socket", &mut measured.on_socket);
    report("on new connections", &mut measured.on_new_connections);
    println!(
        "new connections that had to try again: {}",
        measured.tried_again
    );
    let peak = server.peak_memory();
    println!("most memory: {:.1} MiB", peak as f64 / MEBIBYTE as f64);
    assert!(peak < 256 * MEBIBYTE, "{peak} bytes");
    assert!(measured.on_socket.len() > 20 && !measured.on_new_connections.is_empty());
    server.stop().await;
}

/// The next message of this type.
async fn message(socket: &mut Raw, kind: &str) -> Value {
    loop {
        let frame = socket
            .frame()
            .await
            .expect("the honest client is never closed");
        let message: Value = serde_json::from_slice(&frame.payload).unwrap_or_default();
        if message["type"] == kind {
            return message;
        }
    }
}

async fn say(socket: &mut Raw, message: &Value) {
    let text = message.to_string();
    socket
        .send(&frame(FINAL | TEXT, text.as_bytes()))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_server_short_of_files_keeps_enough_for_its_agents() {
    let server = Process::start(Some(160)).await;
    let mut honest = Raw::upgraded(server.address).await;
    let (mut taken, mut refused) = (Vec::new(), 0);
    for _ in 0..200 {
        match Raw::try_upgrade(server.address).await {
            Ok(socket) => taken.push(socket),
            Err(_) => refused += 1,
        }
    }
    assert!(
        taken.len() > 50 && refused > 50,
        "{} {refused}",
        taken.len()
    );
    let prompt = support::bash("true").to_string();
    let cwd = server.folder.path();
    say(
        &mut honest,
        &json!({"type": "start_session", "cwd": cwd, "agent": "demo", "prompt": prompt}),
    )
    .await;
    let request = message(&mut honest, "request_opened").await["pending_request"].clone();
    let (id, digest) = (&request["request_id"], &request["input_digest"]);
    say(&mut honest, &json!({"type": "respond", "request_id": id, "input_digest": digest, "decision": {"behavior": "deny"}})).await;
    let closed = message(&mut honest, "request_closed").await;
    assert_eq!(
        closed["outcome"]["what"], "denied",
        "the database has its files"
    );
    server.stop().await;
}

#[tokio::test]
async fn whoever_has_a_place_keeps_it_and_others_are_refused_by_name() {
    let server = Process::start(Some(160)).await;
    let mut sockets = Vec::new();
    for _ in 0..80 {
        sockets.push(Raw::upgraded(server.address).await);
    }
    let mut late = Raw::connect(server.address).await;
    let answer = String::from_utf8(late.rest().await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains(r#""code":"overloaded""#), "{answer}");
    drop(sockets.pop());
    let visits = async { while !visit(server.address).await {} };
    let visited = tokio::time::timeout(PATIENCE, visits).await;
    visited.expect("a place that is left is free again");
    server.stop().await;
}
