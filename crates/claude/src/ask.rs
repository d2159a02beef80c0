//! What the agent asks the human: permission for a tool, or a form of an MCP server.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::mode::PermissionMode;
use crate::raw::RawJson;
use crate::wire::lenient;

/// A `can_use_tool` request. Everything in it but the ids is the agent's or the model's words: untrusted.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolAsk {
    #[serde(skip)]
    pub request_id: String,
    /// False when the line had to be repaired: the input shown is not exactly what would run, so allowing it
    /// as it stands is refused.
    #[serde(skip)]
    pub input_faithful: bool,
    /// The `request` object as the agent wrote it (after the repair, if there was one).
    #[serde(skip, default = "RawJson::null")]
    pub raw: RawJson,
    pub tool_name: String,
    pub input: RawJson,
    #[serde(default, deserialize_with = "lenient::text")]
    pub display_name: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub title: Option<String>,
    /// The model's own words for Bash; never a substitute for the command.
    #[serde(default, deserialize_with = "lenient::text")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub blocked_path: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub decision_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub decision_reason_type: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub decision_reason_rule_source: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub decision_reason_hook_event: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub decision_reason_hook_source: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub tool_use_id: Option<String>,
    /// Set when a subagent asks; equals the `task_id` of its task.
    #[serde(default, deserialize_with = "lenient::text")]
    pub agent_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub mcp_server: Option<McpServerReference>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub classifier_approvable: Option<bool>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub suppress_always_allow_rule: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub requires_user_interaction: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub default_to_no: bool,
    #[serde(default)]
    pub matched_ask_rule: Option<RawJson>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub server_policy_ask_only: bool,
    #[serde(default, deserialize_with = "suggestions")]
    pub permission_suggestions: Vec<Suggestion>,
}

/// A tool that is about to run and waits for the host's word, asked about or not. As untrusted as an ask.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolStart {
    pub request_id: String,
    pub tool_use_id: Option<String>,
    pub tool_name: String,
    pub input: RawJson,
    pub input_faithful: bool,
    pub permission_mode: Option<PermissionMode>,
    pub agent_id: Option<String>,
    /// The `request` object as the agent wrote it.
    pub raw: RawJson,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct McpServerReference {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub source: Option<String>,
}

/// One entry of `permission_suggestions`: verbatim, to be shown and to be sent back as it came.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Suggestion {
    pub raw: RawJson,
}

impl Suggestion {
    /// What it would change.
    pub fn update(&self) -> PermissionUpdate {
        self.raw.parse().unwrap_or(PermissionUpdate::Unknown)
    }
}

/// Suggestions that are not a list are no suggestions: the ask itself must still be shown.
fn suggestions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Suggestion>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PermissionUpdate {
    AddRules(RulesUpdate),
    ReplaceRules(RulesUpdate),
    RemoveRules(RulesUpdate),
    SetMode {
        mode: PermissionMode,
        #[serde(default)]
        destination: Option<String>,
    },
    AddDirectories(DirectoriesUpdate),
    RemoveDirectories(DirectoriesUpdate),
    /// A kind this version does not know, or one that does not fit its kind.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RulesUpdate {
    pub rules: Vec<Rule>,
    pub behavior: String,
    #[serde(default)]
    pub destination: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    pub tool_name: String,
    #[serde(default)]
    pub rule_content: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DirectoriesUpdate {
    pub directories: Vec<String>,
    #[serde(default)]
    pub destination: Option<String>,
}

/// What a permission mode would have done with an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeEffect {
    Asks,
    Allows,
    Denies,
}

const FILE_TOOLS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
const QUESTION_TOOLS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];
/// Reasons that only say that nothing allows it yet. All others, known or not, are somebody's wish to be asked.
const PLAIN_REASONS: [&str; 3] = ["workingDir", "subcommandResults", "other"];
/// Reasons that somebody gave on purpose; no mode of ours talks them away.
const DELIBERATE_REASONS: [&str; 3] = ["safetyCheck", "rule", "hook"];

impl ToolAsk {
    /// What `mode` would have done with this ask, judged so that a doubt still asks the human.
    pub fn mode_effect(&self, mode: &PermissionMode) -> ModeEffect {
        match mode {
            PermissionMode::DontAsk => ModeEffect::Denies,
            _ if self.needs_a_human() => ModeEffect::Asks,
            PermissionMode::BypassPermissions if !self.has_deliberate_reason() => {
                ModeEffect::Allows
            }
            PermissionMode::AcceptEdits if self.is_plain_edit() => ModeEffect::Allows,
            PermissionMode::BypassPermissions
            | PermissionMode::AcceptEdits
            | PermissionMode::Default
            | PermissionMode::Plan
            | PermissionMode::Auto
            | PermissionMode::Other(_) => ModeEffect::Asks,
        }
    }

    /// May a rule of the host allow this? Not what a mode such as plan, a hook, a safety check or a rule of the
    /// agent's own wants a human to see.
    pub fn rules_may_allow(&self) -> bool {
        let plain = match self.decision_reason_type.as_deref() {
            None => true,
            Some(reason) => PLAIN_REASONS.contains(&reason),
        };
        plain
            && self.matched_ask_rule.is_none()
            && !self.server_policy_ask_only
            && !self.needs_a_human()
    }

    fn needs_a_human(&self) -> bool {
        self.requires_user_interaction || QUESTION_TOOLS.contains(&self.tool_name.as_str())
    }

    fn has_deliberate_reason(&self) -> bool {
        self.matched_ask_rule.is_some()
            || self
                .decision_reason_type
                .as_deref()
                .is_some_and(|reason| DELIBERATE_REASONS.contains(&reason))
    }

    fn is_plain_edit(&self) -> bool {
        FILE_TOOLS.contains(&self.tool_name.as_str())
            && self.decision_reason_type.is_none()
            && self.blocked_path.is_none()
            && self.matched_ask_rule.is_none()
            && self.permission_suggestions.iter().any(|suggestion| {
                matches!(
                    suggestion.update(),
                    PermissionUpdate::SetMode {
                        mode: PermissionMode::AcceptEdits,
                        ..
                    }
                )
            })
    }
}

/// An MCP server's question to the human. It names no tool use; only the server and the time link it.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    pub request_id: String,
    pub mcp_server_name: String,
    pub message: String,
    pub form: ElicitationForm,
    /// The `request` object as the agent wrote it.
    pub raw: RawJson,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationForm {
    /// The CLI does not check the content against the schema; the host must.
    Form {
        schema: Option<RawJson>,
        property_order: Vec<String>,
    },
    Url {
        url: String,
        elicitation_id: Option<String>,
    },
}
