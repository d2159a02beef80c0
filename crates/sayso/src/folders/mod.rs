//! What a human needs to name folders and files, and to see what is in them.
//!
//! All of this reads the file system and runs outside the hub.

mod complete;
mod files;
mod now;

use std::path::PathBuf;

pub use complete::complete;
pub use files::find;
pub use now::file_now;

/// The path that was typed, with `~` for the home folder. `None` when it is not absolute.
pub fn typed_path(text: &str) -> Option<PathBuf> {
    let path = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let folders = directories::UserDirs::new()?;
            folders.home_dir().join(rest.trim_start_matches('/'))
        }
        Some(_) | None => PathBuf::from(text),
    };
    path.is_absolute().then_some(path)
}
