//! Words that are done with, used again for the next ones.

use super::super::command::{Command, Word};

/// A hostile text holds half a million commands of one letter. With what is
/// kept here, reading them does not ask for memory each time.
#[derive(Debug, Default)]
pub(super) struct Spare {
    words: Vec<Word>,
}

impl Spare {
    /// An empty word.
    pub(super) fn word(&mut self) -> Word {
        let mut word = self.words.pop().unwrap_or_default();
        word.text.clear();
        word.literal = true;
        word.quoted = false;
        word
    }

    /// Empties `command`, which keeps its room for the next one.
    pub(super) fn take_from(&mut self, command: &mut Command) {
        if self.words.is_empty() {
            // No copy of what may be a hundred thousand words.
            std::mem::swap(&mut self.words, &mut command.words);
        } else {
            self.words.append(&mut command.words);
        }
        command.assignments.clear();
        command.redirects.clear();
        command.piped = false;
    }
}
