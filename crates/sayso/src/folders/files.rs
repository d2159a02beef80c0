//! Files below a folder that match a few letters.

use std::path::Path;

use ignore::WalkBuilder;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};
use sayso_protocol::{FileMatch, FileMatches};

/// How many files of a project are looked at.
const LOOKED_AT: usize = 100_000;
const MAXIMUM_SHOWN: usize = 100;

/// Best first; without a query, those nearest to the top. Ignored and hidden files are left out.
pub fn find(cwd: &Path, query: &str, limit: usize) -> FileMatches {
    let limit = limit.clamp(1, MAXIMUM_SHOWN);
    let (mut paths, truncated) = paths(cwd);
    let files = if query.is_empty() {
        let depth = |path: &str| path.trim_end_matches('/').matches('/').count();
        paths.sort_by_key(|path| (depth(path), path.to_lowercase()));
        paths.truncate(limit);
        paths
    } else {
        // Of two that match alike, the shorter path says more of itself in the letters.
        paths.sort_by_key(String::len);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let matched = pattern.match_list(paths, &mut matcher);
        matched
            .into_iter()
            .take(limit)
            .map(|(path, _)| path)
            .collect()
    };
    FileMatches {
        files: files.into_iter().map(|path| FileMatch { path }).collect(),
        truncated,
    }
}

/// Relative paths, folders with a slash behind; true when there were more.
fn paths(cwd: &Path) -> (Vec<String>, bool) {
    let mut paths = Vec::new();
    let walk = WalkBuilder::new(cwd).require_git(false).build();
    for entry in walk.filter_map(Result::ok) {
        let Ok(relative) = entry.path().strip_prefix(cwd) else {
            continue;
        };
        let Some(path) = relative.to_str().filter(|path| !path.is_empty()) else {
            continue;
        };
        if paths.len() == LOOKED_AT {
            return (paths, true);
        }
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        paths.push(if folder {
            format!("{path}/")
        } else {
            path.to_owned()
        });
    }
    (paths, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use std::fs;

    #[test]
    fn files_are_found_by_a_few_letters() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "README.md",
            "src/login.ts",
            "src/deep/logic.ts",
            "target/login.o",
            ".env",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(root.path().join(".gitignore"), "target\n").unwrap();
        let found = |query: &str, limit: usize| -> Vec<String> {
            let found = find(root.path(), query, limit);
            found.files.into_iter().map(|file| file.path).collect()
        };
        assert_eq!(found("", 3), ["README.md", "src/", "src/deep/"]);
        assert_eq!(found("login", 9), ["src/login.ts"]);
        assert_eq!(found("slog", 9).first().unwrap(), "src/login.ts");
        assert_eq!(found("env", 9), [""; 0]);
        assert_eq!(found("zzz", 9), [""; 0]);
    }
}
