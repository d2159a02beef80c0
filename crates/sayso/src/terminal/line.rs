//! Lines with looks, as they are printed by commands and drawn by `watch`.

use unicode_width::UnicodeWidthChar;

use super::visible::{self, Piece};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    Plain,
    Strong,
    Faint,
    Careful,
    Danger,
    Added,
    Removed,
    /// A character that could not be seen, by its name.
    Chip,
    /// The line that keys act on.
    Chosen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    On,
    Off,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    style: Style,
    text: String,
}

/// One line of text. What an agent wrote comes in only through [`Line::words`], which makes
/// everything visible that a terminal would obey.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    spans: Vec<Span>,
    /// What stands before the rows that a long line goes on in.
    continued: String,
}

impl Line {
    /// Sayso's own words.
    pub(super) fn own(style: Style, text: impl Into<String>) -> Self {
        Self::default().and(style, text)
    }

    pub(super) fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { style, text });
        }
        self
    }

    /// Words of others, on this line.
    pub(super) fn words(self, style: Style, text: &str) -> Self {
        self.pieces(style, visible::on_one_line(text))
    }

    pub(super) fn pieces(mut self, style: Style, pieces: Vec<Piece>) -> Self {
        for piece in pieces {
            self = match piece {
                Piece::Text(text) => self.and(style, text),
                Piece::Chip(text) => self.and(Style::Chip, text),
            };
        }
        self
    }

    pub(super) fn followed_by(mut self, other: Line) -> Self {
        self.spans.extend(other.spans);
        self
    }

    pub(super) fn continued_by(mut self, prefix: impl Into<String>) -> Self {
        self.continued = prefix.into();
        self
    }

    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(|span| width_of(&span.text)).sum()
    }

    /// All of it, in as many rows as it takes.
    pub(super) fn wrapped(&self, width: usize) -> Vec<Line> {
        let width = width.max(width_of(&self.continued) + 4);
        let letters: Vec<(Style, char)> = self
            .spans
            .iter()
            .flat_map(|span| span.text.chars().map(|letter| (span.style, letter)))
            .collect();
        let mut rows = Vec::new();
        let mut start = 0;
        loop {
            let prefix = if rows.is_empty() { "" } else { &self.continued };
            let end = row_end(&letters, start, width - width_of(prefix));
            let mut row = Line::own(Style::Faint, prefix);
            for (style, letter) in &letters[start..end] {
                row.push(*style, *letter);
            }
            rows.push(row);
            if end == letters.len() {
                return rows;
            }
            start = end;
        }
    }

    /// Its beginning, and a sign that there is more.
    pub(super) fn cut(&self, width: usize) -> Line {
        if self.width() <= width {
            return self.clone();
        }
        let mut cut = Line::default();
        let mut left = width.saturating_sub(1);
        'line: for span in &self.spans {
            for letter in span.text.chars() {
                let wide = letter.width().unwrap_or(0);
                if wide > left {
                    break 'line;
                }
                left -= wide;
                cut.push(span.style, letter);
            }
        }
        cut.and(Style::Faint, if width == 0 { "" } else { "…" })
    }

    /// The whole line in one look, up to the edge.
    pub(super) fn chosen(&self, width: usize) -> Line {
        let mut text = self.text();
        text.extend(std::iter::repeat_n(' ', width.saturating_sub(self.width())));
        Line::own(Style::Chosen, text)
    }

    pub(super) fn painted(&self, colours: Colours) -> String {
        let mut painted = String::new();
        for span in &self.spans {
            match (colours, order(span.style)) {
                (Colours::On, Some(order)) => {
                    painted.push_str(&format!("\x1b[{order}m{}\x1b[0m", span.text));
                }
                (Colours::On, None) | (Colours::Off, _) => painted.push_str(&span.text),
            }
        }
        painted
    }

    fn push(&mut self, style: Style, letter: char) {
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push(letter),
            Some(_) | None => self.spans.push(Span {
                style,
                text: letter.to_string(),
            }),
        }
    }
}

/// Where a row that begins at `start` ends: after a blank if there is one, else where it is full.
fn row_end(letters: &[(Style, char)], start: usize, width: usize) -> usize {
    let (mut used, mut blank) = (0, None);
    for (index, (_, letter)) in letters.iter().enumerate().skip(start) {
        used += letter.width().unwrap_or(0);
        if used > width && index > start {
            // A blank near the beginning would leave most of the row empty.
            let worth = blank.filter(|end| (end - start) * 2 > width);
            return worth.unwrap_or(index);
        }
        if *letter == ' ' {
            blank = Some(index + 1);
        }
    }
    letters.len()
}

pub(super) fn width_of(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// The numbers of the order that gives a terminal this look.
fn order(style: Style) -> Option<&'static str> {
    match style {
        Style::Plain => None,
        Style::Strong => Some("1"),
        Style::Faint => Some("2"),
        Style::Careful => Some("33"),
        Style::Danger => Some("1;31"),
        Style::Added => Some("32"),
        Style::Removed => Some("31"),
        Style::Chip => Some("30;43"),
        Style::Chosen => Some("7"),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn rows(line: &Line, width: usize) -> Vec<String> {
        line.wrapped(width).iter().map(Line::text).collect()
    }

    #[test]
    fn a_long_line_goes_on_below_and_nothing_is_lost() {
        let line = Line::own(Style::Plain, "│ one two three four").continued_by("┆ ");
        assert_eq!(rows(&line, 12), ["│ one two ", "┆ three four"]);
        let endless = Line::own(Style::Plain, "x".repeat(25)).continued_by("┆ ");
        assert_eq!(
            rows(&endless, 12),
            ["xxxxxxxxxxxx", "┆ xxxxxxxxxx", "┆ xxx"]
        );
        assert_eq!(rows(&Line::default(), 12), [""]);
    }

    #[test]
    fn wide_letters_count_twice() {
        let line = Line::own(Style::Plain, "日本語日本語");
        assert_eq!(rows(&line, 5), ["日本", "語日", "本語"]);
        assert_eq!(line.cut(6).text(), "日本…");
        assert_eq!(line.cut(12).text(), "日本語日本語");
    }

    #[test]
    fn what_others_wrote_gives_the_terminal_no_orders() {
        let line = Line::default().words(Style::Plain, "a\u{1b}[2Jb\nc\u{9b}31m");
        assert_eq!(
            line.painted(Colours::Off),
            "a⟨U+001B⟩[2Jb⟨U+000A⟩c⟨U+009B⟩31m"
        );
        assert!(!line.painted(Colours::On).contains("\u{1b}[2J"));
    }
}
