//! Why somebody gets no: a status, a code and a sentence, the same on every route.

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sayso_protocol::{ErrorCode, ErrorMessage, ParseError};
use sayso_store::ReadError;

use crate::access::{AccessError, PairingError};
use crate::hub::HubGone;

/// What a handler gives instead of its answer.
#[derive(Debug)]
pub(super) struct Refused(Box<ErrorMessage>);

impl Refused {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorMessage::new(code, message)))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = status(self.0.code);
        let wait = self.0.retry_after_seconds;
        let mut response = (status, Json(self.0)).into_response();
        if let Some(seconds) = wait {
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<ErrorMessage> for Refused {
    fn from(error: ErrorMessage) -> Self {
        Self(Box::new(error))
    }
}

impl From<HubGone> for Refused {
    fn from(gone: HubGone) -> Self {
        Self::new(ErrorCode::ShuttingDown, gone.to_string())
    }
}

impl From<ParseError> for Refused {
    fn from(error: ParseError) -> Self {
        Self::new(error.code, error.message)
    }
}

impl From<ReadError> for Refused {
    fn from(error: ReadError) -> Self {
        Self::new(ErrorCode::StoreUnavailable, error.to_string())
    }
}

impl From<AccessError> for Refused {
    fn from(error: AccessError) -> Self {
        let code = match &error {
            AccessError::UnknownDevice | AccessError::Pairing(PairingError::Unknown) => {
                ErrorCode::UnknownDevice
            }
            AccessError::Over => ErrorCode::PairingOver,
            AccessError::UnknownLink => ErrorCode::Unauthorized,
            AccessError::Beyond(_) | AccessError::WrongPassword => ErrorCode::Forbidden,
            AccessError::TooMany | AccessError::Pairing(PairingError::TooMany) => {
                ErrorCode::Overloaded
            }
            AccessError::Wait(_) => ErrorCode::TooManyAttempts,
            AccessError::Name
            | AccessError::Expiry
            | AccessError::NoPassword
            | AccessError::Password(_)
            | AccessError::Pairing(PairingError::Unused | PairingError::OtherCode) => {
                ErrorCode::InvalidMessage
            }
            AccessError::NotWritten(_) => ErrorCode::StoreUnavailable,
            AccessError::Random(_) | AccessError::Fault => ErrorCode::Internal,
        };
        let mut message = ErrorMessage::new(code, error.to_string());
        if let AccessError::Wait(wait) = error {
            let seconds = wait.as_millis().div_ceil(1000);
            message.retry_after_seconds = u32::try_from(seconds).ok();
        }
        message.into()
    }
}

pub(super) fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidMessage
        | ErrorCode::UnknownType
        | ErrorCode::InvalidAnswer
        | ErrorCode::InvalidRule
        | ErrorCode::FolderNotFound => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden | ErrorCode::ProofRequired => StatusCode::FORBIDDEN,
        ErrorCode::UnknownSession
        | ErrorCode::UnknownRequest
        | ErrorCode::UnknownConversation
        | ErrorCode::UnknownRule
        | ErrorCode::UnknownDevice
        | ErrorCode::UnknownChannel
        | ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::PairingOver | ErrorCode::ActionOver => StatusCode::GONE,
        ErrorCode::AlreadyDecided
        | ErrorCode::DigestMismatch
        | ErrorCode::SessionTaken
        | ErrorCode::SessionEnded
        | ErrorCode::FolderNotTrusted
        | ErrorCode::RuleTooBroad
        | ErrorCode::DeniedByRule
        | ErrorCode::AlreadySent => StatusCode::CONFLICT,
        ErrorCode::MessageTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::NotSupported => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::TooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::AgentError => StatusCode::BAD_GATEWAY,
        ErrorCode::AgentUnavailable
        | ErrorCode::Overloaded
        | ErrorCode::StoreUnavailable
        | ErrorCode::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
