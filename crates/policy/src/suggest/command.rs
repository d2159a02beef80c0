//! Rules for a shell command.

use super::SuggestionKind;
use crate::rule::escape;
use crate::shell::strict::{Plain, PlainWord, understand};

/// Programs whose second word says what they do.
const WITH_SUBCOMMANDS: &[&str] = &[
    "git",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "cargo",
    "go",
    "gh",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "make",
    "just",
    "rustup",
    "terraform",
    "tofu",
    "brew",
    "apt",
    "apt-get",
    "dotnet",
    "gradle",
    "mvn",
    "systemctl",
    "helm",
    "aws",
    "gcloud",
    "az",
    "deno",
    "docker",
    "podman",
    "kubectl",
    "rails",
    "bundle",
    "composer",
    "mix",
    "flutter",
    "dart",
    "swift",
];

pub(super) fn texts(command: &str) -> Vec<(SuggestionKind, Vec<String>)> {
    match understand(command) {
        Ok(parts) => vec![
            (SuggestionKind::Exact, parts.iter().map(exact).collect()),
            (SuggestionKind::Prefix, parts.iter().map(prefix).collect()),
        ],
        // No rule can allow it, but one can deny it.
        Err(_) => vec![(
            SuggestionKind::Exact,
            vec![format!("Bash({})", escape(command.trim()))],
        )],
    }
}

fn exact(part: &Plain<'_>) -> String {
    format!("Bash({})", escape(part.source))
}

fn prefix(part: &Plain<'_>) -> String {
    let words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
    let length = match words.as_slice() {
        [program, subcommand, ..] if WITH_SUBCOMMANDS.contains(program) => {
            let names_script =
                matches!(*subcommand, "run" | "exec" | "compose" | "remote" | "stash");
            if names_script { 3 } else { 2 }
        }
        _ => 1,
    };
    let named = part
        .words
        .iter()
        .take(length)
        .take_while(|word| is_name(word));
    let named: Vec<&str> = named.map(|word| word.text.as_str()).collect();
    format!("Bash({}:*)", named.join(" "))
}

/// A word that a reader takes for the name of something, not for an option or
/// a path.
fn is_name(word: &PlainWord) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:.+".contains(&byte);
    word.bare && !word.text.starts_with('-') && word.text.bytes().all(plain)
}
