//! Folders whose path begins with what was typed.

use std::fs;
use std::path::{Path, PathBuf};

use sayso_protocol::{FolderMatch, FolderMatches};

use super::typed_path;

/// How many are shown.
const SHOWN: usize = 50;
/// How many entries of a folder are looked at.
const LOOKED_AT: usize = 10_000;

/// Hidden folders come only when their dot was typed. What cannot be read has no folders.
pub fn complete(typed: &str) -> FolderMatches {
    let nothing = FolderMatches {
        folders: Vec::new(),
        exists: false,
        truncated: false,
    };
    let Some(path) = typed_path(typed) else {
        return nothing;
    };
    let exists = path.is_dir();
    // `/srv` completes the name, `/srv/` opens the folder.
    let opens = typed.ends_with('/') || typed == "~";
    let (folder, prefix) = match (opens, path.parent(), path.file_name()) {
        (false, Some(parent), Some(name)) => (parent, name.to_string_lossy().to_lowercase()),
        _ => (path.as_path(), String::new()),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return FolderMatches { exists, ..nothing };
    };
    let mut found: Vec<PathBuf> = entries
        .take(LOOKED_AT)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| matches(path, &prefix) && path.is_dir())
        .collect();
    found.sort_by_key(|path| path.to_string_lossy().to_lowercase());
    let truncated = found.len() > SHOWN;
    found.truncate(SHOWN);
    let folders = found.into_iter().map(|path| FolderMatch {
        project: path.join(".git").exists() || path.join(".claude").exists(),
        path: path.display().to_string(),
    });
    FolderMatches {
        folders: folders.collect(),
        exists,
        truncated,
    }
}

fn matches(path: &Path, prefix: &str) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    let name = name.to_string_lossy().to_lowercase();
    name.starts_with(prefix) && (prefix.starts_with('.') || !name.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn folders_are_completed_as_they_are_typed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for folder in ["Alpha/.git", "alps", "beta", ".hidden", "alps/inner"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("alfile"), "").unwrap();
        let typed = |rest: &str| {
            let found = complete(&format!("{}{rest}", root.display()));
            let names: Vec<String> = found
                .folders
                .iter()
                .map(|folder| {
                    let name = folder.path.rsplit('/').next().unwrap();
                    let project = if folder.project { "*" } else { "" };
                    format!("{name}{project}")
                })
                .collect();
            (names.join(" "), found.exists)
        };
        for (rest, expected, exists) in [
            ("/", "Alpha* alps beta", true),
            ("/al", "Alpha* alps", false),
            ("/AL", "Alpha* alps", false),
            ("/alps", "alps", true),
            ("/alps/", "inner", true),
            ("/.h", ".hidden", false),
            ("/nothing/", "", false),
            ("/alfile", "", false),
        ] {
            assert_eq!(typed(rest), (expected.to_owned(), exists), "{rest}");
        }
        assert_eq!(complete("relative").folders, []);
        assert_eq!(complete("").folders, []);
    }
}
