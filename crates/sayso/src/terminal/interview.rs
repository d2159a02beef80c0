//! From what a human types, question by question, to an answer. Knows no terminal.

mod typed;

use indexmap::IndexMap;
use sayso_protocol::{Answer, AnswerValue, Decision, Submit};
use serde_json::{Map, Value};

use super::form::{Choice, FieldKind, Form, Question};
use super::visible::plain;
use typed::{listed, question_in, said_field, typed_answer, typed_field};

#[derive(Clone, Debug)]
pub(super) struct Interview {
    form: Form,
    free_text: bool,
    answers: IndexMap<String, AnswerValue>,
    notes: IndexMap<String, String>,
    content: Map<String, Value>,
    /// Which question is next.
    next: usize,
}

impl Interview {
    pub(super) fn new(form: Form, free_text: bool) -> Self {
        Self {
            form,
            free_text,
            answers: IndexMap::new(),
            notes: IndexMap::new(),
            content: Map::new(),
            next: 0,
        }
    }

    /// What to ask next; `None` when everything was asked.
    pub(super) fn prompt(&self) -> Option<String> {
        match &self.form {
            Form::Questions(questions) => {
                let question = questions.get(self.next)?;
                let place = place(self.next, questions.len());
                let text = plain(&question.text);
                let how = match (question.several, self.free_text) {
                    (true, true) => "numbers such as 1,3, or your own words",
                    (true, false) => "numbers such as 1,3",
                    (false, true) => "a number, or your own words",
                    (false, false) => "a number",
                };
                Some(format!("{place}{text} ({how})"))
            }
            Form::Fields(fields) => {
                let field = fields.get(self.next)?;
                let place = place(self.next, fields.len());
                let label = plain(&field.label);
                let how = match &field.kind {
                    FieldKind::Text => "text",
                    FieldKind::Number => "a number",
                    FieldKind::Boolean => "yes or no",
                    FieldKind::Choice(_) => "a number of the list",
                    FieldKind::Choices(_) => "numbers such as 1,3",
                };
                let needed = if field.required { "" } else { ", may be empty" };
                Some(format!("{place}{label} ({how}{needed})"))
            }
            Form::Visit(_) if self.next == 0 => {
                Some("Press Enter once you have been there".to_owned())
            }
            Form::Visit(_) => None,
        }
    }

    /// Takes what was typed for the question that is next, or says what is wrong with it.
    pub(super) fn take(&mut self, typed: &str) -> Result<(), String> {
        let typed = typed.trim();
        match &self.form {
            Form::Questions(questions) => {
                if let Some(question) = questions.get(self.next) {
                    let value = typed_answer(question, typed, self.free_text)?;
                    self.answers.insert(question.text.clone(), value);
                }
            }
            Form::Fields(fields) => {
                if let Some(field) = fields.get(self.next)
                    && let Some(value) = typed_field(field, typed)?
                {
                    self.content.insert(field.name.clone(), value);
                }
            }
            Form::Visit(_) => {}
        }
        self.next += 1;
        Ok(())
    }

    /// `question=option`: one of the options, by its label.
    pub(super) fn choose(&mut self, said: &str) -> Result<(), String> {
        match self.form.clone() {
            Form::Questions(questions) => {
                let (question, label) = question_in(&questions, said)?;
                let is_meant = |option: &&Choice| option.label == label;
                let Some(option) = question.options.iter().find(is_meant) else {
                    let labels = listed(question.options.iter().map(|option| &option.label));
                    return Err(format!(
                        "{:?} is no option of {:?}. There are: {labels}. Use --text for words of your own.",
                        label, question.text
                    ));
                };
                self.add_answer(question, option.label.clone())
            }
            Form::Fields(fields) => {
                let field = fields.iter().find_map(|field| {
                    Some((field, said.strip_prefix(&field.name)?.strip_prefix('=')?))
                });
                let Some((field, value)) = field else {
                    let names = listed(fields.iter().map(|field| &field.name));
                    return Err(format!(
                        "{said:?} names no field of the form. There are: {names}."
                    ));
                };
                let value = said_field(field, value)?;
                match (self.content.get_mut(&field.name), value) {
                    (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                    (_, value) => {
                        self.content.insert(field.name.clone(), value);
                    }
                }
                Ok(())
            }
            Form::Visit(_) => {
                Err("There is nothing to choose: a page is to be visited.".to_owned())
            }
        }
    }

    /// `question=words`: an answer that is not among the options.
    pub(super) fn say(&mut self, said: &str) -> Result<(), String> {
        let Form::Questions(questions) = self.form.clone() else {
            return self.choose(said);
        };
        let (question, words) = question_in(&questions, said)?;
        if !self.free_text {
            return Err("Only the options are taken here; use --choose.".to_owned());
        }
        self.add_answer(question, words.to_owned())
    }

    /// `question=words`: what is added to an answer.
    pub(super) fn note(&mut self, said: &str) -> Result<(), String> {
        let Form::Questions(questions) = &self.form else {
            return Err("Only questions take notes.".to_owned());
        };
        let (question, words) = question_in(questions, said)?;
        self.notes.insert(question.text.clone(), words.to_owned());
        Ok(())
    }

    /// All answers at once, as the protocol writes them.
    pub(super) fn take_all(&mut self, json: &str) -> Result<(), String> {
        let wrong = |error: serde_json::Error| format!("The answers cannot be read: {error}");
        match &self.form {
            Form::Questions(_) => self.answers = serde_json::from_str(json).map_err(wrong)?,
            Form::Fields(_) | Form::Visit(_) => {
                self.content = serde_json::from_str(json).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// What is sent. The server checks that nothing is missing.
    pub(super) fn decision(self) -> Result<Decision, String> {
        let (answers, notes) = (self.answers, self.notes);
        match self.form {
            Form::Questions(_) => Ok(Decision::Answer(Answer { answers, notes })),
            Form::Fields(_) | Form::Visit(_) => {
                let content = serde_json::value::to_raw_value(&self.content);
                let content = content.map_err(|error| error.to_string())?;
                let content = content.into();
                Ok(Decision::Submit(Submit { content }))
            }
        }
    }

    fn add_answer(&mut self, question: &Question, words: String) -> Result<(), String> {
        let text = question.text.clone();
        match (self.answers.get_mut(&text), question.several) {
            (Some(AnswerValue::Labels(list)), true) => list.push(words),
            (None, true) => {
                self.answers.insert(text, AnswerValue::Labels(vec![words]));
            }
            (None, false) => {
                self.answers.insert(text, AnswerValue::Text(words));
            }
            (Some(_), _) => return Err(format!("{text:?} takes one answer.")),
        }
        Ok(())
    }
}

fn place(index: usize, count: usize) -> String {
    if count > 1 {
        format!("{} of {count}: ", index + 1)
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests;
