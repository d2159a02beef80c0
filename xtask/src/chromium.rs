//! The browser of the end-to-end tests: the system's Chromium, never a download.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::node::which;
use crate::step::Step;

/// The names that `e2e/fixtures/chromium.ts` looks for, too.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

pub(crate) fn ensure(root: &Path) -> Result<()> {
    if std::env::var_os("SAYSO_CHROMIUM").is_some()
        || NAMES.iter().any(|name| which(name).is_some())
    {
        return Ok(());
    }
    if !(which("apt-get").is_some() && is_root()) {
        bail!(
            "The end-to-end tests need Chromium: install it (for example `sudo apt-get install \
             chromium`) or set SAYSO_CHROMIUM to the path of a Chromium or Chrome."
        );
    }
    let apt = |title: &str, words: &[&str]| {
        Step::new(title, root, words)
            .with("DEBIAN_FRONTEND", "noninteractive")
            .run()
    };
    apt("package lists", &["apt-get", "update", "-q"])?;
    apt(
        "Chromium",
        &[
            "apt-get",
            "install",
            "-q",
            "-y",
            "--no-install-recommends",
            "chromium",
        ],
    )?;
    if NAMES.iter().all(|name| which(name).is_none()) {
        bail!("Chromium was installed but none of {NAMES:?} is on PATH; set SAYSO_CHROMIUM.");
    }
    Ok(())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
