//! What known programs do. Data first; a program that is not here says nothing.

use super::RiskKind;
use crate::programs::is_interpreter;
use crate::shell::command::Word;

const DELETES: &[&str] = &[
    "rm", "rmdir", "unlink", "shred", "trash", "srm", "dropdb", "wipefs",
];
const OVERWRITES: &[&str] = &[
    "dd",
    "truncate",
    "shred",
    "wipefs",
    "fdisk",
    "parted",
    "sgdisk",
    "mkswap",
    "blkdiscard",
];
const PRIVILEGE: &[&str] = &[
    "sudo", "su", "doas", "pkexec", "runuser", "chown", "chgrp", "setcap", "setfacl", "usermod",
    "useradd", "adduser", "userdel", "groupadd", "passwd", "chpasswd", "visudo", "insmod",
    "modprobe", "mount", "umount", "chroot", "nsenter", "iptables", "nft", "sysctl",
];
const NETWORK: &[&str] = &[
    "curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "ssh", "scp", "sftp", "ftp", "lftp",
    "http", "https", "xh", "aria2c", "ping", "dig", "nslookup", "host", "whois", "nmap", "gh",
    "glab", "aws", "gcloud", "az", "kubectl", "helm", "rclone", "s3cmd", "mail", "sendmail",
];
const RUNS_DOWNLOADS: &[&str] = &["npx", "bunx", "uvx", "pipx", "pnpx"];
const LONG_RUNNING: &[&str] = &[
    "watch",
    "top",
    "htop",
    "nodemon",
    "vite",
    "webpack-dev-server",
    "http-server",
    "serve",
    "live-server",
    "entr",
    "inotifywait",
    "fswatch",
    "uvicorn",
    "gunicorn",
    "flask",
    "sleep",
];

/// Programs and the sub-commands with which they put new software in place.
const INSTALLS: &[(&[&str], &[&str])] = &[
    (
        &["npm", "pnpm", "yarn", "bun"],
        &[
            "install", "i", "ci", "add", "update", "upgrade", "dlx", "create", "init", "x", "exec",
        ],
    ),
    (
        &[
            "pip", "pip3", "conda", "mamba", "gem", "brew", "snap", "flatpak",
        ],
        &["install", "upgrade"],
    ),
    (&["uv"], &["add", "sync", "pip", "tool", "run"]),
    (&["poetry"], &["add", "install", "update"]),
    (&["cargo"], &["install", "add", "update"]),
    (&["go"], &["install", "get"]),
    (
        &["composer", "bundle", "mix"],
        &["install", "update", "require", "deps.get"],
    ),
    (
        &["apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "apk"],
        &[
            "install",
            "add",
            "upgrade",
            "dist-upgrade",
            "full-upgrade",
            "update",
        ],
    ),
    (
        &["rustup", "nvm", "pyenv", "asdf", "mise"],
        &["install", "update", "toolchain", "component"],
    ),
];

/// Programs and the sub-commands with which they delete.
const DELETING_SUBCOMMANDS: &[(&[&str], &[&str])] = &[
    (
        &["docker", "podman"],
        &["rm", "rmi", "prune", "volume", "system"],
    ),
    (&["kubectl", "oc"], &["delete", "drain"]),
    (
        &["apt", "apt-get", "dnf", "yum"],
        &["remove", "purge", "autoremove"],
    ),
    (&["brew", "pip", "pip3", "npm"], &["uninstall"]),
    (&["terraform", "tofu", "pulumi"], &["destroy"]),
    (&["helm"], &["uninstall", "delete"]),
];

const DOWNLOADING_SUBCOMMANDS: &[(&[&str], &[&str])] = &[
    (
        &["docker", "podman"],
        &["pull", "push", "login", "build", "run"],
    ),
    (
        &["npm", "pnpm", "yarn", "cargo", "twine"],
        &["publish", "login", "upload"],
    ),
    (&["terraform", "tofu", "pulumi"], &["apply", "up"]),
];

const SERVING_SCRIPTS: &[&str] = &["dev", "start", "serve", "watch", "preview"];

pub(super) fn kinds<'a>(name: &str, arguments: &'a [Word]) -> Vec<RiskKind> {
    let text_of = |operand: Option<&'a Word>| operand.map_or("", |word| word.text.as_str());
    let mut leading = operands(arguments);
    let first = text_of(leading.next());
    let second = text_of(leading.next());
    let has = |option: &str| arguments.iter().any(|word| word.text == option);
    let in_table = |table: &[(&[&str], &[&str])]| {
        let row = |(names, subcommands): &(&[&str], &[&str])| {
            names.contains(&name) && subcommands.contains(&first)
        };
        table.iter().any(row)
    };
    let deletes_by_option = match name {
        "find" => has("-delete"),
        "rsync" => arguments
            .iter()
            .any(|word| word.text.starts_with("--delete")),
        _ => false,
    };
    let installs = in_table(INSTALLS)
        || RUNS_DOWNLOADS.contains(&name)
        || name == "pacman" && arguments.iter().any(|word| word.text.starts_with("-S"))
        || name == "yarn" && arguments.is_empty()
        || is_interpreter(name) && has("-m") && first == "pip";
    let serves = match name {
        "npm" | "pnpm" | "yarn" | "bun" => {
            SERVING_SCRIPTS.contains(&first) || first == "run" && SERVING_SCRIPTS.contains(&second)
        }
        "next" | "nuxt" | "astro" => matches!(first, "dev" | "start" | "preview"),
        "cargo" => first == "watch",
        "tail" => short_option(arguments, 'f') || short_option(arguments, 'F') || has("--follow"),
        "journalctl" => short_option(arguments, 'f') || has("--follow"),
        "docker" | "podman" => first == "compose" && second == "up" && !has("-d"),
        "docker-compose" => first == "up" && !has("-d"),
        _ => is_interpreter(name) && has("-m") && first == "http.server",
    };
    let widens = name == "chmod"
        && (first.ends_with("777")
            || first.contains("+s")
            || first.len() == 4 && first.starts_with(['2', '4', '6']));
    let reaches_host = name == "rsync" && operands(arguments).any(|word| word.text.contains(':'));
    let rules = [
        (
            RiskKind::Deletes,
            DELETES.contains(&name) || deletes_by_option || in_table(DELETING_SUBCOMMANDS),
        ),
        (
            RiskKind::Overwrites,
            OVERWRITES.contains(&name) || name.starts_with("mkfs"),
        ),
        (
            RiskKind::Privilege,
            PRIVILEGE.contains(&name) || widens || has("--privileged"),
        ),
        (
            RiskKind::Network,
            NETWORK.contains(&name) || reaches_host || in_table(DOWNLOADING_SUBCOMMANDS),
        ),
        (RiskKind::Installs, installs),
        (
            RiskKind::LongRunning,
            LONG_RUNNING.contains(&name) && !is_short_sleep(name, first)
                || serves
                || has("--watch"),
        ),
    ];
    let present = rules.iter().filter(|(_, present)| *present);
    present.map(|(kind, _)| *kind).collect()
}

fn is_short_sleep(name: &str, seconds: &str) -> bool {
    name == "sleep" && seconds.parse::<f64>().is_ok_and(|seconds| seconds < 60.0)
}

fn short_option(arguments: &[Word], letter: char) -> bool {
    arguments.iter().any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        !letters.starts_with('-') && letters.contains(letter)
    })
}

fn operands(arguments: &[Word]) -> impl DoubleEndedIterator<Item = &Word> {
    let end_of_options = arguments.iter().position(|word| word.is("--"));
    let at = end_of_options.unwrap_or(arguments.len());
    let (before, after) = arguments.split_at(at);
    let is_operand = |word: &&Word| !word.text.starts_with('-') || word.text == "-";
    before.iter().filter(is_operand).chain(after.iter().skip(1))
}

/// The arguments that name files which `name` creates, changes or removes.
pub(crate) fn written_paths<'a>(name: &str, arguments: &'a [Word]) -> Vec<&'a Word> {
    let operands = || operands(arguments);
    match name {
        "rm" | "rmdir" | "unlink" | "shred" | "truncate" | "touch" | "mkdir" | "tee" | "mv"
        | "ln" | "mkfifo" => operands().collect(),
        "chmod" | "chown" | "chgrp" => operands().skip(1).collect(),
        "cp" | "install" => operands().next_back().into_iter().collect(),
        "rsync" | "scp" => {
            let local = |word: &&Word| !word.text.contains(':');
            operands().next_back().filter(local).into_iter().collect()
        }
        "sed" if short_option(arguments, 'i') || has_long(arguments, "--in-place") => {
            let scripted =
                has_long(arguments, "--expression") || arguments.iter().any(|word| word.is("-e"));
            operands().skip(usize::from(!scripted)).collect()
        }
        "curl" => value_of(arguments, &["-o", "--output"]),
        "wget" => value_of(arguments, &["-O", "--output-document", "-P"]),
        _ => Vec::new(),
    }
}

fn has_long(arguments: &[Word], name: &str) -> bool {
    arguments.iter().any(|word| word.text.starts_with(name))
}

fn value_of<'a>(arguments: &'a [Word], options: &[&str]) -> Vec<&'a Word> {
    let pairs = arguments.windows(2);
    let named = pairs.filter(|pair| options.contains(&pair[0].text.as_str()));
    named
        .map(|pair| &pair[1])
        .filter(|word| !word.is("-"))
        .collect()
}
