//! The names of things: UUIDs, which are text in the database.

use std::collections::HashMap;
use std::fmt;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value};
use serde::{Deserialize, Serialize};
use sqlx::error::BoxDynError;
use uuid::Uuid;

use crate::as_text::{AsText, stored_as_text};

/// Ids are made here, so nobody chooses them to make a table slow.
pub(crate) type ById<Id, Value> = HashMap<Id, Value, foldhash::fast::RandomState>;

macro_rules! uuid_as_text {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(formatter)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl AsText for $name {
            fn text(&self) -> String {
                self.to_string()
            }

            fn read(text: &str) -> Result<Self, BoxDynError> {
                Ok(Self(Uuid::try_parse(text)?))
            }
        }

        stored_as_text!($name);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::Owned(Value::Text(self.to_string())))
            }
        }
    };
}

uuid_as_text! {
    /// Sayso's own name for a session; it stays when the agent begins a new conversation.
    SessionId
}

uuid_as_text! {
    /// A browser or a script that may come in.
    DeviceId
}

uuid_as_text! {
    /// Where notifications go.
    ChannelId
}

uuid_as_text! {
    /// Sayso's own name for a request; the agent's is in [`RequestRow::native_id`](crate::RequestRow::native_id).
    RequestId
}

uuid_as_text! {
    /// The name of a message of the human, as the agent knows it too.
    MessageId
}

uuid_as_text! {
    RuleId
}
