//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::audit::{AuditArguments, BackupArguments};
use crate::config::{ChosenToken, DurabilitySetting, OnShutdown, Overrides, TlsMode};
use crate::service::ServiceArguments;
use crate::terminal::TerminalCommand;

/// Runs coding agents on this machine and asks you before they act.
///
/// Without a command Sayso serves: it listens on 127.0.0.1:7297 and prints the
/// address to open. Try `sayso demo` first: it needs no API key.
#[derive(Debug, Parser)]
#[command(name = "sayso", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeArguments,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the server (the same as `sayso` alone).
    Serve(ServeArguments),
    /// Start the server with the built-in demo agent: no key, nothing to install.
    #[command(mut_arg("data_dir", |argument| argument.help(
        "Folder for the database and the token [default: demo in the platform's data folder]"
    )))]
    Demo(ServeArguments),
    /// Print a link that lets one more browser in.
    Pair(ServeArguments),
    #[command(flatten)]
    Terminal(TerminalCommand),
    /// Start Sayso with your login: install, uninstall, status.
    Service(ServiceArguments),
    /// The password that is asked for before risky actions.
    Password(PasswordArguments),
    /// Check what is there and say how to mend what is missing.
    Doctor(ServeArguments),
    /// Look at rules without a server.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// List, add, remove and test the rules of the running server.
    Rules(RulesArguments),
    /// Look at the history, export it and check that nobody changed it.
    Audit(AuditArguments),
    /// Copy the database into one file, also while the server runs.
    Backup(BackupArguments),
    /// Hold one agent, so that it outlives the server; started by Sayso itself.
    #[command(hide = true, name = "runner")]
    Runner { folder: PathBuf },
    /// Be the demo agent; started by Sayso itself.
    #[command(hide = true, name = "fake-claude", disable_help_flag = true)]
    FakeClaude {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Judge tool calls by rules: JSON lines in, one JSON line out for each.
    ///
    /// A line is {"allow": [rule], "ask": [rule], "deny": [rule], "tool_name", "tool_input", "cwd",
    /// "home", "project_root", "links": [{"path", "target"}]}; the lists, `home`, `project_root` and
    /// `links` are optional. Without `links` symbolic links are looked up on this machine. The answer is
    /// {"decision", "matched", "explanation", "risk"}.
    Check,
}

#[derive(Debug, Args)]
pub struct PasswordArguments {
    #[command(subcommand)]
    pub command: PasswordCommand,
    #[command(flatten)]
    pub server: ServeArguments,
}

#[derive(Debug, Subcommand)]
pub enum PasswordCommand {
    /// Forget it. Stop the server first; set a new one on the page Devices.
    Remove,
}

#[derive(Debug, Args)]
pub struct RulesArguments {
    #[command(subcommand)]
    pub command: RulesCommand,
    #[command(flatten)]
    pub server: ServeArguments,
}

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Print all rules, or as JSON with --json.
    List {
        #[arg(long)]
        json: bool,
    },
    /// Remember a rule, such as: sayso rules add allow 'Bash(npm test:*)' --project .
    Add(AddArguments),
    /// Forget a rule, by its id or by its exact text.
    Remove { rule: String },
    /// Take over the rules of a settings file of Claude Code.
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Only for sessions in this folder and below [default: everywhere]
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Also those that are wider than they look
        #[arg(long)]
        confirm_broad: bool,
    },
    /// Print the rules that hold for good as a settings file of Claude Code.
    Export {
        /// With those for this folder [default: only those that hold everywhere]
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Say what would happen to a command: sayso rules test 'git status && rm -rf x'
    Test {
        command: String,
        /// The folder that the agent would work in [default: the current folder]
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// The tool: Bash takes a command, others a path or an address.
        #[arg(long, default_value = "Bash")]
        tool: String,
    },
}

#[derive(Debug, Args)]
pub struct AddArguments {
    #[arg(value_parser = ["allow", "ask", "deny"])]
    pub effect: String,
    pub rule: String,
    /// Only for sessions in this folder and below [default: everywhere]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Answer so many requests and then no more
    #[arg(long)]
    pub uses: Option<u32>,
    /// Answer for so many minutes and then no more
    #[arg(long)]
    pub minutes: Option<u32>,
    /// Why; of a denial, the agent reads it
    #[arg(long)]
    pub reason: Option<String>,
    /// An input that the rule must match (repeatable)
    #[arg(long = "matches", value_name = "INPUT")]
    pub matches: Vec<String>,
    /// An input that the rule must not match (repeatable)
    #[arg(long = "matches-not", value_name = "INPUT")]
    pub matches_not: Vec<String>,
    /// Take a rule that is wider than it looks
    #[arg(long)]
    pub confirm_broad: bool,
}

#[derive(Clone, Debug, Default, Args)]
pub struct ServeArguments {
    /// Address and port to listen on [default: 127.0.0.1:7297]
    #[arg(long, env = "SAYSO_LISTEN", value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Folder for the database and the token [default: the platform's data folder]
    #[arg(long, env = "SAYSO_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The Claude Code program [default: `claude` on the PATH]
    #[arg(long, env = "SAYSO_CLAUDE", value_name = "PATH")]
    pub claude: Option<PathBuf>,
    /// Secret that clients must show [default: made once and kept in the data folder]
    #[arg(
        long,
        env = "SAYSO_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    pub token: Option<ChosenToken>,
    /// A name that the server is called by, such as sayso.example.org (repeatable)
    #[arg(
        long = "allow-host",
        env = "SAYSO_ALLOW_HOSTS",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub allow_hosts: Vec<String>,
    /// Where another front end is served, such as http://localhost:5173; it may use /compat (repeatable)
    #[arg(
        long = "allow-origin",
        env = "SAYSO_ALLOW_ORIGINS",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub allow_origins: Vec<String>,
    /// Print the sockets for other front ends, with a line to try each
    #[arg(long)]
    pub print_compat: bool,
    /// Encrypt with a certificate of Sayso's own making
    #[arg(long, env = "SAYSO_TLS", value_enum)]
    pub tls: Option<TlsMode>,
    /// Encrypt with this certificate, a PEM file
    #[arg(long, env = "SAYSO_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, a PEM file
    #[arg(long, env = "SAYSO_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// A proxy in front of Sayso encrypts
    #[arg(long, env = "SAYSO_BEHIND_PROXY")]
    pub behind_proxy: bool,
    /// What becomes of agents when Sayso ends [default: keep]
    #[arg(
        long,
        env = "SAYSO_ON_SHUTDOWN",
        value_enum,
        hide_possible_values = false
    )]
    pub on_shutdown: Option<OnShutdown>,
    /// What a decision outlives that an agent was told [default: disk]
    #[arg(long, env = "SAYSO_DURABILITY", value_enum)]
    pub durability: Option<DurabilitySetting>,
    /// Configuration file [default: sayso.toml in the platform's configuration folder]
    #[arg(long, env = "SAYSO_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl ServeArguments {
    pub fn overrides(&self) -> Overrides {
        Overrides {
            listen: self.listen,
            data_dir: self.data_dir.clone(),
            claude: self.claude.clone(),
            token: self.token.clone(),
            allow_hosts: self.allow_hosts.clone(),
            allow_origins: self.allow_origins.clone(),
            tls: self.tls,
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            behind_proxy: self.behind_proxy.then_some(true),
            default_agent: None,
            on_shutdown: self.on_shutdown,
            durability: self.durability,
        }
    }
}
