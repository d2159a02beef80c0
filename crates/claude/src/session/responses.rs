//! Small readings of control messages, without state.

use crate::ask::{Elicitation, ElicitationForm};
use crate::event::ControlError;
use crate::raw::RawJson;
use crate::wire::{ElicitationRequest, ResponseBody, TurnResult};

pub(super) fn control_result(body: ResponseBody) -> Result<Option<RawJson>, ControlError> {
    if body.subtype == "success" {
        return Ok(body.response);
    }
    Err(ControlError {
        message: body
            .error
            .unwrap_or_else(|| format!("the agent answered {:?}", body.subtype)),
        code: body.error_code,
    })
}

pub(super) fn elicitation(
    request_id: String,
    request: ElicitationRequest,
    raw: RawJson,
) -> Elicitation {
    let form = match (request.mode.as_deref(), request.url) {
        (Some("url"), Some(url)) => ElicitationForm::Url {
            url,
            elicitation_id: request.elicitation_id,
        },
        _ => ElicitationForm::Form {
            schema: request.requested_schema,
            property_order: request.property_order,
        },
    };
    Elicitation {
        request_id,
        mcp_server_name: request.mcp_server_name,
        message: request.message,
        form,
        raw,
    }
}

/// What a result that came instead of the first answer says about the refusal.
pub(super) fn start_errors(result: TurnResult) -> Vec<String> {
    let mut errors = result.errors;
    if errors.is_empty() {
        errors.extend(result.result);
    }
    if errors.is_empty() {
        errors.push(result.subtype);
    }
    errors
}
