//! What the history holds.

use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use crate::rows::{RequestId, SessionId, UnixMillis};

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AuditKind {
    /// A request was decided, by whomever or whatever.
    Decision,
    /// What became of the tool that was decided about: it ran, failed or was not run.
    Outcome,
    /// Something that should not have happened, such as a tool that ran unasked.
    Alert,
    /// A rule was added, changed or removed.
    Rule,
    /// A session got another permission mode.
    Mode,
    /// A session started or ended.
    Session,
    /// A device or a token was let in, changed or revoked, or the password changed.
    Access,
}

impl AuditKind {
    pub const ALL: [Self; 7] = [
        Self::Decision,
        Self::Outcome,
        Self::Alert,
        Self::Rule,
        Self::Mode,
        Self::Session,
        Self::Access,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Outcome => "outcome",
            Self::Alert => "alert",
            Self::Rule => "rule",
            Self::Mode => "mode",
            Self::Session => "session",
            Self::Access => "access",
        }
    }
}

/// Who or what did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AuditActor {
    /// The label names the human and the device.
    Human,
    Rule,
    Mode,
    Timeout,
    Policy,
    Agent,
    /// Sayso itself, such as when it ends what a killed server left.
    Server,
}

impl AuditActor {
    pub const ALL: [Self; 7] = [
        Self::Human,
        Self::Rule,
        Self::Mode,
        Self::Timeout,
        Self::Policy,
        Self::Agent,
        Self::Server,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Rule => "rule",
            Self::Mode => "mode",
            Self::Timeout => "timeout",
            Self::Policy => "policy",
            Self::Agent => "agent",
            Self::Server => "server",
        }
    }
}

/// An entry to be appended. It gets its number and its place in the chain when it is written, in the
/// transaction of the job it is part of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    pub at: UnixMillis,
    pub kind: AuditKind,
    pub session_id: Option<SessionId>,
    pub request_id: Option<RequestId>,
    /// The folder the session works in.
    pub project: Option<String>,
    pub tool_name: Option<String>,
    /// One word, such as `allowed`, `ran` or `removed`.
    pub outcome: String,
    pub actor_kind: AuditActor,
    pub actor_label: String,
    /// What a search looks through, and what a list shows: the command, the path, the reason. What is only
    /// there to be found is behind a separator.
    pub text: String,
    /// JSON, the whole record: input and its digest, what was shown, the decision, the latency.
    pub body: String,
}

/// Stands between what a list shows and what is only searched.
const SEPARATOR: char = '\u{1e}';

impl AuditRecord {
    /// A text that a list shows a part of.
    pub fn findable(shown: &str, words: &str) -> String {
        let shown = shown.replace(SEPARATOR, " ");
        format!("{shown}{SEPARATOR}{words}")
    }
}

/// What a list shows of an entry's text.
pub fn shown_text(text: &str) -> &str {
    text.split_once(SEPARATOR).map_or(text, |(shown, _)| shown)
}

/// An entry as it is stored. All words are the stored text and not parsed: what is checked is what
/// is read, and an entry of a newer version can still be shown.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct AuditRow {
    pub seq: i64,
    pub at: UnixMillis,
    pub kind: String,
    pub session_id: Option<String>,
    pub request_id: Option<String>,
    pub project: Option<String>,
    pub tool_name: Option<String>,
    pub outcome: String,
    pub actor_kind: String,
    pub actor_label: String,
    pub previous: Vec<u8>,
    pub hash: Vec<u8>,
    pub text: String,
    pub body: String,
    /// What is stored in the place of the body where a large input is kept apart, for whoever checks the entry.
    #[sqlx(default)]
    pub without_input: Option<Vec<u8>>,
}
