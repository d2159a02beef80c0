//! Git: one program, many risks.

use super::RiskKind;
use crate::shell::command::Word;

pub(super) fn kinds(arguments: &[Word]) -> Vec<RiskKind> {
    let rest = after_global_options(arguments);
    let Some((subcommand, options)) = rest.split_first() else {
        return Vec::new();
    };
    if !subcommand.literal {
        return vec![RiskKind::Unknown];
    }
    let has = |names: &[&str]| options.iter().any(|word| has_option(word, names));
    let first = options.first().map_or("", |word| word.text.as_str());
    match subcommand.text.as_str() {
        "push" => {
            let mut kinds = vec![RiskKind::Network];
            let forced_reference = options.iter().any(|word| word.text.starts_with('+'));
            let names = ["-f", "--force", "-d", "--delete", "--mirror", "--prune"];
            let deletes_reference = options.iter().any(|word| word.text.starts_with(':'));
            if has(&names) || has(&["--force-with-lease"]) || forced_reference || deletes_reference
            {
                kinds.push(RiskKind::GitHistory);
            }
            kinds
        }
        "clone" | "fetch" | "pull" | "ls-remote" | "remote-update" | "send-email" => {
            vec![RiskKind::Network]
        }
        "submodule" if matches!(first, "update" | "add") => vec![RiskKind::Network],
        "remote" if first == "update" => vec![RiskKind::Network],
        "rebase" | "filter-branch" | "filter-repo" | "update-ref" | "replace" => {
            vec![RiskKind::GitHistory]
        }
        "commit" if has(&["--amend"]) => vec![RiskKind::GitHistory],
        "branch" if has(&["-d", "-D", "--delete", "-f", "--force", "-M"]) => {
            vec![RiskKind::GitHistory]
        }
        "tag" if has(&["-d", "--delete", "-f", "--force"]) => vec![RiskKind::GitHistory],
        "reflog" if matches!(first, "expire" | "delete") => vec![RiskKind::GitHistory],
        "stash" if matches!(first, "drop" | "clear") => vec![RiskKind::GitHistory],
        "gc" if has(&["--prune", "--aggressive"]) => vec![RiskKind::GitHistory],
        "prune" => vec![RiskKind::GitHistory],
        "reset" if has(&["--hard", "--merge", "--keep"]) => {
            vec![RiskKind::GitHistory, RiskKind::Overwrites]
        }
        "reset" => Vec::new(),
        "clean" if has(&["-n", "--dry-run"]) => Vec::new(),
        "clean" | "rm" => vec![RiskKind::Deletes],
        "worktree" if first == "remove" => vec![RiskKind::Deletes],
        "restore" => vec![RiskKind::Overwrites],
        "checkout" if has(&["-f", "--force", "--ours", "--theirs"]) => vec![RiskKind::Overwrites],
        "checkout" if options.iter().any(|word| word.is("--") || word.is(".")) => {
            vec![RiskKind::Overwrites]
        }
        "switch" if has(&["-f", "--force", "--discard-changes"]) => vec![RiskKind::Overwrites],
        _ => Vec::new(),
    }
}

fn after_global_options(arguments: &[Word]) -> &[Word] {
    let mut rest = arguments;
    while let [option, after @ ..] = rest {
        if !option.text.starts_with('-') {
            break;
        }
        let takes_next = matches!(
            option.text.as_str(),
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace"
        );
        rest = after.get(usize::from(takes_next)..).unwrap_or_default();
    }
    rest
}

/// Short options may stand in a cluster, long ones may carry a value.
fn has_option(word: &Word, names: &[&str]) -> bool {
    let text = word.text.as_str();
    names.iter().any(|name| match name.strip_prefix("--") {
        Some(_) => {
            text == *name
                || text
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('='))
        }
        None => {
            let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            letters.is_some_and(|letters| {
                let letters = letters.split('=').next().unwrap_or_default();
                name.strip_prefix('-')
                    .is_some_and(|letter| letters.contains(letter))
            })
        }
    })
}
