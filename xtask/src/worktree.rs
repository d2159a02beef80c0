//! The suite must leave the worktree as it found it: generated files are
//! committed, and nothing writes beside its own ignored folders.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What `git status` said before the suite ran.
#[derive(Debug)]
pub(crate) struct Worktree {
    before: Option<String>,
}

impl Worktree {
    pub(crate) fn look(root: &Path) -> Result<Self> {
        let before = if root.join(".git").exists() {
            Some(status(root)?)
        } else {
            None
        };
        Ok(Self { before })
    }

    pub(crate) fn check_unchanged(&self, root: &Path) -> Result<()> {
        let Some(before) = &self.before else {
            println!("\n=== the worktree is not looked at: this is not a git checkout");
            return Ok(());
        };
        println!("\n=== the worktree is unchanged (git status --porcelain)");
        let after = status(root)?;
        if *before == after {
            return Ok(());
        }
        let changed: Vec<&str> = after
            .lines()
            .filter(|line| !before.lines().any(|known| known == *line))
            .collect();
        bail!(
            "FAILED: the suite changed the worktree:\n{}\nTo see it: git status",
            changed.join("\n")
        );
    }
}

fn status(root: &Path) -> Result<String> {
    let output = Command::new("git")
        .args(["status", "--porcelain", "--untracked-files=all"])
        .current_dir(root)
        .output()
        .context("git could not be started")?;
    if !output.status.success() {
        bail!(
            "git status failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
