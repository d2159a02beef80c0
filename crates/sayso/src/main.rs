use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use sayso::access::Secret;
use sayso::agents::{Agents, DEMO};
use sayso::cli::{Cli, Command, PasswordArguments, PasswordCommand, PolicyCommand, ServeArguments};
use sayso::config::{Config, OnShutdown};
use sayso::server::Server;
use sayso::{
    access, audit, doctor, greeting, listen, logging, private, remote, rules, service, terminal,
};
use tokio_util::sync::CancellationToken;

/// A request makes and drops some hundred small pieces, many of them on another thread than the one that made them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    // As the server starts it. There is one for each agent, so it does not get to hold all that understands every
    // other command line.
    if let [command, folder] = arguments.as_slice()
        && command == "runner"
        && Path::new(folder).is_absolute()
    {
        return hold_agent(Path::new(folder));
    }
    let cli = Cli::parse();
    if let Some(Command::Runner { folder }) = &cli.command {
        return hold_agent(folder);
    }
    // One thread: what a request goes through hands on little work many times, and waking another thread for a part of
    // it takes longer than the part. What takes long has threads of its own.
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
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
        Command::Terminal(command) => return runtime.block_on(terminal::run(&command)),
        Command::Service(arguments) => service::run(&arguments),
        Command::Password(arguments) => runtime.block_on(password(&arguments)),
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
fn hold_agent(folder: &Path) -> ExitCode {
    match sayso_runner::run(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.into()),
    }
}

/// Fails when a line could not be read: a policy's test must not pass by a slip of the pen.
fn check_policy() -> anyhow::Result<ExitCode> {
    let unreadable = rules::check_lines(std::io::stdin().lock(), std::io::stdout().lock())?;
    match unreadable {
        0 => Ok(ExitCode::SUCCESS),
        1 => anyhow::bail!("1 line could not be read."),
        number => anyhow::bail!("{number} lines could not be read."),
    }
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
        config.data_dir = config.demo_folder();
    }
    for exposed in private::close(&config.data_dir)? {
        tracing::warn!("{}", exposed.told());
    }
    if agent == Agent::Demo {
        let playground = config.data_dir.join("playground");
        std::fs::create_dir_all(&playground)
            .with_context(|| format!("The folder {} cannot be made", playground.display()))?;
        config.default_folder = Some(playground);
    }
    let secret = match &config.token {
        Some(token) => Secret::new(token.expose())?,
        None => Secret::kept_in(&config.data_dir)?,
    };
    warn_of_visible_token(arguments, &config);
    listen::check_reach(&config).await?;
    let listener = listen::bind(config.listen).with_context(|| {
        format!(
            "Cannot listen on {}. Is Sayso running already? Choose another address with --listen",
            config.listen
        )
    })?;
    let own_program = std::env::current_exe().context("The path of this program is not known.")?;
    let token_file = config
        .token
        .is_none()
        .then(|| Secret::file(&config.data_dir));
    let server = Server::open(config, secret, listener, own_program).await?;
    let shutdown = CancellationToken::new();
    // Before anybody is told that it is up, and could end it.
    stop_on_signal(shutdown.clone())?;
    let url = server.link()?;
    let hint = match agent {
        Agent::Configured => "Your agents ask there before they act.",
        Agent::Demo => "Start a session there: the demo agent needs no key and asks you things.",
    };
    if let Err(error) = greeting::print(&url, server.fingerprint(), hint) {
        // Nobody reads the terminal; the server is up all the same.
        tracing::warn!(%error, "the address could not be printed");
    }
    if arguments.print_compat
        && let Err(error) = greeting::print_compat(&server.url(), token_file.as_deref())
    {
        tracing::warn!(%error, "the sockets could not be printed");
    }
    server.run(shutdown).await?;
    Ok(ExitCode::SUCCESS)
}

async fn password(arguments: &PasswordArguments) -> anyhow::Result<ExitCode> {
    let server = &arguments.server;
    let config = Config::load(server.config.as_deref(), &server.overrides())?;
    match arguments.command {
        PasswordCommand::Remove => {
            let removed = access::remove_password(&config).await?;
            let text = if removed {
                "The password is removed."
            } else {
                "There was no password."
            };
            writeln!(std::io::stdout(), "{text}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The token is chosen by the operator; where it stands is, too.
fn warn_of_visible_token(arguments: &ServeArguments, config: &Config) {
    let is_flag = |argument: OsString| argument.as_encoded_bytes().starts_with(b"--token");
    if std::env::args_os().any(is_flag) {
        tracing::warn!(
            "Other users of this machine can see the token in the list of processes, because it is on the \
             command line. Use the variable SAYSO_TOKEN, or leave it out: then Sayso makes one and keeps it."
        );
    }
    let file = Config::file(arguments.config.as_deref());
    if arguments.token.is_none()
        && config.token.is_some()
        && let Some(file) = file.filter(|file| private::is_open(file))
    {
        tracing::warn!(
            "Other users of this machine can read the token in {}. Close the file with `chmod 600`.",
            file.display()
        );
    }
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
fn stop_on_signal(shutdown: CancellationToken) -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
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
    });
    Ok(())
}
