//! A whole request, for `show`, `allow` and the open request of `watch`.

use jiff::Timestamp;
use sayso_protocol::RiskKind;

use super::line::{Line, Style};
use super::request::{Kind, Request};
use super::session::Session;
use super::{subject, words};

/// The column in which what is told begins.
const LABEL: usize = 9;

pub(super) fn lines(
    request: &Request,
    short_id: &str,
    session: Option<&Session>,
    now: Timestamp,
) -> Vec<Line> {
    let mut shown = vec![
        Line::own(Style::Strong, words::headline(request))
            .and(Style::Faint, format!("  {short_id}")),
    ];
    let mut tell = |label: &str, line: Line| shown.push(labelled(label, line));
    if let Some(session) = session {
        tell(
            "Session",
            Line::default().words(Style::Plain, &session.title),
        );
        tell(
            "Folder",
            Line::own(Style::Plain, words::folder(&session.cwd)),
        );
    }
    let detail = &request.detail;
    if let Some(agent) = &detail.agent_label {
        tell(
            "By",
            Line::own(Style::Plain, "the subagent ").words(Style::Plain, agent),
        );
    }
    let clock = format!(
        "{} ago; {}",
        words::age(request.created_at, now),
        words::left_sentence(request, now)
    );
    tell("Asked", Line::own(Style::Plain, clock));
    let reason = detail
        .decision_reason
        .as_deref()
        .filter(|reason| !reason.trim().is_empty());
    tell(
        "Why",
        match reason {
            Some(reason) => Line::default().words(Style::Plain, reason),
            None => Line::own(Style::Plain, words::reason(request)),
        },
    );
    if let Some(path) = &detail.blocked_path {
        tell("Path", Line::default().words(Style::Plain, path));
    }
    if let Some(explanation) = &detail.rule_explanation {
        tell("Rules", Line::default().words(Style::Plain, explanation));
    }
    if request.kind != Kind::Form {
        for said in said(request) {
            let quoted = Line::own(Style::Faint, "“").words(Style::Plain, said);
            tell("It says", quoted.and(Style::Faint, "”"));
        }
    }
    for (style, line) in warnings(request) {
        tell("Careful", Line::own(style, line.0).words(style, &line.1));
    }
    shown.push(Line::default());
    shown.extend(subject::lines(request));
    shown
}

/// The agent's own words about a call, each once. For file tools they are often only the path again.
fn said(request: &Request) -> Vec<&str> {
    let paths = ["file_path", "notebook_path"].into_iter();
    let path = paths.filter_map(|name| request.text_field(name)).next();
    let is_path = |text: &str| {
        let path = path.as_deref().unwrap_or_default();
        path.ends_with(text.strip_prefix("~/").unwrap_or(text))
    };
    let detail = &request.detail;
    let title = detail.title.as_deref();
    let description = detail.description.as_deref();
    let description = description.filter(|text| Some(*text) != title);
    let all = [title, description].into_iter().flatten();
    all.filter(|text| !text.trim().is_empty() && !is_path(text))
        .collect()
}

/// What a human should know before a yes: our words, and the agent's that they are about.
pub(super) fn warnings(request: &Request) -> Vec<(Style, (String, String))> {
    let detail = &request.detail;
    let mut found = Vec::new();
    let mut add =
        |style, own: &str, words: &str| found.push((style, (own.to_owned(), words.to_owned())));
    for risk in &detail.risks {
        let style = if is_grave(risk.kind) {
            Style::Danger
        } else {
            Style::Careful
        };
        let own = format!(
            "it {}{}",
            words::risk(risk.kind),
            if risk.words.is_empty() { "" } else { ": " }
        );
        add(style, &own, &risk.words);
    }
    if detail.destructive && detail.risks.is_empty() {
        add(Style::Danger, "it cannot be taken back", "");
    }
    if detail.default_to_no {
        add(Style::Danger, "the agent advises against it", "");
    }
    if !detail.input_faithful {
        add(
            Style::Danger,
            "its input holds characters that cannot be shown, so it can only be denied here",
            "",
        );
    }
    found
}

/// Hard to undo, or a way to anything that is; as the server sees it.
fn is_grave(kind: RiskKind) -> bool {
    match kind {
        RiskKind::Deletes
        | RiskKind::Overwrites
        | RiskKind::GitHistory
        | RiskKind::Privilege
        | RiskKind::PipesIntoShell
        | RiskKind::ProtectedPath => true,
        RiskKind::Network
        | RiskKind::Installs
        | RiskKind::OutsideProject
        | RiskKind::LongRunning
        | RiskKind::Unknown => false,
    }
}

fn labelled(label: &str, line: Line) -> Line {
    let padded = format!("{label:LABEL$}");
    Line::own(Style::Faint, padded)
        .followed_by(line)
        .continued_by(" ".repeat(LABEL))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;

    fn request(input: &Value, title: Option<&str>, description: Option<&str>) -> Request {
        let pending = json!({
            "request_id": uuid::Uuid::nil(), "session_id": uuid::Uuid::nil(),
            "request_type": "tool_approval", "tool_name": "Write", "tool_input": input,
            "input_digest": "", "created_at": Timestamp::UNIX_EPOCH, "on_timeout": "deny",
            "held": false, "title": title, "description": description, "suggestions": [],
            "default_to_no": false, "suppress_always_allow": false,
            "requires_user_interaction": false, "input_faithful": true, "free_text": false,
        });
        Request::read(serde_json::value::to_raw_value(&pending).unwrap()).unwrap()
    }

    #[test]
    fn the_agents_words_are_told_once_and_a_path_is_none() {
        let file = json!({"file_path": "/home/me/src/a.rs"});
        let notebook = json!({"notebook_path": "/a.ipynb"});
        for (input, title, description, expected) in [
            (&file, None, Some("/home/me/src/a.rs"), None),
            (&file, None, Some("~/src/a.rs"), None),
            (&file, Some("src/a.rs"), Some("Mend it"), Some("Mend it")),
            (&file, Some("Mend it"), Some("Mend it"), Some("Mend it")),
            (&notebook, None, Some("/a.ipynb"), None),
            (
                &json!({"command": "ls"}),
                Some(" "),
                Some("List"),
                Some("List"),
            ),
        ] {
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(said(&request(input, title, description)), expected);
        }
    }
}
