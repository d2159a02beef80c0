//! Likely secrets, hidden where many eyes may look: in lists and notifications.
//!
//! What is found is well-known shapes of keys, and values beside names such as `password`. Neither
//! is complete, so this is a courtesy and not a boundary: the record itself keeps the exact text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

/// What stands where a secret was.
pub const MASK: &str = "[masked]";

/// What is kept is group 1; what is hidden is group 2, if there is one, else all behind group 1.
const SHAPES: [&str; 9] = [
    // Private keys, also those with line breaks escaped, and those cut off.
    r"()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    // Headers.
    r#"(?i)\b((?:proxy-)?authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?)[^\s"',;\\]+"#,
    r"(?i)\b(bearer\s+)[a-z0-9._~+/=-]{16,}",
    r#"(?i)\b((?:set-)?cookie\\?["']?\s*:\s*\\?["']?)[^"'\r\n\\]+"#,
    // Keys of well-known services.
    concat!(
        r"\b(AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA)[A-Z0-9]{16}\b",
        r"|\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
        r"|\b(?:sk-[A-Za-z0-9_-]{16,}|[srp]k_(?:live|test)_[A-Za-z0-9]{10,})",
        r"|\b(?:xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})",
        r"|\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,})",
        r"|\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,})",
        r"|\b(?:hooks\.slack\.com/services/)[A-Za-z0-9/]{10,}",
    ),
    // JSON Web Tokens.
    r"\b(eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    // Addresses with a password.
    r#"(?i)\b([a-z][a-z0-9+.-]*://[^\s/:@"']*:)([^\s/@"']+)@"#,
    // Names that stand for a secret, with their values: assignments, JSON, YAML, headers, options.
    concat!(
        r#"(?i)((?:password|passwd|passphrase|pwd|secret|token|credential|"#,
        r#"(?:api|access|private|secret|signing|encryption)[_-]?key)[_-]?\d*"#,
        r#"\\?["']?\]?\s*(?:=>|:=|=|:)\s*)"#,
        r#"(\\"[^"\\]*\\"|"[^"]*"|'[^']*'|[^\s"',;&|)}\]]+)"#,
    ),
    // The same as options, with the value behind a space; and the password of `curl -u`.
    concat!(
        r#"(?i)(\s--?[a-z0-9-]*(?:password|passwd|passphrase|secret|token|api-?key)\s+"#,
        r#"|\s(?:-u|--user)[ =]["']?[^\s:"']+:)"#,
        r#"("[^"]*"|'[^']*'|[^\s"'-][^\s"']*)"#,
    ),
];

struct Patterns {
    any: RegexSet,
    each: Vec<Regex>,
}

#[expect(
    clippy::expect_used,
    reason = "the patterns are constant, and a test compiles each"
)]
static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    any: RegexSet::new(SHAPES).expect("a pattern"),
    each: SHAPES
        .iter()
        .map(|shape| Regex::new(shape).expect("a pattern"))
        .collect(),
});

/// The text without what is likely a secret. Takes time in proportion to its length.
pub fn mask(text: &str) -> Cow<'_, str> {
    let patterns = &*PATTERNS;
    let mut masked = Cow::Borrowed(text);
    for index in patterns.any.matches(text) {
        let hidden = patterns.each[index].replace_all(&masked, hide).into_owned();
        if hidden != masked {
            masked = Cow::Owned(hidden);
        }
    }
    masked
}

/// Whether a value is likely a secret because of its name.
pub fn names_secret(name: &str) -> bool {
    matches!(mask(&format!("{name}=x")), Cow::Owned(_))
}

fn hide(found: &Captures<'_>) -> String {
    let all = &found[0];
    let kept = found
        .get(1)
        .map_or_else(|| prefix(all), |kept| kept.as_str());
    let Some(hidden) = found.get(2).map(|hidden| hidden.as_str()) else {
        return format!("{kept}{MASK}");
    };
    if is_harmless(hidden) {
        return all.to_owned();
    }
    // Quotes stay, so that what is left can still be read as what it was.
    let quote = ["\\\"", "\"", "'"]
        .into_iter()
        .find(|quote| hidden.len() > quote.len() && hidden.starts_with(quote));
    let quote = quote.unwrap_or_default();
    let rest = if all.ends_with('@') { "@" } else { "" };
    format!("{kept}{quote}{MASK}{quote}{rest}")
}

/// What a key begins with says whose it is and opens nothing.
fn prefix(key: &str) -> &str {
    let end = key.find(['_', '-', '/', '.']).map_or(4, |index| index + 1);
    key.get(..end).unwrap_or_default()
}

/// The name of a secret or of its kind is not the secret.
fn is_harmless(value: &str) -> bool {
    let bare = value.trim_matches(['\\', '"', '\'']);
    let words = ["true", "false", "null", "none", "undefined"];
    bare.is_empty()
        // Hidden already, by another pattern. The bracket may be what the value ended at.
        || bare.contains(MASK.trim_end_matches(']'))
        || bare.starts_with(['$', '<'])
        || words.iter().any(|word| bare.eq_ignore_ascii_case(word))
        || (bare.len() <= 6 && bare.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn likely_secrets_are_hidden_and_all_else_stays() {
        let key = |prefix: &str, length: usize| format!("{prefix}{}", "aB3".repeat(length));
        let cases = [
            ("AKIAIOSFODNN7EXAMPLE", "AKIA[masked]"),
            (&key("export K=ghp_", 12), "export K=ghp_[masked]"),
            (&key("github_pat_", 12), "github_[masked]"),
            (&key("sk-ant-api03-", 12), "sk-[masked]"),
            (
                &key("curl -H 'x-api-key: sk-proj-", 9),
                "curl -H 'x-api-key: sk-[masked]",
            ),
            (&key("xoxb-", 9), "xoxb-[masked]"),
            (&key("sk_live_", 9), "sk_[masked]"),
            (
                "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl end",
                "jwt eyJ[masked] end",
            ),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[masked]\nb",
            ),
            ("-----BEGIN PRIVATE KEY-----\\nMIIE cut off", "[masked]"),
            (
                "curl -H 'Authorization: Bearer abc.def' https://x",
                "curl -H 'Authorization: Bearer [masked]' https://x",
            ),
            (
                "Authorization: Basic dXNlcg==",
                "Authorization: Basic [masked]",
            ),
            ("-H \"Cookie: sid=abc; b=c\" x", "-H \"Cookie: [masked]\" x"),
            ("PASSWORD=hunter2 ./run", "PASSWORD=[masked] ./run"),
            ("DB_PASSWORD='a b' ./run", "DB_PASSWORD='[masked]' ./run"),
            (
                "AWS_SECRET_ACCESS_KEY=abc/def x",
                "AWS_SECRET_ACCESS_KEY=[masked] x",
            ),
            (
                r#"{"password":"hunter2","a":1}"#,
                r#"{"password":"[masked]","a":1}"#,
            ),
            (
                r#"{\"api_key\": \"hunter2\"}"#,
                r#"{\"api_key\": \"[masked]\"}"#,
            ),
            ("api-key: abcdef", "api-key: [masked]"),
            ("?user=a&token=abcdef&b=c", "?user=a&token=[masked]&b=c"),
            (
                "mysql --password hunter2 db",
                "mysql --password [masked] db",
            ),
            (
                "curl -u me:hunter2 https://x",
                "curl -u me:[masked] https://x",
            ),
            (
                "git clone https://me:hunter2@host/x",
                "git clone https://me:[masked]@host/x",
            ),
            (
                "postgres://app:p%40ss@db:5432/x",
                "postgres://app:[masked]@db:5432/x",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(mask(text), expected, "{text}");
            assert_eq!(mask(expected), expected, "twice: {text}");
        }
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        for text in [
            "",
            "cargo test --workspace",
            "max_tokens=100 tokenizer=x",
            "TOKEN=$TOKEN ./run",
            "password: ${PASSWORD}",
            "token: null, secret = false",
            "the token is gone; a password is needed",
            "docker run -u 1000:1000 image",
            "git@github.com:me/x.git",
            "https://example.com:8080/path",
            "task-abcdefghijklmnopqrstuvwxyz risk-abcdefghijklmnopqrst",
            "author: somebody",
            "9b74c9897bac770ffc029102a200c5de",
        ] {
            assert!(
                matches!(mask(text), Cow::Borrowed(same) if same == text),
                "{}",
                mask(text)
            );
        }
    }

    #[test]
    fn hostile_text_takes_no_longer_than_its_length() {
        for part in [
            "a",
            " ",
            "eyJ-",
            "a://",
            "a://b:",
            "password=",
            "password=\"",
            "--token ",
            "-----BEGIN PRIVATE KEY-----",
            "authorization:",
            "sk-",
            "bearer ",
            "\\\"",
            "-u a:",
        ] {
            let text = part.repeat((1 << 18) / part.len());
            let start = Instant::now();
            let length = mask(&text).len();
            let time = start.elapsed();
            assert!(
                time < Duration::from_secs(20),
                "{part:?}: {time:?}, {length}"
            );
        }
    }
}
