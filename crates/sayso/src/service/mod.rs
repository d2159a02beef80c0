//! `sayso service`: starts the server with the user's login, by systemd or launchd.

mod arguments;
mod file;
mod manager;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use directories::BaseDirs;
use serde_json::json;

pub use arguments::{InstallArguments, ManageArguments, Manager, ServiceArguments, ServiceCommand};
use file::{MARK, Start};
use manager::{Call, Calls};

/// The same numbers as those of the commands that talk to a running server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Done = 0,
    NotRunning = 3,
    NotInstalled = 5,
    NotOurs = 8,
}

/// How a command ended, for people and for scripts.
struct Report {
    exit: Exit,
    manager: Manager,
    installed: bool,
    running: bool,
    file: PathBuf,
    lines: Vec<String>,
}

pub fn run(arguments: &ServiceArguments) -> anyhow::Result<ExitCode> {
    let (manage, report) = match &arguments.command {
        ServiceCommand::Install(install) if install.print => {
            let text = file::text(install.manage.manager(), &start(install)?);
            write!(std::io::stdout(), "{text}")?;
            return Ok(ExitCode::SUCCESS);
        }
        ServiceCommand::Install(install) => (&install.manage, write_and_start(install)?),
        ServiceCommand::Uninstall(manage) => (manage, stop_and_remove(manage)?),
        ServiceCommand::Status(manage) => (manage, status(manage)?),
    };
    let mut output = std::io::stdout().lock();
    if manage.json {
        let manager = match report.manager {
            Manager::Systemd => "systemd",
            Manager::Launchd => "launchd",
        };
        let result = json!({
            "manager": manager, "file": report.file, "installed": report.installed,
            "running": report.running, "message": report.lines.join("\n"),
        });
        writeln!(output, "{result}")?;
    } else {
        for line in &report.lines {
            writeln!(output, "{line}")?;
        }
    }
    Ok(ExitCode::from(report.exit as u8))
}

impl Report {
    fn new(exit: Exit, manager: Manager, file: &std::path::Path, lines: Vec<String>) -> Self {
        Self {
            exit,
            manager,
            installed: true,
            running: exit == Exit::Done,
            file: file.to_owned(),
            lines,
        }
    }
}

fn write_and_start(arguments: &InstallArguments) -> anyhow::Result<Report> {
    let manage = &arguments.manage;
    let manager = manage.manager();
    let path = path_of(manager)?;
    let before = read(&path)?;
    if let Some(refusal) = not_ours(manage, &path, before.as_deref()) {
        return Ok(refusal);
    }
    let text = file::text(manager, &start(arguments)?);
    let folder = path.parent().context("The file stands in no folder")?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("The folder {} cannot be made", folder.display()))?;
    std::fs::write(&path, &text)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    let mut lines = vec![format!("Wrote {}.", path.display())];
    let calls = Calls::of(manager, &path);
    match run_all(&calls.start(before.is_some())) {
        Ok(()) => {
            lines.push("Sayso runs now, and from now on with your login.".to_owned());
            lines.push(
                "`sayso pair` prints a link for a browser, `sayso watch` shows what waits for you."
                    .to_owned(),
            );
            lines.extend(calls.hint());
            Ok(Report::new(Exit::Done, manager, &path, lines))
        }
        Err(problem) => {
            lines.push(format!("It could not be started: {problem}."));
            lines.push("Where your services run, start it with:".to_owned());
            let commands = calls.start(before.is_some()).into_iter();
            lines.extend(commands.map(|call| format!("  {}", call.text())));
            Ok(Report::new(Exit::NotRunning, manager, &path, lines))
        }
    }
}

fn stop_and_remove(manage: &ManageArguments) -> anyhow::Result<Report> {
    let manager = manage.manager();
    let path = path_of(manager)?;
    let before = read(&path)?;
    if before.is_none() {
        return Ok(not_installed(manager, &path));
    }
    if let Some(refusal) = not_ours(manage, &path, before.as_deref()) {
        return Ok(refusal);
    }
    let calls = Calls::of(manager, &path);
    let stopped = run_all(&calls.stop());
    std::fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))?;
    let mut lines = vec![format!("Removed {}.", path.display())];
    match stopped.and_then(|()| run_all(&calls.forget())) {
        Ok(()) => lines.push(
            "Sayso does not start by itself any more. Agents that were at work go on until `unclaimed_timeout`; start Sayso to see them.".to_owned(),
        ),
        Err(problem) => lines.push(format!("If it still runs, end it yourself: it could not be stopped ({problem}).")),
    }
    let mut report = Report::new(Exit::Done, manager, &path, lines);
    (report.installed, report.running) = (false, false);
    Ok(report)
}

fn status(manage: &ManageArguments) -> anyhow::Result<Report> {
    let manager = manage.manager();
    let path = path_of(manager)?;
    if read(&path)?.is_none() {
        return Ok(not_installed(manager, &path));
    }
    let installed = format!("Installed: {}", path.display());
    Ok(match run_all(&Calls::of(manager, &path).look()) {
        Ok(()) => {
            let lines = vec![installed, "It runs.".to_owned()];
            Report::new(Exit::Done, manager, &path, lines)
        }
        Err(problem) => {
            let lines = vec![installed, format!("It does not run: {problem}.")];
            Report::new(Exit::NotRunning, manager, &path, lines)
        }
    })
}

fn not_installed(manager: Manager, path: &std::path::Path) -> Report {
    let lines =
        vec!["Sayso is not installed as a service. `sayso service install` does it.".to_owned()];
    let mut report = Report::new(Exit::NotInstalled, manager, path, lines);
    report.installed = false;
    report
}

/// What somebody else wrote is left alone.
fn not_ours(
    manage: &ManageArguments,
    path: &std::path::Path,
    text: Option<&str>,
) -> Option<Report> {
    if manage.force || text.is_none_or(|text| text.contains(MARK)) {
        return None;
    }
    let lines = vec![format!(
        "{} is there and not of Sayso's making. Nothing was changed. Look at it, then use --force.",
        path.display()
    )];
    Some(Report::new(Exit::NotOurs, manage.manager(), path, lines))
}

fn read(path: &std::path::Path) -> anyhow::Result<Option<String>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

fn path_of(manager: Manager) -> anyhow::Result<PathBuf> {
    let folders = BaseDirs::new().context("Your home folder is not known. Set HOME")?;
    Ok(match manager {
        Manager::Systemd => folders.config_dir().join("systemd/user").join(file::UNIT),
        Manager::Launchd => {
            let agents = folders.home_dir().join("Library/LaunchAgents");
            agents.join(format!("{}.plist", file::LABEL))
        }
    })
}

fn start(arguments: &InstallArguments) -> anyhow::Result<Start> {
    if arguments.serve.token.is_some() {
        bail!(
            "A token in the service's file could be read by others. Leave it out: then Sayso makes one and keeps it. \
             Or write it into sayso.toml, closed with `chmod 600`."
        );
    }
    let program = std::env::current_exe().context("The path of this program is not known")?;
    let folder = std::env::current_dir().context("The current folder is not known")?;
    let mut command: Vec<OsString> = vec![program.into(), "serve".into()];
    command.extend(arguments::flags(&arguments.serve, &folder));
    let command = command.into_iter().map(as_text);
    Ok(Start {
        command: command.collect::<Result<_, _>>()?,
        path: as_text(std::env::var_os("PATH").unwrap_or_default())?,
    })
}

fn as_text(word: OsString) -> anyhow::Result<String> {
    let Ok(word) = word.into_string() else {
        bail!("A path is not UTF-8, and a service's file must be");
    };
    ensure!(
        !word.contains(char::is_control),
        "{word:?} holds characters that a service's file cannot hold"
    );
    Ok(word)
}

fn run_all(calls: &[Call]) -> Result<(), String> {
    calls.iter().try_for_each(Call::run)
}
