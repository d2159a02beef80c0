//! What `sayso audit` and `sayso backup` are told.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};

use crate::config::{Config, Overrides};

#[derive(Debug, Args)]
pub struct AuditArguments {
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Print the newest entries; likely secrets are hidden
    List {
        #[command(flatten)]
        filter: FilterArguments,
        /// At most so many
        #[arg(long, default_value_t = 50, value_name = "NUMBER")]
        limit: u32,
        /// One JSON object for each entry, with all that was recorded
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        data: DataArguments,
    },
    /// Print all entries, oldest first, with their exact text
    Export {
        #[arg(long, value_enum)]
        format: ExportFormat,
        /// Write to this file, for its owner alone [default: print]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Hide likely secrets
        #[arg(long)]
        masked: bool,
        #[command(flatten)]
        filter: FilterArguments,
        #[command(flatten)]
        data: DataArguments,
    },
    /// Check that nothing was changed or removed
    ///
    /// Ends with 0 when the history is whole, with 1 when it was tampered with, and with 2 when it
    /// cannot be checked.
    Verify {
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        data: DataArguments,
    },
    /// Accept the history as it is, such as after a backup was put in its place
    ///
    /// The server must not be running. From then on `verify` tells of it.
    Adopt {
        #[command(flatten)]
        data: DataArguments,
    },
}

/// Only entries that all of this fits.
#[derive(Clone, Debug, Default, Args)]
pub struct FilterArguments {
    /// Of this session, by its id
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Of sessions in this folder and below
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// About this tool, such as Bash
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Such as allowed, denied, answered, expired, ran or failed
    #[arg(long, value_name = "WORD")]
    pub outcome: Option<String>,
    /// By whom
    #[arg(long, value_parser = ["human", "rule", "mode", "timeout", "policy", "agent", "server"])]
    pub by: Option<String>,
    /// Of this kind
    #[arg(long, value_parser = ["decision", "outcome", "alert", "rule", "mode", "session", "access"])]
    pub kind: Option<String>,
    /// Not before: a time, a day, or how long ago (2026-01-31T12:00:00Z, 2026-01-31, 90m, 7d)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before: as --since
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// With all of these words
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One JSON object in each line
    Jsonl,
    /// For spreadsheets; nothing in it is taken for a formula
    Csv,
}

#[derive(Debug, Args)]
pub struct BackupArguments {
    /// Where the copy goes
    pub file: PathBuf,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Where the data is. No server is asked.
#[derive(Clone, Debug, Default, Args)]
pub struct DataArguments {
    /// Folder of the database [default: the platform's data folder]
    #[arg(long, env = "SAYSO_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Configuration file [default: sayso.toml in the platform's configuration folder]
    #[arg(long, env = "SAYSO_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl DataArguments {
    pub(super) fn database(&self) -> anyhow::Result<PathBuf> {
        let overrides = Overrides {
            data_dir: self.data_dir.clone(),
            ..Overrides::default()
        };
        let config = Config::load(self.config.as_deref(), &overrides)?;
        let database = config.database();
        if let Some(demo) = config.only_demo() {
            bail!(
                "There is no database at {}, only that of `sayso demo`. To use that, add --data-dir {demo:?}",
                database.display()
            );
        }
        Ok(database)
    }
}
