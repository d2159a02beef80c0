//! An entry as it is shown: as JSON, as cells, as a line.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use sayso_store::{AuditActor, AuditKind, AuditRow, shown_text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::sparse::record;
use crate::mask::{MASK, mask, names_secret};

/// How much of an entry's text stands in a line of a list.
const TEXT_WIDTH: usize = 120;

/// Whether likely secrets are hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    Shown,
    Masked,
}

impl Secrets {
    fn show(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Shown => Cow::Borrowed(text),
            Self::Masked => mask(text),
        }
    }
}

/// An entry in a line of JSON. The hashes let others follow the chain.
#[derive(Debug, Serialize)]
pub(super) struct Exported<'a> {
    seq: i64,
    at: Timestamp,
    kind: &'a str,
    session_id: Option<&'a str>,
    request_id: Option<&'a str>,
    project: Option<&'a str>,
    tool_name: Option<&'a str>,
    outcome: &'a str,
    actor_kind: &'a str,
    actor_label: &'a str,
    text: Cow<'a, str>,
    body: Body,
    previous: String,
    hash: String,
}

/// What was recorded, as the JSON it is. What is none is a text.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Exact(Box<RawValue>),
    Masked(Value),
    Text(String),
}

impl Body {
    fn of(text: &str, secrets: Secrets) -> Self {
        match secrets {
            Secrets::Shown => {
                // In valid JSON a line only ends between values.
                let line = text.replace(['\n', '\r'], " ");
                match RawValue::from_string(line) {
                    Ok(value) => Self::Exact(value),
                    Err(_) => Self::Text(text.to_owned()),
                }
            }
            Secrets::Masked => match serde_json::from_str(text) {
                Ok(value) => Self::Masked(masked(value)),
                Err(_) => Self::Text(mask(text).into_owned()),
            },
        }
    }
}

/// Each text by itself, and whole where its name says that it is a secret.
fn masked(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask(&text).into_owned()),
        Value::Array(values) => values.into_iter().map(masked).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let value = match value {
                    Value::String(text) if !text.is_empty() && names_secret(&name) => {
                        Value::String(MASK.to_owned())
                    }
                    value => masked(value),
                };
                (name, value)
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

pub(super) fn exported(row: &AuditRow, secrets: Secrets) -> Exported<'_> {
    Exported {
        seq: row.seq,
        at: time(row),
        kind: &row.kind,
        session_id: row.session_id.as_deref(),
        request_id: row.request_id.as_deref(),
        project: row.project.as_deref(),
        tool_name: row.tool_name.as_deref(),
        outcome: &row.outcome,
        actor_kind: &row.actor_kind,
        actor_label: &row.actor_label,
        text: secrets.show(&row.text),
        body: Body::of(&record(&row.body), secrets),
        previous: hex(&row.previous),
        hash: hex(&row.hash),
    }
}

/// The names of the cells of [`cells`].
pub(super) const COLUMNS: [&str; 14] = [
    "seq",
    "at",
    "kind",
    "session_id",
    "request_id",
    "project",
    "tool_name",
    "outcome",
    "actor_kind",
    "actor_label",
    "text",
    "body",
    "previous",
    "hash",
];

pub(super) fn cells(row: &AuditRow, secrets: Secrets) -> [String; 14] {
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    [
        row.seq.to_string(),
        time(row).to_string(),
        row.kind.clone(),
        optional(&row.session_id),
        optional(&row.request_id),
        optional(&row.project),
        optional(&row.tool_name),
        row.outcome.clone(),
        row.actor_kind.clone(),
        row.actor_label.clone(),
        secrets.show(&row.text).into_owned(),
        secrets.show(&record(&row.body)).into_owned(),
        hex(&row.previous),
        hex(&row.hash),
    ]
}

/// What a list shows of an entry: the command, the path, the rule.
pub fn subject(row: &AuditRow) -> &str {
    told(row).0
}

/// The subject, and the reason of a decision.
fn told(row: &AuditRow) -> (&str, Option<String>) {
    #[derive(Deserialize)]
    struct Reason {
        message: Option<String>,
    }
    let shown = shown_text(&row.text);
    let read = |row: &AuditRow| serde_json::from_str::<Reason>(&row.body).ok()?.message;
    let reason = (row.kind == AuditKind::Decision.as_str())
        .then(|| read(row))
        .flatten();
    // Earlier versions wrote it below the subject, where a list took it for a part of the command.
    let below = reason.as_deref().and_then(|reason| {
        let searched = row.text.get(shown.len() + 1..).unwrap_or_default();
        let earlier = !searched.starts_with(reason);
        let subject = shown.strip_suffix(reason)?.strip_suffix('\n')?;
        earlier.then_some(subject)
    });
    (below.unwrap_or(shown), reason)
}

/// One line for a terminal, with nothing in it that a terminal would act on.
pub(super) fn line(row: &AuditRow, zone: &TimeZone) -> String {
    let at = time(row)
        .to_zoned(zone.clone())
        .strftime("%Y-%m-%d %H:%M:%S");
    let by = match row.actor_label.as_str() {
        "" => row.actor_kind.clone(),
        label => format!("{} ({label})", row.actor_kind),
    };
    let (subject, reason) = told(row);
    // What the clock says is in the outcome. In front of the agent's words, which could hold such ones.
    let why = reason
        .filter(|_| row.actor_kind != AuditActor::Timeout.as_str())
        .map(|reason| format!(", \"{}\"", cut(&reason)))
        .unwrap_or_default();
    let line = format!(
        "{:>6}  {at}  {:8}  {:9}  by {by}{why}  {}  {}",
        row.seq,
        row.kind,
        row.outcome,
        row.tool_name.as_deref().unwrap_or("-"),
        cut(subject),
    );
    visible(&line)
}

fn cut(text: &str) -> String {
    let text = mask(text);
    let mut shown: String = text.chars().take(TEXT_WIDTH).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '"' | '\'' | '\\' => line.push(sign),
            _ => line.extend(sign.escape_debug()),
        }
    }
    line
}

fn time(row: &AuditRow) -> Timestamp {
    Timestamp::from_millisecond(row.at.0).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
