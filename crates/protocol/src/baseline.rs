//! What a request is measured against: the file as it is now, the plan before.

use serde::Serialize;

/// The answer to `GET /api/requests/{id}/baseline`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Baseline {
    /// For tools that change a file.
    File(FileNow),
    /// For plans: the text of the one before in this session, if there was one.
    Plan { text: Option<String> },
    /// This request changes nothing that could be compared.
    None {},
}

/// A file at the moment of the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileNow {
    /// As the input names it.
    pub path: String,
    /// Where it really is, when a symbolic link leads there.
    pub resolved_path: Option<String>,
    pub state: FileState,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub size: Option<u64>,
    /// The whole content, for `text`.
    pub text: Option<String>,
    /// What is in the way, for `unreadable`.
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    Text,
    Missing,
    Binary,
    TooLarge,
    /// A folder, a device or the like.
    NotAFile,
    Unreadable,
}
