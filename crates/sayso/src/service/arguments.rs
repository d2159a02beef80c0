//! The command line of `sayso service`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::ServeArguments;

/// For `--help`.
const EXIT_CODES: &str = "Exit codes:
   0  done; for `status`: it runs
   1  it failed; the message says why
   2  the command line is wrong
   3  it is installed and does not run
   5  it is not installed
   8  the file is not of Sayso's making: use --force";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ServiceArguments {
    #[command(subcommand)]
    pub command: ServiceCommand,
}

#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Start Sayso with your login, now and from now on; flags such as --listen are kept.
    #[command(after_help = EXIT_CODES)]
    Install(Box<InstallArguments>),
    /// Stop it and remove what `install` wrote.
    #[command(after_help = EXIT_CODES)]
    Uninstall(ManageArguments),
    /// Say whether it is installed and runs.
    #[command(after_help = EXIT_CODES)]
    Status(ManageArguments),
}

#[derive(Debug, Args)]
pub struct InstallArguments {
    /// Only print the file that would be written
    #[arg(long)]
    pub print: bool,
    #[command(flatten)]
    pub manage: ManageArguments,
    #[command(flatten)]
    pub serve: ServeArguments,
}

#[derive(Clone, Debug, Args)]
pub struct ManageArguments {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Also replace or remove a file that Sayso did not write
    #[arg(long)]
    pub force: bool,
    /// What runs services here [default: launchd on macOS, else systemd]
    #[arg(long, value_enum)]
    pub manager: Option<Manager>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Manager {
    /// Units of the user's own
    Systemd,
    /// Agents of the user's own
    Launchd,
}

impl ManageArguments {
    pub(super) fn manager(&self) -> Manager {
        self.manager.unwrap_or(if cfg!(target_os = "macos") {
            Manager::Launchd
        } else {
            Manager::Systemd
        })
    }
}

/// The flags that lead to the same settings, wherever the service is started from.
pub(super) fn flags(serve: &ServeArguments, folder: &Path) -> Vec<OsString> {
    let mut flags: Vec<OsString> = Vec::new();
    let mut add = |flag: &str, value: OsString| flags.extend([flag.into(), value]);
    if let Some(listen) = serve.listen {
        add("--listen", listen.to_string().into());
    }
    let paths: [(&str, &Option<PathBuf>); 5] = [
        ("--data-dir", &serve.data_dir),
        ("--claude", &serve.claude),
        ("--tls-cert", &serve.tls_cert),
        ("--tls-key", &serve.tls_key),
        ("--config", &serve.config),
    ];
    for (flag, path) in paths {
        if let Some(path) = path {
            add(flag, folder.join(path).into());
        }
    }
    for host in &serve.allow_hosts {
        add("--allow-host", host.into());
    }
    for origin in &serve.allow_origins {
        add("--allow-origin", origin.into());
    }
    if let Some(tls) = serve.tls {
        add("--tls", spelled(tls));
    }
    if let Some(on_shutdown) = serve.on_shutdown {
        add("--on-shutdown", spelled(on_shutdown));
    }
    if let Some(durability) = serve.durability {
        add("--durability", spelled(durability));
    }
    if serve.behind_proxy {
        flags.push("--behind-proxy".into());
    }
    flags
}

fn spelled(value: impl ValueEnum) -> OsString {
    let value = value.to_possible_value();
    value
        .map(|value| value.get_name().into())
        .unwrap_or_default()
}
