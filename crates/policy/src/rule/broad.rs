//! Rules that allow more than they seem to.

use super::{CommandPattern, Rule, Shape, Subject};
use crate::programs;

/// Why `rule`, used to allow, covers more than a reader would think; nothing
/// when it does not. A reason to ask a second time before saving it.
pub fn too_broad(rule: &Rule) -> Option<&'static str> {
    match &rule.subject {
        Subject::Tool(tool) => broad_tool(tool),
        Subject::ToolsLike(_) => Some("it covers every tool whose name fits"),
        Subject::Command(pattern) => broad_command(pattern),
        Subject::Path(_, pattern) => {
            let line = pattern.lines(crate::Decision::Allow).join("");
            let anything = line.trim_matches(['/', '*', '.']).is_empty();
            anything.then_some("it covers every file below its folder")
        }
        Subject::Domain(pattern) => pattern
            .is_open_ended()
            .then_some("it covers domains that anyone can register"),
        Subject::Server { tool, .. } => tool
            .is_everything()
            .then_some("it covers every tool of the server, also those it gains later"),
        Subject::Agent(_) | Subject::Parameter { .. } => None,
    }
}

fn broad_tool(tool: &str) -> Option<&'static str> {
    match tool {
        "Bash" => Some("it covers every command"),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Some("it covers every file"),
        "Read" => Some("it covers every file that can be read"),
        "WebFetch" => Some("it covers every address"),
        _ => None,
    }
}

fn broad_command(pattern: &CommandPattern) -> Option<&'static str> {
    let text = match &pattern.shape {
        Shape::Everything => return Some("it covers every command"),
        Shape::Exact(text) => {
            let mut words = text.split(' ');
            let reads_input =
                words.next().is_some_and(programs::runs_code) && words.next().is_none();
            return reads_input.then_some("it runs whatever it is given as input");
        }
        Shape::Prefix(prefix) => prefix.as_str(),
        Shape::Wildcards(wildcards) => match wildcards.parts().first() {
            Some(first) if first.contains(' ') => first.as_str(),
            Some(first) if !first.is_empty() => {
                return Some("without a blank before the `*` it also covers other programs");
            }
            _ => return Some("it covers every program"),
        },
    };
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let (program, rest) = words.split_first()?;
    if programs::runs_code(program) {
        return Some("it runs any code that it is given");
    }
    if programs::runs_other_programs(program) {
        return Some("it runs any other program");
    }
    let subcommand = rest.iter().find(|word| !word.starts_with('-'));
    match (*program, subcommand.copied()) {
        ("git", None | Some("config" | "submodule" | "bisect" | "filter-branch")) => {
            Some("git runs hooks, helpers and aliases that a repository can set")
        }
        (
            "npm" | "pnpm" | "yarn" | "bun",
            None | Some("exec" | "x" | "dlx" | "create" | "init"),
        ) => Some("it runs any package"),
        ("npm" | "pnpm" | "yarn" | "bun", Some("run" | "run-script")) if rest.len() == 1 => {
            Some("it runs any script of the project, and the agent can write those")
        }
        ("make" | "just" | "task" | "rake" | "gradle" | "mvn", None) => {
            Some("it runs any task of the project, and the agent can write those")
        }
        ("cargo" | "go" | "dotnet" | "uv" | "poetry" | "gh" | "aws" | "kubectl", None) => {
            Some("the program does very different things by its sub-commands")
        }
        ("cargo" | "go", Some("run")) | ("uv" | "poetry", Some("run")) => {
            Some("it runs any code of the project, and the agent can write that")
        }
        ("rm" | "rmdir" | "mv" | "dd" | "chmod" | "chown", None) => {
            Some("it covers every file that can be changed")
        }
        _ => None,
    }
}
