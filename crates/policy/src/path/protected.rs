//! Files that run something by themselves when they change: no rule may allow
//! writing them, whatever it says.

const FOLDERS: &[&str] = &[
    ".git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
    ".claude",
];

const FILES: &[&str] = &[
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    "config.fish",
    ".envrc",
    ".npmrc",
    ".pre-commit-config.yaml",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    ".devcontainer.json",
    ".ripgreprc",
    "pyrightconfig.json",
    ".mcp.json",
    ".claude.json",
];

const FILE_PREFIXES: &[&str] = &[
    ".yarnrc",
    ".pnp",
    "bunfig",
    ".bazel",
    "lefthook",
    ".lefthook",
];

const CREDENTIALS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".git-credentials",
    ".docker",
    "gcloud",
];

/// Writing `path` (absolute, normalised) could make another program run
/// something. Judged by name, so that a file that does not exist yet counts,
/// and without regard to case, as some file systems have it.
pub(crate) fn is_protected(path: &str) -> bool {
    let path = path.to_lowercase();
    let components: Vec<&str> = path.split('/').collect();
    let in_folder = components
        .iter()
        .any(|component| FOLDERS.contains(component));
    let in_git_config = components.windows(2).any(|pair| pair == [".config", "git"]);
    let name = components.last().copied().unwrap_or_default();
    let by_prefix = FILE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    in_folder || in_git_config || FILES.contains(&name) || by_prefix
}

/// `path` holds keys or passwords.
pub(crate) fn holds_credentials(path: &str) -> bool {
    path.split('/')
        .any(|component| CREDENTIALS.contains(&component))
}

#[cfg(test)]
mod tests {
    use super::{holds_credentials, is_protected};

    #[test]
    fn names_protect_at_any_depth_and_in_any_case() {
        for path in [
            "/w/.git/config",
            "/w/.git",
            "/w/.GIT/hooks/pre-commit",
            "/w/a/.claude/settings.json",
            "/home/u/.config/git/config",
            "/home/u/.bashrc",
            "/w/.yarnrc.yml",
            "/w/.pnp.cjs",
            "/w/.bazelrc",
            "/w/lefthook.yml",
            "/w/gradle/wrapper/gradle-wrapper.properties",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            "/w/src/git",
            "/w/.github/x",
            "/w/.gitignore",
            "/w/config/git/x",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn keys_are_credentials() {
        assert!(holds_credentials("/home/u/.ssh/id_rsa"));
        assert!(!holds_credentials("/w/ssh/id"));
    }
}
