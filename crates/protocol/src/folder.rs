//! Folders: what is in them, what they would run, which conversations were held there.

use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

/// Everything that a folder would make the agent run or change by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderFindings {
    pub cwd: String,
    /// Of the findings; sent back as `trust_digest`, so that what is trusted is what was shown.
    pub digest: String,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    pub kind: FindingKind,
    /// The file that says so.
    pub source: String,
    /// What it is called there: a hook's event, a server's name, a variable.
    pub name: String,
    /// The command, address or value itself.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A command that runs at certain moments.
    Hook,
    /// A program that is started, or an address that is connected to.
    McpServer,
    /// A command that the agent runs for itself, for a key or a status line.
    Helper,
    /// A variable set for the agent and all that it runs.
    Environment,
    /// Tools that would run unasked, a wider mode, more folders.
    Permission,
    Plugin,
    /// A setting of another kind.
    Setting,
    /// A file that could not be read, so nobody knows what it says.
    Unreadable,
}

/// `GET /api/folders`: the folders whose path begins with what was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderMatches {
    pub folders: Vec<FolderMatch>,
    /// What was typed is itself a folder.
    pub exists: bool,
    /// There were more.
    pub truncated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderMatch {
    pub path: String,
    /// It holds a `.git` or `.claude` folder.
    pub project: bool,
}

/// `GET /api/files`: files and folders below `cwd` that match, best first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileMatches {
    pub files: Vec<FileMatch>,
    /// The folder holds more files than are looked at.
    pub truncated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileMatch {
    /// Relative to `cwd`; a folder ends with `/`.
    pub path: String,
}

/// `GET /api/conversations`: those held in a folder outside of Sayso, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Conversations {
    pub conversations: Vec<Conversation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Conversation {
    pub conversation_id: Uuid,
    pub title: String,
    #[cfg_attr(test, ts(type = "string"))]
    pub updated_at: Timestamp,
    /// Messages of the human.
    pub messages: u32,
    /// The session that has it open in Sayso already.
    pub session_id: Option<Uuid>,
}
