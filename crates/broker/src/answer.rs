//! Does a decision fit its request? And what does the agent hear?

use std::collections::BTreeSet;

use serde_json::Value;

use crate::words;
use crate::{
    AgentAnswer, AnswerValue, Ask, Decision, Form, FormField, FormFieldKind, Json, Kind,
    OutcomeKind, Question, Refusal,
};

/// Checks a human's decision.
pub(crate) fn check(
    ask: &Ask,
    free_text: bool,
    decision: Decision,
) -> Result<(OutcomeKind, Decision), Refusal> {
    match (&ask.kind, decision) {
        (
            Kind::Tool | Kind::Plan,
            Decision::Allow {
                updated_input,
                remember,
            },
        ) => {
            check_allow(ask, updated_input.as_ref(), &remember)?;
            let decision = Decision::Allow {
                updated_input,
                remember,
            };
            Ok((OutcomeKind::Allowed, decision))
        }
        (Kind::Questions(questions), Decision::Answer(answers)) => {
            check_answers(questions, free_text, &answers)?;
            Ok((OutcomeKind::Answered, Decision::Answer(answers)))
        }
        (Kind::Elicitation(form), Decision::Submit(content)) => {
            check_form(form, &content)?;
            Ok((OutcomeKind::Answered, Decision::Submit(content)))
        }
        (kind, Decision::Deny { message, interrupt }) => {
            let message = message.filter(|message| !message.trim().is_empty());
            match kind {
                Kind::Elicitation(_) if message.is_some() => {
                    return not_supported("A form can be declined, but not with a reason.");
                }
                Kind::Other if interrupt => {
                    return not_supported("This request can be refused, but not stop the turn.");
                }
                _ => {}
            }
            Ok((OutcomeKind::Denied, Decision::Deny { message, interrupt }))
        }
        (Kind::Questions(_), _) => invalid("This is a question: send `answer` or `deny`."),
        (Kind::Elicitation(_), _) => invalid("This is a form: send `submit` or `deny`."),
        (Kind::Tool | Kind::Plan, _) => invalid("This is a tool call: send `allow` or `deny`."),
        (Kind::Other, _) => not_supported(
            "This version of Sayso does not know this kind of request; it can only be refused.",
        ),
    }
}

/// What the agent hears. A refusal without a reason gets words of its own, so
/// that the agent does not take it for an error.
pub(crate) fn for_agent(kind: &Kind, decision: &Decision) -> AgentAnswer {
    let stock = match kind {
        Kind::Questions(_) | Kind::Elicitation(_) => words::SKIPPED,
        Kind::Tool | Kind::Plan | Kind::Other => words::DENIED,
    };
    match decision {
        Decision::Allow {
            updated_input,
            remember,
        } => AgentAnswer::Allow {
            updated_input: updated_input.clone(),
            remember: remember.clone(),
        },
        Decision::Deny { message, interrupt } => AgentAnswer::Deny {
            message: message.clone().unwrap_or_else(|| stock.to_owned()),
            interrupt: *interrupt,
        },
        Decision::Answer(answers) => AgentAnswer::Answers(answers.clone()),
        Decision::Submit(content) => AgentAnswer::Submit(content.clone()),
    }
}

fn not_supported<T>(text: &str) -> Result<T, Refusal> {
    Err(Refusal::NotSupported(text.to_owned()))
}

fn invalid<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::InvalidAnswer(text.into()))
}

fn check_allow(ask: &Ask, updated: Option<&Json>, remember: &[usize]) -> Result<(), Refusal> {
    if let Some(updated) = updated {
        if !ask.can_edit {
            return not_supported("This agent cannot run an edited input.");
        }
        match serde_json::from_str::<Value>(updated.as_str()) {
            Ok(Value::Object(_)) => {}
            Ok(_) => return invalid("`updated_input` must be a JSON object."),
            Err(error) => return invalid(format!("`updated_input` cannot be read: {error}.")),
        }
    } else if !ask.input_faithful {
        return invalid(
            "The input holds characters that cannot be shown as they are, so it cannot be \
             allowed unseen. Edit it or deny it.",
        );
    }
    let distinct: BTreeSet<_> = remember.iter().collect();
    if distinct.len() != remember.len() || remember.iter().any(|index| *index >= ask.suggestions) {
        return invalid(format!(
            "`remember` must name different suggestions of this request by index; there are {}.",
            ask.suggestions
        ));
    }
    if ask.suppress_always_allow && !remember.is_empty() {
        return invalid("The agent does not let this be remembered; allow it once.");
    }
    Ok(())
}

fn check_answers(
    questions: &[Question],
    free_text: bool,
    answers: &[(String, AnswerValue)],
) -> Result<(), Refusal> {
    for (key, _) in answers {
        if !questions.iter().any(|question| question.text == *key) {
            return invalid(format!("There is no question \"{key}\" in this request."));
        }
    }
    for question in questions {
        let mut given = answers.iter().filter(|(key, _)| *key == question.text);
        match (given.next(), given.next()) {
            (None, _) => {
                return invalid(format!("The question \"{}\" has no answer.", question.text));
            }
            (Some((_, value)), None) => check_answer(question, free_text, value)?,
            (Some(_), Some(_)) => {
                return invalid(format!(
                    "The question \"{}\" is answered twice.",
                    question.text
                ));
            }
        }
    }
    Ok(())
}

fn check_answer(question: &Question, free_text: bool, value: &AnswerValue) -> Result<(), Refusal> {
    let parts: Vec<&str> = match value {
        AnswerValue::Text(text) => vec![text],
        AnswerValue::Labels(labels) => labels.iter().map(String::as_str).collect(),
    };
    if parts.is_empty() || parts.iter().any(|part| part.trim().is_empty()) {
        return invalid(format!("The answer to \"{}\" is empty.", question.text));
    }
    if parts.len() > 1 && !question.multi_select {
        return invalid(format!(
            "The question \"{}\" takes one answer.",
            question.text
        ));
    }
    let distinct: BTreeSet<_> = parts.iter().collect();
    if distinct.len() != parts.len() {
        return invalid(format!(
            "The answer to \"{}\" names an option twice.",
            question.text
        ));
    }
    let unknown = parts
        .iter()
        .find(|part| !question.options.iter().any(|option| option.label == **part));
    match unknown {
        Some(part) if !free_text => invalid(format!(
            "\"{part}\" is not an option of \"{}\", and free text is switched off.",
            question.text
        )),
        Some(_) | None => Ok(()),
    }
}

fn check_form(form: &Form, content: &Json) -> Result<(), Refusal> {
    let Ok(Value::Object(content)) = serde_json::from_str::<Value>(content.as_str()) else {
        return invalid("`content` must be a JSON object.");
    };
    if let Some(unknown) = content
        .keys()
        .find(|key| !form.fields.iter().any(|field| field.name == **key))
    {
        return invalid(format!("The form has no field \"{unknown}\"."));
    }
    for field in &form.fields {
        match content.get(&field.name) {
            None | Some(Value::Null) if field.required => {
                return invalid(format!("The field \"{}\" is required.", field.name));
            }
            None | Some(Value::Null) => {}
            Some(value) => check_field(field, value)?,
        }
    }
    Ok(())
}

fn check_field(field: &FormField, value: &Value) -> Result<(), Refusal> {
    let (fits, wanted) = match &field.kind {
        FormFieldKind::Text => (value.is_string(), "text".to_owned()),
        FormFieldKind::Number => (value.is_number(), "a number".to_owned()),
        FormFieldKind::Integer => (
            value.is_i64() || value.is_u64(),
            "a whole number".to_owned(),
        ),
        FormFieldKind::Boolean => (value.is_boolean(), "true or false".to_owned()),
        FormFieldKind::OneOf(options) => (
            value
                .as_str()
                .is_some_and(|text| options.iter().any(|option| option == text)),
            format!("one of {}", options.join(", ")),
        ),
        FormFieldKind::Any => (true, String::new()),
    };
    if fits {
        return Ok(());
    }
    invalid(format!("The field \"{}\" must be {wanted}.", field.name))
}
