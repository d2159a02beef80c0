//! What a front end says of itself in the address of its socket.

use sayso_protocol::PolicyOverrides;
use serde::Deserialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

/// The query of the address. Names that nobody knows are refused: a misspelt
/// one that is ignored would do something else than was asked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    /// Was looked at before; it is not kept.
    #[serde(default, rename = "token")]
    _token: Option<IgnoredAny>,
    /// Where sessions are started; the server's default folder when absent.
    #[serde(default)]
    pub(crate) cwd: Option<String>,
    /// The session to join.
    #[serde(default)]
    pub(crate) session_id: Option<Uuid>,
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// The limit of requests in sessions that are started here, such as `90s`.
    #[serde(default)]
    pub(crate) timeout: Option<String>,
    #[serde(default)]
    pub(crate) auto_approve: Option<AutoApprove>,
    /// Answers need not be among the options, where the dialect wants that.
    #[serde(default)]
    pub(crate) free_text: bool,
    /// `false` starts without a folder's own settings that nobody trusts yet.
    #[serde(default)]
    pub(crate) trust: Option<Untrusted>,
}

/// What is allowed without anybody looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AutoApprove {
    Tools,
}

/// Trust is given where its findings can be seen, so only its absence can be said here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Untrusted {
    False,
}

impl Options {
    /// The limit asked for, or the dialect's own.
    pub(crate) fn timeout_or(&self, own: &str) -> Option<String> {
        Some(self.timeout.clone().unwrap_or_else(|| own.to_owned()))
    }

    /// The same limit for all kinds of requests.
    pub(crate) fn limits_or(&self, own: &str) -> PolicyOverrides {
        let timeout = self.timeout_or(own);
        PolicyOverrides {
            tool_timeout: timeout.clone(),
            question_timeout: timeout.clone(),
            plan_timeout: timeout,
            ..PolicyOverrides::default()
        }
    }
}
