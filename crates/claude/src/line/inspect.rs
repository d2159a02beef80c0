use super::{Line, LineError, MAX_DEPTH};

/// Where unpaired surrogate escapes stand: the position of each backslash.
#[derive(Debug, Default)]
pub(super) struct Findings {
    unpaired_surrogates: Vec<usize>,
}

const ESCAPE_LENGTH: usize = "\\ud800".len();

/// One pass over a line: measures the nesting and finds unpaired surrogate escapes, which serde_json refuses.
/// It does not judge whether the line is JSON; the parser does that.
pub(super) fn inspect(bytes: &[u8]) -> Result<Findings, LineError> {
    let mut findings = Findings::default();
    let mut depth = 0usize;
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        position += 1;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(LineError::TooDeep { limit: MAX_DEPTH });
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => position = inspect_string(bytes, position, &mut findings),
            _ => {}
        }
    }
    Ok(findings)
}

/// Returns the position behind the closing quote, or the end of the line.
fn inspect_string(bytes: &[u8], start: usize, findings: &mut Findings) -> usize {
    let mut position = start;
    while let Some(offset) = memchr::memchr2(b'"', b'\\', bytes.get(position..).unwrap_or_default())
    {
        position += offset;
        if bytes.get(position) == Some(&b'"') {
            return position + 1;
        }
        position = match surrogate_at(bytes, position) {
            Some(Surrogate::High) => {
                let next = position + ESCAPE_LENGTH;
                if matches!(surrogate_at(bytes, next), Some(Surrogate::Low)) {
                    next + ESCAPE_LENGTH
                } else {
                    findings.unpaired_surrogates.push(position);
                    next
                }
            }
            Some(Surrogate::Low) => {
                findings.unpaired_surrogates.push(position);
                position + ESCAPE_LENGTH
            }
            None => position + 2,
        };
    }
    bytes.len()
}

enum Surrogate {
    High,
    Low,
}

fn surrogate_at(bytes: &[u8], position: usize) -> Option<Surrogate> {
    let escape = bytes.get(position..position + ESCAPE_LENGTH)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Surrogate::High),
        0xdc00..=0xdfff => Some(Surrogate::Low),
        _ => None,
    }
}

pub(super) fn repair(text: String, findings: &Findings) -> Line {
    if findings.unpaired_surrogates.is_empty() {
        return Line {
            text,
            repaired: false,
        };
    }
    let mut repaired = String::with_capacity(text.len());
    let mut copied = 0;
    for &position in &findings.unpaired_surrogates {
        repaired.push_str(text.get(copied..position).unwrap_or_default());
        repaired.push_str("\\ufffd");
        copied = position + ESCAPE_LENGTH;
    }
    repaired.push_str(text.get(copied..).unwrap_or_default());
    Line {
        text: repaired,
        repaired: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> Option<String> {
        let line = Line::check(text.to_owned()).expect("within the depth limit");
        line.repaired.then_some(line.text)
    }

    #[test]
    fn unpaired_surrogates_are_repaired_and_pairs_are_left_alone() {
        for (text, expected) in [
            (r#"{"a":"\ud83d\ude00"}"#, None),
            (r#"{"a":"\ud800"}"#, Some(r#"{"a":"\ufffd"}"#)),
            (r#"{"a":"\uDC00x"}"#, Some(r#"{"a":"\ufffdx"}"#)),
            (
                r#"{"a":"\ud800\ud800\udc00"}"#,
                Some(r#"{"a":"\ufffd\ud800\udc00"}"#),
            ),
            (r#"{"a":"\ud800\n"}"#, Some(r#"{"a":"\ufffd\n"}"#)),
            (r#"{"a":"\\ud800"}"#, None),
            (r#"{"a":"\"\ud800"}"#, Some(r#"{"a":"\"\ufffd"}"#)),
            (r#"{"a":"\u00e4"}"#, None),
            (r#"{"a":"\ud8"#, None),
        ] {
            assert_eq!(repaired(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn nesting_is_counted_outside_strings_only() {
        let nested =
            |levels: usize| Line::check(format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
        assert!(nested(MAX_DEPTH).is_ok());
        assert!(matches!(
            nested(MAX_DEPTH + 1),
            Err(LineError::TooDeep { .. })
        ));
        assert!(Line::check(format!(r#"{{"a":"{}"}}"#, "[".repeat(1000))).is_ok());
    }

    #[test]
    fn the_deepest_line_that_passes_is_one_the_parser_reads() {
        let text = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        let line = Line::check(text).expect("within the limit");
        assert!(serde_json::from_str::<serde_json::Value>(&line.text).is_ok());
    }
}
