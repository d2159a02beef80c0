//! What is known about programs: which of them run others, and with which
//! options. There is no list of safe ones.

mod flags;
mod git;
mod table;

pub(crate) use flags::objection;

/// Run whatever code they are given, as arguments or as input.
pub(crate) const SHELLS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "nu",
    "elvish", "xonsh",
];

const INTERPRETERS: &[&str] = &[
    "python",
    "node",
    "nodejs",
    "perl",
    "ruby",
    "irb",
    "php",
    "lua",
    "luajit",
    "deno",
    "bun",
    "osascript",
    "pwsh",
    "powershell",
    "tclsh",
    "wish",
    "expect",
    "Rscript",
    "R",
    "julia",
    "ghci",
    "runghc",
    "ts-node",
    "tsx",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "gsed",
    "bc",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "nano",
    "emacs",
    "less",
    "more",
    "most",
    "gdb",
    "lldb",
    "sqlite3",
    "psql",
    "mysql",
    "jshell",
    "groovy",
    "scala",
    "clojure",
    "guile",
    "racket",
    "m4",
    "erl",
    "iex",
    "elixir",
    "ipython",
    "pdb",
    "eval",
    "source",
    ".",
    "trap",
    "alias",
    "unalias",
    "hash",
    "enable",
    "bind",
    "complete",
    "function",
    "let",
    "mapfile",
    "readarray",
    "read",
    "printf",
    "test",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "set",
    "shopt",
    "unset",
    "getopts",
    "wait",
    "jobs",
    "fc",
    "compgen",
    "compopt",
];

/// Run other programs, or feed them arguments that nobody sees.
const RUNNERS: &[&str] = &[
    "env",
    "xargs",
    "tee",
    "sudo",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "watch",
    "setsid",
    "ionice",
    "nice",
    "chrt",
    "taskset",
    "flock",
    "stdbuf",
    "unbuffer",
    "script",
    "nohup",
    "timeout",
    "time",
    "command",
    "builtin",
    "exec",
    "noglob",
    "nocorrect",
    "coproc",
    "parallel",
    "entr",
    "busybox",
    "toybox",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "corepack",
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "ssh",
    "mosh",
    "kubectl",
    "oc",
    "vagrant",
    "direnv",
    "devbox",
    "nix",
    "nix-shell",
    "guix",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "systemd-run",
    "at",
    "batch",
    "crontab",
    "strace",
    "ltrace",
    "perf",
    "valgrind",
    "caffeinate",
    "screen",
    "tmux",
    "dbus-run-session",
    "xvfb-run",
    "start-stop-daemon",
    "run-parts",
    "setarch",
    "linux32",
    "linux64",
    "capsh",
    "setpriv",
    "faketime",
    "proxychains",
    "torsocks",
    "tsocks",
    "wine",
    "xdg-open",
    "open",
    "ld.so",
    "fakeroot",
    "cpulimit",
    "prlimit",
    "choom",
    "rlwrap",
    "sshpass",
    "dtrace",
    "doppler",
    "op",
    "aws-vault",
    "nodemon",
    "concurrently",
    "hyperfine",
    "wsl",
    "cmd",
    "cmd.exe",
];

/// `name` without the digits of a version: `python3.12` is a `python`.
fn base(name: &str) -> &str {
    name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-')
}

pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

pub(crate) fn runs_code(name: &str) -> bool {
    let listed = |name: &str| SHELLS.contains(&name) || INTERPRETERS.contains(&name);
    listed(name) || listed(base(name))
}

pub(crate) fn runs_other_programs(name: &str) -> bool {
    RUNNERS.contains(&name) || name.starts_with("ld-linux")
}

/// Only a rule with the whole command can allow such a program.
pub(crate) fn needs_exact_rule(name: &str) -> bool {
    runs_code(name) || runs_other_programs(name)
}

/// Takes what it reads for code, not for data. Even a rule with the whole
/// command does not know what comes out of a pipe.
pub(crate) fn runs_its_input(name: &str) -> bool {
    let filters = [
        "sed", "gsed", "awk", "gawk", "mawk", "nawk", "tee", "less", "more", "printf", "test",
    ];
    needs_exact_rule(name) && !filters.contains(&name)
}

/// Interpreters of languages, for telling what a pipe ends in.
pub(crate) fn is_interpreter(name: &str) -> bool {
    const LANGUAGES: &[&str] = &[
        "python",
        "node",
        "nodejs",
        "perl",
        "ruby",
        "php",
        "lua",
        "deno",
        "bun",
        "osascript",
        "pwsh",
        "powershell",
        "tclsh",
        "Rscript",
        "ts-node",
        "tsx",
    ];
    LANGUAGES.contains(&name) || LANGUAGES.contains(&base(name))
}

#[cfg(test)]
mod tests {
    use super::{needs_exact_rule, runs_code};

    #[test]
    fn versions_do_not_hide_a_program() {
        assert!(runs_code("python3.12") && runs_code("bash") && runs_code("lua5.4"));
        assert!(needs_exact_rule("xargs") && needs_exact_rule("ld-linux-x86-64.so.2"));
        assert!(!needs_exact_rule("ls") && !needs_exact_rule("git") && !needs_exact_rule("npm"));
    }
}
