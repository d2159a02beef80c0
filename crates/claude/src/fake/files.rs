//! Write, Edit and Read, only inside the working folder.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tokio::fs;

use super::report::ToolReport;

pub(super) async fn write(cwd: &Path, input: &Map<String, Value>) -> ToolReport {
    let (path, content) = match (inside(cwd, input).await, text(input, "content")) {
        (Ok(path), Ok(content)) => (path, content),
        (Err(report), _) | (_, Err(report)) => return report,
    };
    let original = fs::read_to_string(&path).await.ok();
    if let Err(error) = fs::write(&path, content).await {
        return ToolReport::error(format!("The file cannot be written: {error}"));
    }
    let kind = if original.is_some() {
        "update"
    } else {
        "create"
    };
    let done = if original.is_some() {
        "updated"
    } else {
        "created"
    };
    ToolReport::ok(
        format!("File {done} successfully at: {}", path.display()),
        json!({
            "type": kind, "filePath": path.to_string_lossy(), "content": content,
            "originalFile": original, "structuredPatch": [], "userModified": false,
        }),
    )
}

pub(super) async fn edit(cwd: &Path, input: &Map<String, Value>) -> ToolReport {
    let strings = (text(input, "old_string"), text(input, "new_string"));
    let (path, old, new) = match (inside(cwd, input).await, strings) {
        (Ok(path), (Ok(old), Ok(new))) => (path, old, new),
        (Err(report), _) | (_, (Err(report), _)) | (_, (_, Err(report))) => return report,
    };
    let original = match fs::read_to_string(&path).await {
        Ok(original) => original,
        Err(error) => return ToolReport::error(format!("The file cannot be read: {error}")),
    };
    let found = original.matches(old).count();
    if old.is_empty() || found != 1 {
        return ToolReport::error(format!(
            "The text to replace must occur exactly once; it occurs {found} times."
        ));
    }
    if let Err(error) = fs::write(&path, original.replacen(old, new, 1)).await {
        return ToolReport::error(format!("The file cannot be written: {error}"));
    }
    let before = original.split(old).next().unwrap_or_default();
    let start = before.lines().count().max(1);
    let removed = old.lines().map(|line| format!("-{line}"));
    let added = new.lines().map(|line| format!("+{line}"));
    ToolReport::ok(
        format!("The file {} has been updated successfully.", path.display()),
        json!({
            "filePath": path.to_string_lossy(), "oldString": old, "newString": new,
            "originalFile": original, "userModified": false,
            "structuredPatch": [{
                "oldStart": start, "oldLines": old.lines().count(),
                "newStart": start, "newLines": new.lines().count(),
                "lines": removed.chain(added).collect::<Vec<_>>(),
            }],
        }),
    )
}

pub(super) async fn read(cwd: &Path, input: &Map<String, Value>) -> ToolReport {
    let path = match inside(cwd, input).await {
        Ok(path) => path,
        Err(report) => return report,
    };
    match fs::read_to_string(&path).await {
        Ok(content) => {
            let lines = content.lines().count();
            let file = json!({
                "filePath": path.to_string_lossy(), "content": content, "numLines": lines,
                "startLine": 1, "totalLines": lines,
            });
            ToolReport::ok(content, json!({"type": "text", "file": file}))
        }
        Err(error) => ToolReport::error(format!("The file cannot be read: {error}")),
    }
}

fn text<'a>(input: &'a Map<String, Value>, name: &str) -> Result<&'a str, ToolReport> {
    input
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| ToolReport::error(format!("The input has no {name}.")))
}

/// The folder must be inside after following links, and the file itself must not be one.
async fn inside(cwd: &Path, input: &Map<String, Value>) -> Result<PathBuf, ToolReport> {
    let wanted = cwd.join(text(input, "file_path")?);
    let outside = || {
        ToolReport::error(format!(
            "{} is outside the working folder; this agent does not touch it.",
            wanted.display()
        ))
    };
    let (Some(folder), Some(name)) = (wanted.parent(), wanted.file_name()) else {
        return Err(outside());
    };
    let folder = fs::canonicalize(folder).await.map_err(|_| outside())?;
    let root = fs::canonicalize(cwd).await.map_err(|_| outside())?;
    let path = folder.join(name);
    let is_link = fs::symlink_metadata(&path)
        .await
        .is_ok_and(|metadata| metadata.is_symlink());
    if folder.starts_with(&root) && !is_link {
        Ok(path)
    } else {
        Err(outside())
    }
}
