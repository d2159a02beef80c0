//! What an agent or a tool server wants to know: questions with options, or a form.

use serde_json::Value;

use super::request::{Kind, Request};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Questions(Vec<Question>),
    Fields(Vec<Field>),
    /// A page to visit; then there is nothing to fill in.
    Visit(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// Its exact text, by which it is answered.
    pub(super) text: String,
    pub(super) header: String,
    pub(super) several: bool,
    pub(super) options: Vec<Choice>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// What is sent.
    pub(super) value: Value,
    pub(super) label: String,
    pub(super) description: String,
    pub(super) preview: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) description: String,
    pub(super) kind: FieldKind,
    pub(super) required: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldKind {
    Text,
    Number,
    Boolean,
    Choice(Vec<Choice>),
    Choices(Vec<Choice>),
}

impl Form {
    /// `None` for requests that are answered with yes or no.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let input: Value = serde_json::from_str(request.input.get()).ok()?;
        match request.kind {
            Kind::Questions => {
                let questions = input["questions"].as_array()?;
                Some(Self::Questions(questions.iter().map(question).collect()))
            }
            Kind::Form => Some(form(&input)),
            Kind::Tool | Kind::Plan | Kind::Other => None,
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn question(value: &Value) -> Question {
    let options = value["options"].as_array().into_iter().flatten();
    Question {
        text: text(&value["question"]),
        header: text(&value["header"]),
        several: value["multiSelect"] == true,
        options: options
            .map(|option| Choice {
                value: option["label"].clone(),
                label: text(&option["label"]),
                description: text(&option["description"]),
                preview: text(&option["preview"]),
            })
            .collect(),
    }
}

fn form(input: &Value) -> Form {
    if let Some(url) = input["url"].as_str() {
        return Form::Visit(url.to_owned());
    }
    let schema = match &input["requested_schema"] {
        Value::Null => &input["requestedSchema"],
        schema => schema,
    };
    let required = |name: &str| {
        let list = schema["required"].as_array();
        list.is_some_and(|list| list.iter().any(|entry| entry == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let fields = properties.map(|(name, property)| Field {
        name: name.clone(),
        label: property["title"].as_str().unwrap_or(name).to_owned(),
        description: text(&property["description"]),
        kind: field_kind(property),
        required: required(name),
    });
    Form::Fields(fields.collect())
}

fn field_kind(property: &Value) -> FieldKind {
    if let Some(choices) = choices(property) {
        return FieldKind::Choice(choices);
    }
    match property["type"].as_str() {
        Some("array") => match choices(&property["items"]) {
            Some(choices) => FieldKind::Choices(choices),
            None => FieldKind::Text,
        },
        Some("number" | "integer") => FieldKind::Number,
        Some("boolean") => FieldKind::Boolean,
        _ => FieldKind::Text,
    }
}

/// Choices come as `enum` with optional `enumNames`, or as a list of `const` and `title`.
fn choices(property: &Value) -> Option<Vec<Choice>> {
    let choice = |value: &Value, title: &Value| {
        let plain = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        Choice {
            value: value.clone(),
            label: title.as_str().map_or(plain, str::to_owned),
            description: String::new(),
            preview: String::new(),
        }
    };
    if let Some(values) = property["enum"].as_array() {
        let named = values.iter().enumerate();
        return Some(
            named
                .map(|(index, value)| choice(value, &property["enumNames"][index]))
                .collect(),
        );
    }
    let titled = property["oneOf"]
        .as_array()
        .or(property["anyOf"].as_array());
    let titled = titled?.iter();
    Some(
        titled
            .map(|entry| choice(&entry["const"], &entry["title"]))
            .collect(),
    )
}
