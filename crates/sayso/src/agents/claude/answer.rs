//! Decisions and messages as Claude's input.

use indexmap::IndexMap;
use sayso_broker::{AgentAnswer, AnswerValue, Answers, Ask, Json, Kind, Mode};
use sayso_claude::input::ContentBlock as ClaudeBlock;
use sayso_claude::{AgentInput, ControlRequest, ElicitationAnswer, PermissionAnswer, RawJson};
use sayso_protocol::ContentBlock;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// What the agent is sent. `None` when the answer cannot be expressed; the
/// broker has checked the answer, so that is a fault and nothing is sent.
pub fn input_for(ask: &Ask, answer: AgentAnswer) -> Option<AgentInput> {
    let request_id: String = serde_json::from_str(ask.native_id.as_str()).ok()?;
    if let Kind::Elicitation(_) = ask.kind {
        let answer = match answer {
            AgentAnswer::Submit(content) => ElicitationAnswer::Accept {
                content: raw(&content)?,
            },
            AgentAnswer::Deny {
                interrupt: false, ..
            } => ElicitationAnswer::Decline,
            AgentAnswer::Deny {
                interrupt: true, ..
            } => ElicitationAnswer::Cancel,
            AgentAnswer::Allow(_) | AgentAnswer::Answers(_) => return None,
        };
        return Some(AgentInput::AnswerElicitation { request_id, answer });
    }
    let answer = match (&ask.kind, answer) {
        (Kind::Other, AgentAnswer::Deny { message, .. }) => {
            return Some(AgentInput::Refuse {
                request_id,
                message,
            });
        }
        (_, AgentAnswer::Allow(allowance)) => {
            let updated_input = match &allowance.updated_input {
                Some(updated) => Some(raw(updated)?),
                None => None,
            };
            let mut updated_permissions = suggestions(ask, &allowance.remember)?;
            if let Some(mode) = &allowance.mode {
                updated_permissions.push(mode_update(mode)?);
            }
            PermissionAnswer::Allow {
                updated_input,
                permanent: !allowance.remember.is_empty(),
                updated_permissions,
            }
        }
        (_, AgentAnswer::Deny { message, interrupt }) => {
            PermissionAnswer::Deny { message, interrupt }
        }
        (_, AgentAnswer::Answers(answers)) => PermissionAnswer::Answers {
            annotations: annotations(ask, &answers)?,
            answers: answers
                .answers
                .into_iter()
                .map(answer_value)
                .collect::<IndexMap<_, _>>(),
            response: None,
        },
        (_, AgentAnswer::Submit(_)) => return None,
    };
    Some(AgentInput::Answer { request_id, answer })
}

fn answer_value((question, value): (String, AnswerValue)) -> (String, sayso_claude::AnswerValue) {
    let value = match value {
        AnswerValue::Text(text) => sayso_claude::AnswerValue::Text(text),
        AnswerValue::Labels(labels) => sayso_claude::AnswerValue::Labels(labels),
    };
    (question, value)
}

/// What goes with the answers: the human's notes, and the preview of the one option that was chosen, since that
/// is what the human saw. `None` inside when there is neither.
fn annotations(ask: &Ask, answers: &Answers) -> Option<Option<RawJson>> {
    let mut annotations = Map::new();
    for (question, answer) in &answers.answers {
        let note = answers.notes.iter().find(|(noted, _)| noted == question);
        let note = note.map(|(_, text)| text.trim()).unwrap_or_default();
        let mut about = Map::new();
        if let Some(preview) = chosen_preview(ask, question, answer) {
            about.insert("preview".to_owned(), preview.into());
        }
        if !note.is_empty() {
            about.insert("notes".to_owned(), note.into());
        }
        if !about.is_empty() {
            annotations.insert(question.clone(), about.into());
        }
    }
    if annotations.is_empty() {
        return Some(None);
    }
    let text = Value::Object(annotations).to_string();
    RawJson::parse_text(text).ok().map(Some)
}

fn chosen_preview(ask: &Ask, question: &str, answer: &AnswerValue) -> Option<String> {
    let chosen = match answer {
        AnswerValue::Text(label) => label,
        AnswerValue::Labels(labels) => match labels.as_slice() {
            [label] => label,
            _ => return None,
        },
    };
    let input: Value = serde_json::from_str(ask.input.as_str()).ok()?;
    let asked = input["questions"].as_array()?;
    let asked = asked.iter().find(|asked| asked["question"] == question)?;
    let options = asked["options"].as_array()?;
    let option = options.iter().find(|option| option["label"] == **chosen)?;
    Some(option["preview"].as_str()?.to_owned())
}

/// For this session only: nothing is written into the agent's settings.
fn mode_update(mode: &Mode) -> Option<RawJson> {
    let update = json!({"type": "setMode", "mode": mode.0.as_ref(), "destination": "session"});
    RawJson::parse_text(update.to_string()).ok()
}

/// The chosen suggestions exactly as the agent made them and as they were shown.
fn suggestions(ask: &Ask, chosen: &[usize]) -> Option<Vec<RawJson>> {
    #[derive(Deserialize)]
    struct Offered {
        #[serde(default)]
        suggestions: Vec<RawJson>,
    }
    if chosen.is_empty() {
        return Some(Vec::new());
    }
    let offered: Offered = serde_json::from_str(ask.detail.as_str()).ok()?;
    chosen
        .iter()
        .map(|index| offered.suggestions.get(*index).cloned())
        .collect()
}

fn raw(json: &Json) -> Option<RawJson> {
    RawJson::parse_text(json.as_str().to_owned()).ok()
}

/// A message in the human's name.
pub fn message_input(message: Uuid, content: &[ContentBlock], should_query: bool) -> AgentInput {
    let content = content.iter().map(|block| match block {
        ContentBlock::Text { text } => ClaudeBlock::Text { text: text.clone() },
        ContentBlock::Image { media_type, data } => ClaudeBlock::Image {
            media_type: media_type.clone(),
            base64: data.clone(),
        },
        ContentBlock::Document {
            media_type,
            data,
            title,
        } if media_type == "application/pdf" => ClaudeBlock::Document {
            media_type: media_type.clone(),
            base64: data.clone(),
            title: title.clone(),
        },
        ContentBlock::Document { data, title, .. } => ClaudeBlock::TextDocument {
            text: data.clone(),
            title: title.clone(),
        },
    });
    AgentInput::UserMessage {
        uuid: message,
        content: content.collect(),
        should_query,
        priority: None,
    }
}

pub fn control(token: u64, request: ControlRequest) -> AgentInput {
    AgentInput::Control { token, request }
}
