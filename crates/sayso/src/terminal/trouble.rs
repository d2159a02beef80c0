//! What can go wrong, and the exit code that tells a script which it was.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::visible::{self, plain};
use super::words::{Ended, outcome_words};

/// The exit codes of all commands that talk to a running server. They stay as they are: scripts
/// rely on them, and `docs/terminal.md` explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    /// No server answers.
    Unreachable = 3,
    /// It does not let this in, or not do that.
    Refused = 4,
    /// No such request.
    Unknown = 5,
    /// Several requests could be meant.
    Ambiguous = 6,
    /// Somebody or something was first.
    AlreadyDecided = 7,
    /// A yes was not confirmed.
    NotConfirmed = 8,
    /// The request is not the one that was looked at.
    Changed = 9,
    /// The password is asked for.
    PasswordNeeded = 10,
    /// The answer does not fit the request.
    Unfit = 11,
    /// Nothing came in the time that was given.
    NothingCame = 12,
}

/// Whoever read the output has gone, as `head` does; there is nobody left to tell.
const UNREAD: &str = "unread";

/// For `--help`.
pub const EXIT_CODES: &str = "Exit codes:
   0  done
   1  it failed; the message says why
   2  the command line is wrong
   3  no Sayso answers
   4  Sayso does not let this in, or not do that
   5  no such request
   6  several requests could be meant
   7  already decided by somebody or something else
   8  risky and not confirmed: use --yes, or --digest
   9  the request is not the one that --digest names
  10  the password is asked for, or was wrong: see `sayso allow --password-file`
  11  the answer does not fit the request
  12  nothing came in the time of --wait";

#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) exit: Exit,
    /// The protocol's name for it, or one of ours.
    code: String,
    message: String,
    /// Further lines for people.
    hints: Vec<String>,
    outcome: Option<Box<RawValue>>,
}

impl Trouble {
    pub(super) fn new(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.to_owned(),
            message: message.into(),
            hints: Vec::new(),
            outcome: None,
        }
    }

    pub(super) fn unfit(message: impl Into<String>) -> Self {
        Self::new(Exit::Unfit, "invalid_answer", message)
    }

    pub(super) fn hint(mut self, line: impl Into<String>) -> Self {
        self.hints.push(line.into());
        self
    }

    /// How the request ended that this is about, for scripts.
    pub(super) fn about(mut self, outcome: &Value) -> Self {
        self.outcome = serde_json::value::to_raw_value(outcome).ok();
        self
    }

    /// What the server said in place of a good answer.
    pub(super) fn told(body: &[u8]) -> Self {
        #[derive(serde::Deserialize)]
        struct Refusal {
            code: String,
            message: String,
            outcome: Option<Box<RawValue>>,
            retry_after_seconds: Option<u32>,
        }
        let Ok(refusal) = serde_json::from_slice::<Refusal>(body) else {
            return Self::new(
                Exit::Failed,
                "internal",
                "The server refused without a reason that can be read.",
            );
        };
        let exit = match refusal.code.as_str() {
            "unauthorized" | "forbidden" | "session_taken" => Exit::Refused,
            "unknown_request" | "not_found" => Exit::Unknown,
            "already_decided" => Exit::AlreadyDecided,
            "digest_mismatch" => Exit::Changed,
            "proof_required" | "too_many_attempts" => Exit::PasswordNeeded,
            "invalid_answer" | "not_supported" | "invalid_message" => Exit::Unfit,
            _ => Exit::Failed,
        };
        let mut trouble = Self::new(exit, &refusal.code, refusal.message);
        let outcome = refusal.outcome.as_deref().map(RawValue::get);
        let ended = outcome.and_then(|outcome| serde_json::from_str::<Ended>(outcome).ok());
        if let Some(ended) = ended {
            trouble.message = format!("Too late: {}.", outcome_words(&ended));
        }
        if let Some(seconds) = refusal.retry_after_seconds {
            trouble = trouble.hint(format!("The next try counts in {seconds} seconds."));
        }
        trouble.outcome = refusal.outcome;
        trouble
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn is(&self, code: &str) -> bool {
        self.code == code
    }

    /// For people; nothing in it gives the terminal orders.
    pub(super) fn lines(&self) -> Vec<String> {
        if self.is(UNREAD) {
            return Vec::new();
        }
        let mut lines = vec![format!("sayso: {}", plain(&self.message))];
        lines.extend(self.hints.iter().map(|hint| format!("  {}", plain(hint))));
        lines
    }

    /// For scripts.
    pub(super) fn json(&self) -> String {
        let mut error = json!({"code": self.code, "message": self.message});
        let outcome = self.outcome.as_deref().map(RawValue::get);
        if let Some(outcome) = outcome.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            error["outcome"] = outcome;
        }
        visible::json(&json!({"error": error}).to_string())
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Exit::Failed, "failed", format!("{error:#}"))
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        let code = match error.kind() {
            std::io::ErrorKind::BrokenPipe => UNREAD,
            _ => "failed",
        };
        Self::new(Exit::Failed, code, error.to_string())
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        let message =
            format!("The server's answer cannot be read: {error}. Is it of another version?");
        Self::new(Exit::Failed, "failed", message)
    }
}
