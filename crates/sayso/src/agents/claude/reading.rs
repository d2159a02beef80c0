//! What a tool call would do, read for a human who is about to decide on it.

use sayso_policy::risk::{self, RiskKind};
use sayso_policy::shell;
use sayso_protocol as protocol;

use crate::rules::{self, Call};

#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) risks: Vec<protocol::Risk>,
    pub(super) destructive: bool,
    pub(super) command_breaks: Vec<u32>,
}

pub(super) fn read(call: &Call) -> Reading {
    let mut risks = risk::read(&call.facts());
    // Of other tools nobody expects to read what they do off their input.
    if call.tool_name != "Bash" {
        risks.retain(|risk| risk.kind != RiskKind::Unknown);
    }
    let command = call.input["command"]
        .as_str()
        .filter(|_| call.tool_name == "Bash");
    Reading {
        destructive: risks.iter().any(|risk| risk.kind.is_destructive()),
        risks: rules::risks(risks),
        command_breaks: command.map(breaks).unwrap_or_default(),
    }
}

/// Whether it would do what cannot be taken back.
pub fn is_destructive(call: &Call) -> bool {
    read(call).destructive
}

/// Browsers count text in UTF-16 code units.
fn breaks(command: &str) -> Vec<u32> {
    let mut counted = 0;
    let mut units = 0;
    let mut found = Vec::new();
    for offset in shell::breaks(command) {
        let Some(part) = command.get(counted..offset) else {
            return Vec::new();
        };
        units += part.chars().map(|c| c.len_utf16() as u32).sum::<u32>();
        counted = offset;
        found.push(units);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_compound_command_is_read_part_by_part() {
        let input = json!({"command": "echo 😀 && rm -rf build; npm ci"});
        let reading = read(&Call::new("Bash", input, Path::new("/srv/project")));
        // 😀 counts two.
        assert_eq!(reading.command_breaks, [11, 25]);
        assert!(reading.destructive);
        let deletes = reading
            .risks
            .iter()
            .find(|risk| risk.kind == protocol::RiskKind::Deletes);
        assert_eq!(deletes.unwrap().words, "rm -rf build");
    }

    #[test]
    fn what_is_no_command_has_no_breaks() {
        let input = json!({"command": "a && b"});
        let call = Call::new("mcp__db__query", input, Path::new("/srv"));
        assert!(read(&call).command_breaks.is_empty());
    }
}
