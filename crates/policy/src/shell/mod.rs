//! Reading shell commands.
//!
//! Two readers that know nothing of each other: the grammar (`parse`, then
//! `strict`), on which everything that may be allowed rests, and a forgiving
//! one (`reader`), which finds commands to deny in any text. `wrappers` looks
//! through programs that run other programs.

mod breaks;
pub(crate) mod command;
mod outline;
mod parse;
pub(crate) mod reader;
pub(crate) mod strict;
pub(crate) mod wrappers;

pub use breaks::breaks;
pub use outline::{Outline, outline};
pub(crate) use parse::parses;

/// The argument lists that a shell would run for `command`, sub-command by
/// sub-command, program names first; nothing when the text alone does not tell.
/// No rule can allow a command for which there is nothing here.
pub fn argument_lists(command: &str) -> Option<Vec<Vec<String>>> {
    let parts = strict::understand(command).ok()?;
    let texts = |part: strict::Plain<'_>| part.words.into_iter().map(|word| word.text).collect();
    Some(parts.into_iter().map(texts).collect())
}

#[cfg(test)]
mod tests {
    use super::argument_lists;

    #[test]
    fn lists_are_there_when_the_text_tells_them() {
        let list = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            argument_lists("a 'b c' | d"),
            Some(vec![list(&["a", "b c"]), list(&["d"])])
        );
        assert_eq!(argument_lists("a $b"), None);
    }
}
