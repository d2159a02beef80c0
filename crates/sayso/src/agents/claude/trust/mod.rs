//! What a folder would make Claude run or change by itself.
//!
//! Without a terminal, Claude takes a folder's hooks, servers and variables without asking. So Sayso looks
//! first, with more suspicion than Claude has: every folder above counts, and what is not known to be harmless
//! is a finding.

mod files;
mod settings;

use std::path::Path;

use sayso_protocol::{Finding, FolderFindings};
use sha2::{Digest, Sha256};

/// Looks at the folder and at those above it. Reads files, so it is kept off the hub.
pub fn look(cwd: &Path, home: Option<&Path>) -> FolderFindings {
    let mut findings = Vec::new();
    for folder in files::folders(cwd, home) {
        files::look_into(&folder, &mut findings);
    }
    FolderFindings {
        cwd: cwd.display().to_string(),
        digest: digest(&findings),
        findings,
    }
}

/// Names what was found, so that only what was shown can be trusted.
fn digest(findings: &[Finding]) -> String {
    let mut hasher = Sha256::new();
    for finding in findings {
        let kind = format!("{:?}", finding.kind);
        for part in [&kind, &finding.source, &finding.name, &finding.detail] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    let bytes = hasher.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
