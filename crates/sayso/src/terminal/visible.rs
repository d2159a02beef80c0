//! An agent's text, with everything visible that a reader could not see: what a terminal obeys, what
//! reorders or hides words, and blanks that push the rest out of sight. The web app shows the same.

use sayso_policy::is_deceptive;

/// A shorter run of blanks inside of a line can be meant well.
const BLANKS_INSIDE: usize = 16;
/// Indentation may be deep.
const BLANKS_BEFORE: usize = 40;
const BLANK_LINES: usize = 5;
const TAB: &str = "    ";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// What stands in a character's place.
    Chip(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Commands, paths, content: hides nothing.
    Exact,
    /// Keeps what reads as writing: the mark behind a character that makes a picture of it.
    Prose,
}

/// A text as lines; more blank lines than anybody needs are counted instead.
pub(super) fn lines(text: &str, strictness: Strictness) -> Vec<Vec<Piece>> {
    let mut shown = Vec::new();
    let mut blank = 0;
    for line in text.split('\n') {
        if line.trim_matches([' ', '\t']).is_empty() {
            blank += 1;
            continue;
        }
        add_blank(&mut shown, blank);
        blank = 0;
        shown.push(pieces(line, strictness));
    }
    // The end of the last line is no line of its own.
    add_blank(&mut shown, blank.saturating_sub(1));
    shown
}

fn add_blank(shown: &mut Vec<Vec<Piece>>, count: usize) {
    if count >= BLANK_LINES {
        shown.push(vec![Piece::Chip(format!("⟨{count} blank lines⟩"))]);
    } else {
        shown.extend(std::iter::repeat_n(Vec::new(), count));
    }
}

/// A text on a single line: line breaks are named.
pub(super) fn on_one_line(text: &str) -> Vec<Piece> {
    pieces(text, Strictness::Exact)
}

/// The same without looks.
pub(super) fn plain(text: &str) -> String {
    let pieces = on_one_line(text).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Text(text) | Piece::Chip(text) => text,
        })
        .collect()
}

fn pieces(line: &str, strictness: Strictness) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut text = String::new();
    let mut rest = line.chars().peekable();
    let mut is_start = true;
    while let Some(letter) = rest.next() {
        if letter == ' ' || letter == '\t' {
            let mut run = String::from(letter);
            while let Some(next) = rest.next_if(|next| matches!(next, ' ' | '\t')) {
                run.push(next);
            }
            let most = if is_start {
                BLANKS_BEFORE
            } else {
                BLANKS_INSIDE
            };
            if run.len() >= most {
                add(&mut found, &mut text, blanks(&run));
            } else {
                text.push_str(&run.replace('\t', TAB));
            }
        } else if strictness == Strictness::Prose && letter == '\u{fe0f}' {
            // It only asks for a picture; terminals do not agree on how wide that is.
        } else if is_deceptive(letter) {
            let chip = format!("⟨U+{:04X}⟩", u32::from(letter));
            add(&mut found, &mut text, chip);
        } else {
            text.push(letter);
        }
        is_start = false;
    }
    if !text.is_empty() {
        found.push(Piece::Text(text));
    }
    found
}

fn add(found: &mut Vec<Piece>, text: &mut String, chip: String) {
    if !text.is_empty() {
        found.push(Piece::Text(std::mem::take(text)));
    }
    found.push(Piece::Chip(chip));
}

fn blanks(run: &str) -> String {
    let name = match (run.contains(' '), run.contains('\t')) {
        (true, true) => "spaces and tabs",
        (false, true) => "tabs",
        (_, false) => "spaces",
    };
    format!("⟨{} {name}⟩", run.len())
}

/// JSON that means the same and holds nothing that a terminal obeys: such characters stand only
/// inside of strings, where JSON has a way to write each.
pub(super) fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_deceptive(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(letter);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(text: &str, strictness: Strictness) -> Vec<String> {
        let joined = |line: Vec<Piece>| {
            line.into_iter()
                .map(|piece| match piece {
                    Piece::Text(text) | Piece::Chip(text) => text,
                })
                .collect()
        };
        lines(text, strictness).into_iter().map(joined).collect()
    }

    #[test]
    fn nothing_is_hidden() {
        let cases: [(&str, &[&str]); 8] = [
            ("ls\n", &["ls"]),
            ("a\n\nb", &["a", "", "b"]),
            ("\tx", &["    x"]),
            (
                "a\u{1b}[31m\u{200b}\u{202e}b\r",
                &["a⟨U+001B⟩[31m⟨U+200B⟩⟨U+202E⟩b⟨U+000D⟩"],
            ),
            ("ls                    ; rm x", &["ls⟨20 spaces⟩; rm x"]),
            ("a\n\n\n\n\n\nb", &["a", "⟨5 blank lines⟩", "b"]),
            ("  indented", &["  indented"]),
            ("❤\u{fe0f}", &["❤⟨U+FE0F⟩"]),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text, Strictness::Exact), expected, "{text:?}");
        }
        assert_eq!(shown("❤\u{fe0f} it", Strictness::Prose), ["❤ it"]);
    }

    #[test]
    fn json_stays_the_same_value() {
        let text = "{\"a\":\"\u{9b}2J\u{7f}\u{e0063}é\"}";
        let safe = json(text);
        assert_eq!(safe, "{\"a\":\"\\u009b2J\\u007f\\udb40\\udc63é\"}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&safe), value(text));
    }
}
