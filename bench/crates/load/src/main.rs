//! Load client: opens sessions on a server under test, starts one job of the
//! fake agent in each, answers every permission request at once, and prints one
//! JSON line with the agents' own figures and the client's.
//!
//!   load run   --dialect D --port P [--host H] --sessions S [--viewers V]
//!              --job JSON [--server-pid PID] [--timeout SECS] [--setup K]
//!              [--repeat R] [--stalled N] [--also TEXT]
//!              V further viewers per session, and N that join and never read.
//!   load hold  --dialect D --port P --sessions S [--viewers V]
//!              [--job JSON --pending N]
//!              opens the sessions, with V further viewers each, optionally
//!              leaves N requests each unanswered, prints {"ready":true,...}, waits for a line or the
//!              end of stdin, closes.
//!   load probe --dialect D --port P -- PROGRAM ARGS...
//!              starts the server and times it to the first accepted WebSocket
//!              and to the first open session, then ends it.

mod dialect;

use dialect::{by_name, Dialect, Event};
use futures_util::{SinkExt, StreamExt};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{watch, Semaphore};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::WebSocketStream;

type Ws = WebSocketStream<TcpStream>;
type Res<T> = Result<T, String>;

fn main() {
    let rt = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mode = args.first().cloned().unwrap_or_default();
    let (opts, rest) = options(&args[args.len().min(1)..]);
    let out = rt.block_on(async {
        match mode.as_str() {
            "run" => run(Arc::new(Opts::from(&opts)?)).await,
            "hold" => hold(Arc::new(Opts::from(&opts)?)).await,
            "probe" => probe(Arc::new(Opts::from(&opts)?), rest).await,
            _ => Err("usage: load run|hold|probe --dialect D --port P ... (see the source)".into()),
        }
    });
    match out {
        Ok(v) => println!("{v}"),
        Err(e) => {
            println!("{}", json!({"error": e}));
            std::process::exit(1);
        }
    }
    // Sockets are closed by exit; the servers see the close.
    rt.shutdown_timeout(Duration::from_millis(200));
}

// ------------------------------------------------------------------- options

struct Opts {
    dialect: Box<dyn Dialect>,
    host: String,
    port: u16,
    sessions: usize,
    viewers: usize,
    job: String,
    pending: usize,
    server_pid: Option<u32>,
    /// Further processes of the server: those with this in their arguments.
    also: Option<String>,
    timeout: Duration,
    setup: usize,
    repeat: usize,
    stalled: usize,
}

impl Opts {
    fn from(o: &BTreeMap<String, String>) -> Res<Self> {
        let num = |k: &str, d: usize| -> Res<usize> {
            o.get(k).map_or(Ok(d), |v| {
                v.parse().map_err(|_| format!("--{k}: not a number"))
            })
        };
        let name = o.get("dialect").ok_or("--dialect missing")?;
        Ok(Opts {
            dialect: by_name(name).ok_or_else(|| format!("unknown dialect {name}"))?,
            host: o.get("host").cloned().unwrap_or_else(|| "127.0.0.1".into()),
            port: num("port", 0)? as u16,
            sessions: num("sessions", 1)?,
            viewers: num("viewers", 0)?,
            job: o.get("job").cloned().unwrap_or_default(),
            pending: num("pending", 0)?,
            also: o.get("also").cloned(),
            server_pid: o.get("server-pid").and_then(|v| v.parse().ok()),
            timeout: Duration::from_secs(num("timeout", 55)? as u64),
            setup: num("setup", 4)?,
            repeat: num("repeat", 1)?,
            stalled: num("stalled", 0)?,
        })
    }
}

fn options(args: &[String]) -> (BTreeMap<String, String>, Vec<String>) {
    let mut o = BTreeMap::new();
    let mut i = 0;
    while i < args.len() {
        if args[i] == "--" {
            return (o, args[i + 1..].to_vec());
        }
        if let Some(k) = args[i].strip_prefix("--") {
            o.insert(k.to_string(), args.get(i + 1).cloned().unwrap_or_default());
            i += 1;
        }
        i += 1;
    }
    (o, vec![])
}

// ---------------------------------------------------------------- connection

async fn open(o: &Opts, join: Option<&str>) -> Res<Ws> {
    let url = format!("ws://{}:{}{}", o.host, o.port, o.dialect.path(join));
    let mut req = url.into_client_request().map_err(|e| e.to_string())?;
    for (k, v) in o.dialect.headers() {
        req.headers_mut().insert(
            HeaderName::from_bytes(k.as_bytes()).map_err(|e| e.to_string())?,
            HeaderValue::from_str(&v).map_err(|e| e.to_string())?,
        );
    }
    let tcp = TcpStream::connect((o.host.as_str(), o.port))
        .await
        .map_err(|e| format!("connect: {e}"))?;
    tcp.set_nodelay(true).map_err(|e| e.to_string())?;
    let cfg = WebSocketConfig::default()
        .max_message_size(None)
        .max_frame_size(None);
    let (ws, _) = tokio_tungstenite::client_async_with_config(req, tcp, Some(cfg))
        .await
        .map_err(|e| format!("websocket: {e}"))?;
    Ok(ws)
}

/// A plain HTTP/1.1 request, for servers that create sessions that way.
async fn http(o: &Opts, method: &str, path: &str, body: &str) -> Res<String> {
    let mut tcp = TcpStream::connect((o.host.as_str(), o.port))
        .await
        .map_err(|e| format!("connect: {e}"))?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\n",
        o.host, o.port
    );
    for (k, v) in o.dialect.headers() {
        head.push_str(&format!("{k}: {v}\r\n"));
    }
    if !body.is_empty() {
        head.push_str(&format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        ));
    }
    tcp.write_all(format!("{head}\r\n{body}").as_bytes())
        .await
        .map_err(|e| e.to_string())?;
    let mut got = String::new();
    tcp.read_to_string(&mut got)
        .await
        .map_err(|e| e.to_string())?;
    got.split_once("\r\n\r\n")
        .map(|(_, b)| b.to_string())
        .ok_or_else(|| format!("http answer: {got}"))
}

async fn next_text(ws: &mut Ws) -> Res<Message> {
    loop {
        match ws.next().await {
            Some(Ok(m @ (Message::Text(_) | Message::Binary(_)))) => return Ok(m),
            Some(Ok(Message::Close(c))) => return Err(format!("closed by the server: {c:?}")),
            Some(Ok(_)) => {}
            Some(Err(e)) => return Err(format!("websocket: {e}")),
            None => return Err("connection ended".into()),
        }
    }
}

fn text_of(m: &Message) -> &str {
    match m {
        Message::Text(t) => t.as_str(),
        Message::Binary(b) => std::str::from_utf8(b).unwrap_or(""),
        _ => "",
    }
}

async fn send(ws: &mut Ws, text: String) -> Res<()> {
    ws.send(Message::text(text))
        .await
        .map_err(|e| format!("send: {e}"))
}

/// Connect and wait until the session is open. Returns its id.
async fn attach(o: &Opts, join: Option<&str>, viewer: bool) -> Res<(Ws, String)> {
    let created = match (join, o.dialect.create()) {
        (None, Some((m, p, b))) => {
            let body = http(o, &m, &p, &b).await?;
            Some(
                o.dialect
                    .created(&body)
                    .ok_or_else(|| format!("no session in {body}"))?,
            )
        }
        _ => None,
    };
    let join = join.or(created.as_deref());
    let mut ws = open(o, join).await?;
    for f in o.dialect.hello(join, viewer) {
        send(&mut ws, f).await?;
    }
    loop {
        let m = next_text(&mut ws).await?;
        match o.dialect.read(text_of(&m)) {
            Event::Ready { session } => {
                let id = session.to_string();
                return Ok((ws, id));
            }
            Event::Error { text } => return Err(text.to_string()),
            _ => {}
        }
    }
}

// ----------------------------------------------------------------------- run

#[derive(Default)]
struct Seen {
    frames: AtomicU64,
    bytes: AtomicU64,
    asks: AtomicU64,
    deltas: AtomicU64,
}

struct Done {
    figures: Option<Value>,
    first_ask_us: Option<f64>,
    first_delta_us: Option<f64>,
    last_delta_us: Option<f64>,
    result_us: f64,
    deltas: u64,
    hold_ns: Vec<u64>,
}

async fn run(o: Arc<Opts>) -> Res<Value> {
    let seen = Arc::new(Seen::default());
    let gate = Arc::new(Semaphore::new(o.setup));
    let t_setup = Instant::now();

    // Owners first, then the viewers of each.
    let mut joining = vec![];
    for _ in 0..o.sessions {
        let (o, gate) = (o.clone(), gate.clone());
        joining.push(tokio::spawn(async move {
            let _permit = gate.acquire().await.map_err(|e| e.to_string())?;
            let t = Instant::now();
            let (ws, id) = attach(&o, None, false).await?;
            Ok::<_, String>((ws, id, t.elapsed()))
        }));
    }
    let mut conns: Vec<(Ws, String, bool)> = vec![];
    let mut ready_ms: Vec<f64> = vec![];
    for j in joining {
        let (ws, id, took) = tokio::time::timeout(o.timeout, j)
            .await
            .map_err(|_| "timeout opening sessions")?
            .map_err(|e| e.to_string())??;
        ready_ms.push(took.as_secs_f64() * 1e3);
        conns.push((ws, id, true));
    }
    for i in 0..o.sessions {
        let id = conns[i].1.clone();
        for _ in 0..o.viewers {
            let (ws, _) = attach(&o, Some(&id), true).await?;
            conns.push((ws, id.clone(), false));
        }
    }
    let mut stalled = vec![];
    for i in 0..o.sessions {
        let id = conns[i].1.clone();
        for _ in 0..o.stalled {
            stalled.push(attach(&o, Some(&id), true).await?.0);
        }
    }
    let setup = t_setup.elapsed();
    tokio::time::sleep(Duration::from_millis(100)).await;

    let before = o.server_pid.map(|pid| whole(pid, o.also.as_deref()));
    let cpu_before = own_cpu();
    let (go, start) = watch::channel(None::<Instant>);
    let mut tasks = vec![];
    for (ws, id, owner) in conns {
        let (o, seen, mut start) = (o.clone(), seen.clone(), start.clone());
        tasks.push(tokio::spawn(async move {
            let _ = start.changed().await;
            let t0 = start.borrow().unwrap_or_else(Instant::now);
            drive(&o, ws, &id, owner, t0, &seen).await
        }));
    }
    let t0 = Instant::now();
    let _ = go.send(Some(t0));
    let mut done = vec![];
    let mut errors = vec![];
    for t in tasks {
        let left = o.timeout.saturating_sub(t0.elapsed());
        match tokio::time::timeout(left, t).await {
            Ok(Ok(Ok(d))) => done.push(d),
            Ok(Ok(Err(e))) => errors.push(e),
            Ok(Err(e)) => errors.push(e.to_string()),
            Err(_) => errors.push("timeout".into()),
        }
    }
    let wall = t0.elapsed();
    tokio::time::sleep(Duration::from_millis(30)).await;
    let after = o.server_pid.map(|pid| whole(pid, o.also.as_deref()));
    let cpu = own_cpu() - cpu_before;
    errors.sort();
    errors.dedup();
    drop(stalled);
    Ok(report(
        &o,
        done,
        errors,
        wall,
        setup,
        ready_ms,
        before.zip(after),
        cpu,
        &seen,
    ))
}

async fn drive(o: &Opts, mut ws: Ws, id: &str, owner: bool, t0: Instant, seen: &Seen) -> Res<Done> {
    let mut d = Done {
        figures: None,
        first_ask_us: None,
        first_delta_us: None,
        last_delta_us: None,
        result_us: 0.0,
        deltas: 0,
        hold_ns: vec![],
    };
    let us = |t: Instant| t.duration_since(t0).as_secs_f64() * 1e6;
    if owner {
        send(&mut ws, o.dialect.chat(id, &o.job)).await?;
    }
    let mut turns = 0;
    let mut frames = 0;
    loop {
        let m = next_text(&mut ws).await?;
        let at = Instant::now();
        let frame = text_of(&m);
        frames += 1;
        seen.frames.fetch_add(1, Relaxed);
        seen.bytes.fetch_add(frame.len() as u64, Relaxed);
        if let Some(a) = o.dialect.ack(frames, frame) {
            send(&mut ws, a).await?;
        }
        match o.dialect.read(frame) {
            Event::Ask { id: ask, digest } if owner => {
                let a = o.dialect.answer(id, ask, digest, true);
                send(&mut ws, a).await?;
                d.hold_ns.push(at.elapsed().as_nanos() as u64);
                d.first_ask_us.get_or_insert_with(|| us(at));
                seen.asks.fetch_add(1, Relaxed);
            }
            Event::Delta { count } => {
                d.deltas += count;
                d.first_delta_us.get_or_insert_with(|| us(at));
                d.last_delta_us = Some(us(at));
                seen.deltas.fetch_add(count, Relaxed);
            }
            Event::Result { escaped } => {
                turns += 1;
                if owner {
                    let text: String = serde_json::from_str(&format!("\"{escaped}\""))
                        .map_err(|e| e.to_string())?;
                    let f: Value =
                        serde_json::from_str(&text).map_err(|e| format!("result {text}: {e}"))?;
                    d.figures = Some(f);
                }
                d.result_us = us(at);
                if turns >= o.repeat {
                    // Kept open until the process ends, so that closing does
                    // not load the server while others are still measured.
                    std::mem::forget(ws);
                    return Ok(d);
                }
                if owner {
                    send(&mut ws, o.dialect.chat(id, &o.job)).await?;
                }
            }
            Event::Error { text } => return Err(text.to_string()),
            _ => {}
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn report(
    o: &Opts,
    done: Vec<Done>,
    errors: Vec<String>,
    wall: Duration,
    setup: Duration,
    mut ready_ms: Vec<f64>,
    stat: Option<(ProcStat, ProcStat)>,
    cpu: Duration,
    seen: &Seen,
) -> Value {
    let mut hist: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut count, mut max, mut agent_wall, mut worst_p99) = (0u64, 0f64, 0f64, 0f64);
    let (mut p50s, mut p90s, mut p99s) = (vec![], vec![], vec![]);
    let mut answered = 0;
    for f in done
        .iter()
        .filter_map(|d| d.figures.as_ref())
        .filter(|f| f["job"] == "asks")
    {
        count += f["count"].as_u64().unwrap_or(0);
        answered += f["allowed"].as_u64().unwrap_or(0) + f["denied"].as_u64().unwrap_or(0);
        max = max.max(f["max_us"].as_f64().unwrap_or(0.0));
        worst_p99 = worst_p99.max(f["p99_us"].as_f64().unwrap_or(0.0));
        agent_wall = agent_wall.max(f["wall_us"].as_f64().unwrap_or(0.0));
        p50s.push(f["p50_us"].as_f64().unwrap_or(0.0));
        p90s.push(f["p90_us"].as_f64().unwrap_or(0.0));
        p99s.push(f["p99_us"].as_f64().unwrap_or(0.0));
        for b in f["hist_us"].as_array().into_iter().flatten() {
            *hist.entry(b[0].as_u64().unwrap_or(0)).or_default() += b[1].as_u64().unwrap_or(0);
        }
    }
    let q = |p: f64, exact: &[f64]| -> f64 {
        // One agent: its exact figure. Several: the merged histogram (4 % wide).
        if exact.len() == 1 {
            return exact[0];
        }
        let total: u64 = hist.values().sum();
        let want = (total as f64 * p).ceil() as u64;
        let mut sum = 0;
        for (b, n) in &hist {
            sum += n;
            if sum >= want {
                return 1.04f64.powf(*b as f64 + 0.5);
            }
        }
        0.0
    };
    let r = |x: f64| (x * 10.0).round() / 10.0;
    let mut holds: Vec<u64> = done
        .iter()
        .flat_map(|d| d.hold_ns.iter().copied())
        .collect();
    holds.sort_unstable();
    let hold = |p: f64| {
        holds
            .get(((holds.len() as f64 * p) as usize).min(holds.len().saturating_sub(1)))
            .map_or(0.0, |n| *n as f64 / 1e3)
    };
    let deltas: u64 = done.iter().map(|d| d.deltas).sum();
    let last = done
        .iter()
        .filter_map(|d| d.last_delta_us)
        .fold(0.0, f64::max);
    let first = done
        .iter()
        .filter_map(|d| d.first_delta_us)
        .fold(f64::INFINITY, f64::min);
    ready_ms.sort_by(f64::total_cmp);
    let mid = |v: &[f64]| v.get(v.len() / 2).copied().unwrap_or(0.0);
    let mut out = json!({
        "sessions": o.sessions, "viewers": o.viewers, "ok": done.len(), "errors": errors,
        "asks": count, "answered": answered,
        "p50_us": r(q(0.50, &p50s)), "p90_us": r(q(0.90, &p90s)), "p99_us": r(q(0.99, &p99s)), "max_us": r(max),
        "worst_session_p99_us": r(worst_p99),
        "asks_per_s": r(if agent_wall > 0.0 { count as f64 / agent_wall * 1e6 } else { 0.0 }),
        "wall_ms": r(wall.as_secs_f64() * 1e3), "setup_ms": r(setup.as_secs_f64() * 1e3),
        "session_ready_ms": r(mid(&ready_ms)), "session_ready_max_ms": r(ready_ms.last().copied().unwrap_or(0.0)),
        "frames": seen.frames.load(Relaxed), "bytes": seen.bytes.load(Relaxed), "client_asks": seen.asks.load(Relaxed),
        "client_hold_p50_us": r(hold(0.5)), "client_hold_p99_us": r(hold(0.99)),
        "client_cpu_ms": r(cpu.as_secs_f64() * 1e3),
        "first_ask_ms": done.iter().filter_map(|d| d.first_ask_us).reduce(f64::max).map(|u| r(u / 1e3)),
        "result_ms": r(done.iter().map(|d| d.result_us).fold(0.0, f64::max) / 1e3),
    });
    if deltas > 0 {
        let span = (last - first).max(1.0);
        out["deltas"] = json!(deltas);
        out["delta_span_ms"] = json!(r(span / 1e3));
        out["deltas_per_s_each"] = json!(r(deltas as f64 / done.len() as f64 / span * 1e6));
        out["deltas_per_s_total"] = json!(r(deltas as f64 / span * 1e6));
        out["first_delta_ms"] = json!(r(first / 1e3));
    }
    if let Some((a, b)) = stat {
        let ms = (b.cpu_ns.saturating_sub(a.cpu_ns)) as f64 / 1e6;
        out["server_cpu_ms"] = json!(r(ms));
        // Per ask answered (warm-up included), or per delta of the transcript.
        let units = if answered > 0 {
            answered
        } else {
            deltas / (1 + o.viewers as u64)
        };
        if units > 0 {
            out["server_cpu_us_per_unit"] = json!(r(ms * 1e3 / units as f64));
        }
        out["server_rss_kb"] = json!(b.rss_kb);
        out["server_peak_kb"] = json!(b.peak_kb);
        out["server_threads"] = json!(b.threads);
    }
    out
}

// ---------------------------------------------------------------------- hold

async fn hold(o: Arc<Opts>) -> Res<Value> {
    let gate = Arc::new(Semaphore::new(o.setup));
    let t0 = Instant::now();
    let mut joining = vec![];
    for _ in 0..o.sessions {
        let (o, gate) = (o.clone(), gate.clone());
        joining.push(tokio::spawn(async move {
            let _permit = gate.acquire().await.map_err(|e| e.to_string())?;
            let (mut ws, id) = attach(&o, None, false).await?;
            if o.pending > 0 {
                send(&mut ws, o.dialect.chat(&id, &o.job)).await?;
                let mut asks = 0;
                while asks < o.pending {
                    let m = next_text(&mut ws).await?;
                    if let Event::Ask { .. } = o.dialect.read(text_of(&m)) {
                        asks += 1;
                    }
                }
            }
            let mut held = vec![ws];
            for _ in 0..o.viewers {
                held.push(attach(&o, Some(&id), true).await?.0);
            }
            Ok::<_, String>(held)
        }));
    }
    let mut held = vec![];
    for j in joining {
        held.extend(
            tokio::time::timeout(o.timeout, j)
                .await
                .map_err(|_| "timeout opening sessions")?
                .map_err(|e| e.to_string())??,
        );
    }
    println!(
        "{}",
        json!({"ready": true, "sockets": held.len(), "pending": o.pending * o.sessions, "ms": t0.elapsed().as_millis() as u64})
    );
    let mut b = [0u8; 1];
    let _ = tokio::io::stdin().read(&mut b).await;
    for ws in &mut held {
        let _ = tokio::time::timeout(Duration::from_millis(200), ws.close(None)).await;
    }
    Ok(json!({"closed": held.len()}))
}

// --------------------------------------------------------------------- probe

async fn probe(o: Arc<Opts>, cmd: Vec<String>) -> Res<Value> {
    let (prog, args) = cmd.split_first().ok_or("probe: no program after --")?;
    let t0 = Instant::now();
    let mut child = tokio::process::Command::new(prog)
        .args(args)
        .kill_on_drop(true)
        .spawn()
        .map_err(|e| format!("{prog}: {e}"))?;
    let ws = loop {
        if t0.elapsed() > o.timeout {
            return Err("server did not come up".into());
        }
        if let Ok(Some(s)) = child.try_wait() {
            return Err(format!("server ended: {s}"));
        }
        match open(&o, None).await {
            Ok(ws) => break ws,
            Err(_) => tokio::time::sleep(Duration::from_micros(500)).await,
        }
    };
    let up = t0.elapsed();
    drop(ws);
    let t1 = Instant::now();
    let (ws, _) = tokio::time::timeout(o.timeout, attach(&o, None, false))
        .await
        .map_err(|_| "timeout")??;
    let first_session = t1.elapsed();
    let pid = child.id().unwrap_or(0);
    let stat = proc_stat(pid);
    drop(ws);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let _ = child.kill().await;
    Ok(
        json!({"first_ws_ms": up.as_secs_f64() * 1e3, "first_session_ms": first_session.as_secs_f64() * 1e3,
        "rss_kb": stat.rss_kb, "cpu_ms": stat.cpu_ns as f64 / 1e6}),
    )
}

// ---------------------------------------------------------------------- proc

#[derive(Default, Clone, Copy)]
struct ProcStat {
    cpu_ns: u64,
    rss_kb: u64,
    peak_kb: u64,
    threads: u64,
}

fn proc_stat(pid: u32) -> ProcStat {
    let mut s = ProcStat::default();
    if let Ok(dir) = std::fs::read_dir(format!("/proc/{pid}/task")) {
        for e in dir.flatten() {
            s.threads += 1;
            if let Ok(t) = std::fs::read_to_string(e.path().join("schedstat")) {
                s.cpu_ns += t
                    .split_whitespace()
                    .next()
                    .and_then(|v| v.parse().ok())
                    .unwrap_or(0);
            }
        }
    }
    if let Ok(t) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
        let kb = |k: &str| {
            t.lines()
                .find_map(|l| l.strip_prefix(k))
                .and_then(|v| v.split_whitespace().next())
                .and_then(|v| v.parse().ok())
                .unwrap_or(0)
        };
        s.rss_kb = kb("VmRSS:");
        s.peak_kb = kb("VmHWM:");
    }
    s
}

/// The server with its other processes: their time, and the memory of the server alone.
fn whole(pid: u32, also: Option<&str>) -> ProcStat {
    let mut sum = proc_stat(pid);
    let Some(also) = also else { return sum };
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let other: Option<u32> = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(other) = other.filter(|other| *other != pid) else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
        // The agents have the folder nowhere, and this program only in its own arguments.
        let is_server = first.ends_with(b"sayso");
        if is_server && String::from_utf8_lossy(&line).contains(also) {
            sum.cpu_ns += proc_stat(other).cpu_ns;
        }
    }
    sum
}

fn own_cpu() -> Duration {
    Duration::from_nanos(proc_stat(std::process::id()).cpu_ns)
}
