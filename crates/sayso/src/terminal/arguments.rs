//! The command line of the commands that talk to a running server.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::trouble::EXIT_CODES;
use crate::cli::ServeArguments;
use crate::config::{ChosenToken, Limit, TlsMode};

/// What people and scripts do without a browser.
#[derive(Debug, Subcommand)]
pub enum TerminalCommand {
    /// List what waits for you.
    Pending(PendingArguments),
    /// Show a whole request.
    Show(ShowArguments),
    /// Let an agent do what it asks for.
    Allow(AllowArguments),
    /// Refuse it, or skip a question.
    Deny(DenyArguments),
    /// Answer an agent's questions, or fill in a form.
    Answer(AnswerArguments),
    /// Show what waits for you as it comes, and decide with keys.
    Watch(WatchArguments),
}

/// Where the server is; the same settings as it was started with.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "The server")]
pub struct ReachArguments {
    /// Address and port that the server listens on [default: 127.0.0.1:7297]
    #[arg(long, env = "SAYSO_LISTEN", value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// The server's data folder, which holds its token [default: the platform's data folder]
    #[arg(long, env = "SAYSO_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// A token that the server knows, where it is not the one of the data folder
    #[arg(
        long,
        env = "SAYSO_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    pub token: Option<ChosenToken>,
    /// The server encrypts with a certificate of its own making
    #[arg(long, env = "SAYSO_TLS", value_enum)]
    pub tls: Option<TlsMode>,
    /// The certificate that the server encrypts with, a PEM file
    #[arg(long, env = "SAYSO_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Configuration file [default: sayso.toml in the platform's configuration folder]
    #[arg(long, env = "SAYSO_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl ReachArguments {
    pub(super) fn as_served(&self) -> ServeArguments {
        ServeArguments {
            listen: self.listen,
            data_dir: self.data_dir.clone(),
            token: self.token.clone(),
            tls: self.tls,
            tls_cert: self.tls_cert.clone(),
            config: self.config.clone(),
            ..ServeArguments::default()
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct PendingArguments {
    /// Print one JSON object per line instead
    #[arg(long)]
    pub json: bool,
    /// Wait until something is there, for ever or for so long, such as --wait=30s
    #[arg(
        long,
        value_name = "DURATION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "never"
    )]
    pub wait: Option<Limit>,
    #[command(flatten)]
    pub server: ReachArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ShowArguments {
    /// The request: the letters that `sayso pending` shows, or more of its id
    pub id: String,
    /// Print the request as JSON instead
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ReachArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct AllowArguments {
    /// The request: the letters that `sayso pending` shows, or more of its id
    pub id: String,
    /// Do not ask whether you are sure
    #[arg(long, short)]
    pub yes: bool,
    /// Allow only exactly this input: the `input_digest` that `sayso show --json` printed
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// For a plan: the permission mode that follows, such as acceptEdits
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,
    /// A file with the password that is asked for before risky actions; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Print the result as JSON, and ask nothing
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ReachArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DenyArguments {
    /// The request: the letters that `sayso pending` shows, or more of its id
    pub id: String,
    /// Why; the agent reads exactly this
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Also end the agent's turn
    #[arg(long)]
    pub stop: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ReachArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct AnswerArguments {
    /// The request: the letters that `sayso pending` shows, or more of its id
    pub id: String,
    /// An option, such as 'Which colour?=Red'; the question by its text, header or number (repeatable)
    #[arg(long, value_name = "QUESTION=OPTION")]
    pub choose: Vec<String>,
    /// Words of your own in place of an option (repeatable)
    #[arg(long, value_name = "QUESTION=TEXT")]
    pub text: Vec<String>,
    /// What you add to an answer (repeatable)
    #[arg(long, value_name = "QUESTION=TEXT")]
    pub note: Vec<String>,
    /// All answers as one JSON object, such as '{"Which colour?":"Red"}'; `-` reads standard input
    #[arg(long, value_name = "JSON", conflicts_with_all = ["choose", "text"])]
    pub answers: Option<String>,
    /// Print the result as JSON, and ask nothing
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ReachArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct WatchArguments {
    /// Print what happens as JSON lines instead of drawing a list
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: ReachArguments,
}
