//! Programs of the system that tests need.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::node::which;
use crate::step::Step;

/// Installs Debian's package where that is possible, and says what to do where it is not.
pub(crate) fn install(root: &Path, package: &str, missing: &str) -> Result<()> {
    if !(which("apt-get").is_some() && is_root()) {
        bail!("{missing}");
    }
    let apt = |title: &str, words: &[&str]| {
        Step::new(title, root, words)
            .with("DEBIAN_FRONTEND", "noninteractive")
            .run()
    };
    apt("package lists", &["apt-get", "update", "-q"])?;
    let install = ["apt-get", "install", "-q", "-y", "--no-install-recommends"];
    apt(package, &[&install[..], &[package]].concat())?;
    Ok(())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
