//! Quotes, escapes and expansions.

use super::list::{Close, List};
use super::{Mode, Reader};

impl Reader<'_, '_> {
    /// One step inside double quotes, `${…}` or a heredoc.
    pub(super) fn step_quoted(&mut self, close: Option<u8>) {
        let byte = self.byte(0);
        if Some(byte) == close {
            if byte == b'}' {
                self.word().text.push('}');
            }
            self.at += 1;
            self.modes.pop();
            return;
        }
        match byte {
            b'\\' => self.escape_in_quotes(),
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            b'"' if close == Some(b'}') => {
                self.at += 1;
                self.push(Mode::DoubleQuote);
            }
            _ => {
                let special = |byte: u8| b"\"}\\$`".contains(&byte);
                let length = self.rest().bytes().skip(1).position(special);
                let end = length.map_or(self.text.len(), |length| self.at + 1 + length);
                self.append(end);
            }
        }
    }

    pub(super) fn single_quote(&mut self) {
        self.word().quoted = true;
        self.at += 1;
        let length = self.rest().find('\'');
        if length.is_none() {
            self.complete = false;
        }
        let end = length.map_or(self.text.len(), |length| self.at + length);
        self.append(end);
        self.at = self.text.len().min(end + 1);
    }

    pub(super) fn escape(&mut self) {
        match self.rest().chars().nth(1) {
            Some('\n') => self.at += 2,
            Some(character) => {
                let word = self.word();
                word.quoted = true;
                word.text.push(character);
                self.at += 1 + character.len_utf8();
            }
            None => {
                self.word().text.push('\\');
                self.at += 1;
            }
        }
    }

    fn escape_in_quotes(&mut self) {
        match self.byte(1) {
            b'\n' => self.at += 2,
            byte @ (b'$' | b'`' | b'"' | b'\\') => {
                self.word().text.push(char::from(byte));
                self.at += 2;
            }
            _ => self.append(self.at + 1),
        }
    }

    pub(super) fn dollar(&mut self) {
        let quoted = self.modes.last() != Some(&Mode::List);
        match self.byte(1) {
            b'(' => {
                self.word().literal = false;
                self.word().text.push_str("$()");
                self.at += 2;
                let mut list = List::new(Close::Parenthesis);
                list.arithmetic = self.byte(0) == b'(';
                self.push_list(list);
            }
            b'{' => {
                self.word().literal = false;
                self.append(self.at + 2);
                self.push(Mode::Parameter);
            }
            b'\'' if !quoted => self.ansi_c_quote(),
            b'"' if !quoted => self.at += 1,
            byte if byte.is_ascii_alphanumeric() || b"_@*#?-$!".contains(&byte) => {
                // The rest of a longer name is plain text.
                self.word().literal = false;
                self.append(self.at + 2);
            }
            _ => self.append(self.at + 1),
        }
    }

    pub(super) fn backtick(&mut self) {
        self.at += 1;
        if self.open_backticks == 0 {
            self.word().literal = false;
            self.word().text.push_str("$()");
            return self.push_list(List::new(Close::Backtick));
        }
        while self.open_backticks > 0 {
            self.pop_list();
        }
    }

    /// `$'…'`: decodes what hides letters; anything else stays as written.
    fn ansi_c_quote(&mut self) {
        self.word().quoted = true;
        self.at += 2;
        loop {
            match self.byte(0) {
                _ if self.at >= self.text.len() => {
                    self.complete = false;
                    return;
                }
                b'\'' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.ansi_c_escape(),
                _ => {
                    let special = |byte: u8| byte == b'\'' || byte == b'\\';
                    let length = self.rest().bytes().position(special);
                    let end = length.map_or(self.text.len(), |length| self.at + length);
                    self.append(end);
                }
            }
        }
    }

    fn ansi_c_escape(&mut self) {
        let (radix, skip, most) = match self.byte(1) {
            b'x' => (16, 2, 2),
            b'u' => (16, 2, 4),
            b'U' => (16, 2, 8),
            b'0'..=b'7' => (8, 1, 3),
            _ => {
                let character = self.rest().chars().nth(1);
                let decoded = match character {
                    Some('n') => Some('\n'),
                    Some('t') => Some('\t'),
                    Some('r') => Some('\r'),
                    other => other,
                };
                self.word().text.extend(decoded);
                self.at += 1 + character.map_or(0, char::len_utf8);
                return;
            }
        };
        let digits = self.rest().bytes().skip(skip).take(most);
        let digits: String = digits
            .map(char::from)
            .take_while(|digit| digit.is_digit(radix))
            .collect();
        let decoded = u32::from_str_radix(&digits, radix).ok();
        self.word().text.extend(decoded.and_then(char::from_u32));
        self.at += skip + digits.len();
    }
}
