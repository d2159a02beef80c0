//! What a call would do, in the words that say so.
//!
//! Read from the parsed command, through wrappers such as `sudo` and
//! `bash -c`. A call without findings is not thereby safe: programs that are
//! not in the tables say nothing. What cannot be read is [`RiskKind::Unknown`].

mod files;
mod git;
mod programs;
mod shell;

pub(crate) use programs::written_paths;
use serde::{Deserialize, Serialize};

use crate::call::{Tool, ToolCall};

/// Longer words are cut here.
const MAX_CHARACTERS: usize = 120;

/// One thing that a human should know before deciding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Risk {
    pub kind: RiskKind,
    /// The words of the input that say so.
    pub words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskKind {
    Deletes,
    /// Destroys data that exists: `dd`, `truncate`, `git checkout -- .`
    Overwrites,
    /// Acts as another user, or widens what others may do.
    Privilege,
    Network,
    /// Runs what another program writes, sight unseen.
    PipesIntoShell,
    OutsideProject,
    /// A file that makes another program run something, or that holds keys.
    ProtectedPath,
    Installs,
    /// Rewrites or drops commits.
    GitHistory,
    LongRunning,
    /// Cannot be read from the text.
    Unknown,
}

impl RiskKind {
    /// Hard to undo, or a way to anything that is.
    pub fn is_destructive(self) -> bool {
        match self {
            Self::Deletes
            | Self::Overwrites
            | Self::Privilege
            | Self::PipesIntoShell
            | Self::ProtectedPath
            | Self::GitHistory => true,
            Self::Network
            | Self::OutsideProject
            | Self::Installs
            | Self::LongRunning
            | Self::Unknown => false,
        }
    }
}

/// What `call` would do: each finding once, the most telling kinds first.
pub fn read(call: &ToolCall<'_>) -> Vec<Risk> {
    let mut risks = match call.tool() {
        Tool::Bash => match call.text("command") {
            Some(command) => shell::read(command, call),
            None => vec![risk(RiskKind::Unknown, call.tool_name)],
        },
        Tool::Read => files::read(call),
        Tool::Edit => files::edit(call),
        Tool::WebFetch => vec![risk(
            RiskKind::Network,
            call.text("url").unwrap_or_default(),
        )],
        Tool::WebSearch => vec![risk(
            RiskKind::Network,
            call.text("query").unwrap_or_default(),
        )],
        Tool::Agent | Tool::Talk => Vec::new(),
        Tool::Mcp | Tool::Other => vec![risk(RiskKind::Unknown, call.tool_name)],
    };
    risks.sort_by_key(|risk| risk.kind);
    risks.dedup();
    risks
}

fn risk(kind: RiskKind, words: &str) -> Risk {
    let mut cut: String = words.chars().take(MAX_CHARACTERS).collect();
    if cut.len() < words.len() {
        cut.pop();
        cut.push('…');
    }
    Risk { kind, words: cut }
}
