//! Does a decision fit its request? And what does the agent hear?

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    AgentAnswer, Allowance, AnswerValue, Answers, Ask, Decision, Kind, OutcomeKind, Question,
    Refusal,
};
use crate::{form, words};

/// Checks a human's decision.
pub(crate) fn check(
    ask: &Ask,
    free_text: bool,
    decision: Decision,
) -> Result<(OutcomeKind, Decision), Refusal> {
    match (&ask.kind, decision) {
        (Kind::Tool | Kind::Plan(_), Decision::Allow(allowance)) => {
            check_allow(ask, &allowance)?;
            Ok((OutcomeKind::Allowed, Decision::Allow(allowance)))
        }
        (Kind::Questions(questions), Decision::Answer(answers)) => {
            check_answers(questions, free_text, &answers)?;
            Ok((OutcomeKind::Answered, Decision::Answer(answers)))
        }
        (Kind::Elicitation(form), Decision::Submit(content)) => {
            form::check(form, &content)?;
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
        (Kind::Tool | Kind::Plan(_), _) => invalid("This is a tool call: send `allow` or `deny`."),
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
        Kind::Tool | Kind::Plan(_) | Kind::Other => words::DENIED,
    };
    match decision {
        Decision::Allow(allowance) => AgentAnswer::Allow(allowance.clone()),
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

pub(crate) fn invalid<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::InvalidAnswer(text.into()))
}

fn check_allow(ask: &Ask, allowance: &Allowance) -> Result<(), Refusal> {
    if allowance.automatic && (ask.kind != Kind::Tool || ask.requires_user_interaction) {
        return invalid("This is for a human to decide; it cannot be allowed automatically.");
    }
    if let Some(updated) = &allowance.updated_input {
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
    let remember = &allowance.remember;
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
    match (&ask.kind, &allowance.mode) {
        (_, None) => Ok(()),
        (Kind::Plan(plan), Some(mode)) if plan.modes.contains(mode) => Ok(()),
        (Kind::Plan(plan), Some(mode)) => {
            let modes: Vec<&str> = plan.modes.iter().map(|mode| mode.0.as_ref()).collect();
            invalid(format!(
                "`permission_mode`: an approved plan cannot lead to \"{}\"; it can lead to {}.",
                mode.0,
                modes.join(", ")
            ))
        }
        (_, Some(_)) => invalid("`permission_mode` can only be named when a plan is approved."),
    }
}

fn check_answers(
    questions: &[Question],
    free_text: bool,
    Answers { answers, notes }: &Answers,
) -> Result<(), Refusal> {
    let named = answers.iter().map(|(key, _)| key);
    for key in named.chain(notes.iter().map(|(key, _)| key)) {
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
