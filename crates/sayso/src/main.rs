use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use sayso::access::Secret;
use sayso::agents::{Agents, DEMO};
use sayso::cli::{Cli, Command, PolicyCommand, ServeArguments};
use sayso::config::{Config, OnShutdown};
use sayso::server::Server;
use sayso::{audit, doctor, greeting, logging, remote, rules};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(Command::Runner { folder }) = &cli.command {
        return hold_agent(folder);
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let command = cli.command.unwrap_or(Command::Serve(cli.serve));
    let result = match command {
        Command::Serve(arguments) => runtime.block_on(serve(&arguments, Agent::Configured)),
        Command::Demo(arguments) => runtime.block_on(serve(&arguments, Agent::Demo)),
        Command::Pair(arguments) => runtime
            .block_on(remote::print_link(&arguments, std::io::stdout()))
            .map(|()| ExitCode::SUCCESS),
        Command::Doctor(arguments) => runtime.block_on(examine(&arguments)),
        Command::Policy(PolicyCommand::Check) => check_policy(),
        Command::Rules(arguments) => runtime
            .block_on(rules::run_remotely(&arguments, std::io::stdout()))
            .map(|()| ExitCode::SUCCESS),
        Command::Runner { .. } => return ExitCode::FAILURE,
        Command::Audit(arguments) => {
            runtime.block_on(audit::run(&arguments, std::io::stdout(), std::io::stderr()))
        }
        Command::Backup(arguments) => {
            runtime.block_on(audit::back_up(&arguments, std::io::stdout()))
        }
        Command::FakeClaude { arguments } => {
            let end = runtime.block_on(sayso_claude::fake::run(
                arguments,
                tokio::io::stdin(),
                tokio::io::stdout(),
            ));
            // Standard input may still be read in the background.
            runtime.shutdown_background();
            return end.end_process();
        }
    };
    result.unwrap_or_else(|error| fail(&error))
}

/// There is one of these for each agent, so nothing else of Sayso is started in it.
fn hold_agent(folder: &std::path::Path) -> ExitCode {
    match sayso_runner::run(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.into()),
    }
}

/// Fails when a line could not be read: a policy's test must not pass by a slip of the pen.
fn check_policy() -> anyhow::Result<ExitCode> {
    let unreadable = rules::check_lines(std::io::stdin().lock(), std::io::stdout().lock())?;
    anyhow::ensure!(unreadable == 0, "{unreadable} lines could not be read.");
    Ok(ExitCode::SUCCESS)
}

fn fail(error: &anyhow::Error) -> ExitCode {
    // Nothing can be done when even this cannot be written.
    let _ = writeln!(std::io::stderr(), "sayso: {error:#}");
    ExitCode::FAILURE
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Agent {
    Configured,
    Demo,
}

async fn serve(arguments: &ServeArguments, agent: Agent) -> anyhow::Result<ExitCode> {
    logging::start();
    let mut overrides = arguments.overrides();
    if agent == Agent::Demo {
        overrides.default_agent = Some(DEMO.to_owned());
    }
    if agent == Agent::Demo {
        overrides.on_shutdown.get_or_insert(OnShutdown::Stop);
    }
    let mut config = Config::load(arguments.config.as_deref(), &overrides)?;
    if agent == Agent::Demo && arguments.data_dir.is_none() {
        config.data_dir = config.data_dir.join("demo");
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&config.data_dir)
        .with_context(|| {
            format!(
                "The data folder {} cannot be made",
                config.data_dir.display()
            )
        })?;
    if agent == Agent::Demo {
        let playground = config.data_dir.join("playground");
        std::fs::create_dir_all(&playground)
            .with_context(|| format!("The folder {} cannot be made", playground.display()))?;
        config.default_folder = Some(playground);
    }
    let secret = match &config.token {
        Some(token) => Secret::new(token)?,
        None => Secret::kept_in(&config.data_dir)?,
    };
    anyhow::ensure!(
        config.listen.ip().is_loopback(),
        "Sayso listens on this machine only, because whoever reaches it can run commands here. \
         Use 127.0.0.1 with --listen, and reach it from elsewhere through an SSH tunnel"
    );
    let listener = TcpListener::bind(config.listen).await.with_context(|| {
        format!(
            "Cannot listen on {}. Is Sayso running already? Choose another address with --listen",
            config.listen
        )
    })?;
    let own_program = std::env::current_exe().context("The path of this program is not known.")?;
    let server = Server::open(config, secret, listener, own_program).await?;
    let url = server.link()?;
    let hint = match agent {
        Agent::Configured => "Your agents ask there before they act.",
        Agent::Demo => "Start a session there: the demo agent needs no key and asks you things.",
    };
    if let Err(error) = greeting::print(&url, hint) {
        // Nobody reads the terminal; the server is up all the same.
        tracing::warn!(%error, "the address could not be printed");
    }
    let shutdown = CancellationToken::new();
    tokio::spawn(stop_on_signal(shutdown.clone()));
    server.run(shutdown).await?;
    Ok(ExitCode::SUCCESS)
}

async fn examine(arguments: &ServeArguments) -> anyhow::Result<ExitCode> {
    let config = Config::load(arguments.config.as_deref(), &arguments.overrides())?;
    let own_program = std::env::current_exe().context("The path of this program is not known.")?;
    let agents = Agents::find(&config, own_program);
    let findings = doctor::examine(&config, &agents).await;
    let healthy = doctor::report(&findings, std::io::stdout().lock())?;
    Ok(if healthy {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Ctrl+C or SIGTERM begins an orderly end; a second one ends at once.
async fn stop_on_signal(shutdown: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return;
    };
    for code in [None, Some(130)] {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        match code {
            None => shutdown.cancel(),
            Some(code) => std::process::exit(code),
        }
    }
}
