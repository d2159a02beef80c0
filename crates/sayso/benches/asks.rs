//! From the lines of one permission request to what the hub is told: `cargo bench -p sayso --bench asks`.

#![expect(
    clippy::expect_used,
    reason = "a line that cannot be read stops the benchmark"
)]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use sayso::agents::AgentOutput;
use sayso::agents::claude::Adapter;
use sayso_claude::ControlSession;
use sayso_claude::line::{Received, classify};
use serde_json::json;

/// In the order in which the agent writes them.
struct Lines {
    tool_use: String,
    request: String,
    tool_result: String,
}

fn lines(command_bytes: usize) -> Lines {
    let words = "--name value café src/main.rs ".chars().cycle();
    let words: String = words.take(command_bytes).collect();
    let command = format!("program --run {}", words.trim_end());
    let input = json!({"command": command, "description": "Run a step"}).to_string();
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let suggestion = json!({
        "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "program:*"}],
        "behavior": "allow", "destination": "localSettings",
    });
    let content = json!([{
        "tool_use_id": "toolu_1", "type": "tool_result", "content": "(no output)", "is_error": false,
    }]);
    let meta = json!([{"id": "toolu_1", "permission_decision": {"decision": "accept"}}]);
    Lines {
        tool_use: format!(
            r#"{{"type":"assistant","message":{{"id":"msg_1","type":"message","role":"assistant","model":"model","content":[{{"type":"tool_use","id":"toolu_1","name":"Bash","input":{input}}}],"stop_reason":null,"usage":{usage}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}}"#
        ),
        request: format!(
            r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{input},"description":"Run a step","permission_suggestions":[{suggestion}],"decision_reason":"This command requires approval","decision_reason_type":"other","tool_use_id":"toolu_1"}}}}"#
        ),
        tool_result: format!(
            r#"{{"type":"user","message":{{"role":"user","content":{content}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u","tool_use_result":{{"stdout":"","stderr":"","interrupted":false}},"tool_result_meta":{meta}}}"#
        ),
    }
}

fn outputs(session: &mut ControlSession, adapter: &mut Adapter, line: &str) -> Vec<AgentOutput> {
    let Ok(Some(Received::Json(line))) = classify(line.as_bytes()) else {
        return Vec::new();
    };
    let heard = session.receive(&line).expect("the agent is understood");
    let events = heard.events.into_iter();
    events.flat_map(|event| adapter.translate(event)).collect()
}

fn asks(criterion: &mut Criterion) {
    let folder = std::env::temp_dir();
    let mut group = criterion.benchmark_group("line to outputs");
    for bytes in [200, 1000] {
        let lines = lines(bytes);
        for (name, line) in [
            ("tool use", lines.tool_use),
            ("request", lines.request),
            ("tool result", lines.tool_result),
        ] {
            group.bench_function(BenchmarkId::new(name, bytes), |bencher| {
                let mut adapter = Adapter::new(folder.clone());
                bencher.iter_batched_ref(
                    ControlSession::new,
                    |session| black_box(outputs(session, &mut adapter, &line)),
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, asks);
criterion_main!(benches);
