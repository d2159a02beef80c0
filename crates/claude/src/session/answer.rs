//! The host's answers to the agent's requests.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ledger::OpenTool;
use super::outgoing::{success_line, unwritable};
use crate::input::{AnswerValue, ElicitationAnswer, PermissionAnswer, SendError};
use crate::raw::RawJson;

#[derive(Serialize)]
#[serde(tag = "behavior", rename_all = "camelCase")]
enum Permission<'a> {
    Allow(Allow),
    Deny(Deny<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Allow {
    updated_input: RawJson,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    updated_permissions: Vec<RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_classification: Option<&'static str>,
}

#[derive(Serialize)]
struct Deny<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupt: bool,
}

/// The first version of which it is known that an empty input means the one that was asked about.
const TAKES_EMPTY_INPUT: [u32; 3] = [2, 1, 325];
/// Shorter inputs go back as they came, whatever the version.
const LONG_INPUT: usize = 4 * 1024;

/// How an input that nobody changed is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unchanged {
    Whole,
    /// A long one is left out: the agent has it.
    EmptyWhereLong,
}

impl Unchanged {
    /// What is not known, or cannot be read as three numbers, gets all of it.
    pub(super) fn for_version(version: Option<&str>) -> Self {
        let numbers = |version: &str| -> Option<[u32; 3]> {
            let mut parts = version.split('.').map(|part| part.parse().ok());
            let numbers = [parts.next()??, parts.next()??, parts.next()??];
            parts.next().is_none().then_some(numbers)
        };
        match version.and_then(numbers) {
            Some(version) if version >= TAKES_EMPTY_INPUT => Self::EmptyWhereLong,
            Some(_) | None => Self::Whole,
        }
    }

    /// Never one that was repaired: then the agent has another one than was shown.
    fn is_left_out(self, open: &OpenTool) -> bool {
        let is_long = open.input.as_str().len() >= LONG_INPUT;
        self == Self::EmptyWhereLong && is_long && open.input_faithful
    }
}

pub(super) fn permission_line(
    request_id: &str,
    open: &OpenTool,
    answer: PermissionAnswer,
    unchanged: Unchanged,
) -> Result<String, SendError> {
    match answer {
        PermissionAnswer::Deny { message, interrupt } => success_line(
            request_id,
            Permission::Deny(Deny {
                message: &message,
                interrupt,
            }),
        ),
        PermissionAnswer::Allow {
            updated_input,
            updated_permissions,
            permanent,
        } => {
            let updated_input = match updated_input {
                Some(input) if input.is_object() => input.on_one_line().map_err(unwritable)?,
                Some(_) => {
                    return Err(SendError::NotAnObject {
                        request_id: request_id.to_owned(),
                    });
                }
                None if unchanged.is_left_out(open) => RawJson::empty_object(),
                None => faithful_input(request_id, open)?,
            };
            let updated_permissions = updated_permissions
                .iter()
                .map(|update| update.on_one_line().map_err(unwritable))
                .collect::<Result<_, _>>()?;
            success_line(
                request_id,
                Permission::Allow(Allow {
                    updated_input,
                    updated_permissions,
                    decision_classification: permanent.then_some("user_permanent"),
                }),
            )
        }
        PermissionAnswer::Answers {
            answers,
            annotations,
            response,
        } => success_line(
            request_id,
            Permission::Allow(Allow {
                updated_input: answered_input(request_id, open, &answers, annotations, response)?,
                updated_permissions: Vec::new(),
                decision_classification: None,
            }),
        ),
    }
}

fn faithful_input(request_id: &str, open: &OpenTool) -> Result<RawJson, SendError> {
    if open.input_faithful {
        // A carriage return between two values ends a line for some readers.
        open.input.on_one_line().map_err(unwritable)
    } else {
        Err(SendError::Unfaithful {
            request_id: request_id.to_owned(),
        })
    }
}

#[derive(Deserialize)]
struct Question {
    question: String,
}

/// The questions go back as they came; only `answers` and what belongs to it is added.
fn answered_input(
    request_id: &str,
    open: &OpenTool,
    answers: &IndexMap<String, AnswerValue>,
    annotations: Option<RawJson>,
    response: Option<String>,
) -> Result<RawJson, SendError> {
    let no_questions = || SendError::NoQuestions {
        request_id: request_id.to_owned(),
    };
    let original = faithful_input(request_id, open)?;
    let mut input: IndexMap<String, RawJson> = original.parse().map_err(|_| no_questions())?;
    let questions: Vec<Question> = input
        .get("questions")
        .and_then(|questions| questions.parse().ok())
        .ok_or_else(no_questions)?;
    check_answers(&questions, answers, response.is_some())?;
    let texts: IndexMap<&str, String> = answers
        .iter()
        .map(|(question, value)| (question.as_str(), answer_text(value)))
        .collect();
    input.insert(
        "answers".to_owned(),
        RawJson::from_serialize(&texts).map_err(unwritable)?,
    );
    if let Some(annotations) = annotations {
        let annotations = annotations.on_one_line().map_err(unwritable)?;
        input.insert("annotations".to_owned(), annotations);
    }
    if let Some(response) = response {
        input.insert("response".to_owned(), RawJson::from(json!(response)));
    }
    RawJson::from_serialize(&input).map_err(unwritable)
}

/// The agent takes a wrong or missing answer for "did not answer" without a word, so it is refused here.
fn check_answers(
    questions: &[Question],
    answers: &IndexMap<String, AnswerValue>,
    has_response: bool,
) -> Result<(), SendError> {
    if let Some(unknown) = answers
        .keys()
        .find(|key| questions.iter().all(|asked| asked.question != **key))
    {
        return Err(SendError::UnknownQuestion {
            question: unknown.clone(),
        });
    }
    let unanswered = questions.iter().find(|asked| {
        answers
            .get(&asked.question)
            .is_none_or(|value| answer_text(value).trim().is_empty())
    });
    match unanswered {
        Some(asked) if !has_response => Err(SendError::Unanswered {
            question: asked.question.clone(),
        }),
        _ => Ok(()),
    }
}

fn answer_text(value: &AnswerValue) -> String {
    match value {
        AnswerValue::Text(text) => text.clone(),
        AnswerValue::Labels(labels) => {
            let quoted = labels.iter().any(|label| label.contains(','));
            let labels: Vec<String> = labels
                .iter()
                .map(|label| {
                    if quoted {
                        json!(label).to_string()
                    } else {
                        label.clone()
                    }
                })
                .collect();
            labels.join(", ")
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum ElicitationResponse {
    Accept { content: RawJson },
    Decline,
    Cancel,
}

pub(super) fn elicitation_line(
    request_id: &str,
    answer: &ElicitationAnswer,
) -> Result<String, SendError> {
    let response = match answer {
        ElicitationAnswer::Accept { content } if content.is_object() => {
            ElicitationResponse::Accept {
                content: content.on_one_line().map_err(unwritable)?,
            }
        }
        ElicitationAnswer::Accept { .. } => {
            return Err(SendError::NotAnObject {
                request_id: request_id.to_owned(),
            });
        }
        ElicitationAnswer::Decline => ElicitationResponse::Decline,
        ElicitationAnswer::Cancel => ElicitationResponse::Cancel,
    };
    success_line(request_id, response)
}
