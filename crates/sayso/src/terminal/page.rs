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
        for said in [&detail.title, &detail.description].into_iter().flatten() {
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
