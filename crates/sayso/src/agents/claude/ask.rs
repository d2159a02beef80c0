//! Claude's requests as the broker's asks.

use ring::digest::{Context, SHA256};
use sayso_broker::{
    Ask, Choice, Form, Json, Kind, Mode, ModeEffect, Plan, Question, QuestionOption, RequestId,
};
use sayso_claude::{
    AgentEvent, Elicitation, ElicitationForm, PermissionMode, RawJson, ToolAsk, ToolStart,
};
use sayso_protocol::RequestDetail;
use sayso_store::RequestRow;
use serde::Deserialize;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use uuid::Uuid;

use super::interned::Interned;
use super::{form, native_id, reading};
use crate::rules::Call;

/// The modes that an agent can be in, by both names.
static MODES: LazyLock<[(PermissionMode, Mode); 5]> = LazyLock::new(|| {
    let modes = [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::DontAsk,
        PermissionMode::BypassPermissions,
    ];
    modes.map(|mode| {
        let name = Mode::new(mode.as_str());
        (mode, name)
    })
});

/// The ask still lacks its detail, which comes beside it: more may be added.
pub(super) fn tool(
    asked: ToolAsk,
    agent_label: Option<String>,
    call: &Call,
) -> (Ask, RequestDetail) {
    let input = Json::from(asked.input.to_raw_value());
    let mode_effects = mode_effects(&asked);
    let kind = kind(&asked);
    let choices = choices(&kind, &asked);
    let suggestions = asked.permission_suggestions.len();
    let reading = reading::read(call);
    let rules_may_allow = asked.rules_may_allow();
    let detail = RequestDetail {
        agent_id: asked.agent_id,
        agent_label,
        title: asked.title,
        description: asked.description,
        decision_reason: asked.decision_reason,
        decision_reason_type: asked.decision_reason_type,
        decision_reason_source: asked
            .decision_reason_rule_source
            .or(asked.decision_reason_hook_source)
            .or(asked.decision_reason_hook_event),
        matched_rule: asked.matched_ask_rule.as_ref().map(rule_text),
        rule_explanation: None,
        blocked_path: asked.blocked_path,
        suggestions: asked
            .permission_suggestions
            .iter()
            .map(|suggestion| suggestion.raw.to_raw_value())
            .collect(),
        default_to_no: asked.default_to_no,
        suppress_always_allow: asked.suppress_always_allow_rule,
        requires_user_interaction: asked.requires_user_interaction,
        mcp_server: asked.mcp_server.map(|server| server.name),
        input_faithful: asked.input_faithful,
        free_text: true,
        risks: reading.risks,
        destructive: reading.destructive,
        command_breaks: reading.command_breaks,
    };
    let ask = Ask {
        id: RequestId(Uuid::now_v7()),
        native_id: native_id(&asked.request_id),
        digest: digest(&asked.tool_name, &input),
        kind,
        tool_name: asked.tool_name,
        input,
        input_faithful: asked.input_faithful,
        can_edit: true,
        suggestions,
        suppress_always_allow: asked.suppress_always_allow_rule,
        requires_user_interaction: asked.requires_user_interaction,
        rules_may_allow,
        mode_effects,
        choices,
        tool_use_id: asked.tool_use_id,
        detail: Json::new("{}"),
        raw: Some(Json::from(asked.raw.to_raw_value())),
    };
    (ask, detail)
}

pub(super) fn elicitation(asked: Elicitation) -> Ask {
    let input = Json::from(asked.raw.to_raw_value());
    let form = match &asked.form {
        ElicitationForm::Form { schema, .. } => form::read(schema.as_ref()),
        ElicitationForm::Url { .. } => Form::default(),
    };
    let detail = RequestDetail {
        title: Some(asked.message),
        mcp_server: Some(asked.mcp_server_name.clone()),
        suppress_always_allow: true,
        requires_user_interaction: true,
        input_faithful: true,
        ..RequestDetail::default()
    };
    let choices = Arc::new([
        choice("submit", "Submit", Verdict::Allows, Turn::GoesOn),
        choice("deny", "Decline", Verdict::Refuses, Turn::GoesOn),
        choice("deny_and_stop", "Cancel", Verdict::Refuses, Turn::Ends),
    ]);
    Ask {
        kind: Kind::Elicitation(form),
        choices,
        detail: detail_json(&detail),
        ..bare(&asked.request_id, asked.mcp_server_name, input)
    }
}

/// A request of a kind this version does not know: shown, and only refusable.
pub(super) fn other(request_id: &str, subtype: String, raw: &RawJson) -> Ask {
    let detail = RequestDetail {
        suppress_always_allow: true,
        requires_user_interaction: true,
        input_faithful: true,
        ..RequestDetail::default()
    };
    Ask {
        detail: detail_json(&detail),
        ..bare(request_id, subtype, Json::from(raw.to_raw_value()))
    }
}

/// A tool that is about to run, as a request that can only be refused.
pub fn refusable(start: ToolStart) -> Ask {
    let detail = RequestDetail {
        agent_id: start.agent_id,
        input_faithful: start.input_faithful,
        ..RequestDetail::default()
    };
    Ask {
        kind: Kind::Tool,
        tool_use_id: start.tool_use_id,
        raw: Some(Json::from(start.raw.to_raw_value())),
        detail: detail_json(&detail),
        ..bare(
            &start.request_id,
            start.tool_name,
            Json::from(start.input.to_raw_value()),
        )
    }
}

/// What an earlier server stored, as the agent asked it. What was shown beside it is in the row.
pub fn restored(event: AgentEvent, row: &RequestRow, cwd: &Path) -> Option<Ask> {
    match event {
        AgentEvent::Asked(asked) => {
            let input = asked.input.to_value().unwrap_or_default();
            let call = Call::new(&asked.tool_name, input, cwd);
            let (ask, _) = tool(*asked, row.agent_label.clone(), &call);
            Some(ask)
        }
        AgentEvent::ToolStarting(start) => Some(refusable(*start)),
        AgentEvent::Elicited(asked) => Some(elicitation(*asked)),
        AgentEvent::OtherRequest {
            request_id,
            subtype,
            raw,
            ..
        } => Some(other(&request_id, subtype, &raw)),
        _ => None,
    }
}

fn bare(request_id: &str, tool_name: String, input: Json) -> Ask {
    Ask {
        id: RequestId(Uuid::now_v7()),
        native_id: native_id(request_id),
        digest: digest(&tool_name, &input),
        kind: Kind::Other,
        tool_name,
        raw: Some(input.clone()),
        input,
        input_faithful: true,
        can_edit: false,
        suggestions: 0,
        suppress_always_allow: true,
        requires_user_interaction: true,
        rules_may_allow: false,
        mode_effects: Arc::default(),
        choices: Arc::new([choice("deny", "Decline", Verdict::Refuses, Turn::GoesOn)]),
        tool_use_id: None,
        detail: Json::new("{}"),
    }
}

/// Names tool and input, so that a decision cannot land on another one.
fn digest(tool_name: &str, input: &Json) -> String {
    let mut hash = Context::new(&SHA256);
    hash.update(tool_name.as_bytes());
    hash.update(&[0]);
    hash.update(input.as_str().as_bytes());
    hexadecimal(hash.finish().as_ref())
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 0xf)];
    bytes.iter().flat_map(digits).collect()
}

fn kind(asked: &ToolAsk) -> Kind {
    match asked.tool_name.as_str() {
        "AskUserQuestion" => questions(&asked.input).map_or(Kind::Other, Kind::Questions),
        "ExitPlanMode" => Kind::Plan(Plan {
            modes: modes_after_plan(),
        }),
        _ => Kind::Tool,
    }
}

/// A plan leads to work, and never to work without questions.
fn modes_after_plan() -> Vec<Mode> {
    let modes = super::permission_modes().into_iter();
    let fitting = modes.filter(|info| !info.dangerous && info.mode != "plan");
    fitting.map(|info| Mode::new(&info.mode)).collect()
}

/// `None` when the questions cannot be read: then nobody can answer them.
fn questions(input: &RawJson) -> Option<Vec<Question>> {
    #[derive(Deserialize)]
    struct Input {
        questions: Vec<Asked>,
    }
    #[derive(Deserialize)]
    struct Asked {
        question: String,
        #[serde(default, rename = "multiSelect")]
        multi_select: bool,
        #[serde(default)]
        options: Vec<Offered>,
    }
    #[derive(Deserialize)]
    struct Offered {
        label: String,
    }
    let input: Input = input.parse().ok()?;
    let questions = input.questions.into_iter().map(|asked| Question {
        text: asked.question,
        multi_select: asked.multi_select,
        options: asked
            .options
            .into_iter()
            .map(|offered| QuestionOption {
                label: offered.label,
            })
            .collect(),
    });
    Some(questions.collect())
}

/// Rules come as text or as the agent's own object.
fn rule_text(rule: &RawJson) -> String {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Parts {
        tool_name: String,
        rule_content: Option<String>,
    }
    if let Ok(text) = rule.parse::<String>() {
        return text;
    }
    match rule.parse::<Parts>() {
        Ok(Parts {
            tool_name,
            rule_content: Some(content),
        }) => format!("{tool_name}({content})"),
        Ok(Parts { tool_name, .. }) => tool_name,
        Err(_) => rule.as_str().to_owned(),
    }
}

#[derive(PartialEq)]
enum Verdict {
    Allows,
    Refuses,
}

#[derive(PartialEq)]
enum Turn {
    GoesOn,
    Ends,
}

fn choice(id: &'static str, label: &'static str, verdict: Verdict, turn: Turn) -> Choice {
    Choice {
        id: id.into(),
        label: label.into(),
        allows: verdict == Verdict::Allows,
        turn_continues: turn == Turn::GoesOn,
        remembers: Vec::new(),
    }
}

/// What of a request says how it can be answered.
#[derive(PartialEq)]
struct Answerable {
    by_allowing: bool,
    by_answering: bool,
    /// How many offers to remember can be taken along.
    offers: usize,
}

fn choices(kind: &Kind, asked: &ToolAsk) -> Arc<[Choice]> {
    static KNOWN: Interned<Answerable, [Choice]> = Interned::new();
    let by_allowing = matches!(kind, Kind::Tool | Kind::Plan(_)) && asked.input_faithful;
    let offers = match by_allowing && !asked.suppress_always_allow_rule {
        true => asked.permission_suggestions.len(),
        false => 0,
    };
    let answerable = Answerable {
        by_allowing,
        by_answering: matches!(kind, Kind::Questions(_)),
        offers,
    };
    KNOWN.get(answerable, |answerable| answerable.choices().into())
}

impl Answerable {
    fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::with_capacity(self.offers + 3);
        if self.by_allowing {
            choices.push(choice("allow", "Allow once", Verdict::Allows, Turn::GoesOn));
        }
        choices.extend((0..self.offers).map(|index| Choice {
            id: format!("allow_and_remember_{index}").into(),
            remembers: vec![index],
            ..choice(
                "allow_and_remember",
                "Allow and remember",
                Verdict::Allows,
                Turn::GoesOn,
            )
        }));
        if self.by_answering {
            choices.push(choice("answer", "Answer", Verdict::Allows, Turn::GoesOn));
        }
        choices.push(choice("deny", "Deny", Verdict::Refuses, Turn::GoesOn));
        choices.push(choice(
            "deny_and_stop",
            "Deny and stop",
            Verdict::Refuses,
            Turn::Ends,
        ));
        choices
    }
}

/// What each mode would have done instead of asking, where that is something else.
fn mode_effects(asked: &ToolAsk) -> Arc<[(Mode, ModeEffect)]> {
    static KNOWN: Interned<[ModeEffect; 5], [(Mode, ModeEffect)]> = Interned::new();
    let effects = MODES
        .each_ref()
        .map(|(mode, _)| effect(asked.mode_effect(mode)));
    KNOWN.get(effects, |effects| {
        let names = MODES.iter().map(|(_, name)| name.clone());
        let effects = names.zip(effects.iter().copied());
        effects
            .filter(|(_, effect)| *effect != ModeEffect::Asks)
            .collect()
    })
}

fn effect(effect: sayso_claude::ModeEffect) -> ModeEffect {
    match effect {
        sayso_claude::ModeEffect::Asks => ModeEffect::Asks,
        sayso_claude::ModeEffect::Allows => ModeEffect::Allows,
        sayso_claude::ModeEffect::Denies => ModeEffect::Denies,
    }
}

pub fn detail_json(detail: &RequestDetail) -> Json {
    // Only strings, booleans and JSON values: this cannot fail, and an empty
    // detail would only show less.
    match serde_json::value::to_raw_value(&detail.sparse()) {
        Ok(raw) => Json::from(Arc::from(raw)),
        Err(_) => Json::new("{}"),
    }
}
