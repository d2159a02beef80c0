//! How a change fits the file as it is now.

use serde_json::Value;

use super::line::{Line, Style};
use super::request::Request;

/// A line about the file that a request would change; none when there is nothing to say.
pub(super) fn line(request: &Request, baseline: &Value) -> Option<Line> {
    if baseline["kind"] != "file" {
        return None;
    }
    let careful = |text: String| Some(Line::own(Style::Careful, text));
    let size = baseline["size"].as_u64().unwrap_or_default();
    match (baseline["state"].as_str()?, baseline["text"].as_str()) {
        ("missing", _) if has_old_text(request) => {
            careful("There is no file at this path now.".to_owned())
        }
        ("missing", _) => Some(Line::own(Style::Faint, "The file is new.")),
        ("text", Some(now)) => match request.tool_name.as_str() {
            "Write" => {
                let lines = now.lines().count();
                careful(format!(
                    "It replaces a file that has {lines} lines now ({size} bytes)."
                ))
            }
            "Edit" => {
                let old = request
                    .text_field("old_string")
                    .filter(|old| !old.is_empty())?;
                match now.matches(&old).count() {
                    0 => careful("The text to replace is not in the file any more.".to_owned()),
                    1 => None,
                    count => careful(format!("The text to replace is in the file {count} times.")),
                }
            }
            _ => None,
        },
        ("binary" | "too_large", _) => careful(format!(
            "The file at this path cannot be compared; it has {size} bytes."
        )),
        ("not_a_file", _) => careful("At this path is something that is not a file.".to_owned()),
        ("unreadable", _) => careful("The file at this path cannot be read.".to_owned()),
        _ => None,
    }
}

fn has_old_text(request: &Request) -> bool {
    let old = request.text_field("old_string");
    old.is_some_and(|old| !old.is_empty())
}
