//! The agent's own files: conversations that were held without Sayso.
//!
//! The files are undocumented and change with every version, so only messages are read and everything else
//! is passed over. Reading is synchronous and bounded; callers keep it off their event loops.

mod list;
mod messages;
mod records;

use std::path::{Path, PathBuf};

use uuid::Uuid;

pub use list::{Summary, summaries};
pub use messages::{Message, MessageKind, read};

/// Where the agent keeps the conversations of one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    folder: PathBuf,
}

impl History {
    /// `config` is the agent's own folder, usually `~/.claude`.
    pub fn of(config: &Path, cwd: &Path) -> Self {
        let name: String = cwd
            .to_string_lossy()
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        Self {
            folder: config.join("projects").join(name),
        }
    }

    fn file(&self, conversation: Uuid) -> PathBuf {
        self.folder.join(format!("{conversation}.jsonl"))
    }

    fn subagents(&self, conversation: Uuid) -> PathBuf {
        self.folder.join(conversation.to_string()).join("subagents")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_a_path_becomes_a_dash() {
        let history = History::of(
            Path::new("/home/me/.claude"),
            Path::new("/srv/my.project_1/ü"),
        );
        let folder = Path::new("/home/me/.claude/projects/-srv-my-project-1--");
        assert_eq!(history.folder, folder);
    }
}
