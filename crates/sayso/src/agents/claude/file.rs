//! Which file a tool call would change.

use std::path::PathBuf;

use serde_json::Value;

/// `None` for tools that change no file, and for inputs in another shape.
pub fn changed_file(tool_name: &str, input: &str) -> Option<PathBuf> {
    let field = match tool_name {
        "Write" | "Edit" | "MultiEdit" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return None,
    };
    let input: Value = serde_json::from_str(input).ok()?;
    Some(PathBuf::from(input[field].as_str()?))
}
