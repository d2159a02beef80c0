//! What is told at the end: times, and the test runners' own closing lines.

use std::time::Duration;

pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 {
        format!("{} min {} s", seconds / 60, seconds % 60)
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// The line, when a test runner closes with it: nextest, `cargo test`,
/// Vitest and Playwright each have their own.
pub(crate) fn closing_line(line: &str) -> Option<String> {
    let plain = without_colours(line);
    let text = plain.trim();
    let counted = |text: &str| {
        let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.len() < text.len()
            && [" passed (", " failed", " flaky", " skipped", " did not run"]
                .iter()
                .any(|word| rest.starts_with(word))
    };
    let closes = ["Summary [", "test result:", "Test Files ", "Tests "]
        .iter()
        .any(|start| text.starts_with(start))
        || counted(text);
    closes.then(|| text.to_owned())
}

fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            // An escape sequence of colours ends with its first letter.
            letters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runners_closing_lines_are_known() {
        let cases = [
            (
                "     Summary [   1.2s] 9 tests run: 9 passed, 0 skipped\n",
                true,
            ),
            ("test result: ok. 3 passed; 0 failed; 0 ignored\n", true),
            (" Test Files  7 passed (7)\n", true),
            (
                "\u{1b}[2m      Tests \u{1b}[22m \u{1b}[32m61 passed\u{1b}[39m (61)\n",
                true,
            ),
            ("  31 passed (1.4m)\n", true),
            ("  2 skipped\n", true),
            ("  1 failed\n", true),
            ("  ✓  1 tests/auth.spec.ts:12:1 › no token\n", false),
            ("running 3 tests\n", false),
            ("31 passengers\n", false),
            ("\n", false),
        ];
        for (line, closes) in cases {
            assert_eq!(closing_line(line).is_some(), closes, "{line:?}");
        }
    }

    #[test]
    fn colours_do_not_reach_the_report() {
        let line = "\u{1b}[32m  31 passed\u{1b}[39m\u{1b}[2m (1.4m)\u{1b}[22m\n";
        assert_eq!(closing_line(line).as_deref(), Some("31 passed (1.4m)"));
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(duration(Duration::from_millis(2340)), "2.3 s");
        assert_eq!(duration(Duration::from_secs(754)), "12 min 34 s");
    }
}
