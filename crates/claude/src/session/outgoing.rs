//! Everything the host writes. One function per kind of line; each returns one line without its line end.

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::hooks;
use crate::input::{ContentBlock, ControlRequest, Priority, SendError};

pub(super) fn initialize_line(request_id: &str) -> String {
    request_line(
        request_id,
        &json!({
            "subtype": "initialize",
            "hooks": hooks::registration(),
            // Without it an interrupt would kill background agents and their open requests.
            "perTaskStopAffordance": true,
            "forwardSubagentText": true,
        }),
    )
}

pub(super) fn interrupt_line(request_id: &str) -> String {
    request_line(request_id, &json!({"subtype": "interrupt"}))
}

pub(super) fn request_line(request_id: &str, request: &Value) -> String {
    json!({"type": "control_request", "request_id": request_id, "request": request}).to_string()
}

pub(super) fn empty_line(request_id: &str) -> String {
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": {}},
    })
    .to_string()
}

pub(super) fn error_line(request_id: &str, message: &str) -> String {
    json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": message},
    })
    .to_string()
}

#[derive(Serialize)]
struct Success<'a, T> {
    r#type: &'static str,
    response: SuccessBody<'a, T>,
}

#[derive(Serialize)]
struct SuccessBody<'a, T> {
    subtype: &'static str,
    request_id: &'a str,
    response: T,
}

pub(super) fn success_line<T: Serialize>(
    request_id: &str,
    response: T,
) -> Result<String, SendError> {
    serde_json::to_string(&Success {
        r#type: "control_response",
        response: SuccessBody {
            subtype: "success",
            request_id,
            response,
        },
    })
    .map_err(unwritable)
}

pub(super) fn unwritable(error: serde_json::Error) -> SendError {
    SendError::Unwritable(error.to_string())
}

pub(super) fn user_line(
    uuid: Uuid,
    content: &[ContentBlock],
    should_query: bool,
    priority: Option<Priority>,
) -> Result<String, SendError> {
    if content.is_empty() {
        return Err(SendError::EmptyMessage);
    }
    let content: Vec<Value> = content.iter().map(content_value).collect();
    let mut line = json!({
        "type": "user",
        "message": {"role": "user", "content": content},
        "uuid": uuid,
    });
    if !should_query {
        line["shouldQuery"] = json!(false);
    }
    if let Some(priority) = priority {
        line["priority"] = json!(match priority {
            Priority::Now => "now",
            Priority::Next => "next",
            Priority::Later => "later",
        });
    }
    Ok(line.to_string())
}

fn content_value(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text { text } => json!({"type": "text", "text": text}),
        ContentBlock::Image { media_type, base64 } => json!({
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": base64},
        }),
        ContentBlock::Document {
            media_type,
            base64,
            title,
        } => document(
            json!({"type": "base64", "media_type": media_type, "data": base64}),
            title.as_deref(),
        ),
        ContentBlock::TextDocument { text, title } => document(
            json!({"type": "text", "media_type": "text/plain", "data": text}),
            title.as_deref(),
        ),
    }
}

fn document(source: Value, title: Option<&str>) -> Value {
    let mut document = json!({"type": "document", "source": source});
    if let Some(title) = title {
        document["title"] = json!(title);
    }
    document
}

pub(super) fn control_body(request: &ControlRequest) -> Result<Value, SendError> {
    Ok(match request {
        ControlRequest::Interrupt {
            cancel_queued: false,
        } => json!({"subtype": "interrupt"}),
        ControlRequest::Interrupt {
            cancel_queued: true,
        } => json!({"subtype": "interrupt", "cancel_queued": true}),
        ControlRequest::SetPermissionMode { mode } => {
            json!({"subtype": "set_permission_mode", "mode": mode})
        }
        ControlRequest::SetModel { model } => json!({"subtype": "set_model", "model": model}),
        ControlRequest::SetMaxThinkingTokens {
            max_thinking_tokens,
        } => {
            json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": max_thinking_tokens})
        }
        ControlRequest::StopTask { task_id } => {
            json!({"subtype": "stop_task", "task_id": task_id})
        }
        // The full detail would make calls to the API that count tokens.
        ControlRequest::GetContextUsage => {
            json!({"subtype": "get_context_usage", "detail": "summary"})
        }
        ControlRequest::ListModels => json!({"subtype": "list_models"}),
        ControlRequest::McpStatus => json!({"subtype": "mcp_status"}),
        ControlRequest::FileSuggestions { query } => {
            json!({"subtype": "file_suggestions", "query": query})
        }
        ControlRequest::RenameSession { title } => {
            json!({"subtype": "rename_session", "title": title})
        }
        ControlRequest::CancelQueuedMessage { message_uuid } => {
            json!({"subtype": "cancel_async_message", "message_uuid": message_uuid})
        }
        ControlRequest::RewindFiles {
            user_message_id,
            dry_run,
        } => {
            json!({"subtype": "rewind_files", "user_message_id": user_message_id, "dry_run": dry_run})
        }
        ControlRequest::GetBinaryVersion => json!({"subtype": "get_binary_version"}),
        ControlRequest::GetSettings => json!({"subtype": "get_settings"}),
        ControlRequest::ListPermissionRules => json!({"subtype": "list_permission_rules"}),
        ControlRequest::ApplySettings { settings } => {
            json!({"subtype": "apply_flag_settings", "settings": settings})
        }
        ControlRequest::EndSession => json!({"subtype": "end_session"}),
        ControlRequest::Raw(body) if body["subtype"].is_string() => body.clone(),
        ControlRequest::Raw(_) => return Err(SendError::InvalidControlRequest),
    })
}
