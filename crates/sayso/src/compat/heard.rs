//! What a front end has said.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// One message, of which only the `type` has been read.
pub(crate) struct Heard<'a> {
    r#type: Option<String>,
    text: &'a str,
}

impl<'a> Heard<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Tag {
            r#type: Option<String>,
        }
        let Tag { r#type } = read(text)?;
        Ok(Self { r#type, text })
    }

    /// Its `type`; empty when it has none.
    pub(crate) fn kind(&self) -> &str {
        self.r#type.as_deref().unwrap_or_default()
    }

    /// The message as the type that its dialect expects.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        read(self.text)
    }

    /// Why a message of a kind that the dialect does not know is of no use.
    pub(crate) fn unknown<T>(&self) -> Result<T, String> {
        Err(match &self.r#type {
            Some(kind) => {
                let kind: String = kind.chars().take(100).collect();
                format!("There is no message of type `{kind}`")
            }
            None => "The message has no `type`".to_owned(),
        })
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner().to_string();
        let reason: String = reason.chars().take(300).collect();
        match path.as_str() {
            "." => reason,
            field => format!("field `{field}`: {reason}"),
        }
    })
}
