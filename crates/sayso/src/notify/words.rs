//! What a notification says. Titles are Sayso's own words; of an agent only names get in, cleaned, masked and cut.

use sayso_protocol::{NotificationKind, RequestType};
use serde_json::Value;
use uuid::Uuid;

use crate::mask::mask;

const LONGEST_NAME: usize = 60;
const LONGEST_DETAIL: usize = 300;

/// What is known of something that waits for a human.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    pub(super) session: Uuid,
    pub(super) session_title: String,
    /// The name of its folder.
    pub(super) project: String,
    /// Of a request.
    pub(super) request: Option<Asked>,
    /// What went wrong, in our words.
    pub(super) trouble: Option<&'static str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) id: Uuid,
    pub(super) digest: String,
    /// What is to be decided, as [`what`] calls it.
    pub(super) what: String,
    /// The command, path or address, as the agent wrote it.
    pub(super) detail: Option<String>,
    /// A plain yes or no answers it.
    pub(super) can_be_denied: bool,
    pub(super) can_be_allowed: bool,
}

pub(super) fn title(kind: NotificationKind, reminder: bool) -> &'static str {
    match kind {
        _ if reminder => "Time is running out",
        NotificationKind::Tool => "Approval needed",
        NotificationKind::Question => "A question waits",
        NotificationKind::Plan => "A plan waits",
        NotificationKind::TurnFinished => "Turn finished",
        NotificationKind::Error => "A session needs a look",
    }
}

pub(super) fn body(about: &About, with_detail: bool) -> String {
    let asked = about.request.as_ref();
    let what = asked.map(|asked| asked.what.clone());
    let trouble = about.trouble.map(str::to_owned);
    let title = name(&about.session_title);
    let title = (!title.is_empty()).then(|| format!("“{title}”"));
    let project = Some(about.project.clone()).filter(|project| !project.is_empty());
    let parts = [what, trouble, project, title].into_iter().flatten();
    let mut body = parts.collect::<Vec<_>>().join(" · ");
    if let Some(detail) = asked.and_then(|asked| asked.detail.as_deref())
        && with_detail
    {
        body.push('\n');
        body.push_str(&cut(&mask(detail), LONGEST_DETAIL));
    }
    body
}

/// What waits: the tool, or what is wanted where the tool is only the way to ask.
pub(super) fn what(kind: RequestType, tool_name: &str) -> String {
    match kind {
        RequestType::ToolApproval | RequestType::Other => tool(tool_name),
        RequestType::AskUserQuestion => "Question".to_owned(),
        RequestType::PlanApproval => "Plan".to_owned(),
        // Such a one is named by the tool server that asks.
        RequestType::Elicitation => format!("Form of {}", tool(tool_name)),
    }
}

/// A tool is named by its agent, and a name is no place for a sentence.
fn tool(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    if !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(plain) {
        name.to_owned()
    } else {
        "a tool".to_owned()
    }
}

pub(super) fn project(folder: &str) -> String {
    name(
        folder
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default(),
    )
}

fn name(text: &str) -> String {
    cut(&mask(text), LONGEST_NAME)
}

/// The part of a call that says the most, where it is known which that is.
pub(super) fn detail(input: &Value) -> Option<String> {
    let fields = ["command", "file_path", "notebook_path", "url", "path"];
    let texts = fields.iter().filter_map(|field| input.get(field)?.as_str());
    texts.map(str::to_owned).next()
}

/// On one line, without anything invisible.
fn cut(text: &str, longest: usize) -> String {
    let spaced = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let seen = |letter: &char| !is_invisible(*letter);
    let mut letters = spaced.chars().filter(seen);
    let mut kept: String = letters.by_ref().take(longest).collect();
    if letters.next().is_some() {
        kept.push('…');
    }
    kept
}

/// Controls, and what turns the direction of a text or hides in it.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(letter, '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn about(tool_name: &str, title: &str, command: &str) -> About {
        About {
            session_title: title.to_owned(),
            project: project("/srv/shop/"),
            request: Some(Asked {
                what: what(RequestType::ToolApproval, tool_name),
                detail: detail(&json!({"command": command})),
                ..Asked::default()
            }),
            ..About::default()
        }
    }

    #[test]
    fn tool_project_and_session_are_named_and_the_command_only_where_it_is_wanted() {
        let asked = about("Bash", "Mend the login", "npm test");
        assert_eq!(body(&asked, false), "Bash · shop · “Mend the login”");
        assert_eq!(
            body(&asked, true),
            "Bash · shop · “Mend the login”\nnpm test"
        );
    }

    #[test]
    fn secrets_are_masked_and_what_is_long_or_hidden_is_left_out() {
        let key = format!("export API_KEY=sk-{}", "a".repeat(40));
        let shown = body(&about("Bash", &key, &key), true);
        assert!(!shown.contains("aaaa"), "{shown}");
        let long = "x".repeat(5_000);
        let shown = body(&about("Bash", &long, &long), true);
        assert!(shown.chars().count() < 450, "{shown}");
        let turned = body(&about("Bash", "a\u{202e}b\nc\u{0}", "d\r\ne"), true);
        assert_eq!(turned, "Bash · shop · “ab c”\nd e");
    }

    #[test]
    fn what_only_asks_is_called_by_what_it_asks_for() {
        for (kind, tool, expected) in [
            (RequestType::AskUserQuestion, "AskUserQuestion", "Question"),
            (RequestType::PlanApproval, "ExitPlanMode", "Plan"),
            (RequestType::Elicitation, "deploy", "Form of deploy"),
            (RequestType::Other, "Sayso says: yes", "a tool"),
        ] {
            assert_eq!(what(kind, tool), expected);
        }
    }

    #[test]
    fn a_tool_with_a_sentence_for_a_name_is_just_a_tool() {
        for (name, expected) in [
            ("mcp__files__read", "mcp__files__read"),
            ("Sayso says: allow this", "a tool"),
            ("", "a tool"),
            (&"x".repeat(61), "a tool"),
            ("Bаsh", "a tool"),
        ] {
            assert_eq!(tool(name), expected, "{name}");
        }
    }
}
