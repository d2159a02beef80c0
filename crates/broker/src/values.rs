//! Small values: ids, time and verbatim JSON.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

id!(
    /// Names a session for as long as Sayso knows it; not the agent's own id.
    SessionId
);
id!(
    /// Names a request; made by the caller, unique for ever.
    RequestId
);
id!(
    /// Names one connection of one client.
    ClientId
);

/// Milliseconds since the Unix epoch, given by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    pub fn plus(self, duration: Duration) -> Self {
        let milliseconds = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(milliseconds))
    }

    /// How long from `self` until `later`; zero when that is past.
    pub fn until(self, later: Self) -> Duration {
        let milliseconds = later.0.saturating_sub(self.0);
        Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
    }
}

/// A permission mode by the agent's own name for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode(pub Arc<str>);

impl Mode {
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }
}

/// JSON text exactly as it arrived. Cheap to clone.
#[derive(Clone)]
pub struct Json(Text);

#[derive(Clone)]
enum Text {
    /// Nobody has looked yet whether it is JSON.
    Unread(Arc<str>),
    /// It was read as JSON before, and need not be again to stand within other JSON.
    Raw(Arc<RawValue>),
}

impl Json {
    pub fn new(text: &str) -> Self {
        Self(Text::Unread(Arc::from(text)))
    }

    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Unread(text) => text,
            Text::Raw(raw) => raw.get(),
        }
    }

    /// To stand within other JSON. `None` for text that is none.
    pub fn to_raw(&self) -> Option<Arc<RawValue>> {
        match &self.0 {
            Text::Unread(text) => {
                let raw: Box<RawValue> = serde_json::from_str(text).ok()?;
                Some(Arc::from(raw))
            }
            Text::Raw(raw) => Some(Arc::clone(raw)),
        }
    }
}

impl From<Arc<RawValue>> for Json {
    fn from(raw: Arc<RawValue>) -> Self {
        Self(Text::Raw(raw))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
