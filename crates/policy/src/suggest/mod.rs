//! Rules that could be made from a call: this very call, or more of its kind.

mod command;
mod file;

use crate::call::{Tool, ToolCall};
use crate::decision::Decision;
use crate::evaluate::evaluate;
use crate::rule::Rule;
use crate::rules::{Entry, RuleId, Rules, Source};
use crate::web::Address;

/// More rules than these are not read before they are saved.
const MAX_RULES: usize = 5;

/// Rules that belong together: all of them are saved, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub kind: SuggestionKind,
    pub rules: Vec<Rule>,
    /// Used to allow, they would allow this very call. Otherwise they can only
    /// deny it or ask.
    pub allows: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionKind {
    /// The call as it is; one rule for each part of a command.
    Exact,
    /// Each part of a command by its first words.
    Prefix,
    /// Everything in the folder of the file.
    Folder,
    Domain,
    Agent,
    /// All tools of an MCP server.
    Server,
    /// Every call of the tool.
    Tool,
}

/// What could be remembered about `call`, from the narrowest to the broadest.
pub fn suggest(call: &ToolCall<'_>) -> Vec<Suggestion> {
    let mut texts = match call.tool() {
        Tool::Bash => command::texts(call.text("command").unwrap_or_default()),
        Tool::Read => file::texts(call, "Read"),
        Tool::Edit => file::texts(call, "Edit"),
        Tool::WebFetch => {
            let address = call.text("url").and_then(Address::parse);
            let rule = address.map(|address| format!("WebFetch(domain:{})", address.host));
            vec![(SuggestionKind::Domain, rule.into_iter().collect())]
        }
        Tool::Agent => {
            let agent = call.text("subagent_type");
            let rule = agent.map(|name| format!("{}({name})", call.tool_name));
            vec![(SuggestionKind::Agent, rule.into_iter().collect())]
        }
        Tool::Mcp | Tool::WebSearch | Tool::Talk | Tool::Other => Vec::new(),
    };
    texts.push((SuggestionKind::Tool, vec![call.tool_name.to_owned()]));
    if call.tool() == Tool::Mcp
        && let Some((server, _)) = call.tool_name.rsplit_once("__")
    {
        texts.push((SuggestionKind::Server, vec![server.to_owned()]));
    }
    let suggestions = texts.into_iter();
    suggestions
        .filter_map(|(kind, texts)| suggestion(call, kind, &texts))
        .collect()
}

fn suggestion(call: &ToolCall<'_>, kind: SuggestionKind, texts: &[String]) -> Option<Suggestion> {
    let mut rules: Vec<Rule> = Vec::new();
    for text in texts {
        let rule = Rule::parse(text).ok()?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    if rules.is_empty() || rules.len() > MAX_RULES {
        return None;
    }
    let entries = rules.iter().map(|rule| Entry {
        id: RuleId::new(rule.as_str()),
        effect: Decision::Allow,
        rule: rule.clone(),
        source: Source::Session,
    });
    let allows = evaluate(&Rules::new(entries), call).decision == Decision::Allow;
    Some(Suggestion {
        kind,
        rules,
        allows,
    })
}
