use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::report::ToolReport;

const TIME_LIMIT: Duration = Duration::from_secs(20);
const OUTPUT_LIMIT: usize = 30_000;

/// Runs the command for real, as the CLI's Bash does.
pub(super) async fn run(cwd: &Path, input: &Map<String, Value>) -> ToolReport {
    let Some(command) = input.get("command").and_then(Value::as_str) else {
        return ToolReport::error("The command is missing.");
    };
    let child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = match timeout(TIME_LIMIT, child).await {
        Err(_) => {
            let seconds = TIME_LIMIT.as_secs();
            return ToolReport::error(format!("The command did not end within {seconds} seconds."));
        }
        Ok(Err(error)) => {
            return ToolReport::error(format!("The command could not be started: {error}"));
        }
        Ok(Ok(output)) => output,
    };
    let stdout = shortened(&output.stdout);
    let stderr = shortened(&output.stderr);
    let structured = json!({
        "stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false,
        "noOutputExpected": false,
    });
    let parts = [stdout.as_str(), stderr.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join("\n");
    if output.status.success() {
        let text = if text.is_empty() {
            "(Bash completed with no output)".to_owned()
        } else {
            text
        };
        return ToolReport::ok(text, structured);
    }
    let code = output.status.code().unwrap_or(-1);
    ToolReport {
        text: format!("Exit code {code}\n{text}"),
        is_error: true,
        structured,
        meta: None,
    }
}

fn shortened(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    match text.char_indices().nth(OUTPUT_LIMIT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
