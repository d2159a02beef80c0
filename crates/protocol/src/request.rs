//! A pending request, the decision on it and its outcome.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::RawJson;

/// Something an agent waits for: shown to every client until it is closed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PendingRequest {
    pub request_id: Uuid,
    pub session_id: Uuid,
    pub request_type: RequestType,
    pub tool_name: String,
    /// The agent's input, byte for byte.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub tool_input: RawJson,
    /// Names the input; a decision must repeat it.
    pub input_digest: String,
    #[cfg_attr(test, ts(type = "string"))]
    pub created_at: Timestamp,
    /// When Sayso decides by itself; absent when it never will or the clock is stopped.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub deadline: Option<Timestamp>,
    /// What happens at the deadline.
    pub on_timeout: crate::OnTimeout,
    pub held: bool,
    /// What is left on a stopped clock.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub remaining_seconds: Option<u64>,
    pub tool_use_id: Option<String>,
    #[serde(flatten)]
    pub detail: Arc<RequestDetail>,
    /// What the agent offers, in its order.
    pub choices: Vec<Choice>,
}

/// What the agent said about the request. Model-made texts are untrusted. Clients are told every field; where it is
/// stored, what is null, false or empty is left out (`sparse`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestDetail {
    pub agent_id: Option<String>,
    pub agent_label: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub decision_reason: Option<String>,
    pub decision_reason_type: Option<String>,
    /// Where the rule or hook that forced the question comes from.
    pub decision_reason_source: Option<String>,
    /// The agent's own rule that says "ask", as text.
    pub matched_rule: Option<String>,
    /// Why none of Sayso's rules answered it; absent when there are none.
    pub rule_explanation: Option<String>,
    pub blocked_path: Option<String>,
    /// The agent's offers to remember, verbatim; `remember` names them by index.
    #[serde(deserialize_with = "offers")]
    #[cfg_attr(test, ts(type = "Array<unknown>"))]
    pub suggestions: Vec<RawJson>,
    pub default_to_no: bool,
    pub suppress_always_allow: bool,
    pub requires_user_interaction: bool,
    pub mcp_server: Option<String>,
    /// False when the input holds characters that JSON cannot carry, so that
    /// what is shown is not exactly what would run: it can be denied or edited.
    pub input_faithful: bool,
    /// For questions: the host takes free text beside the options.
    pub free_text: bool,
    /// What the input would do that a human should know, read from a parse.
    pub risks: Vec<Risk>,
    /// One of the risks cannot be taken back: the request opens on Deny.
    pub destructive: bool,
    /// For commands: where each further part of a compound command begins, in
    /// UTF-16 code units, so that a reader can see it on a line of its own.
    pub command_breaks: Vec<u32>,
}

/// Read as values first: among fields that were put together with others nothing is raw any more.
fn offers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RawJson>, D::Error> {
    let offers = Vec::<serde_json::Value>::deserialize(deserializer)?;
    let raw = |offer| serde_json::value::to_raw_value(offer).map(RawJson::from);
    let offers: Result<_, _> = offers.iter().map(raw).collect();
    offers.map_err(D::Error::custom)
}

/// One thing that a tool call would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Risk {
    pub kind: RiskKind,
    /// The part of the input that says so.
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RiskKind {
    Deletes,
    Overwrites,
    Privilege,
    Network,
    PipesIntoShell,
    OutsideProject,
    ProtectedPath,
    Installs,
    GitHistory,
    LongRunning,
    /// Part of it could not be read.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RequestType {
    ToolApproval,
    AskUserQuestion,
    PlanApproval,
    Elicitation,
    /// A kind this version does not know: it can be refused or left open.
    Other,
}

/// One of the answers the agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Choice {
    pub choice_id: Cow<'static, str>,
    pub label: Cow<'static, str>,
    pub allows: bool,
    /// False when this choice ends the agent's turn.
    pub turn_continues: bool,
    /// Indexes into `suggestions` that this choice would remember.
    pub remembers: Vec<usize>,
}

/// What a human decided. Read in `client.rs`, where raw JSON stays raw.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "behavior", rename_all = "snake_case")]
pub enum Decision {
    Allow(Allow),
    Deny(Deny),
    Answer(Answer),
    Submit(Submit),
}

/// Run it, as shown or as edited.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Allow {
    /// Runs in place of what was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "unknown"))]
    pub updated_input: Option<RawJson>,
    /// Indexes of the suggestions to remember.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<usize>>"))]
    pub remember: Vec<usize>,
    /// For plans: the permission mode that follows. Without it the agent goes
    /// back to the mode before the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// A program allowed this by itself and nobody looked: it is recorded as
    /// the policy `auto_approve`. Only for tool calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub automatic: bool,
}

/// Do not run it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// The agent reads exactly this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Also end the agent's turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub interrupt: bool,
}

/// Answers to questions, by the question's exact text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Answer {
    #[cfg_attr(test, ts(type = "Record<string, AnswerValue>"))]
    pub answers: IndexMap<String, AnswerValue>,
    /// What the human adds to an answer, by the question's exact text.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[cfg_attr(test, ts(optional, type = "Record<string, string>"))]
    pub notes: IndexMap<String, String>,
}

/// The content of a form that a tool server asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Submit {
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub content: RawJson,
}

/// A label or free text, or the labels of a multi-select.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum AnswerValue {
    Text(String),
    Labels(Vec<String>),
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Outcome {
    pub what: OutcomeKind,
    pub by: DecidedBy,
    /// Which mode, rule or policy, where one of them decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub by_name: Option<String>,
    /// Which client, for a human's decision.
    pub client: Option<ClientRef>,
    /// The reason of a refusal, when one was given.
    pub message: Option<String>,
    /// The human changed the input before it ran.
    pub edited: bool,
    pub delivery: Delivery,
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    Allowed,
    Denied,
    Answered,
    /// Nobody answered in time; the agent was told so.
    Expired,
    /// The agent took it back, or died.
    Withdrawn,
    /// The agent was lost while Sayso was down.
    Orphaned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Human,
    Rule,
    Mode,
    Timeout,
    Policy,
    Agent,
}

/// Deciding and delivering are two things: a decision is final when recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    Pending,
    Sent,
    /// The agent had withdrawn the request in the meantime.
    TooLate,
    Failed,
    /// Nothing was to be delivered.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClientRef {
    pub client_id: Uuid,
    pub label: String,
}
