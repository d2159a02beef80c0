//! Where a database is, before there is one.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::OpenError;
use crate::lock::private;

/// The folder, and the path by its one true name: the lock of two names for one file must be one.
pub(crate) fn prepare_folder(path: &Path) -> Result<PathBuf, OpenError> {
    let resolve = || -> io::Result<PathBuf> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder)?;
        match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(folder.canonicalize()?.join(name))
            }
            resolved => resolved,
        }
    };
    resolve().map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Makes the file if it is missing, before SQLite would make it readable to everyone. SQLite gives
/// its side files the mode of this one.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let file = private(OpenOptions::new().write(true).create(true))
        .truncate(false)
        .open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}
