//! What is looked at before an agent starts: its folder, and what that would run.
//!
//! All of it reads files, so it runs outside the hub.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sayso_protocol::{ErrorCode, ErrorMessage, StartSession};
use sayso_store::{Store, TrustedFolderRow, UnixMillis};

use super::{now, wire};
use crate::agents::claude;
use crate::folders;

/// No system opens a longer one.
const LONGEST_PATH: usize = 4096;

/// A start whose folder is there and may run what it runs.
#[derive(Debug)]
pub struct CheckedStart {
    pub(super) start: StartSession,
    pub(super) cwd: PathBuf,
    pub(super) trust: Trust,
}

/// What the agent may take from its folder.
#[derive(Debug)]
pub(super) enum Trust {
    /// It brings nothing, or it was trusted before.
    Whole,
    /// A human accepted it just now.
    Given(TrustedFolderRow),
    /// Only its files; its own settings are left out.
    Restricted,
}

/// What has to be looked at before an agent starts.
#[derive(Debug)]
pub(super) struct Checks {
    pub(super) cwd: String,
    /// Only some agents take settings from their folder.
    pub(super) reads_folder: bool,
    pub(super) restricted: bool,
    pub(super) client_label: String,
}

/// Looks at the folder, and at what it would run.
pub(super) async fn check(
    start: StartSession,
    checks: Checks,
    store: &Store,
) -> Result<CheckedStart, ErrorMessage> {
    let cwd = check_folder(&checks.cwd).await?;
    let trust = if checks.reads_folder {
        check_trust(&start, &checks, &cwd, store).await?
    } else {
        Trust::Whole
    };
    Ok(CheckedStart { start, cwd, trust })
}

/// Nothing of a folder's own runs before a human has seen it.
async fn check_trust(
    start: &StartSession,
    checks: &Checks,
    cwd: &Path,
    store: &Store,
) -> Result<Trust, ErrorMessage> {
    let folder = cwd.to_owned();
    let look = move || claude::trust::look(&folder, claude::home().as_deref());
    let found = tokio::task::spawn_blocking(look).await;
    let found = found.map_err(|error| wire::error(ErrorCode::Internal, error.to_string()))?;
    if found.findings.is_empty() {
        return Ok(Trust::Whole);
    }
    if start.trust == Some(false) || (start.trust.is_none() && checks.restricted) {
        return Ok(Trust::Restricted);
    }
    let as_shown = start.trust_digest.as_ref();
    if start.trust == Some(true) && as_shown.is_none_or(|digest| *digest == found.digest) {
        return Ok(Trust::Given(TrustedFolderRow {
            path: found.cwd,
            digest: found.digest,
            trusted_at: UnixMillis(now().0),
            client_label: checks.client_label.clone(),
        }));
    }
    let known = store.trusted_folder(&found.cwd).await;
    let known = known
        .map_err(|error| wire::error(ErrorCode::StoreUnavailable, error.to_string()))?
        .is_some_and(|row| row.digest == found.digest);
    if known && start.trust.is_none() {
        return Ok(Trust::Whole);
    }
    let text = match start.trust {
        Some(_) => "What this folder would run has changed since you looked. Look again.",
        None => {
            "This folder brings settings that run programs by themselves. Decide whether you trust it."
        }
    };
    Err(ErrorMessage {
        trust: Some(Box::new(found)),
        ..wire::error(ErrorCode::FolderNotTrusted, text)
    })
}

pub(super) async fn check_folder(cwd: &str) -> Result<PathBuf, ErrorMessage> {
    let not_found = |text: String| wire::error(ErrorCode::FolderNotFound, text);
    if cwd.len() > LONGEST_PATH {
        return Err(not_found(format!(
            "`cwd` is longer than a path can be ({LONGEST_PATH} bytes)."
        )));
    }
    let Some(path) = folders::typed_path(cwd) else {
        return Err(not_found(format!(
            "`{cwd}` is not an absolute path; start it with `/` or `~`."
        )));
    };
    match tokio::fs::canonicalize(&path).await {
        // Its name would be written down as that of another folder, which nobody looked at.
        Ok(real) if real.to_str().is_none() => Err(not_found(format!(
            "The name of the folder `{cwd}` is not Unicode."
        ))),
        Ok(real) if is_folder(&real).await => Ok(real),
        Ok(_) => Err(not_found(format!("`{cwd}` is not a folder."))),
        Err(error) => Err(not_found(match error.kind() {
            ErrorKind::NotFound => format!("There is no folder `{cwd}`."),
            kind => format!("The folder `{cwd}` cannot be opened: {kind}."),
        })),
    }
}

async fn is_folder(path: &Path) -> bool {
    tokio::fs::metadata(path)
        .await
        .is_ok_and(|metadata| metadata.is_dir())
}
