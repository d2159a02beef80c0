//! Settings in layers: defaults, then the TOML file, then `SAYSO_*`, then flags.

mod duration;
mod notifications;
mod policies;
mod size;
mod token;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use sayso_claude::launch::OWN_PREFIX;
use sayso_store::Durability;
use serde::{Deserialize, Serialize};

pub use duration::{Limit, LimitError};
pub use notifications::NotificationSettings;
pub use policies::PolicySettings;
pub use size::{Size, SizeError};
pub use token::ChosenToken;

/// The port is "says" on a phone keypad.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7297";
/// In the data folder.
const DATABASE: &str = "sayso.db";

/// What the server runs with, all layers merged.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    /// The `claude` program; looked up on the PATH when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude: Option<PathBuf>,
    /// Made and kept in the data folder when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<ChosenToken>,
    /// Further names that the server is called by, as in the `Host` header.
    #[serde(default)]
    pub allow_hosts: Vec<String>,
    /// Where other front ends come from that may use the sockets below `/compat`.
    #[serde(default)]
    pub allow_origins: Vec<String>,
    /// Encrypts with a certificate of our own making.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsMode>,
    /// Encrypts with this certificate; needs its key, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    /// A proxy in front encrypts.
    #[serde(default)]
    pub behind_proxy: bool,
    /// How many agents may run at once.
    #[serde(default = "max_sessions")]
    pub max_sessions: usize,
    /// How large the transcript of one session may become.
    #[serde(default = "max_transcript")]
    pub max_transcript: Size,
    /// Names of further environment variables that agents may see.
    #[serde(default)]
    pub pass_environment: Vec<String>,
    /// The agent that new sessions start with.
    pub default_agent: String,
    /// The folder that new sessions start in; the one Sayso was started in when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_folder: Option<PathBuf>,
    /// What becomes of agents when Sayso ends.
    #[serde(default)]
    pub on_shutdown: OnShutdown,
    /// What a decision outlives that an agent was told.
    #[serde(default)]
    pub durability: DurabilitySetting,
    /// How long an agent goes on without any Sayso; then it is stopped.
    #[serde(default = "unclaimed_timeout")]
    pub unclaimed_timeout: Limit,
    /// How long an agent may fail to react; then it is ended. Less than a few seconds would hit agents that are slow.
    #[serde(default = "agent_patience")]
    pub agent_patience: Limit,
    /// How long entries of the history are kept.
    #[serde(default = "never")]
    pub keep_history: Limit,
    #[serde(default)]
    pub notifications: NotificationSettings,
    #[serde(default)]
    pub policies: PolicySettings,
}

/// How the server encrypts without a certificate from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// Made on first use and kept in the data folder.
    SelfSigned,
}

/// What becomes of agents when Sayso ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum OnShutdown {
    /// They go on, and the next Sayso takes them over.
    #[default]
    Keep,
    Stop,
}

/// What a decision outlives that an agent was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum DurabilitySetting {
    /// A power cut: it is on the disk before the agent hears it
    #[default]
    Disk,
    /// The end of Sayso, however sudden; no answer waits for the disk
    Process,
}

impl From<DurabilitySetting> for Durability {
    fn from(setting: DurabilitySetting) -> Self {
        match setting {
            DurabilitySetting::Disk => Self::Disk,
            DurabilitySetting::Process => Self::Process,
        }
    }
}

fn max_sessions() -> usize {
    200
}

fn max_transcript() -> Size {
    Size(Some(1 << 30))
}

fn never() -> Limit {
    Limit(None)
}

/// A healthy agent answers within a second, on a busy machine within a few.
fn agent_patience() -> Limit {
    Limit(Some(Duration::from_secs(10)))
}

fn unclaimed_timeout() -> Limit {
    Limit(Some(Duration::from_secs(24 * 60 * 60)))
}

/// What the command line says; absent values leave the layer below.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Overrides {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<ChosenToken>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_hosts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_origins: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_proxy: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_shutdown: Option<OnShutdown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<DurabilitySetting>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("The configuration is not right: {0}.")]
    Invalid(String),
    #[error(
        "`pass_environment` names `{0}`. Variables that begin with `SAYSO_` are Sayso's own, its token among them; agents never see them."
    )]
    OwnVariable(String),
    #[error("There is no configuration file at {}.", .0.display())]
    NoFile(PathBuf),
    #[error("No home folder was found for Sayso's data. Name one with --data-dir.")]
    NoDataDir,
}

impl Config {
    /// Merges the layers. `file` must exist when it is named; the usual place may be empty.
    pub fn load(file: Option<&Path>, overrides: &Overrides) -> Result<Self, ConfigError> {
        if let Some(file) = file
            && !file.is_file()
        {
            return Err(ConfigError::NoFile(file.to_owned()));
        }
        let usual = directories::ProjectDirs::from("", "", "sayso");
        let file = Self::file(file);
        let data_dir = usual.map(|folders| folders.data_dir().to_owned());
        let mut figment = Figment::new()
            .merge(Serialized::default("listen", DEFAULT_LISTEN))
            .merge(Serialized::default("default_agent", "claude"));
        if let Some(data_dir) = data_dir {
            figment = figment.merge(Serialized::default("data_dir", data_dir));
        }
        if let Some(file) = file {
            figment = figment.merge(Toml::file_exact(file));
        }
        // Only the policies: the other variables belong to the flags.
        let environment = Env::prefixed("SAYSO_")
            .filter(|key| key.starts_with("policies__"))
            .split("__");
        let config: Self = figment
            .merge(environment)
            .merge(Serialized::defaults(overrides))
            .extract()
            .map_err(|error| {
                if error.missing() && error.to_string().contains("data_dir") {
                    ConfigError::NoDataDir
                } else {
                    ConfigError::Invalid(token::explain(&error))
                }
            })?;
        let own = |name: &&String| name.starts_with(OWN_PREFIX);
        match config.pass_environment.iter().find(own) {
            Some(name) => Err(ConfigError::OwnVariable(name.clone())),
            None => Ok(config),
        }
    }

    /// The file that settings are read from: the one that is named, or the usual one if it is there.
    pub fn file(named: Option<&Path>) -> Option<PathBuf> {
        let usual = || {
            let folders = directories::ProjectDirs::from("", "", "sayso")?;
            Some(folders.config_dir().join("sayso.toml"))
        };
        let file = named.map(Path::to_owned).or_else(usual);
        file.filter(|file| file.is_file())
    }

    pub fn database(&self) -> PathBuf {
        self.data_dir.join(DATABASE)
    }

    /// Where `sayso demo` keeps its data, unless it is told where.
    pub fn demo_folder(&self) -> PathBuf {
        self.data_dir.join("demo")
    }

    /// The folder of the demo's data, if those are the only ones.
    pub fn only_demo(&self) -> Option<PathBuf> {
        let demo = self.demo_folder();
        (!self.database().exists() && demo.join(DATABASE).is_file()).then_some(demo)
    }
}
