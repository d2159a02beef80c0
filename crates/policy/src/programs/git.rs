//! Git: options that run helpers, and sub-commands that do.

/// Allowed before the sub-command. Others choose a repository or set config.
const HARMLESS_GLOBAL: &[&str] = &[
    "--no-pager",
    "--version",
    "--help",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--no-replace-objects",
];

/// Run programs that config or arguments name.
const NEVER_BY_PREFIX: &[&str] = &[
    "config",
    "difftool",
    "mergetool",
    "filter-branch",
    "filter-repo",
    "daemon",
    "hook",
    "web--browse",
    "instaweb",
    "help",
    "gui",
    "citool",
    "gitk",
    "send-email",
    "imap-send",
    "credential",
    "maintenance",
    "fast-import",
    "upload-pack",
    "receive-pack",
    "shell",
    "cvsserver",
    "remote-ext",
    "for-each-repo",
    "p4",
    "svn",
];

const LONG: &[&str] = &[
    "output",
    "output-directory",
    "open-files-in-pager",
    "upload-pack",
    "receive-pack",
    "exec",
    "edit-description",
    "ext-diff",
    "textconv",
    "config",
    "template",
    "extcmd",
    "tool",
    "exec-path",
    "git-dir",
    "work-tree",
    "config-env",
    "show-signature",
    "remote",
    "gpg-sign",
    "contents",
    "separate-git-dir",
    "reference",
    "filters",
    "interactive",
    "edit",
    "strategy",
    "signed",
    "recurse-submodules",
    "cleanup-command",
];

/// Letters that are harmless in one sub-command run something in another.
const SHORT: &[(&[&str], &str)] = &[
    (&["grep"], "O"),
    (&["clone"], "uc"),
    (&["rebase"], "xi"),
    (&["commit", "tag"], "eSu"),
    (&["merge", "pull", "cherry-pick", "revert", "am"], "eSs"),
    (&["format-patch", "archive"], "o"),
    (&["init"], ""),
];

/// Why `git` with these arguments needs an exact rule.
pub(super) fn objection(arguments: &[&str]) -> Option<String> {
    let global = arguments.iter().take_while(|word| word.starts_with('-'));
    for option in global.clone() {
        if !HARMLESS_GLOBAL.contains(option) {
            return Some((*option).to_owned());
        }
    }
    let (subcommand, rest) = arguments.get(global.count()..)?.split_first()?;
    if NEVER_BY_PREFIX.contains(subcommand) {
        return Some(format!("git {subcommand}"));
    }
    let runs = matches!(
        (*subcommand, rest.first().copied()),
        ("bisect", Some("run"))
            | ("submodule", Some("foreach"))
            | ("remote", Some("add" | "set-url"))
            | ("worktree", Some("add"))
    );
    if runs {
        return Some(format!("git {subcommand} {}", rest.first()?));
    }
    let letters = SHORT.iter().find(|(names, _)| names.contains(subcommand));
    let letters = letters.map_or("", |(_, letters)| letters);
    let options = rest.iter().take_while(|word| **word != "--");
    let mut flagged = options.filter(|word| is_flagged(word, letters));
    let transport = rest.iter().find(|word| names_transport(word));
    flagged.next().or(transport).map(|word| (*word).to_owned())
}

fn is_flagged(word: &str, letters: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or_default();
        return !name.is_empty() && LONG.iter().any(|listed| listed.starts_with(name));
    }
    let cluster = word.strip_prefix('-').unwrap_or_default();
    cluster.contains(|letter| letters.contains(letter))
}

/// `ext::sh -c …` is a remote that runs a command.
fn names_transport(word: &str) -> bool {
    let Some((name, _)) = word.split_once("::") else {
        return false;
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    !name.is_empty() && name.bytes().all(plain)
}
