//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::Overrides;

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
    Demo(ServeArguments),
    /// Check what is there and say how to mend what is missing.
    Doctor(ServeArguments),
    /// Be the demo agent; started by Sayso itself.
    #[command(hide = true, name = "fake-claude", disable_help_flag = true)]
    FakeClaude {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
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
    pub token: Option<String>,
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
            default_agent: None,
        }
    }
}
