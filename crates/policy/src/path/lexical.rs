//! Joining and normalising without a file system.

/// `path` seen from `cwd`, without `.`, `..` and doubled slashes. Never leaves
/// the root. `~/` is the home when `home` is given, as a shell has it.
pub(crate) fn absolute(path: &str, cwd: &str, home: Option<&str>) -> String {
    let from_home = match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => Some((home, rest)),
        _ => None,
    };
    let (base, rest) = match from_home {
        Some((home, rest)) => (home, rest),
        None if path.starts_with('/') => ("", path),
        None => (cwd, path),
    };
    let mut kept: Vec<&str> = Vec::new();
    for component in base.split('/').chain(rest.split('/')) {
        match component {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            component => kept.push(component),
        }
    }
    let mut absolute = String::with_capacity(path.len() + base.len() + 1);
    for component in kept {
        absolute.push('/');
        absolute.push_str(component);
    }
    if absolute.is_empty() {
        absolute.push('/');
    }
    absolute
}

/// `path` is `folder` or lies below it. Both absolute and normalised.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    match path.strip_prefix(folder) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{absolute, is_within};

    #[test]
    fn paths_are_joined_and_normalised() {
        let from = |path| absolute(path, "/w/proj", Some("/home/u"));
        assert_eq!(from("src/a"), "/w/proj/src/a");
        assert_eq!(from("./src//a/"), "/w/proj/src/a");
        assert_eq!(from("../x"), "/w/x");
        assert_eq!(from("../../../../x"), "/x");
        assert_eq!(from("/etc/./passwd"), "/etc/passwd");
        assert_eq!(from("~"), "/home/u");
        assert_eq!(from("~/a"), "/home/u/a");
        assert_eq!(from("~other/a"), "/w/proj/~other/a");
        assert_eq!(from("/"), "/");
        assert_eq!(absolute("~/a", "/w", None), "/w/~/a");
    }

    #[test]
    fn a_shared_prefix_is_not_a_folder() {
        assert!(is_within("/w/proj", "/w/proj"));
        assert!(is_within("/w/proj/a", "/w/proj/"));
        assert!(is_within("/anything", "/"));
        assert!(!is_within("/w/proj2", "/w/proj"));
        assert!(!is_within("/w", "/w/proj"));
    }
}
