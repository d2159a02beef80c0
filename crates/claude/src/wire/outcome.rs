use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::lenient;
use super::message::TokenUsage;
use crate::raw::RawJson;

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TurnResult {
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub subtype: String,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub is_error: bool,
    #[serde(default, deserialize_with = "lenient::text")]
    pub terminal_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub result: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub errors: Vec<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub num_turns: u64,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub duration_ms: f64,
    /// The running total of the session, not of the turn.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub total_cost_usd: f64,
    /// Of this turn, without subagents.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub usage: Option<TokenUsage>,
    /// By model, running totals.
    #[serde(
        default,
        rename = "modelUsage",
        deserialize_with = "lenient::or_default"
    )]
    pub model_usage: HashMap<String, ModelUsage>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub permission_denials: Vec<RawJson>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub api_error_status: Option<i64>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub startup_failure_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub origin: Option<Origin>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelUsage {
    #[serde(deserialize_with = "lenient::or_default")]
    pub context_window: Option<u64>,
}

/// Why the agent started a turn by itself.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Origin {
    #[serde(default)]
    pub kind: String,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TurnResult {
    /// The subtype alone says "success" for an API failure, too, so it is not asked.
    pub fn succeeded(&self) -> bool {
        !self.is_error && matches!(self.terminal_reason.as_deref(), None | Some("completed"))
    }

    pub fn origin_kind(&self) -> Option<&str> {
        self.origin.as_ref().map(|origin| origin.kind.as_str())
    }
}
