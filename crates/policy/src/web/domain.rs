//! `example.com`, `*.example.com`, `example.*`.

use crate::rule::Wildcards;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainPattern {
    /// Begins with `*.`: any number of labels in front.
    any_labels_before: bool,
    /// Elsewhere a `*` stays inside its label.
    labels: Vec<Wildcards>,
}

impl DomainPattern {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let (any_labels_before, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let is_label = |label: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_*".contains(&byte);
            !label.is_empty() && label.bytes().all(plain)
        };
        let labels = rest.split('.');
        labels.clone().all(is_label).then(|| Self {
            any_labels_before,
            labels: labels.map(Wildcards::parse).collect(),
        })
    }

    /// `host` in lower case, without a dot at the end.
    pub(crate) fn matches(&self, host: &str) -> bool {
        let labels: Vec<&str> = host.split('.').collect();
        let Some(before) = labels.len().checked_sub(self.labels.len()) else {
            return false;
        };
        if (before > 0) != self.any_labels_before {
            return false;
        }
        let pairs = self.labels.iter().zip(&labels[before..]);
        labels.iter().all(|label| !label.is_empty())
            && pairs
                .into_iter()
                .all(|(pattern, label)| pattern.matches(label))
    }

    /// The last label or all of them may be anything.
    pub(crate) fn is_open_ended(&self) -> bool {
        self.labels.last().is_none_or(|label| !label.is_literal())
            || self.labels.len() == 1 && self.any_labels_before
    }
}

#[cfg(test)]
mod tests {
    use super::DomainPattern;

    fn matches(pattern: &str, host: &str) -> bool {
        DomainPattern::parse(pattern).is_some_and(|pattern| pattern.matches(host))
    }

    #[test]
    fn labels_are_compared_whole() {
        assert!(matches("Example.com.", "example.com"));
        assert!(matches("*.example.com", "a.b.example.com"));
        assert!(!matches("*.example.com", "example.com"));
        assert!(!matches("example.com", "a.example.com"));
        assert!(matches("example.*", "example.org"));
        assert!(!matches("example.*", "example.co.uk"));
        assert!(matches("api-*.example.com", "api-1.example.com"));
        assert!(!matches("*.example.com", ".example.com"));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in ["", ".", "a..b", "exämple.com", "a/b", "a:80"] {
            assert_eq!(DomainPattern::parse(text), None, "{text}");
        }
    }
}
