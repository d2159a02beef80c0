//! A rough look at a command: which programs, and whether files are written.

use super::command::{Redirect, RedirectKind};
use super::wrappers::read_through;

/// What the forgiving reader finds, nested and wrapped commands included. Never a base for allowing anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Word by word, program names first.
    pub commands: Vec<Vec<String>>,
    /// Some output is redirected into a file.
    pub writes: bool,
}

/// More commands than anybody looks at.
const MAX_COMMANDS: usize = 1_000;

pub fn outline(command: &str) -> Outline {
    let mut outline = Outline::default();
    read_through(command, &mut |found| {
        outline.writes |= found.redirects.iter().any(writes);
        if outline.commands.len() < MAX_COMMANDS && !found.words.is_empty() {
            let words = found.words.iter().map(|word| word.text.clone());
            outline.commands.push(words.collect());
        }
    });
    outline
}

fn writes(redirect: &Redirect) -> bool {
    matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
        && !redirect.target.is("/dev/null")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_commands_and_written_files_are_found() {
        let found = outline("ls *.rs 2>/dev/null | head -$N && echo \"$(whoami)\"");
        let programs: Vec<&str> = found
            .commands
            .iter()
            .map(|words| words[0].as_str())
            .collect();
        assert!(
            ["ls", "head", "whoami", "echo"]
                .iter()
                .all(|name| programs.contains(name))
        );
        assert!(!found.writes);
        assert!(outline("echo x >> $FILE").writes);
    }
}
