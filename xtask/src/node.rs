//! The npm packages of a folder, installed when its lockfile changed.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::step::Step;

/// A copy of the lockfile that `node_modules` was installed from. The build
/// script of `crates/sayso` keeps the same stamp for `ui`.
const STAMP: &str = "node_modules/.sayso-lock";

pub(crate) fn install_packages(folder: &Path) -> Result<()> {
    let lockfile = folder.join("package-lock.json");
    let wanted = std::fs::read(&lockfile)
        .with_context(|| format!("{} cannot be read", lockfile.display()))?;
    let stamp = folder.join(STAMP);
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if which("npm").is_none() {
        bail!("Node.js is missing: install Node 20.19 or newer (with npm), then run this again.");
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    Step::new(
        &format!("npm packages of {name}"),
        folder,
        &["npm", "ci", "--no-audit", "--no-fund"],
    )
    .run()?;
    std::fs::write(&stamp, wanted).with_context(|| format!("{} cannot be written", stamp.display()))
}

/// Where a program is on PATH.
pub(crate) fn which(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}
