use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// JSON kept exactly as it was written, cheap to clone.
///
/// Tool inputs go back to the agent in the answer; parsing and re-serialising them could change numbers, key
/// order or escapes, and then what runs would not be what was shown.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    pub fn parse_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(|raw| Self(Arc::from(raw)))
    }

    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(|raw| Self(Arc::from(raw)))
    }

    pub(crate) fn null() -> Self {
        static NULL: LazyLock<RawJson> = LazyLock::new(|| RawJson::from(serde_json::Value::Null));
        NULL.clone()
    }

    pub(crate) fn empty_object() -> Self {
        static EMPTY: LazyLock<RawJson> = LazyLock::new(|| RawJson::from(serde_json::json!({})));
        EMPTY.clone()
    }

    /// The same JSON, shared.
    pub fn to_raw_value(&self) -> Arc<RawValue> {
        Arc::clone(&self.0)
    }

    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// `None` only for JSON that serde cannot hold as a value, such as an unpaired surrogate escape.
    pub fn to_value(&self) -> Option<serde_json::Value> {
        self.parse().ok()
    }

    pub fn is_object(&self) -> bool {
        self.as_str().trim_start().starts_with('{')
    }

    /// The same JSON without line breaks, which are only allowed as white space between tokens and would
    /// split a line of the protocol in two.
    pub(crate) fn on_one_line(&self) -> Result<Self, serde_json::Error> {
        let text = self.as_str();
        if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
            Self::parse_text(text.replace(['\n', '\r'], " "))
        } else {
            Ok(self.clone())
        }
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self(Arc::from(raw.to_owned()))
    }
}

impl From<&serde_json::Value> for RawJson {
    fn from(value: &serde_json::Value) -> Self {
        #[expect(
            clippy::expect_used,
            reason = "a JSON value has string keys only, so writing it to memory cannot fail"
        )]
        Self::from_serialize(value).expect("a JSON value serialises")
    }
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        Self::from(&value)
    }
}
