//! Words that are done with, used again for the next ones.

use std::cell::Cell;

use super::super::command::{Command, Word};

thread_local! {
    /// What the last reading left for the next one.
    static LEFT: Cell<Spare> = const {
        Cell::new(Spare {
            words: Vec::new(),
            room: Vec::new(),
        })
    };
}

/// So many words are kept between two readings, and so much room in each.
const KEPT_WORDS: usize = 256;
const KEPT_BYTES: usize = 256;

/// A hostile text holds half a million commands of one letter. With what is
/// kept here, reading them does not ask for memory each time.
#[derive(Debug, Default)]
pub(super) struct Spare {
    words: Vec<Word>,
    /// Empty: room for the words of a command.
    room: Vec<Word>,
}

impl Spare {
    /// One call is read several times, and each of its words would ask for memory again.
    pub(super) fn left() -> Self {
        LEFT.take()
    }

    /// A command with room for its words.
    pub(super) fn command(&mut self) -> Command {
        Command {
            words: std::mem::take(&mut self.room),
            ..Command::default()
        }
    }

    /// The room of a command that was emptied.
    pub(super) fn take_room(&mut self, command: Command) {
        if command.words.is_empty() {
            self.room = command.words;
        }
    }

    /// Keeps what the next reading can use.
    pub(super) fn leave(mut self) {
        self.room.shrink_to(KEPT_WORDS);
        self.words.truncate(KEPT_WORDS);
        self.words.shrink_to(KEPT_WORDS);
        self.words.retain(|word| word.text.capacity() <= KEPT_BYTES);
        LEFT.set(self);
    }

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
