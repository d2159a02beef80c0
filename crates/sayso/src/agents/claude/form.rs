//! The schema of a tool server's form as the broker's fields.

use sayso_broker::{Form, FormField, FormFieldKind, Limits, NumberField, TextField, TextFormat};
use sayso_claude::RawJson;
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) fn read(schema: Option<&RawJson>) -> Form {
    #[derive(Default, Deserialize)]
    struct Schema {
        #[serde(default)]
        properties: Map<String, Value>,
        #[serde(default)]
        required: Vec<String>,
    }
    let schema: Schema = schema
        .and_then(|schema| schema.parse().ok())
        .unwrap_or_default();
    let fields = schema
        .properties
        .into_iter()
        .map(|(name, property)| FormField {
            required: schema.required.contains(&name),
            kind: field_kind(&property),
            name,
        });
    Form {
        fields: fields.collect(),
    }
}

fn field_kind(property: &Value) -> FormFieldKind {
    if let Some(options) = options(property) {
        return FormFieldKind::OneOf(options);
    }
    match property["type"].as_str() {
        Some("string") => FormFieldKind::Text(TextField {
            format: property["format"].as_str().and_then(text_format),
            length: limits(property, "minLength", "maxLength"),
        }),
        Some(kind @ ("number" | "integer")) => FormFieldKind::Number(NumberField {
            whole: kind == "integer",
            minimum: property["minimum"].as_number().cloned(),
            maximum: property["maximum"].as_number().cloned(),
        }),
        Some("boolean") => FormFieldKind::Boolean,
        Some("array") => match options(&property["items"]) {
            Some(options) => FormFieldKind::SomeOf {
                options,
                limits: limits(property, "minItems", "maxItems"),
            },
            None => FormFieldKind::Any,
        },
        Some(_) | None => FormFieldKind::Any,
    }
}

/// Choices come as `enum`, or as `oneOf` or `anyOf` with a `const` and a title each.
fn options(property: &Value) -> Option<Vec<String>> {
    if let Some(options) = property["enum"].as_array() {
        let options = options.iter().filter_map(Value::as_str);
        return Some(options.map(str::to_owned).collect());
    }
    let titled = property["oneOf"]
        .as_array()
        .or_else(|| property["anyOf"].as_array())?;
    let options = titled.iter().map(|option| option["const"].as_str());
    options.map(|option| option.map(str::to_owned)).collect()
}

fn text_format(name: &str) -> Option<TextFormat> {
    match name {
        "email" => Some(TextFormat::Email),
        "uri" => Some(TextFormat::Uri),
        "date" => Some(TextFormat::Date),
        "date-time" => Some(TextFormat::DateTime),
        _ => None,
    }
}

fn limits(property: &Value, least: &str, most: &str) -> Limits {
    Limits {
        least: property[least].as_u64(),
        most: property[most].as_u64(),
    }
}
