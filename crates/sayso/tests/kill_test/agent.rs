//! An agent that always has a few requests open, and writes down what it asks and what it hears.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};

use serde_json::{Value, json};

use super::ledger::Ledger;

/// As many requests does one agent keep open.
const OPEN: usize = 10;

struct Agent {
    ledger: Ledger,
    name: u32,
    open: BTreeSet<String>,
    asked: u64,
}

pub(crate) fn run(ledger: Ledger) {
    let mut agent = Agent {
        ledger,
        name: std::process::id(),
        open: BTreeSet::new(),
        asked: 0,
    };
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let message: Value = serde_json::from_str(&line).unwrap();
        match message["type"].as_str() {
            Some("control_request") => agent.answer(&message),
            Some("control_response") => agent.hear(&message["response"]),
            Some("user") => agent.keep_asking(),
            _ => {}
        }
    }
}

impl Agent {
    fn answer(&self, message: &Value) {
        let answer = json!({"claude_code_version": "0", "models": [], "commands": []});
        say(&json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": message["request_id"], "response": answer,
        }}));
    }

    fn keep_asking(&mut self) {
        while self.open.len() < OPEN {
            self.asked += 1;
            let ask = format!("{}-{}", self.name, self.asked);
            self.ledger.note("asked", &ask);
            self.open.insert(ask.clone());
            say(
                &json!({"type": "control_request", "request_id": ask, "request": {
                    "subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": ask,
                    "input": {"command": ask}, "permission_suggestions": [],
                }}),
            );
        }
    }

    fn hear(&mut self, response: &Value) {
        let ask = response["request_id"].as_str().unwrap();
        if !self.open.remove(ask) {
            return self.ledger.note("doubled", ask);
        }
        let behavior = response["response"]["behavior"].as_str();
        self.ledger.note(behavior.unwrap_or("error"), ask);
        self.keep_asking();
    }
}

fn say(line: &Value) {
    let mut output = std::io::stdout().lock();
    // A host that is gone is noticed at the end of the input.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
