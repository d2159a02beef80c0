//! What was typed or said for one question or field.

use sayso_protocol::AnswerValue;
use serde_json::Value;

use super::super::form::{Choice, Field, FieldKind, Question};

pub(super) fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    names.join(", ")
}

/// A question is named by its exact text, its header or its number.
pub(super) fn question_in<'q, 's>(
    questions: &'q [Question],
    said: &'s str,
) -> Result<(&'q Question, &'s str), String> {
    let by = |name: &str| said.strip_prefix(name)?.strip_prefix('=');
    let by_text = questions
        .iter()
        .find_map(|question| Some((question, by(&question.text)?)));
    let by_header = || {
        let named =
            |question: &&Question| !question.header.is_empty() && by(&question.header).is_some();
        let mut found = questions.iter().filter(named);
        // Two of the same name are told apart by their text or number.
        let question = found.next().filter(|_| found.next().is_none())?;
        Some((question, by(&question.header)?))
    };
    let by_number = || {
        let numbered = questions.iter().enumerate();
        let mut found = numbered
            .filter_map(|(index, question)| Some((question, by(&(index + 1).to_string())?)));
        found.next()
    };
    by_text.or_else(by_header).or_else(by_number).ok_or_else(|| {
        let texts = listed(questions.iter().map(|question| &question.text));
        format!("{said:?} names no question. Write 'question=option', with the question's text, header or number. There are: {texts}.")
    })
}

pub(super) fn typed_answer(
    question: &Question,
    typed: &str,
    free_text: bool,
) -> Result<AnswerValue, String> {
    if typed.is_empty() {
        return Err("An answer is needed. Esc or Ctrl+C leaves the request open.".to_owned());
    }
    if let Some(words) = typed.strip_prefix('=').filter(|_| free_text) {
        return Ok(AnswerValue::Text(words.trim().to_owned()));
    }
    let Some(chosen) = numbered(&question.options, typed)? else {
        let label = question.options.iter().find(|option| option.label == typed);
        return match label {
            Some(option) => Ok(answer_of(question, vec![option.label.clone()])),
            None if free_text => Ok(AnswerValue::Text(typed.to_owned())),
            None => Err("Only the options are taken here: type a number.".to_owned()),
        };
    };
    if !question.several && chosen.len() > 1 {
        return Err("One number is taken here.".to_owned());
    }
    let labels = chosen.iter().map(|option| option.label.clone()).collect();
    Ok(answer_of(question, labels))
}

fn answer_of(question: &Question, mut labels: Vec<String>) -> AnswerValue {
    if question.several {
        AnswerValue::Labels(labels)
    } else {
        AnswerValue::Text(labels.swap_remove(0))
    }
}

/// The options whose numbers were typed; `None` when that were no numbers.
fn numbered<'c>(options: &'c [Choice], typed: &str) -> Result<Option<Vec<&'c Choice>>, String> {
    let words = typed.split([',', ' ']).filter(|word| !word.is_empty());
    let numbers: Result<Vec<usize>, _> = words.map(str::parse).collect();
    let Ok(mut numbers) = numbers else {
        return Ok(None);
    };
    numbers.dedup();
    let option = |number: &usize| {
        let index = number.checked_sub(1);
        index.and_then(|index| options.get(index)).ok_or_else(|| {
            format!(
                "There is no number {number}; there are 1 to {}.",
                options.len()
            )
        })
    };
    numbers
        .iter()
        .map(option)
        .collect::<Result<_, _>>()
        .map(Some)
}

pub(super) fn typed_field(field: &Field, typed: &str) -> Result<Option<Value>, String> {
    if typed.is_empty() {
        return if field.required {
            Err("This is needed.".to_owned())
        } else {
            Ok(None)
        };
    }
    let by_number = |choices: &[Choice]| -> Result<Option<Vec<Value>>, String> {
        let chosen = numbered(choices, typed)?;
        Ok(chosen.map(|chosen| chosen.iter().map(|choice| choice.value.clone()).collect()))
    };
    match &field.kind {
        FieldKind::Choice(choices) => match by_number(choices)? {
            Some(mut values) if values.len() == 1 => Ok(values.pop()),
            Some(_) => Err("One number is taken here.".to_owned()),
            None => said_field(field, typed).map(Some),
        },
        FieldKind::Choices(choices) => match by_number(choices)? {
            Some(values) => Ok(Some(Value::Array(values))),
            None => said_field(field, typed).map(Some),
        },
        FieldKind::Text | FieldKind::Number | FieldKind::Boolean => {
            said_field(field, typed).map(Some)
        }
    }
}

/// A value as a script writes it.
pub(super) fn said_field(field: &Field, said: &str) -> Result<Value, String> {
    let choice = |choices: &[Choice]| {
        let is_meant = |choice: &&Choice| choice.label == said || choice.value == said;
        let found = choices
            .iter()
            .find(is_meant)
            .map(|choice| choice.value.clone());
        found.ok_or_else(|| {
            let labels = listed(choices.iter().map(|choice| &choice.label));
            format!(
                "{said:?} is no choice of {:?}. There are: {labels}.",
                field.name
            )
        })
    };
    match &field.kind {
        FieldKind::Text => Ok(said.into()),
        FieldKind::Number => {
            let number = said.parse::<serde_json::Number>();
            number
                .map(Value::Number)
                .map_err(|_| format!("{:?} takes a number.", field.name))
        }
        FieldKind::Boolean => match said {
            "yes" | "y" | "true" => Ok(true.into()),
            "no" | "n" | "false" => Ok(false.into()),
            _ => Err(format!("{:?} takes yes or no.", field.name)),
        },
        FieldKind::Choice(choices) => choice(choices),
        FieldKind::Choices(choices) => Ok(Value::Array(vec![choice(choices)?])),
    }
}
