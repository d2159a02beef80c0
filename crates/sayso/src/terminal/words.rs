//! What requests, clocks and outcomes are called.

use jiff::Timestamp;
use sayso_protocol::{OnTimeout, RiskKind};
use serde::Deserialize;

use super::request::{Kind, Request};
use super::visible::plain;

/// Clients show two seconds less than the server allows, so that a key at the end still counts.
const SAFETY_SECONDS: i64 = 2;

/// What is asked for, in Sayso's words; never in the agent's.
pub(super) fn headline(request: &Request) -> String {
    match request.kind {
        Kind::Questions => "Answer a question".to_owned(),
        Kind::Plan => "Approve a plan".to_owned(),
        Kind::Form => match &request.detail.mcp_server {
            Some(server) => format!("The tool server {} asks for information", plain(server)),
            None => "A tool server asks for information".to_owned(),
        },
        Kind::Other => "A request that this version does not know".to_owned(),
        Kind::Tool => tool_headline(&request.tool_name),
    }
}

fn tool_headline(tool: &str) -> String {
    let known = match tool {
        "Bash" => "Run a command",
        "Write" => "Write a file",
        "Edit" | "MultiEdit" => "Edit a file",
        "NotebookEdit" => "Edit a notebook",
        "Read" => "Read a file",
        "WebFetch" => "Fetch a web page",
        "WebSearch" => "Search the web",
        _ => {
            let of_server = tool
                .strip_prefix("mcp__")
                .and_then(|rest| rest.split_once("__"));
            return match of_server {
                Some((server, tool)) => {
                    format!("Use {} of the tool server {}", plain(tool), plain(server))
                }
                None => format!("Use the tool {}", plain(tool)),
            };
        }
    };
    known.to_owned()
}

/// The word in lists: the tool, or what is wanted.
pub(super) fn label(request: &Request) -> String {
    match request.kind {
        Kind::Tool => plain(&request.tool_name),
        Kind::Questions => "Question".to_owned(),
        Kind::Plan => "Plan".to_owned(),
        Kind::Form => "Form".to_owned(),
        Kind::Other => "Unknown".to_owned(),
    }
}

/// `12s`, `3m`, `2h`, `5d`.
pub(super) fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_second() - at.as_second()).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

/// What is left on the clock: `4:12`, `held`, or `-` when it never runs out.
pub(super) fn left(request: &Request, now: Timestamp) -> String {
    match (request.deadline, request.remaining_seconds) {
        (Some(deadline), _) => {
            let left = deadline.as_second() - now.as_second() - SAFETY_SECONDS;
            clock(left.max(0))
        }
        (None, Some(_)) if request.held => "held".to_owned(),
        (None, Some(_)) => "paused".to_owned(),
        (None, None) => "-".to_owned(),
    }
}

/// The same in a sentence, with what follows.
pub(super) fn left_sentence(request: &Request, now: Timestamp) -> String {
    let fate = match request.kind {
        Kind::Tool | Kind::Other => "denied",
        Kind::Questions => "skipped",
        Kind::Plan => "rejected",
        Kind::Form => "declined",
    };
    let and = match request.on_timeout {
        OnTimeout::Deny => "",
        OnTimeout::DenyAndInterrupt => " and the agent's turn ends",
    };
    match (request.deadline, request.remaining_seconds) {
        (Some(_), _) => format!("{} left, then it is {fate}{and}", left(request, now)),
        (None, Some(seconds)) if request.held => {
            format!("the clock is stopped at {}", clock(signed(seconds)))
        }
        (None, Some(seconds)) => format!(
            "the clock is stopped at {} while nobody is connected",
            clock(signed(seconds))
        ),
        (None, None) => "it waits for as long as it takes".to_owned(),
    }
}

fn signed(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

fn clock(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{minutes}:{rest:02}")
    }
}

pub(super) fn risk(kind: RiskKind) -> &'static str {
    match kind {
        RiskKind::Deletes => "deletes files",
        RiskKind::Overwrites => "overwrites files",
        RiskKind::GitHistory => "rewrites git history",
        RiskKind::Privilege => "runs as root",
        RiskKind::PipesIntoShell => "pipes into a shell",
        RiskKind::Network => "uses the network",
        RiskKind::Installs => "installs something",
        RiskKind::OutsideProject => "reaches outside the project",
        RiskKind::ProtectedPath => "touches a protected path",
        RiskKind::LongRunning => "runs long",
        RiskKind::Unknown => "was not understood in full",
    }
}

/// Why a human is asked: the kind of reason in our words.
pub(super) fn reason(request: &Request) -> &'static str {
    if request.detail.requires_user_interaction {
        return "only you can answer it.";
    }
    match request.detail.decision_reason_type.as_deref() {
        Some("rule") => "a rule of the agent says to ask.",
        Some("hook") => "a hook of the project or of yours says to ask.",
        Some("workingDir") => "it reaches outside of the folders that the agent works in.",
        Some("safetyCheck") => "the agent's own safety check stopped it.",
        Some("subcommandResults") => "a part of the command is not allowed by any rule.",
        Some("mode") => "the permission mode wants to be asked.",
        Some("sandboxOverride") => "it wants to run outside of the sandbox.",
        Some("asyncAgent") => "it is done by an agent in the background.",
        _ => "no rule allows it yet.",
    }
}

/// How a request ended. What a later version may add is shown by its name.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Ended {
    what: String,
    by: String,
    by_name: Option<String>,
    client: Option<EndedBy>,
    message: Option<String>,
    #[serde(default)]
    edited: bool,
    #[serde(default)]
    delivery: String,
}

#[derive(Clone, Debug, Deserialize)]
struct EndedBy {
    label: String,
}

/// A decision as the history tells it.
pub(super) fn recorded(outcome: &str, by: &str, by_name: &str) -> String {
    let is_human = by == "human";
    let name = Some(by_name).filter(|name| !name.is_empty());
    let ended = Ended {
        what: outcome.to_owned(),
        by: by.to_owned(),
        by_name: name.filter(|_| !is_human).map(str::to_owned),
        client: name.filter(|_| is_human).map(|name| EndedBy {
            label: name.to_owned(),
        }),
        message: None,
        edited: false,
        delivery: String::new(),
    };
    outcome_words(&ended)
}

/// "Allowed by you on Chrome on Linux", "No answer came in time".
pub(super) fn outcome_words(ended: &Ended) -> String {
    let mut words = what(&ended.what);
    let name = ended.by_name.as_deref().map(plain);
    match (ended.by.as_str(), &ended.client, name) {
        ("human", Some(client), _) => match client.label.as_str() {
            "a terminal" => words.push_str(" by you in a terminal"),
            "a script" => words.push_str(" by a script"),
            label => words.push_str(&format!(" by you on {}", plain(label))),
        },
        ("human", None, _) => words.push_str(" by you"),
        ("rule", _, Some(name)) => words.push_str(&format!(" by the rule {name}")),
        ("mode", _, Some(name)) => words.push_str(&format!(" by the mode {name}")),
        ("policy", _, Some(name)) => words.push_str(&format!(" by the policy {name}")),
        ("rule" | "mode" | "policy" | "agent", _, _) => {
            words.push_str(&format!(" by the {}", ended.by));
        }
        _ => {}
    }
    if ended.edited {
        words.push_str(", edited");
    }
    match ended.delivery.as_str() {
        "too_late" => words.push_str(" (too late for the agent)"),
        "failed" => words.push_str(" (it could not be given to the agent)"),
        _ => {}
    }
    if let Some(message) = ended.message.as_deref().filter(|_| ended.by == "human") {
        words.push_str(&format!(": {}", plain(message)));
    }
    words
}

fn what(word: &str) -> String {
    let known = match word {
        "allowed" => "Allowed",
        "denied" => "Denied",
        "answered" => "Answered",
        "expired" => "No answer came in time",
        "withdrawn" => "Withdrawn",
        "orphaned" => "The agent was lost",
        other => return plain(other),
    };
    known.to_owned()
}

/// A folder as people write it.
pub(super) fn folder(path: &str) -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    match path.strip_prefix(&home) {
        Some("") if !home.is_empty() => "~".to_owned(),
        Some(rest) if rest.starts_with('/') && !home.is_empty() => plain(&format!("~{rest}")),
        Some(_) | None => plain(path),
    }
}

pub(super) fn last_part(path: &str) -> String {
    plain(
        path.rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or(path),
    )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn outcomes_say_who_and_what() {
        let words = |json: &str| outcome_words(&serde_json::from_str(json).unwrap());
        assert_eq!(
            words(
                r#"{"what":"denied","by":"human","client":{"client_id":"x","label":"Chrome on Linux"},"message":"Not\u001b now","edited":false,"delivery":"sent"}"#
            ),
            "Denied by you on Chrome on Linux: Not⟨U+001B⟩ now"
        );
        assert_eq!(
            words(
                r#"{"what":"allowed","by":"rule","by_name":"Bash(ls:*)","client":null,"message":null}"#
            ),
            "Allowed by the rule Bash(ls:*)"
        );
        assert_eq!(
            words(r#"{"what":"expired","by":"timeout","client":null,"message":"Nobody"}"#),
            "No answer came in time"
        );
        assert_eq!(
            recorded("allowed", "human", "Pixel 8"),
            "Allowed by you on Pixel 8"
        );
        for (label, expected) in [
            ("a terminal", "Denied by you in a terminal"),
            ("a script", "Denied by a script"),
            ("", "Denied by you"),
        ] {
            assert_eq!(recorded("denied", "human", label), expected);
        }
        assert_eq!(recorded("withdrawn", "agent", ""), "Withdrawn by the agent");
    }
}
