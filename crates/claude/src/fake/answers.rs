//! What the agent makes of modes, rules and answers, as pure functions.

use serde_json::{Map, Value, json};

use crate::mode::PermissionMode;

/// What happens to a tool call before anybody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ask,
    Allow,
    Deny,
}

pub(super) fn verdict(
    tool: &str,
    input: &Map<String, Value>,
    mode: &PermissionMode,
    rules: &[(String, Option<String>)],
) -> Verdict {
    let needs_a_human = matches!(tool, "AskUserQuestion" | "ExitPlanMode");
    match mode {
        PermissionMode::DontAsk => Verdict::Deny,
        _ if needs_a_human => Verdict::Ask,
        PermissionMode::BypassPermissions => Verdict::Allow,
        PermissionMode::AcceptEdits if matches!(tool, "Write" | "Edit") => Verdict::Allow,
        _ if rules.iter().any(|rule| rule_fits(rule, tool, input)) => Verdict::Allow,
        _ => Verdict::Ask,
    }
}

/// A rule without content is for the whole tool; one with content is for exactly that command.
fn rule_fits(rule: &(String, Option<String>), tool: &str, input: &Map<String, Value>) -> bool {
    let (name, content) = rule;
    let command = input.get("command").and_then(Value::as_str);
    name == tool
        && content
            .as_deref()
            .is_none_or(|content| command == Some(content))
}

pub(super) fn suggestions(tool: &str, input: &Map<String, Value>, mode: &PermissionMode) -> Value {
    match tool {
        "Bash" => json!([{
            "type": "addRules", "behavior": "allow", "destination": "session",
            "rules": [{"toolName": "Bash", "ruleContent": input.get("command")}],
        }]),
        "Write" | "Edit" if *mode == PermissionMode::Plan => json!([]),
        "Write" | "Edit" => {
            json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
        }
        "AskUserQuestion" | "ExitPlanMode" => json!([]),
        _ => json!([{
            "type": "addRules", "behavior": "allow", "destination": "session",
            "rules": [{"toolName": tool}],
        }]),
    }
}

/// The rules that an answer adds, and the mode that it sets.
pub(super) fn updates(answer: &Value) -> (Vec<(String, Option<String>)>, Option<PermissionMode>) {
    let mut rules = Vec::new();
    let mut mode = None;
    for update in answer["updatedPermissions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        match update["type"].as_str() {
            Some("addRules") if update["behavior"] == json!("allow") => {
                for rule in update["rules"].as_array().into_iter().flatten() {
                    if let Some(name) = rule["toolName"].as_str() {
                        let content = rule["ruleContent"].as_str().map(str::to_owned);
                        rules.push((name.to_owned(), content));
                    }
                }
            }
            Some("setMode") => mode = update["mode"].as_str().map(PermissionMode::from_wire),
            _ => {}
        }
    }
    (rules, mode)
}

/// The preview and the notes that go with an answer, in the words of the real agent.
fn annotation(input: &Map<String, Value>, question: &str) -> String {
    let Some(about) = input.get("annotations").and_then(|all| all.get(question)) else {
        return String::new();
    };
    let part = |name: &str, label: &str| match about[name].as_str() {
        Some(text) => format!(" {label}: {text}"),
        None => String::new(),
    };
    part("preview", "selected preview") + &part("notes", "notes")
}

/// What the model reads after AskUserQuestion.
pub(super) fn question_result(input: &Map<String, Value>) -> String {
    if let Some(response) = input.get("response").and_then(Value::as_str) {
        return format!("The user responded: {response}");
    }
    let questions = input.get("questions").and_then(Value::as_array);
    let answers = input.get("answers").and_then(Value::as_object);
    let answered: Vec<String> = questions
        .into_iter()
        .flatten()
        .filter_map(|question| {
            let text = question["question"].as_str()?;
            let answer = answers?.get(text)?.as_str()?;
            let about = annotation(input, text);
            (!answer.is_empty()).then(|| format!("\"{text}\"=\"{answer}\"{about}"))
        })
        .collect();
    if answered.is_empty() {
        return "The user did not answer the questions.".to_owned();
    }
    format!(
        "Your questions have been answered: {}. You can now continue with these answers in mind.",
        answered.join(", ")
    )
}
