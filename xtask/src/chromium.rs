//! The browser of the end-to-end tests: the system's Chromium, never a download.

use std::path::Path;

use anyhow::{Result, bail};

use crate::node::which;
use crate::packages;

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
    let missing = "The end-to-end tests need Chromium: install it (for example `sudo apt-get install \
        chromium`) or set SAYSO_CHROMIUM to the path of a Chromium or Chrome.";
    packages::install(root, "chromium", missing)?;
    if NAMES.iter().all(|name| which(name).is_none()) {
        bail!("Chromium was installed but none of {NAMES:?} is on PATH; set SAYSO_CHROMIUM.");
    }
    Ok(())
}
