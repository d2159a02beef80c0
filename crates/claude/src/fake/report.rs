use serde_json::{Value, json};

/// What a tool call came to.
#[derive(Debug, Clone)]
pub(super) struct ToolReport {
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) structured: Value,
    /// Who decided.
    pub(super) meta: Option<Value>,
}

impl ToolReport {
    pub(super) fn ok(text: impl Into<String>, structured: Value) -> Self {
        Self {
            text: text.into(),
            is_error: false,
            structured,
            meta: None,
        }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            structured: json!(format!("Error: {text}")),
            text,
            is_error: true,
            meta: None,
        }
    }
}
