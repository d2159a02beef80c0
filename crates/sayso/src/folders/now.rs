//! A file as it is now, for a human who decides on a change to it.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use sayso_protocol::{FileNow, FileState};

/// Larger files are not compared in a browser.
const LARGEST: u64 = 2 * 1024 * 1024;

pub fn file_now(path: &Path) -> FileNow {
    let mut now = FileNow {
        path: path.to_string_lossy().into_owned(),
        resolved_path: resolved(path),
        state: FileState::Missing,
        size: None,
        text: None,
        problem: None,
    };
    match read(path) {
        Ok((metadata, content)) => {
            now.size = Some(metadata.len());
            (now.state, now.text) = match content {
                Content::Text(text) => (FileState::Text, Some(text)),
                Content::Binary => (FileState::Binary, None),
                Content::TooLarge => (FileState::TooLarge, None),
                Content::NotAFile => (FileState::NotAFile, None),
            };
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            now.state = FileState::Unreadable;
            now.problem = Some(error.to_string());
        }
    }
    now
}

enum Content {
    Text(String),
    Binary,
    TooLarge,
    NotAFile,
}

fn read(path: &Path) -> io::Result<(Metadata, Content)> {
    let metadata = path.metadata()?;
    // Opening a pipe or a device could wait for ever.
    if !metadata.is_file() {
        return Ok((metadata, Content::NotAFile));
    }
    if metadata.len() > LARGEST {
        return Ok((metadata, Content::TooLarge));
    }
    let mut bytes = Vec::new();
    // Some files of the kernel look plain and wait for ever, and a plain one may be a pipe by now.
    let file = File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    // It may grow meanwhile.
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Ok((metadata, Content::TooLarge));
    }
    let content = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Content::Text(text),
        Ok(_) | Err(_) => Content::Binary,
    };
    Ok((metadata, content))
}

/// Where the path leads, when that is somewhere else. A new file is looked at by its folder.
fn resolved(path: &Path) -> Option<String> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(_) => path.parent()?.canonicalize().ok()?.join(path.file_name()?),
    };
    (real != path).then(|| real.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_kind_of_file_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("text"), "ä\n").unwrap();
        std::fs::write(root.join("zero"), "a\0b").unwrap();
        std::fs::write(root.join("latin"), [0xe4]).unwrap();
        File::create(root.join("large"))
            .unwrap()
            .set_len(LARGEST + 1)
            .unwrap();
        symlink(root.join("text"), root.join("link")).unwrap();
        symlink(root.join("loop"), root.join("loop")).unwrap();
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), mode).unwrap();
        let state = |name: &str| file_now(&root.join(name)).state;
        assert_eq!(state("text"), FileState::Text);
        assert_eq!(state("zero"), FileState::Binary);
        assert_eq!(state("latin"), FileState::Binary);
        assert_eq!(state("large"), FileState::TooLarge);
        assert_eq!(state("nowhere"), FileState::Missing);
        assert_eq!(state("no/where"), FileState::Missing);
        assert_eq!(state("."), FileState::NotAFile);
        assert_eq!(state("pipe"), FileState::NotAFile);
        assert_eq!(state("loop"), FileState::Unreadable);

        let linked = file_now(&root.join("link"));
        assert_eq!(linked.text.as_deref(), Some("ä\n"));
        let target = root.join("text").to_string_lossy().into_owned();
        assert_eq!(linked.resolved_path, Some(target));
        assert_eq!(file_now(&root.join("text")).resolved_path, None);
    }

    #[test]
    fn a_new_file_behind_a_linked_folder_says_where_it_would_be() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        symlink(root.join("real"), root.join("alias")).unwrap();
        let now = file_now(&root.join("alias/new.txt"));
        assert_eq!(now.state, FileState::Missing);
        let real = root.join("real/new.txt").to_string_lossy().into_owned();
        assert_eq!(now.resolved_path, Some(real));
    }
}
