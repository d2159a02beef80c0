//! Text with `*` for any text. `\*` is a star.

/// Literal parts with any text between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wildcards {
    /// One more than there are wildcards; never empty.
    parts: Vec<String>,
}

impl Wildcards {
    pub(crate) fn parse(pattern: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut characters = pattern.chars().peekable();
        while let Some(character) = characters.next() {
            let escaped = character == '\\' && characters.peek() == Some(&'*');
            if character == '*' {
                parts.push(String::new());
            } else if let Some(part) = parts.last_mut() {
                part.push(if escaped { '*' } else { character });
            }
            if escaped {
                characters.next();
            }
        }
        Self { parts }
    }

    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }

    pub(crate) fn is_literal(&self) -> bool {
        self.parts.len() == 1
    }

    /// It matches every text.
    pub(crate) fn is_everything(&self) -> bool {
        !self.is_literal() && self.parts.iter().all(String::is_empty)
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.parts.split_first() else {
            return false;
        };
        let Some((last, middle)) = rest.split_last() else {
            return text == first;
        };
        let Some(mut left) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for part in middle {
            let Some(at) = left.find(part.as_str()) else {
                return false;
            };
            left = &left[at + part.len()..];
        }
        left.ends_with(last.as_str())
    }
}

/// `text` as a pattern that matches only itself.
pub(crate) fn escape(text: &str) -> String {
    text.replace('*', "\\*")
}

#[cfg(test)]
mod tests {
    use super::{Wildcards, escape};

    fn matches(pattern: &str, text: &str) -> bool {
        Wildcards::parse(pattern).matches(text)
    }

    #[test]
    fn wildcards() {
        assert!(matches("a*c", "abc") && matches("a*c", "ac"));
        assert!(matches("*", "") && matches("*", "x y"));
        assert!(matches("*a*b*", "xaxbx") && !matches("*a*b*", "xbxax"));
        assert!(!matches("ab*ba", "aba") && !matches("*ab*ba*", "aba"));
        assert!(matches("a\\*c", "a*c") && !matches("a\\*c", "abc"));
    }

    #[test]
    fn an_escaped_text_matches_itself_only() {
        let pattern = escape("find . -name '*.rs'");
        assert!(matches(&pattern, "find . -name '*.rs'"));
        assert!(!matches(&pattern, "find . -name 'x.rs'"));
    }
}
