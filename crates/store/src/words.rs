//! The words of columns on which the store's own behaviour depends.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use sqlx::error::BoxDynError;

use crate::as_text::{AsText, stored_as_text};

/// Words of a column, for both ways to the database.
macro_rules! stored_word {
    ($name:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $name {
            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Borrowed(self.word().into()))
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Self::read(value.as_str()?).map_err(|_| FromSqlError::InvalidType)
            }
        }

        impl AsText for $name {
            fn text(&self) -> String {
                self.word().to_owned()
            }

            fn read(text: &str) -> Result<Self, BoxDynError> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    other => Err(format!("{other:?} is no {}", stringify!($name)).into()),
                }
            }
        }

        stored_as_text!($name);
    };
}

/// Whether a request still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RequestStatus {
    Open,
    Decided,
    Withdrawn,
    Orphaned,
}

stored_word!(RequestStatus {
    Open = "open",
    Decided = "decided",
    Withdrawn = "withdrawn",
    Orphaned = "orphaned",
});

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    Allowed,
    Denied,
    Answered,
    Expired,
    Withdrawn,
    Orphaned,
}

stored_word!(Outcome {
    Allowed = "allowed",
    Denied = "denied",
    Answered = "answered",
    Expired = "expired",
    Withdrawn = "withdrawn",
    Orphaned = "orphaned",
});

impl Outcome {
    /// The status a request has once it ended so.
    pub fn status(self) -> RequestStatus {
        match self {
            Self::Allowed | Self::Denied | Self::Answered | Self::Expired => RequestStatus::Decided,
            Self::Withdrawn => RequestStatus::Withdrawn,
            Self::Orphaned => RequestStatus::Orphaned,
        }
    }
}

/// Who or what ended a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DecidedBy {
    Human,
    Rule,
    Mode,
    Timeout,
    Policy,
    Agent,
}

stored_word!(DecidedBy {
    Human = "human",
    Rule = "rule",
    Mode = "mode",
    Timeout = "timeout",
    Policy = "policy",
    Agent = "agent",
});

/// Whether the agent got the decision. A decision is final without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Delivery {
    Pending,
    Sent,
    TooLate,
    Failed,
    /// There is nobody to deliver to.
    None,
}

stored_word!(Delivery {
    Pending = "pending",
    Sent = "sent",
    TooLate = "too_late",
    Failed = "failed",
    None = "none",
});
