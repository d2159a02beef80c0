//! Text that a row may share with whoever made it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// What an agent said is as long as a file, and is held by the request that is open: its row need not hold it again.
#[derive(Clone)]
pub enum Text {
    Own(String),
    Shared(Arc<RawValue>),
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Own(text) => text,
            Self::Shared(json) => json.get(),
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Own(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Own(text.to_owned())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::Own)
    }
}
