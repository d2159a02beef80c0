//! What an agent asks, in terms that fit every agent.

use std::borrow::Cow;
use std::sync::Arc;

use crate::{Json, Mode, RequestId};

/// One request of an agent. What is shown and answered of it never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub id: RequestId,
    /// The agent's own id as JSON (a number or a string).
    pub native_id: Json,
    pub kind: Kind,
    pub tool_name: String,
    /// The tool's input, verbatim. What runs is this or what a human edits it to.
    pub input: Json,
    /// Names `input`; a decision must repeat it.
    pub digest: String,
    /// False when `input` had to be repaired to be readable: then it cannot be
    /// allowed as it is, because it is not what would run.
    pub input_faithful: bool,
    /// The agent can run an edited input.
    pub can_edit: bool,
    /// How many offers to remember came with it.
    pub suggestions: usize,
    pub suppress_always_allow: bool,
    /// Only a human may allow this: never a mode, never a rule.
    pub requires_user_interaction: bool,
    /// A rule may allow it; false where somebody wants a human to see it.
    pub rules_may_allow: bool,
    /// What each permission mode would have done instead of asking.
    pub mode_effects: Arc<[(Mode, ModeEffect)]>,
    pub choices: Arc<[Choice]>,
    pub tool_use_id: Option<String>,
    /// What the UI shows beside the input, opaque to the broker.
    pub detail: Json,
    /// The agent's message, verbatim. `None` once it is on record: a request may be open for long.
    pub raw: Option<Json>,
}

impl Ask {
    pub(crate) fn mode_effect(&self, mode: &Mode) -> ModeEffect {
        self.mode_effects
            .iter()
            .find(|(name, _)| name == mode)
            .map_or(ModeEffect::Asks, |(_, effect)| *effect)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Tool,
    Questions(Vec<Question>),
    Plan(Plan),
    Elicitation(Form),
    /// Something this version does not know. It can only be refused.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The answer's key.
    pub text: String,
    pub multi_select: bool,
    pub options: Vec<QuestionOption>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionOption {
    pub label: String,
}

/// What may follow when a plan is approved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The modes that an approval may name: none that asks nothing.
    pub modes: Vec<Mode>,
}

/// A form that a tool server wants filled in. `fields` is empty where the
/// human is only sent to an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    pub fields: Vec<FormField>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormField {
    pub name: String,
    pub required: bool,
    pub kind: FormFieldKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormFieldKind {
    Text(TextField),
    Number(NumberField),
    Boolean,
    OneOf(Vec<String>),
    /// Any number of these, each once.
    SomeOf {
        options: Vec<String>,
        limits: Limits,
    },
    /// A shape that is not checked here.
    Any,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextField {
    pub format: Option<TextFormat>,
    /// In characters.
    pub length: Limits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberField {
    pub whole: bool,
    /// As the schema writes them: a number that fits no other type stays exact.
    pub minimum: Option<serde_json::Number>,
    pub maximum: Option<serde_json::Number>,
}

/// How much of something there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub least: Option<u64>,
    pub most: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeEffect {
    Asks,
    Allows,
    Denies,
}

/// One of the answers that the agent offers, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub id: Cow<'static, str>,
    pub label: Cow<'static, str>,
    pub allows: bool,
    pub turn_continues: bool,
    /// Indexes of the suggestions that it would remember.
    pub remembers: Vec<usize>,
}
