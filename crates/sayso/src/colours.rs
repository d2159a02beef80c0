//! Whether colours are wanted, by whoever reads.

use std::io::IsTerminal;

/// On a terminal, unless its owner asks for none.
pub(crate) fn wanted_on(stream: &impl IsTerminal) -> bool {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_plain
}
