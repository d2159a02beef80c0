//! The practical floor: the least a Rust server on tokio and tungstenite can do
//! and still be a broker. It speaks ref_py's WebSocket dialect, reads each agent
//! line with serde (borrowing, the tool input stays raw JSON), keeps a table of
//! pending requests, fans frames out to any number of viewers, and writes
//! answers to the agent's stdin. No auth, no store, no limits: it is a
//! yardstick, not a server.
//!
//! Environment: BENCH_AGENT, BENCH_PORT, BENCH_CWD, BENCH_ALLOW (one prefix of a
//! command or path that is allowed without asking), BENCH_THREADS (1: one
//! current-thread runtime, the default; n: n workers), BENCH_BUF (bytes of the
//! read and write buffers per connection and per agent; the libraries' own
//! defaults, 128 KiB and 64 KiB, if not set), BENCH_ECHO (0: answer with
//! "updatedInput":{}, which CLI 2.1.325 takes as "unchanged", instead of sending
//! the input back; without the key it refuses the answer).

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

struct Session {
    viewers: Mutex<Vec<(u64, UnboundedSender<Utf8Bytes>)>>,
    /// Our request id is the CLI's; the input is kept to send it back.
    pending: Mutex<HashMap<String, Box<RawValue>>>,
    to_agent: UnboundedSender<Vec<u8>>,
}

impl Session {
    fn publish(&self, frame: String, skip: Option<u64>) {
        let frame = Utf8Bytes::from(frame);
        for (id, tx) in self.viewers.lock().expect("lock").iter() {
            if Some(*id) != skip {
                let _ = tx.send(frame.clone());
            }
        }
    }
}

type Sessions = Arc<Mutex<HashMap<String, Arc<Session>>>>;

fn main() {
    let threads: usize = std::env::var("BENCH_THREADS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(1);
    let rt = if threads <= 1 {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
    } else {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
    }
    .expect("runtime");
    rt.block_on(async {
        let port: u16 = std::env::var("BENCH_PORT")
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(8767);
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("bind");
        let sessions: Sessions = Default::default();
        let mut n = 0u64;
        while let Ok((tcp, _)) = listener.accept().await {
            n += 1;
            let _ = tcp.set_nodelay(true);
            tokio::spawn(connection(tcp, n, sessions.clone()));
        }
    });
}

fn echo() -> bool {
    static E: OnceLock<bool> = OnceLock::new();
    *E.get_or_init(|| std::env::var("BENCH_ECHO").map_or(true, |v| v != "0"))
}

fn buffer() -> Option<usize> {
    static N: OnceLock<Option<usize>> = OnceLock::new();
    *N.get_or_init(|| std::env::var("BENCH_BUF").ok().and_then(|v| v.parse().ok()))
}

#[derive(Deserialize)]
struct ClientMsg<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    session_id: Option<&'a str>,
    request_id: Option<&'a str>,
    approved: Option<bool>,
    message: Option<String>,
}

async fn connection(tcp: TcpStream, me: u64, sessions: Sessions) {
    let mut cfg = WebSocketConfig::default();
    if let Some(n) = buffer() {
        cfg = cfg.read_buffer_size(n).write_buffer_size(n);
    }
    let Ok(ws) = tokio_tungstenite::accept_async_with_config(tcp, Some(cfg)).await else {
        return;
    };
    let (mut tx, mut rx) = ws.split();
    let (out, mut out_rx) = unbounded_channel::<Utf8Bytes>();
    let writer = tokio::spawn(async move {
        while let Some(f) = out_rx.recv().await {
            if tx.feed(Message::Text(f)).await.is_err() {
                return;
            }
            while let Ok(f) = out_rx.try_recv() {
                if tx.feed(Message::Text(f)).await.is_err() {
                    return;
                }
            }
            if tx.flush().await.is_err() {
                return;
            }
        }
    });
    let mut session: Option<(String, Arc<Session>)> = None;
    while let Some(Ok(msg)) = rx.next().await {
        let Message::Text(text) = msg else { continue };
        let Ok(m) = serde_json::from_str::<ClientMsg>(&text) else {
            continue;
        };
        match (m.kind, &session) {
            ("permission_response", Some((_, s))) => {
                let id = m.request_id.unwrap_or("");
                let Some(input) = s.pending.lock().expect("lock").remove(id) else {
                    continue;
                };
                let _ = s
                    .to_agent
                    .send(verdict(id, (m.approved == Some(true)).then(|| input.get())));
                if s.viewers.lock().expect("lock").len() > 1 {
                    s.publish(
                        format!(r#"{{"type":"permission_resolved","request_id":"{id}"}}"#),
                        Some(me),
                    );
                }
            }
            ("handshake", _) => {
                let found = m.session_id.and_then(|id| {
                    sessions
                        .lock()
                        .expect("lock")
                        .get(id)
                        .map(|s| (id.to_string(), s.clone()))
                });
                let (id, s) = match found {
                    Some(x) => x,
                    None => {
                        let id = format!("{:016x}-{me}", std::process::id());
                        let s = start_agent().await;
                        sessions.lock().expect("lock").insert(id.clone(), s.clone());
                        (id, s)
                    }
                };
                s.viewers.lock().expect("lock").push((me, out.clone()));
                let _ =
                    out.send(format!(r#"{{"type":"session_created","session_id":"{id}"}}"#).into());
                session = Some((id, s));
            }
            ("chat", Some((_, s))) => {
                let text = serde_json::to_string(&m.message.unwrap_or_default()).expect("json");
                let _ = s.to_agent.send(
                    format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{text}}},\"parent_tool_use_id\":null,\"session_id\":\"default\"}}\n")
                        .into_bytes(),
                );
            }
            _ => {}
        }
    }
    if let Some((id, s)) = session {
        let mut v = s.viewers.lock().expect("lock");
        v.retain(|(n, _)| *n != me);
        if v.is_empty() {
            sessions.lock().expect("lock").remove(&id);
        }
    }
    writer.abort();
}

/// The control_response line: allowed with this input, or denied.
fn verdict(id: &str, allowed: Option<&str>) -> Vec<u8> {
    let allowed = allowed.map(|input| if echo() { input } else { "{}" });
    let mut line = Vec::with_capacity(allowed.map_or(0, str::len) + 200);
    line.extend_from_slice(
        br#"{"type":"control_response","response":{"subtype":"success","request_id":""#,
    );
    line.extend_from_slice(id.as_bytes());
    if let Some(input) = allowed {
        line.extend_from_slice(br#"","response":{"behavior":"allow","updatedInput":"#);
        line.extend_from_slice(input.as_bytes());
    } else {
        line.extend_from_slice(
            br#"","response":{"behavior":"deny","message":"User denied permission""#,
        );
    }
    line.extend_from_slice(b"}}}\n");
    line
}

/// What a rule looks at.
#[derive(Deserialize)]
struct Subject<'a> {
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow)]
    file_path: Option<Cow<'a, str>>,
}

fn rule_allows(input: &RawValue) -> bool {
    static RULE: OnceLock<Option<String>> = OnceLock::new();
    let Some(prefix) =
        RULE.get_or_init(|| std::env::var("BENCH_ALLOW").ok().filter(|v| !v.is_empty()))
    else {
        return false;
    };
    let Ok(s) = serde_json::from_str::<Subject>(input.get()) else {
        return false;
    };
    s.command
        .or(s.file_path)
        .is_some_and(|v| v.starts_with(prefix.as_str()))
}

async fn start_agent() -> Arc<Session> {
    let agent = std::env::var("BENCH_AGENT").expect("BENCH_AGENT");
    let mut cmd = tokio::process::Command::new(agent);
    if let Ok(d) = std::env::var("BENCH_CWD") {
        cmd.current_dir(d);
    }
    let mut child = cmd
        .args([
            "--output-format",
            "stream-json",
            "--input-format",
            "stream-json",
            "--verbose",
            "--permission-prompt-tool",
            "stdio",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("agent");
    let mut stdin = child.stdin.take().expect("stdin");
    let stdout = child.stdout.take().expect("stdout");
    let (to_agent, mut lines): (_, UnboundedReceiver<Vec<u8>>) = unbounded_channel();
    let s = Arc::new(Session {
        viewers: Default::default(),
        pending: Default::default(),
        to_agent,
    });
    let _ = s.to_agent.send(
        b"{\"type\":\"control_request\",\"request_id\":\"init-1\",\"request\":{\"subtype\":\"initialize\",\"hooks\":null}}\n".to_vec(),
    );
    tokio::spawn(async move {
        while let Some(l) = lines.recv().await {
            if stdin.write_all(&l).await.is_err() {
                break;
            }
        }
    });
    let weak = Arc::downgrade(&s);
    let (ready, wait) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let mut ready = Some(ready);
        let mut r = BufReader::with_capacity(buffer().unwrap_or(64 * 1024), stdout);
        let mut line = String::new();
        loop {
            line.clear();
            match r.read_line(&mut line).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            let Some(s) = weak.upgrade() else { break };
            on_line(&s, line.trim_end(), &mut ready);
        }
        drop(child);
    });
    let _ = wait.await;
    s
}

#[derive(Deserialize)]
struct AgentMsg<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    request_id: Option<&'a str>,
    #[serde(borrow)]
    request: Option<Request<'a>>,
    #[serde(borrow)]
    event: Option<Ev<'a>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Request<'a> {
    tool_name: Option<&'a str>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Ev<'a> {
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

fn on_line(s: &Session, line: &str, ready: &mut Option<tokio::sync::oneshot::Sender<()>>) {
    let Ok(m) = serde_json::from_str::<AgentMsg>(line) else {
        return;
    };
    match m.kind {
        "control_request" => {
            let (Some(id), Some(r)) = (m.request_id, m.request) else {
                return;
            };
            let Some(input) = r.input else { return };
            if rule_allows(input) {
                let _ = s.to_agent.send(verdict(id, Some(input.get())));
                return;
            }
            s.pending
                .lock()
                .expect("lock")
                .insert(id.to_string(), input.to_owned());
            s.publish(
                format!(
                    r#"{{"type":"permission_request","request_id":"{id}","request_type":"tool_approval","tool_name":"{}","input_data":{},"timeout_seconds":60}}"#,
                    r.tool_name.unwrap_or(""),
                    input.get()
                ),
                None,
            );
        }
        "stream_event" => {
            if let Some(t) = m.event.and_then(|e| e.delta).and_then(|d| d.text) {
                s.publish(
                    format!(
                        r#"{{"type":"response_chunk","content":{},"done":false}}"#,
                        t.get()
                    ),
                    None,
                );
            }
        }
        "assistant" | "user" => {
            if let Some(msg) = m.message {
                s.publish(
                    format!(r#"{{"type":"tool_activity","message":{}}}"#, msg.get()),
                    None,
                );
            }
        }
        "result" => {
            let r = m.result.map_or("null", |r| r.get());
            s.publish(
                format!(r#"{{"type":"response_chunk","content":"","done":true,"result":{r}}}"#),
                None,
            );
        }
        "control_response" => {
            if let Some(r) = ready.take() {
                let _ = r.send(());
            }
        }
        _ => {}
    }
}
