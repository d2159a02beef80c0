//! Scripts for the demo agent, and policies for servers.

use serde_json::{Value, json};

use crate::support::tool;

/// Four questions: the second and the fourth take several labels.
pub(crate) fn questions() -> Value {
    let options = json!([{"label": "Summary", "description": "Brief"}, {"label": "Detailed", "description": "Full"}]);
    let question = |text: &str, several: bool| json!({"question": text, "header": "H", "options": options, "multiSelect": several});
    json!({"steps": [tool("AskUserQuestion", json!({"questions": [
        question("One?", false), question("Several?", true), question("Free?", false), question("Last?", true),
    ]}))]})
}

/// Two subagents ask at once.
pub(crate) fn two_at_once() -> Value {
    let subagent = |name: &str, command: &str| {
        let steps = [tool("Bash", json!({"command": command}))];
        json!({"subagent": {"name": name, "steps": steps}})
    };
    let together = [
        subagent("one", "touch one.txt"),
        subagent("two", "touch two.txt"),
    ];
    json!({"steps": [{"together": together}]})
}

pub(crate) fn policies(text: &str) -> sayso::config::PolicySettings {
    use figment::providers::{Format, Toml};
    figment::Figment::from(Toml::string(text))
        .extract()
        .unwrap()
}
