//! What a reader of shell text finds: commands, words, redirects.

/// One word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// The text the program gets; an expansion stands in it as it is written.
    pub(crate) text: String,
    /// False when the shell puts in something that the text does not say:
    /// variables, substitutions.
    pub(crate) literal: bool,
    /// Some of it was quoted or escaped.
    pub(crate) quoted: bool,
}

impl Word {
    /// Written without them, it would be something else. A word with an
    /// expansion stays as it is.
    fn needs_quotes(&self) -> bool {
        self.literal && !is_plain(&self.text)
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.literal && self.text == text
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    Append,
    /// `2>&1` and the like; the target is a number or `-`.
    Duplicate,
    /// The target is the text given to the program.
    HereText,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
}

/// One simple command, wherever in the text it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) assignments: Vec<Word>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// Its input is the output of another command.
    pub(crate) piped: bool,
}

impl Command {
    /// The words as a reader would write them, one blank between.
    pub(crate) fn text(&self) -> String {
        join(self.assignments.iter().chain(&self.words))
    }
}

pub(crate) fn join<'a>(words: impl IntoIterator<Item = &'a Word>) -> String {
    let mut text = String::new();
    write_words(&mut text, words);
    text
}

/// Appends what [`join`] makes.
pub(crate) fn write_words<'a>(text: &mut String, words: impl IntoIterator<Item = &'a Word>) {
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        write_word(text, word);
    }
}

fn write_word(text: &mut String, word: &Word) {
    if word.needs_quotes() {
        text.push('\'');
        for (index, part) in word.text.split('\'').enumerate() {
            if index > 0 {
                text.push_str("'\\''");
            }
            text.push_str(part);
        }
        text.push('\'');
    } else {
        text.push_str(&word.text);
    }
}

/// Every character stands for itself without quotes. Globs count as plain, so
/// that a rule can be written the way the command is.
fn is_plain(text: &str) -> bool {
    let plain =
        |character: char| character.is_alphanumeric() || "_-./:,@%+=*?[]~{}^#!".contains(character);
    !text.is_empty() && text.chars().all(plain)
}
