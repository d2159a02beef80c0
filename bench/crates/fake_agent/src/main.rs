//! Fake agent: stands in for the Claude Code CLI on its stdio stream-json
//! control protocol, so that a host (an SDK, or our own server) can be measured
//! without a model, a network or the real CLI.
//!
//! It answers the host's `initialize`, `set_permission_mode`, `interrupt` (and
//! any other) control request, and treats the text of a user message as a job:
//!
//!   {"asks": N, "parallel": P, "tool": "Bash", "size": BYTES, "rule_hit": bool,
//!    "quiet": bool, "gap_us": U, "warmup": W}
//!        N permission requests, P outstanding at a time. Unless "quiet", each
//!        one is preceded by the assistant tool_use message and followed by the
//!        user tool_result message, as the CLI does. "gap_us" is the pause
//!        between an answer and the next request (the agent's "think time"),
//!        and between those that are outstanding from the beginning.
//!        "size" is that of the input's text (command, content, question) as
//!        JSON. "rule_hit" makes the command start with "benchrule" (the path
//!        with "/benchrule") instead of "benchask", for hosts with rules.
//!        The first W round trips (default 0) are run but not counted.
//!   {"stream": N, "chunk": BYTES, "per_write": K}
//!        N text deltas (stream_event), K lines per write(2) (default 1).
//!   anything else: one assistant text message, then the result.
//!
//! The round trip of one request runs from just before the write(2) of its line
//! to the return of the read(2) that completed the line of its answer. The
//! figures come back as JSON in the `result` text of the `result` message.

mod agent;
mod ask;
mod chance;
mod lines;
mod quantiles;

use agent::Agent;
use serde_json::Value;

/// Shapes as printed by the CLI of this version.
const CLI_VERSION: &str = "2.1.325";

fn main() {
    if std::env::args().any(|a| a == "-v" || a == "--version") {
        println!("{CLI_VERSION} (Claude Code)");
        return;
    }
    let mut agent = Agent::new();
    while let Some((line, _)) = agent.input.next_line() {
        let Ok(msg) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        agent.on_message(msg);
    }
}
