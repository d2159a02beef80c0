//! The shapes of permission requests.

use serde_json::json;

/// Everything of a permission request that does not change between two of them.
pub(crate) struct Ask {
    pub(crate) tool: String,
    pub(crate) input: Vec<u8>,
    pub(crate) request_tail: Vec<u8>,
    pub(crate) request_end: &'static [u8],
}

impl Ask {
    pub(crate) fn new(tool: &str, size: usize, rule_hit: bool) -> Self {
        // A host that keeps allow rules is given one for this prefix; hosts
        // without rules never look at it.
        let mark = if rule_hit { "benchrule" } else { "benchask" };
        let (input, description, extra) = match tool {
            "Write" => {
                let path = format!("/{mark}/src/main.rs");
                (
                    json!({"file_path": path, "content": filler(size)}),
                    Some("main.rs"),
                    json!({"permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
                        "server_policy_ask_only": true}),
                )
            }
            "Edit" => {
                let path = format!("/{mark}/src/main.rs");
                let half = filler(size / 2);
                (
                    json!({"file_path": path, "old_string": half, "new_string": half, "replace_all": false}),
                    Some("main.rs"),
                    json!({"permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
                        "server_policy_ask_only": true}),
                )
            }
            "AskUserQuestion" => (
                json!({"questions": [{"question": filler(size), "header": "Format", "options": [
                    {"label": "Summary", "description": "Brief overview"},
                    {"label": "Detailed", "description": "Full explanation"}], "multiSelect": false}]}),
                None,
                json!({}),
            ),
            _ => (
                json!({"command": format!("{mark} --run {}", arguments(size)), "description": "Run the benchmark step"}),
                Some("Run the benchmark step"),
                json!({"permission_suggestions": [{"type": "addRules", "rules": [{"toolName": tool, "ruleContent": format!("{mark}:*")}],
                        "behavior": "allow", "destination": "localSettings"}],
                    "decision_reason": "This command requires approval", "decision_reason_type": "other"}),
            ),
        };
        let input = serde_json::to_vec(&input).expect("json");
        // The key order is the CLI's: subtype, tool_name, display_name, input,
        // description, permission_suggestions, ..., tool_use_id.
        let mut t = Vec::with_capacity(input.len() + 512);
        t.extend_from_slice(b"\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":");
        let name = serde_json::to_vec(tool).expect("json");
        t.extend_from_slice(&name);
        t.extend_from_slice(b",\"display_name\":");
        t.extend_from_slice(&name);
        t.extend_from_slice(b",\"input\":");
        t.extend_from_slice(&input);
        if let Some(d) = description {
            t.extend_from_slice(b",\"description\":");
            t.extend_from_slice(&serde_json::to_vec(d).expect("json"));
        }
        let extra = serde_json::to_vec(&extra).expect("json");
        if extra.len() > 2 {
            t.push(b',');
            t.extend_from_slice(&extra[1..extra.len() - 1]);
        }
        t.extend_from_slice(b",\"tool_use_id\":\"");
        let request_end: &[u8] = match tool {
            "AskUserQuestion" => b"\",\"requires_user_interaction\":true}}\n",
            _ => b"\"}}\n",
        };
        Ask {
            tool: tool.to_string(),
            input,
            request_tail: t,
            request_end,
        }
    }
}

/// Words that a shell takes as they are, so that a host that reads commands can
/// tell what would run.
fn arguments(n: usize) -> String {
    "--name value café src/main.rs "
        .chars()
        .cycle()
        .take(n)
        .collect::<String>()
        .trim_end()
        .to_string()
}

/// Text like program source: newlines, quotes and a few non-ASCII characters,
/// so that JSON escaping and UTF-8 checks cost what they cost in practice.
/// The JSON form is within a few bytes of `n`.
pub(crate) fn filler(n: usize) -> String {
    const LINE: &str = "    let name = \"value\"; // checks café\n    call(name, 42)?;\n";
    let mut s = String::with_capacity(n + 8);
    let mut json_len = 0;
    for c in LINE.chars().cycle() {
        let w = match c {
            '"' | '\n' | '\\' => 2,
            c => c.len_utf8(),
        };
        if json_len + w > n {
            break;
        }
        json_len += w;
        s.push(c);
    }
    s
}
