//! The physical floor: the same fake agent, but with nothing between it and the
//! client except a relay that copies bytes.
//!
//!   agent --pipe--> relay --loopback TCP--> client --TCP--> relay --pipe--> agent
//!
//! No WebSocket, no JSON, no sessions to look up: one epoll thread in the relay,
//! one in the client. What a real server adds to this is its own work.
//!
//!   floor relay  --port P --agent PROGRAM [--answer 1]
//!   floor client --port P --sessions S [--viewers V] --job JSON [--echo 1]
//!                [--silent 1] [--server-pid PID]
//!
//! `--answer 1` makes the relay itself answer every request that the client would
//! (the floor of a rule hit: no browser involved), still copying all bytes on.
//! `--echo 1` sends the tool input back in the answer, as the SDKs do.

use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut o = BTreeMap::new();
    for w in args.windows(2) {
        if let Some(k) = w[0].strip_prefix("--") {
            o.insert(k.to_string(), w[1].clone());
        }
    }
    match args.first().map(String::as_str) {
        Some("relay") => relay(&o),
        Some("client") => client(&o),
        _ => eprintln!("usage: floor relay|client ... (see the source)"),
    }
}

// --------------------------------------------------------------------- epoll

struct Epoll(RawFd);

impl Epoll {
    fn new() -> Self {
        // SAFETY: plain syscall.
        Epoll(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
    }
    fn set(&self, op: i32, fd: RawFd, write: bool) {
        let events = libc::EPOLLIN | if write { libc::EPOLLOUT } else { 0 };
        let mut ev = libc::epoll_event {
            events: events as u32,
            u64: fd as u64,
        };
        // SAFETY: `ev` lives through the call.
        unsafe { libc::epoll_ctl(self.0, op, fd, &mut ev) };
    }
    fn add(&self, fd: RawFd) {
        self.set(libc::EPOLL_CTL_ADD, fd, false);
    }
    fn add_write_only(&self, fd: RawFd) {
        let mut ev = libc::epoll_event {
            events: libc::EPOLLOUT as u32,
            u64: fd as u64,
        };
        // SAFETY: `ev` lives through the call.
        unsafe { libc::epoll_ctl(self.0, libc::EPOLL_CTL_ADD, fd, &mut ev) };
    }
    fn del(&self, fd: RawFd) {
        self.set(libc::EPOLL_CTL_DEL, fd, false);
    }
    fn wait(&self, evs: &mut [libc::epoll_event]) -> usize {
        // SAFETY: `evs` is a valid buffer of the given length.
        let n = unsafe { libc::epoll_wait(self.0, evs.as_mut_ptr(), evs.len() as i32, -1) };
        n.max(0) as usize
    }
}

fn nonblocking(fd: RawFd) {
    // SAFETY: plain syscalls on an open descriptor.
    unsafe {
        let f = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, f | libc::O_NONBLOCK);
    }
}

/// Bytes read, 0 at the end, None if there is nothing now.
fn read(fd: RawFd, buf: &mut [u8]) -> Option<usize> {
    // SAFETY: `buf` is valid for its length.
    let n = unsafe { libc::read(fd, buf.as_mut_ptr().cast(), buf.len()) };
    if n >= 0 {
        return Some(n as usize);
    }
    match std::io::Error::last_os_error().kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted => None,
        _ => Some(0),
    }
}

fn write(fd: RawFd, buf: &[u8]) -> usize {
    // SAFETY: `buf` is valid for its length.
    let n = unsafe { libc::write(fd, buf.as_ptr().cast(), buf.len()) };
    n.max(0) as usize
}

// --------------------------------------------------------------------- relay

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Fresh,
    Client(usize),
    Agent(usize),
    AgentIn(usize),
}

#[derive(Default)]
struct Session {
    agent_out: RawFd,
    agent_in: RawFd,
    clients: Vec<RawFd>,
}

fn relay(o: &BTreeMap<String, String>) {
    let port: u16 = o["port"].parse().expect("port");
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("bind");
    let lfd = listener.as_raw_fd();
    let answer_here = o.get("answer").is_some_and(|v| v == "1");
    let mut partial: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let ep = Epoll::new();
    ep.add(lfd);
    let mut kinds: BTreeMap<RawFd, Kind> = BTreeMap::new();
    let mut sessions: Vec<Session> = vec![];
    let mut queued: BTreeMap<RawFd, Vec<u8>> = BTreeMap::new();
    let mut buf = vec![0u8; 256 * 1024];
    // SAFETY: epoll_event is plain data.
    let mut evs: Vec<libc::epoll_event> = vec![unsafe { std::mem::zeroed() }; 256];

    // Write now what can be written, keep the rest for when the fd is ready.
    let put =
        |ep: &Epoll, queued: &mut BTreeMap<RawFd, Vec<u8>>, fd: RawFd, pipe: bool, data: &[u8]| {
            let q = queued.entry(fd).or_default();
            if !q.is_empty() {
                q.extend_from_slice(data);
                return;
            }
            let n = write(fd, data);
            if n < data.len() {
                q.extend_from_slice(&data[n..]);
                if pipe {
                    ep.add_write_only(fd);
                } else {
                    ep.set(libc::EPOLL_CTL_MOD, fd, true);
                }
            }
        };

    loop {
        let n = ep.wait(&mut evs);
        for ev in &evs[..n] {
            let (fd, events) = (ev.u64 as RawFd, ev.events);
            if fd == lfd {
                if let Ok((s, _)) = listener.accept() {
                    s.set_nodelay(true).expect("nodelay");
                    let fd = s.into_raw_fd();
                    nonblocking(fd);
                    kinds.insert(fd, Kind::Fresh);
                    ep.add(fd);
                }
                continue;
            }
            if events & libc::EPOLLOUT as u32 != 0 {
                if let Some(q) = queued.get_mut(&fd) {
                    let w = write(fd, q);
                    q.drain(..w);
                    if q.is_empty() {
                        match kinds.get(&fd) {
                            Some(Kind::AgentIn(_)) => ep.del(fd),
                            _ => ep.set(libc::EPOLL_CTL_MOD, fd, false),
                        }
                    }
                }
            }
            if events & (libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLERR) as u32 == 0 {
                continue;
            }
            let Some(&kind) = kinds.get(&fd) else {
                continue;
            };
            let Some(got) = read(fd, &mut buf) else {
                continue;
            };
            if got == 0 {
                ep.del(fd);
                kinds.remove(&fd);
                queued.remove(&fd);
                // SAFETY: the descriptor is ours and is not used again.
                unsafe { libc::close(fd) };
                if let Kind::Client(i) = kind {
                    sessions[i].clients.retain(|c| *c != fd);
                    if sessions[i].clients.is_empty() && sessions[i].agent_in != 0 {
                        // SAFETY: as above; the agent ends at the end of its input.
                        unsafe { libc::close(sessions[i].agent_in) };
                        queued.remove(&sessions[i].agent_in);
                        kinds.remove(&sessions[i].agent_in);
                        sessions[i].agent_in = 0;
                    }
                }
                continue;
            }
            match kind {
                // First byte of a connection: 's' starts an agent, 'j' joins the
                // session given by the four bytes after it.
                Kind::Fresh if buf[0] == b's' => {
                    let mut child = Command::new(&o["agent"])
                        .stdin(Stdio::piped())
                        .stdout(Stdio::piped())
                        .spawn()
                        .expect("agent");
                    let i = sessions.len();
                    let agent_in = child.stdin.take().expect("stdin").into_raw_fd();
                    let agent_out = child.stdout.take().expect("stdout").into_raw_fd();
                    std::thread::spawn(move || child.wait());
                    nonblocking(agent_in);
                    nonblocking(agent_out);
                    kinds.insert(agent_out, Kind::Agent(i));
                    kinds.insert(agent_in, Kind::AgentIn(i));
                    kinds.insert(fd, Kind::Client(i));
                    ep.add(agent_out);
                    sessions.push(Session {
                        agent_out,
                        agent_in,
                        clients: vec![fd],
                    });
                    let _ = sessions[i].agent_out;
                    write(fd, &(i as u32).to_be_bytes());
                }
                Kind::Fresh => {
                    let i = u32::from_be_bytes(buf[1..5].try_into().expect("five bytes")) as usize;
                    kinds.insert(fd, Kind::Client(i));
                    sessions[i].clients.push(fd);
                    write(fd, &(i as u32).to_be_bytes());
                }
                Kind::Client(i) => put(&ep, &mut queued, sessions[i].agent_in, true, &buf[..got]),
                Kind::Agent(i) => {
                    if answer_here {
                        let p = partial.entry(i).or_default();
                        p.extend_from_slice(&buf[..got]);
                        let mut at = 0;
                        while let Some(n) = memchr(&p[at..]) {
                            let line = &p[at..at + n];
                            at += n + 1;
                            if line.starts_with(b"{\"type\":\"control_request\"") {
                                put(
                                    &ep,
                                    &mut queued,
                                    sessions[i].agent_in,
                                    true,
                                    &allow(line, true),
                                );
                            }
                        }
                        p.drain(..at);
                    }
                    for &c in &sessions[i].clients {
                        put(&ep, &mut queued, c, false, &buf[..got]);
                    }
                }
                Kind::AgentIn(_) => {}
            }
        }
    }
}

// -------------------------------------------------------------------- client

struct Conn {
    sock: TcpStream,
    owner: bool,
    buf: Vec<u8>,
    scanned: usize,
    asked: bool,
    deltas: u64,
    figures: Option<Value>,
    done: bool,
    out: Vec<u8>,
}

fn client(o: &BTreeMap<String, String>) {
    let get = |k: &str, d: usize| o.get(k).and_then(|v| v.parse().ok()).unwrap_or(d);
    let (sessions, viewers, echo) = (get("sessions", 1), get("viewers", 0), get("echo", 0) == 1);
    let silent = get("silent", 0) == 1;
    let job = o["job"].clone();
    let pid = o.get("server-pid").and_then(|v| v.parse::<u32>().ok());
    let connect = |hello: &[u8]| -> (TcpStream, u32) {
        let mut s = TcpStream::connect(("127.0.0.1", get("port", 0) as u16)).expect("connect");
        s.set_nodelay(true).expect("nodelay");
        s.write_all(hello).expect("hello");
        let mut id = [0u8; 4];
        s.read_exact(&mut id).expect("id");
        (s, u32::from_be_bytes(id))
    };
    let mut conns: Vec<Conn> = vec![];
    let conn = |sock: TcpStream, owner: bool| Conn {
        sock,
        owner,
        buf: Vec::new(),
        scanned: 0,
        asked: false,
        deltas: 0,
        figures: None,
        done: false,
        out: Vec::new(),
    };
    let mut ids = vec![];
    for _ in 0..sessions {
        let (s, id) = connect(b"s");
        ids.push(id);
        conns.push(conn(s, true));
    }
    for id in &ids {
        for _ in 0..viewers {
            let mut hello = vec![b'j'];
            hello.extend_from_slice(&id.to_be_bytes());
            conns.push(conn(connect(&hello).0, false));
        }
    }
    let ep = Epoll::new();
    let mut by_fd = BTreeMap::new();
    for (i, c) in conns.iter().enumerate() {
        let fd = c.sock.as_raw_fd();
        nonblocking(fd);
        ep.add(fd);
        by_fd.insert(fd, i);
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    let init = b"{\"type\":\"control_request\",\"request_id\":\"init-1\",\"request\":{\"subtype\":\"initialize\",\"hooks\":null}}\n";
    let user = format!(
        "{}\n",
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": job}]},
        "parent_tool_use_id": null, "session_id": "default"})
    );
    let cpu0 = pid.map(cpu_ns).unwrap_or(0);
    let mut buf = vec![0u8; 256 * 1024];
    // SAFETY: epoll_event is plain data.
    let mut evs: Vec<libc::epoll_event> = vec![unsafe { std::mem::zeroed() }; 256];
    let t0 = Instant::now();
    for c in conns.iter_mut().filter(|c| c.owner) {
        c.sock.write_all(init).expect("init");
    }
    let (mut first, mut last) = (None::<Instant>, None::<Instant>);
    let mut left = conns.len();
    let mut total_deltas = 0;
    while left > 0 {
        if t0.elapsed().as_secs() > 55 {
            break;
        }
        let n = ep.wait(&mut evs);
        for ev in &evs[..n] {
            let fd = ev.u64 as RawFd;
            let c = &mut conns[by_fd[&fd]];
            if ev.events & libc::EPOLLOUT as u32 != 0 && !c.out.is_empty() {
                let w = write(fd, &c.out);
                c.out.drain(..w);
                if c.out.is_empty() {
                    ep.set(libc::EPOLL_CTL_MOD, fd, false);
                }
            }
            let Some(got) = read(fd, &mut buf) else {
                continue;
            };
            if got == 0 {
                ep.del(fd);
                if !c.done {
                    left -= 1;
                }
                continue;
            }
            c.buf.extend_from_slice(&buf[..got]);
            let mut at = 0;
            while let Some(i) = memchr(&c.buf[c.scanned..]) {
                let end = c.scanned + i;
                let line = &c.buf[at..end];
                at = end + 1;
                c.scanned = at;
                if line.starts_with(b"{\"type\":\"control_request\"") && c.owner && !silent {
                    let a = allow(line, echo);
                    let w = if c.out.is_empty() { write(fd, &a) } else { 0 };
                    if w < a.len() {
                        c.out.extend_from_slice(&a[w..]);
                        ep.set(libc::EPOLL_CTL_MOD, fd, true);
                    }
                } else if line.starts_with(b"{\"type\":\"stream_event\"")
                    && find(&line[..line.len().min(120)], b"text_delta").is_some()
                {
                    c.deltas += 1;
                    total_deltas += 1;
                    let now = Instant::now();
                    first.get_or_insert(now);
                    last = Some(now);
                } else if line.starts_with(b"{\"type\":\"control_response\"") {
                    if c.owner && !c.asked {
                        c.asked = true;
                        c.sock.write_all(user.as_bytes()).expect("user");
                    }
                } else if line.starts_with(b"{\"type\":\"result\"") && !c.done {
                    let v: Value = serde_json::from_slice(line).unwrap_or(Value::Null);
                    c.figures = v["result"]
                        .as_str()
                        .and_then(|s| serde_json::from_str(s).ok());
                    c.done = true;
                    left -= 1;
                }
            }
            c.buf.drain(..at);
            c.scanned = c.buf.len();
        }
    }
    let wall = t0.elapsed();
    std::thread::sleep(std::time::Duration::from_millis(30));
    let cpu = pid.map(cpu_ns).unwrap_or(0).saturating_sub(cpu0);

    let mut hist: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut count, mut answered, mut max, mut agent_wall) = (0u64, 0u64, 0f64, 0f64);
    let mut exact = vec![];
    for f in conns
        .iter()
        .filter(|c| c.owner)
        .filter_map(|c| c.figures.as_ref())
        .filter(|f| f["job"] == "asks")
    {
        count += f["count"].as_u64().unwrap_or(0);
        answered += f["allowed"].as_u64().unwrap_or(0) + f["denied"].as_u64().unwrap_or(0);
        max = max.max(f["max_us"].as_f64().unwrap_or(0.0));
        agent_wall = agent_wall.max(f["wall_us"].as_f64().unwrap_or(0.0));
        exact.push((
            f["p50_us"].as_f64(),
            f["p90_us"].as_f64(),
            f["p99_us"].as_f64(),
        ));
        for b in f["hist_us"].as_array().into_iter().flatten() {
            *hist.entry(b[0].as_u64().unwrap_or(0)).or_default() += b[1].as_u64().unwrap_or(0);
        }
    }
    let q = |p: f64| {
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
    let one = (exact.len() == 1).then(|| exact[0]);
    let mut out = json!({
        "sessions": sessions, "viewers": viewers, "ok": conns.iter().filter(|c| c.done).count(), "errors": [],
        "asks": count, "answered": answered,
        "p50_us": r(one.and_then(|e| e.0).unwrap_or_else(|| q(0.5))),
        "p90_us": r(one.and_then(|e| e.1).unwrap_or_else(|| q(0.9))),
        "p99_us": r(one.and_then(|e| e.2).unwrap_or_else(|| q(0.99))),
        "max_us": r(max),
        "asks_per_s": r(if agent_wall > 0.0 { count as f64 / agent_wall * 1e6 } else { 0.0 }),
        "wall_ms": r(wall.as_secs_f64() * 1e3),
        "server_cpu_ms": r(cpu as f64 / 1e6),
    });
    let units = if answered > 0 {
        answered
    } else {
        total_deltas / (1 + viewers as u64)
    };
    if units > 0 {
        out["server_cpu_us_per_unit"] = json!(r(cpu as f64 / 1e3 / units as f64));
    }
    if let (Some(a), Some(b)) = (first, last) {
        let span = b.duration_since(a).as_secs_f64().max(1e-6);
        out["deltas"] = json!(total_deltas);
        out["delta_span_ms"] = json!(r(span * 1e3));
        out["deltas_per_s_each"] = json!(r(total_deltas as f64 / conns.len() as f64 / span));
        out["deltas_per_s_total"] = json!(r(total_deltas as f64 / span));
    }
    println!("{out}");
}

/// The answer to a request line: allow, with the input sent back if `echo`.
fn allow(line: &[u8], echo: bool) -> Vec<u8> {
    let id = &line[b"{\"type\":\"control_request\",\"request_id\":\"".len()..][..36];
    let mut a =
        b"{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\""
            .to_vec();
    a.extend_from_slice(id);
    a.extend_from_slice(b"\",\"response\":{\"behavior\":\"allow\"");
    if let Some(input) = input_of(line).filter(|_| echo) {
        a.extend_from_slice(b",\"updatedInput\":");
        a.extend_from_slice(input);
    }
    a.extend_from_slice(b"}}}\n");
    a
}

fn memchr(b: &[u8]) -> Option<usize> {
    // SAFETY: the pointer and length are those of `b`.
    let p = unsafe { libc::memchr(b.as_ptr().cast(), b'\n' as i32, b.len()) };
    (!p.is_null()).then(|| p as usize - b.as_ptr() as usize)
}

fn find(h: &[u8], n: &[u8]) -> Option<usize> {
    h.windows(n.len()).position(|w| w == n)
}

/// The bytes of the "input" value of a request line.
fn input_of(line: &[u8]) -> Option<&[u8]> {
    let a = find(line, b"\"input\":")? + 8;
    let mark = b"},\"description\":\"";
    let tail = line.len().saturating_sub(700).max(a);
    let b = tail + line[tail..].windows(mark.len()).rposition(|w| w == mark)? + 1;
    Some(&line[a..b])
}

fn cpu_ns(pid: u32) -> u64 {
    let mut sum = 0;
    if let Ok(d) = std::fs::read_dir(format!("/proc/{pid}/task")) {
        for e in d.flatten() {
            if let Ok(t) = std::fs::read_to_string(e.path().join("schedstat")) {
                sum += t
                    .split_whitespace()
                    .next()
                    .and_then(|v| v.parse::<u64>().ok())
                    .unwrap_or(0);
            }
        }
    }
    sum
}
