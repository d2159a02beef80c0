//! From text to a rule. What is not surely meant is refused with a reason.

use super::command::CommandPattern;
use super::path::PathPattern;
use super::text::Wildcards;
use super::{PathTool, RuleError, Subject};
use crate::visible::deceptive;
use crate::web::DomainPattern;

const MAX_CHARACTERS: usize = 8_000;

/// Fields of `Bash` that a rule can name. Others look like commands.
const COMMAND_PARAMETERS: &[&str] = &["run_in_background", "timeout", "dangerouslyDisableSandbox"];

/// What the specifier of a tool is about already.
const PRIMARY_PARAMETERS: &[(&str, &[&str])] = &[
    ("Bash", &["command"]),
    ("Read", &["file_path"]),
    ("Edit", &["file_path"]),
    ("WebFetch", &["url"]),
    ("Agent", &["subagent_type"]),
    ("Task", &["subagent_type"]),
];

pub(super) fn subject(text: &str) -> Result<Subject, RuleError> {
    if text.trim().is_empty() {
        return Err(RuleError::Empty);
    }
    if text.len() > MAX_CHARACTERS {
        let most = MAX_CHARACTERS;
        return Err(RuleError::TooLong { most });
    }
    if let Some(character) = deceptive(text) {
        return Err(RuleError::Deceptive(character));
    }
    let Some((tool, rest)) = text.split_once('(') else {
        return without_specifier(text);
    };
    let specifier = rest.strip_suffix(')').ok_or(RuleError::Malformed)?;
    check_name(tool)?;
    if specifier.is_empty() {
        return Err(RuleError::EmptySpecifier(tool.to_owned()));
    }
    if specifier.trim() != specifier {
        return Err(RuleError::Padded);
    }
    with_specifier(tool, specifier)
}

fn without_specifier(text: &str) -> Result<Subject, RuleError> {
    if let Some(rest) = text.strip_prefix("mcp__") {
        return server(text, rest);
    }
    if text.contains('*') {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'*';
        return if text.bytes().all(plain) {
            Ok(Subject::ToolsLike(Wildcards::parse(text)))
        } else {
            Err(RuleError::Malformed)
        };
    }
    check_name(text)?;
    Ok(Subject::Tool(text.to_owned()))
}

/// `mcp__server`, `mcp__server__tool`, `mcp__server__get_*`.
fn server(text: &str, rest: &str) -> Result<Subject, RuleError> {
    let is_name = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        !text.is_empty() && text.bytes().all(plain)
    };
    let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
    if server.contains('*') {
        return Ok(Subject::ToolsLike(Wildcards::parse(text)));
    }
    if !is_name(server) || !is_name(&tool.replace('*', "x")) {
        return Err(RuleError::Malformed);
    }
    Ok(Subject::Server {
        server: server.to_owned(),
        tool: Wildcards::parse(tool),
    })
}

fn check_name(tool: &str) -> Result<(), RuleError> {
    let starts_like_one = tool.starts_with(|first: char| first.is_ascii_uppercase());
    let is_name = tool
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_server_tool = tool.starts_with("mcp__")
        && tool
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if starts_like_one && is_name || is_server_tool {
        Ok(())
    } else {
        Err(RuleError::UnknownTool(tool.to_owned()))
    }
}

fn with_specifier(tool: &str, specifier: &str) -> Result<Subject, RuleError> {
    let parameter = parameter(specifier);
    if let Some((name, _)) = parameter {
        let primary = |(of, names): &(&str, &[&str])| *of == tool && names.contains(&name);
        if PRIMARY_PARAMETERS.iter().any(primary) {
            return Err(RuleError::PrimaryParameter(name.to_owned()));
        }
    }
    match tool {
        "Bash" => match parameter {
            Some((name, value)) if COMMAND_PARAMETERS.contains(&name) => {
                Ok(parameter_subject(tool, name, value))
            }
            _ => CommandPattern::parse(specifier).map(Subject::Command),
        },
        "Read" => Ok(Subject::Path(
            PathTool::Read,
            PathPattern::parse(specifier)?,
        )),
        "Edit" => Ok(Subject::Path(
            PathTool::Edit,
            PathPattern::parse(specifier)?,
        )),
        "Write" | "MultiEdit" | "NotebookEdit" => {
            Err(RuleError::PathOnOtherTool(tool.to_owned(), "Edit"))
        }
        "Glob" | "Grep" | "LS" | "NotebookRead" => {
            Err(RuleError::PathOnOtherTool(tool.to_owned(), "Read"))
        }
        "WebFetch" => {
            let domain = specifier.strip_prefix("domain:");
            let pattern = domain.and_then(DomainPattern::parse);
            pattern.map(Subject::Domain).ok_or(RuleError::NotADomain)
        }
        "Agent" | "Task" if parameter.is_none() => {
            if specifier.contains('*') {
                return Err(RuleError::NoSpecifier(tool.to_owned()));
            }
            Ok(Subject::Agent(specifier.to_owned()))
        }
        _ => match parameter {
            Some((name, value)) => Ok(parameter_subject(tool, name, value)),
            None => Err(RuleError::NoSpecifier(tool.to_owned())),
        },
    }
}

fn parameter(specifier: &str) -> Option<(&str, &str)> {
    let (name, value) = specifier.split_once(':')?;
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (!name.is_empty() && !value.is_empty() && is_name).then_some((name, value))
}

fn parameter_subject(tool: &str, name: &str, value: &str) -> Subject {
    Subject::Parameter {
        tool: tool.to_owned(),
        name: name.to_owned(),
        value: Wildcards::parse(value),
    }
}
