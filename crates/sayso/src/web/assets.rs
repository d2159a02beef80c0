//! The web app's files, built by `build.rs` and kept in the binary.

use std::borrow::Cow;

/// One file, ready to be sent.
pub(super) struct File {
    pub(super) content: Cow<'static, [u8]>,
    pub(super) media_type: String,
    pub(super) etag: String,
    /// Its name holds a hash of its content.
    pub(super) hashed: bool,
}

#[cfg(feature = "embedded-ui")]
#[derive(rust_embed::Embed)]
#[folder = "$SAYSO_UI_FILES"]
struct Files;

#[cfg(feature = "embedded-ui")]
pub(super) fn file(path: &str) -> Option<File> {
    let path = if path.is_empty() { "index.html" } else { path };
    let file = Files::get(path)?;
    let hash = file.metadata.sha256_hash();
    let etag: String = hash
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Some(File {
        content: file.data,
        media_type: file.metadata.mimetype().to_owned(),
        etag: format!("\"{etag}\""),
        hashed: path.starts_with("assets/"),
    })
}

#[cfg(not(feature = "embedded-ui"))]
pub(super) fn file(_path: &str) -> Option<File> {
    None
}
