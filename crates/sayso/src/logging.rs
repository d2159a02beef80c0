//! Logs go to standard error, as text or as JSON, and never hold secrets:
//! nothing that logs is given a token, a message or a tool's input.

use tracing_subscriber::EnvFilter;

use crate::colours;

/// `SAYSO_LOG` sets the level (`info`, `sayso=debug`); `SAYSO_LOG_FORMAT=json` the form.
pub fn start() {
    let filter =
        EnvFilter::try_from_env("SAYSO_LOG").unwrap_or_else(|_| EnvFilter::new("warn,sayso=info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // It would complain on standard error that standard error cannot be written to, which panics: a full disk
        // that also holds the log would end the server.
        .log_internal_errors(false)
        .with_ansi(colours::wanted_on(&std::io::stderr()))
        .with_writer(std::io::stderr);
    let json = std::env::var("SAYSO_LOG_FORMAT").is_ok_and(|format| format == "json");
    // A second start in one process keeps the first.
    let _ = if json {
        builder.json().try_init()
    } else {
        builder.try_init()
    };
}
