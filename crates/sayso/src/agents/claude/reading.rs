//! What a tool call would do, read for a human who is about to decide on it.

use std::path::Path;

use sayso_claude::RawJson;
use sayso_policy::risk::{self, RiskKind};
use sayso_policy::{ToolCall, shell};
use sayso_protocol as protocol;
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) risks: Vec<protocol::Risk>,
    pub(super) destructive: bool,
    pub(super) command_breaks: Vec<u32>,
}

pub(super) fn read(tool_name: &str, input: &RawJson, cwd: &Path) -> Reading {
    let input = input.to_value().unwrap_or(Value::Null);
    let home = super::home().unwrap_or_default();
    let (cwd, home) = (cwd.to_string_lossy(), home.to_string_lossy());
    let call = ToolCall {
        tool_name,
        input: &input,
        cwd: &cwd,
        home: &home,
        project_root: &cwd,
        links: &[],
    };
    let mut risks = risk::read(&call);
    // Of other tools nobody expects to read what they do off their input.
    if tool_name != "Bash" {
        risks.retain(|risk| risk.kind != RiskKind::Unknown);
    }
    let command = input["command"].as_str().filter(|_| tool_name == "Bash");
    Reading {
        destructive: risks.iter().any(|risk| risk.kind.is_destructive()),
        risks: risks.into_iter().map(shown).collect(),
        command_breaks: command.map(breaks).unwrap_or_default(),
    }
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

fn shown(risk: risk::Risk) -> protocol::Risk {
    let kind = match risk.kind {
        RiskKind::Deletes => protocol::RiskKind::Deletes,
        RiskKind::Overwrites => protocol::RiskKind::Overwrites,
        RiskKind::Privilege => protocol::RiskKind::Privilege,
        RiskKind::Network => protocol::RiskKind::Network,
        RiskKind::PipesIntoShell => protocol::RiskKind::PipesIntoShell,
        RiskKind::OutsideProject => protocol::RiskKind::OutsideProject,
        RiskKind::ProtectedPath => protocol::RiskKind::ProtectedPath,
        RiskKind::Installs => protocol::RiskKind::Installs,
        RiskKind::GitHistory => protocol::RiskKind::GitHistory,
        RiskKind::LongRunning => protocol::RiskKind::LongRunning,
        RiskKind::Unknown => protocol::RiskKind::Unknown,
    };
    protocol::Risk {
        kind,
        words: risk.words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compound_command_is_read_part_by_part() {
        let input = RawJson::parse_text(r#"{"command":"echo 😀 && rm -rf build; npm ci"}"#.into());
        let reading = read("Bash", &input.unwrap(), Path::new("/srv/project"));
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
        let input = RawJson::parse_text(r#"{"command":"a && b"}"#.into()).unwrap();
        assert!(
            read("mcp__db__query", &input, Path::new("/srv"))
                .command_breaks
                .is_empty()
        );
    }
}
