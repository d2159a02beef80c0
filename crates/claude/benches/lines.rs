//! From a line of the agent to what it means: `cargo bench -p sayso-claude --bench lines`.

#![expect(
    clippy::expect_used,
    reason = "a capture that cannot be read stops the benchmark"
)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sayso_claude::line::{Received, classify};
use sayso_claude::{AgentEvent, ControlSession};
use serde_json::{Value, json};

fn events(session: &mut ControlSession, line: &str) -> Vec<AgentEvent> {
    match classify(line.as_bytes()) {
        Ok(Some(Received::Json(line))) => session.receive(&line).map(|heard| heard.events),
        Ok(_) => Ok(Vec::new()),
        Err(error) => return vec![AgentEvent::Noise(error.to_string())],
    }
    .unwrap_or_default()
}

fn delta(text: &str) -> Value {
    json!({
        "type": "stream_event", "session_id": "s", "uuid": "u", "parent_tool_use_id": null,
        "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
    })
}

fn ask(number: usize, bytes: usize) -> Value {
    json!({
        "type": "control_request", "request_id": format!("r{number}"),
        "request": {
            "subtype": "can_use_tool", "tool_name": "Write", "tool_use_id": format!("t{number}"),
            "input": {"file_path": "/srv/project/src/main.rs", "content": "line of text\n".repeat(bytes / 13)},
            "permission_suggestions": [], "decision_reason": "This tool requires approval",
        },
    })
}

fn assistant(number: usize) -> Value {
    json!({
        "type": "assistant", "session_id": "s", "uuid": "u", "parent_tool_use_id": null,
        "message": {
            "id": format!("m{number}"), "type": "message", "role": "assistant", "model": "model",
            "content": [{"type": "tool_use", "id": format!("t{number}"), "name": "Bash",
                "input": {"command": "cargo test --workspace", "description": "Run the tests"}}],
            "stop_reason": null, "usage": {"input_tokens": 10, "output_tokens": 20},
        },
    })
}

fn lines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("line to events");
    let mut measure = |name: &str, lines: Vec<String>| {
        let bytes = lines.iter().map(String::len).sum::<usize>() / lines.len();
        group.throughput(Throughput::Bytes(bytes as u64));
        let mut next = lines.iter().cycle();
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || (ControlSession::new(), next.next().expect("there are lines")),
                |(session, line)| black_box(events(session, line)),
                BatchSize::SmallInput,
            );
        });
    };
    let many = |line: fn(usize) -> Value| (0..64).map(|number| line(number).to_string()).collect();
    measure(
        "streamed text",
        vec![delta("some text of it, ").to_string()],
    );
    measure("tool use", many(assistant));
    measure("request of 200 B", many(|number| ask(number, 200)));
    measure("request of 64 KB", many(|number| ask(number, 65_536)));
    group.finish();
}

criterion_group!(benches, lines);
criterion_main!(benches);
