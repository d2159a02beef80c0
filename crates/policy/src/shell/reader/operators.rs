//! Outside of quotes: blanks, operators, brackets, comments.

use super::super::command::RedirectKind;
use super::list::{Close, List, Target};
use super::{Mode, Reader};

/// What a byte is outside of quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    /// Part of a word, but of interest to a shell.
    Sign,
    /// Ends a run of plain text.
    Special,
}

static CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Plain; 256];
    let (special, signs) = (b" \t\n'\"\\$`#<>&|;()", b"[]{}=!~@*?%^");
    let mut index = 0;
    while index < special.len() {
        classes[special[index] as usize] = Class::Special;
        index += 1;
    }
    index = 0;
    while index < signs.len() {
        classes[signs[index] as usize] = Class::Sign;
        index += 1;
    }
    classes
}

fn class(byte: Option<&u8>) -> Class {
    byte.map_or(Class::Special, |byte| CLASSES[usize::from(*byte)])
}

impl Reader<'_, '_> {
    pub(super) fn step_list(&mut self) {
        match self.byte(0) {
            b' ' | b'\t' => {
                self.end_word();
                self.at += 1;
            }
            b'\n' => {
                self.end_command(false);
                self.at += 1;
                self.read_heredocs();
            }
            b'\'' => self.single_quote(),
            b'"' => {
                self.word().quoted = true;
                self.at += 1;
                self.push(Mode::DoubleQuote);
            }
            b'\\' => self.escape(),
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            b'#' if self.list().word.is_none() => self.comment(),
            b'<' | b'>' if self.list().in_test() => self.skip_in_test(),
            b'<' | b'>' => self.redirect(),
            b'&' if self.byte(1) == b'>' => self.redirect(),
            b'|' | b'&' | b';' => self.separator(),
            b'(' => self.open_parenthesis(),
            b')' => self.close_parenthesis(),
            _ => self.plain(),
        }
    }

    /// A run of characters that mean themselves.
    fn plain(&mut self) {
        let mut end = self.at + 1;
        let bytes = self.text.as_bytes();
        loop {
            match class(bytes.get(end)) {
                Class::Special => break,
                Class::Sign => self.signs += 1,
                Class::Plain => {}
            }
            end += 1;
        }
        self.append(end);
    }

    /// Appends the text up to `end` to the word, as it is.
    pub(super) fn append(&mut self, end: usize) {
        let part = self.text.get(self.at..end).unwrap_or_default();
        self.word().text.push_str(part);
        self.at = end;
    }

    fn comment(&mut self) {
        let length = self.rest().find('\n');
        self.at = length.map_or(self.text.len(), |length| self.at + length);
    }

    fn skip_in_test(&mut self) {
        self.end_word();
        self.at += 1;
    }

    fn separator(&mut self) {
        let (first, second) = (self.byte(0), self.byte(1));
        let doubled = first == second;
        if doubled && first != b';' && self.list().in_test() {
            self.end_word();
            self.at += 2;
            return;
        }
        match (first, second) {
            (b';', b';' | b'&') => {
                self.end_case();
                self.at += 2;
            }
            (b'|', b'&') => {
                self.end_command(true);
                self.at += 2;
            }
            _ => {
                self.end_command(first == b'|' && !doubled);
                self.at += if doubled { 2 } else { 1 };
            }
        }
    }

    fn open_parenthesis(&mut self) {
        if self.list().in_test() {
            return self.skip_in_test();
        }
        self.at += 1;
        if self.list().in_pattern() && self.list().word.is_none() {
            // `(a) …`: the pattern ends at the other one.
            return;
        }
        let doubled = self.byte(0) == b'(';
        let word = self.list().word.as_ref();
        let values = word.is_some_and(|word| word.text.ends_with(['=', '@', '?', '*', '+', '!']));
        let mut list = if values {
            List::values()
        } else {
            List::group()
        };
        list.arithmetic = doubled || self.list().arithmetic;
        list.command.piped = self.list().command.piped;
        self.push_list(list);
    }

    fn close_parenthesis(&mut self) {
        if self.list().in_test() {
            return self.skip_in_test();
        }
        self.at += 1;
        if self.list().in_pattern() {
            self.end_pattern();
        } else if self.list().close == Close::Parenthesis {
            let group = self.list().group;
            self.pop_list();
            if group {
                self.end_command(false);
            }
        } else {
            self.complete = false;
            self.end_command(false);
        }
    }

    fn redirect(&mut self) {
        if self.byte(1) == b'(' && self.byte(0) != b'&' {
            self.word().literal = false;
            self.append(self.at + 1);
            self.at += 1;
            return self.push_list(List::new(Close::Parenthesis));
        }
        self.take_descriptor();
        let arithmetic = self.list().arithmetic;
        let (length, target) = match self.rest().as_bytes() {
            [b'<', b'<', b'<', ..] => (3, Target::Of(RedirectKind::HereText)),
            [b'<', b'<', ..] if arithmetic => (2, Target::Of(RedirectKind::HereText)),
            [b'<', b'<', b'-', ..] => (3, Target::Delimiter { strip_tabs: true }),
            [b'<', b'<', ..] => (2, Target::Delimiter { strip_tabs: false }),
            [b'<', b'&', ..] | [b'>', b'&', b'0'..=b'9' | b'-', ..] => {
                (2, Target::Of(RedirectKind::Duplicate))
            }
            [b'&', b'>', b'>', ..] => (3, Target::Of(RedirectKind::Append)),
            [b'>', b'>', ..] => (2, Target::Of(RedirectKind::Append)),
            [b'<', b'>', ..] | [b'&', b'>', ..] | [b'>', b'&' | b'|', ..] => {
                (2, Target::Of(RedirectKind::Write))
            }
            [b'>', ..] => (1, Target::Of(RedirectKind::Write)),
            _ => (1, Target::Of(RedirectKind::Read)),
        };
        self.list().target = Some(target);
        self.at += length;
    }

    /// `2` in `2>file` and `{fd}` in `{fd}>file` are no words.
    fn take_descriptor(&mut self) {
        let list = self.list();
        let is_descriptor = list.word.as_ref().is_some_and(|word| {
            let digits = word.text.bytes().all(|byte| byte.is_ascii_digit());
            let named = word.text.starts_with('{') && word.text.ends_with('}');
            !word.quoted && word.literal && (digits || named)
        });
        if is_descriptor {
            list.word = None;
        } else {
            self.end_word();
        }
    }
}
