//! The agent: one turn for each message.

use crate::ask::{filler, Ask};
use crate::chance::{next, uuid};
use crate::lines::Lines;
use crate::quantiles::Quantiles;
use serde_json::{json, Value};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::time::{Duration, Instant};

pub(crate) struct Agent {
    pub(crate) input: Lines,
    out: ManuallyDrop<File>,
    rng: u64,
    session_id: String,
    cwd: String,
    init_sent: bool,
    interrupted: bool,
    mode: String,
    turns: u64,
}

impl Agent {
    pub(crate) fn new() -> Self {
        // SAFETY: fd 1 is open for the life of the process and never closed here.
        let out = ManuallyDrop::new(unsafe { File::from_raw_fd(1) });
        let mut rng = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map(|d| d.as_nanos() as u64)
            .unwrap_or(1)
            ^ ((std::process::id() as u64) << 32)
            | 1;
        let session_id = uuid(&mut rng);
        let cwd = std::env::current_dir()
            .map(|p| p.display().to_string())
            .unwrap_or_default();
        Agent {
            input: Lines::new(),
            out,
            rng,
            session_id,
            cwd,
            init_sent: false,
            interrupted: false,
            mode: "default".into(),
            turns: 0,
        }
    }

    fn uuid(&mut self) -> String {
        uuid(&mut self.rng)
    }

    fn write_line(&mut self, line: &[u8]) {
        if self.out.write_all(line).is_err() {
            std::process::exit(0);
        }
    }

    fn send(&mut self, v: &Value) {
        let mut s = serde_json::to_vec(v).expect("json");
        s.push(b'\n');
        self.write_line(&s);
    }

    pub(crate) fn on_message(&mut self, msg: Value) {
        match msg["type"].as_str() {
            Some("control_request") => self.on_control(&msg),
            Some("user") => {
                let text = user_text(&msg);
                self.run_job(&text);
            }
            _ => {}
        }
    }

    fn on_control(&mut self, msg: &Value) {
        let req = &msg["request"];
        let response = match req["subtype"].as_str() {
            Some("initialize") => json!({
                "commands": [
                    {"name": "compact", "description": "Free up context by summarizing the conversation so far", "argumentHint": "", "builtin": true},
                    {"name": "review", "description": "Review a pull request", "argumentHint": "[pr]", "builtin": true}
                ],
                "agents": [{"name": "general-purpose", "description": "General purpose agent"}],
                "output_style": "default",
                "available_output_styles": ["default"],
                "models": [{"value": "default", "displayName": "Default", "description": "Default model"}],
                "account": {"apiKeySource": "ANTHROPIC_API_KEY"},
                "pid": std::process::id(),
                "claude_code_version": crate::CLI_VERSION,
                "current_permission_mode": "default"
            }),
            Some("set_permission_mode") => {
                self.mode = req["mode"].as_str().unwrap_or("default").to_string();
                json!({"mode": self.mode})
            }
            Some("interrupt") => {
                self.interrupted = true;
                json!({})
            }
            _ => json!({}),
        };
        let v = json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": msg["request_id"], "response": response}});
        self.send(&v);
    }

    fn run_job(&mut self, text: &str) {
        self.interrupted = false;
        if !self.init_sent {
            self.init_sent = true;
            let v = self.system_init();
            self.send(&v);
        }
        let job: Value = serde_json::from_str(text).unwrap_or(Value::Null);
        let started = Instant::now();
        let figures = if job["asks"].is_u64() {
            self.run_asks(&job)
        } else if job["stream"].is_u64() {
            self.run_stream(&job)
        } else {
            let v = self.assistant(json!({"type": "text", "text": "Hello."}));
            self.send(&v);
            json!({"job": "none"})
        };
        // As the CLI does: what it says last is also the result's text.
        let v = self.assistant(json!({"type": "text", "text": figures.to_string()}));
        self.send(&v);
        let v = self.result(&figures, started.elapsed());
        self.send(&v);
    }

    // ------------------------------------------------------------- asks job

    fn run_asks(&mut self, job: &Value) -> Value {
        let asks = job["asks"].as_u64().unwrap_or(1) as usize;
        let warmup = job["warmup"].as_u64().unwrap_or(0) as usize;
        let total = asks + warmup;
        let parallel = (job["parallel"].as_u64().unwrap_or(1) as usize).clamp(1, total.max(1));
        let tool = job["tool"].as_str().unwrap_or("Bash").to_string();
        let size = job["size"].as_u64().unwrap_or(200) as usize;
        let rule_hit = job["rule_hit"].as_bool().unwrap_or(false);
        let quiet = job["quiet"].as_bool().unwrap_or(false);
        let gap = Duration::from_micros(job["gap_us"].as_u64().unwrap_or(0));
        let tpl = Ask::new(&tool, size, rule_hit);

        let mut open: HashMap<String, (usize, Instant)> = HashMap::with_capacity(parallel * 2);
        let mut rtts: Vec<u64> = Vec::with_capacity(asks);
        let (mut issued, mut done, mut allowed, mut denied) = (0usize, 0usize, 0usize, 0usize);
        let mut started = Instant::now();
        let mut stopped = false;

        while issued < parallel {
            self.issue(&tpl, issued, quiet, &mut open);
            issued += 1;
            if parallel > 1 && !gap.is_zero() {
                std::thread::sleep(gap);
            }
        }
        while done < total {
            let Some((line, at)) = self.input.next_line() else {
                std::process::exit(0)
            };
            let Ok(msg) = serde_json::from_slice::<Value>(&line) else {
                continue;
            };
            match msg["type"].as_str() {
                Some("control_response") => {
                    let r = &msg["response"];
                    let Some((n, t0)) = r["request_id"].as_str().and_then(|id| open.remove(id))
                    else {
                        continue;
                    };
                    done += 1;
                    if n >= warmup {
                        rtts.push(at.duration_since(t0).as_nanos() as u64);
                    }
                    let allow = r["response"]["behavior"] == "allow";
                    if allow {
                        allowed += 1
                    } else {
                        denied += 1
                    }
                    if !quiet {
                        let reason = r["response"]["message"]
                            .as_str()
                            .unwrap_or("denied")
                            .to_string();
                        let line = self.tool_result(&tpl, n, allow, &reason);
                        self.write_line(&line);
                    }
                    if done == warmup {
                        started = Instant::now();
                    }
                    if issued < total && !stopped {
                        if !gap.is_zero() {
                            std::thread::sleep(gap);
                        }
                        self.issue(&tpl, issued, quiet, &mut open);
                        issued += 1;
                    }
                }
                Some("control_request") => {
                    self.on_control(&msg);
                    if self.interrupted && !stopped {
                        stopped = true;
                        // As the CLI does: withdraw what is still open, then end the turn.
                        for id in open.keys() {
                            let v = json!({"type": "control_cancel_request", "request_id": id});
                            let mut s = serde_json::to_vec(&v).expect("json");
                            s.push(b'\n');
                            let _ = self.out.write_all(&s);
                        }
                        break;
                    }
                }
                _ => {}
            }
        }
        let wall = started.elapsed();
        self.turns += done as u64;
        let q = Quantiles::of(&mut rtts);
        json!({"job": "asks", "count": rtts.len(), "allowed": allowed, "denied": denied, "parallel": parallel,
            "tool": tool, "size": size, "quiet": quiet, "interrupted": stopped,
            "p50_us": q.p50, "p90_us": q.p90, "p99_us": q.p99, "max_us": q.max, "min_us": q.min, "mean_us": q.mean,
            "wall_us": wall.as_micros() as u64,
            "hist_us": q.hist})
    }

    fn issue(
        &mut self,
        tpl: &Ask,
        n: usize,
        quiet: bool,
        open: &mut HashMap<String, (usize, Instant)>,
    ) {
        let tool_use_id = format!("toolu_{n:08}");
        if !quiet {
            let line = self.assistant_tool_use(tpl, &tool_use_id);
            self.write_line(&line);
        }
        let id = self.uuid();
        let mut line = Vec::with_capacity(tpl.request_tail.len() + 128);
        line.extend_from_slice(b"{\"type\":\"control_request\",\"request_id\":\"");
        line.extend_from_slice(id.as_bytes());
        line.extend_from_slice(&tpl.request_tail);
        line.extend_from_slice(tool_use_id.as_bytes());
        line.extend_from_slice(tpl.request_end);
        open.insert(id, (n, Instant::now()));
        self.write_line(&line);
    }

    // ----------------------------------------------------------- stream job

    fn run_stream(&mut self, job: &Value) -> Value {
        let n = job["stream"].as_u64().unwrap_or(0) as usize;
        let chunk = job["chunk"].as_u64().unwrap_or(20) as usize;
        let per_write = (job["per_write"].as_u64().unwrap_or(1) as usize).max(1);
        let msg_id = format!("msg_{:016x}", next(&mut self.rng));
        let text = filler(chunk);
        let start = json!({"message": {"id": msg_id, "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}},
            "type": "message_start"});
        let v = self.stream_event(start, &msg_id);
        self.send(&v);
        let v = self.stream_event(
            json!({"index": 0, "content_block": {"type": "text", "text": ""}, "type": "content_block_start"}),
            &msg_id,
        );
        self.send(&v);

        // One delta, cut around its uuid.
        let delta = self.stream_event(
            json!({"index": 0, "delta": {"type": "text_delta", "text": text}, "type": "content_block_delta"}),
            &msg_id,
        );
        let whole = serde_json::to_string(&delta).expect("json");
        let mark = delta["uuid"].as_str().unwrap_or_default().to_string();
        let cut = whole.find(&mark).expect("uuid in line");
        let (head, tail) = (
            whole[..cut].as_bytes().to_vec(),
            whole[cut + mark.len()..].as_bytes().to_vec(),
        );

        let t0 = Instant::now();
        let mut out = Vec::with_capacity(per_write * (whole.len() + 1));
        for i in 0..n {
            out.extend_from_slice(&head);
            let id = self.uuid();
            out.extend_from_slice(id.as_bytes());
            out.extend_from_slice(&tail);
            out.push(b'\n');
            if (i + 1) % per_write == 0 || i + 1 == n {
                let line = std::mem::take(&mut out);
                self.write_line(&line);
                out = line;
                out.clear();
            }
        }
        let wall = t0.elapsed();
        for ev in [
            json!({"index": 0, "type": "content_block_stop"}),
            json!({"delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": n}, "type": "message_delta"}),
            json!({"type": "message_stop"}),
        ] {
            let v = self.stream_event(ev, &msg_id);
            self.send(&v);
        }
        json!({"job": "stream", "count": n, "chunk": chunk, "line_bytes": whole.len() + 1, "wall_us": wall.as_micros() as u64})
    }

    // -------------------------------------------------------------- messages

    fn system_init(&mut self) -> Value {
        json!({"type": "system", "subtype": "init", "cwd": self.cwd, "session_id": self.session_id,
            "tools": ["Task", "AskUserQuestion", "Bash", "Edit", "Read", "WebFetch", "WebSearch", "Write"],
            "mcp_servers": [], "model": "claude-opus-5-5", "permissionMode": self.mode,
            "slash_commands": ["compact", "review"], "apiKeySource": "ANTHROPIC_API_KEY",
            "claude_code_version": crate::CLI_VERSION, "output_style": "default",
            "agents": ["general-purpose"], "skills": [], "plugins": [], "uuid": self.uuid(), "fast_mode_state": "off"})
    }

    fn assistant(&mut self, block: Value) -> Value {
        json!({"type": "assistant", "message": {"id": format!("msg_{:016x}", next(&mut self.rng)), "type": "message",
            "role": "assistant", "model": "claude-opus-5-5", "content": [block], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 1}, "context_management": null},
            "parent_tool_use_id": null, "session_id": self.session_id, "uuid": self.uuid(),
            "timestamp": "2026-11-15T17:43:18.260Z"})
    }

    fn assistant_tool_use(&mut self, tpl: &Ask, tool_use_id: &str) -> Vec<u8> {
        let mut l = Vec::with_capacity(tpl.input.len() + 512);
        l.extend_from_slice(b"{\"type\":\"assistant\",\"message\":{\"id\":\"msg_");
        l.extend_from_slice(format!("{:016x}", next(&mut self.rng)).as_bytes());
        l.extend_from_slice(b"\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":\"tool_use\",\"id\":\"");
        l.extend_from_slice(tool_use_id.as_bytes());
        l.extend_from_slice(b"\",\"name\":\"");
        l.extend_from_slice(tpl.tool.as_bytes());
        l.extend_from_slice(b"\",\"input\":");
        l.extend_from_slice(&tpl.input);
        l.extend_from_slice(b"}],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":10,\"output_tokens\":1},\"context_management\":null},\"parent_tool_use_id\":null,\"session_id\":\"");
        l.extend_from_slice(self.session_id.clone().as_bytes());
        l.extend_from_slice(b"\",\"uuid\":\"");
        l.extend_from_slice(self.uuid().as_bytes());
        l.extend_from_slice(b"\",\"timestamp\":\"2026-11-15T17:43:18.260Z\"}\n");
        l
    }

    fn tool_result(&mut self, tpl: &Ask, n: usize, allow: bool, reason: &str) -> Vec<u8> {
        let id = format!("toolu_{n:08}");
        let content = if allow {
            format!("({} completed with no output)", tpl.tool)
        } else {
            reason.to_string()
        };
        let decision = if allow {
            json!({"decision": "accept", "source": "user_temporary"})
        } else {
            json!({"decision": "reject", "source": "user_reject"})
        };
        let v = json!({"type": "user", "message": {"role": "user", "content": [
                {"tool_use_id": id, "type": "tool_result", "content": content, "is_error": !allow}]},
            "parent_tool_use_id": null, "session_id": self.session_id, "uuid": self.uuid(),
            "timestamp": "2026-11-15T17:43:18.503Z",
            "tool_use_result": {"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": true},
            "tool_result_meta": [{"id": id, "permission_decision": decision}]});
        let mut s = serde_json::to_vec(&v).expect("json");
        s.push(b'\n');
        s
    }

    fn stream_event(&mut self, event: Value, msg_id: &str) -> Value {
        json!({"type": "stream_event", "event": event, "session_id": self.session_id,
            "parent_tool_use_id": null, "uuid": self.uuid(), "api_message_id": msg_id})
    }

    fn result(&mut self, figures: &Value, took: Duration) -> Value {
        json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": took.as_millis() as u64,
            "duration_api_ms": 0, "num_turns": self.turns + 1, "result": figures.to_string(), "stop_reason": "end_turn",
            "session_id": self.session_id, "total_cost_usd": 0.0,
            "usage": {"input_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                "output_tokens": 25, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                "service_tier": "standard"},
            "modelUsage": {}, "permission_denials": [], "terminal_reason": "completed", "fast_mode_state": "off",
            "uuid": self.uuid()})
    }
}

fn user_text(msg: &Value) -> String {
    match &msg["message"]["content"] {
        Value::String(s) => s.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|b| b["text"].as_str())
            .collect::<Vec<_>>()
            .join(""),
        _ => String::new(),
    }
}
