//! `sayso doctor`: what is there, what is missing, how to mend it.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use sayso_claude::{AgentEvent, LaunchOptions};
use tokio::net::TcpListener;

use crate::agents::{self, Agents};
use crate::config::Config;
use crate::listen::{self, OwnServer};
use crate::private;

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub state: State,
    pub what: &'static str,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Good,
    /// Good, and Sayso is at work.
    Running,
    /// Works, but less than it could.
    Limited,
    /// Must be mended before Sayso can start.
    Broken,
}

/// Looks at everything that a first start needs.
pub async fn examine(config: &Config, agents: &Agents) -> Vec<Finding> {
    let mut findings = vec![data_folder(&config.data_dir), address(config).await];
    findings.extend(claude(agents).await);
    findings.push(notifications(config));
    findings
}

/// Writes the report. True when nothing is broken.
pub fn report(findings: &[Finding], mut out: impl Write) -> io::Result<bool> {
    for finding in findings {
        let mark = match finding.state {
            State::Good | State::Running => "ok     ",
            State::Limited => "limited",
            State::Broken => "BROKEN ",
        };
        writeln!(out, "{mark}  {}: {}", finding.what, finding.text)?;
    }
    let any = |state: State| findings.iter().any(|finding| finding.state == state);
    let broken = any(State::Broken);
    let summary = if broken {
        "Mend what is marked BROKEN, then run `sayso doctor` again."
    } else if any(State::Running) {
        "Sayso is running: `sayso pair` prints a link that opens it."
    } else {
        "Sayso can start: run `sayso`, or `sayso demo` to try it without a key."
    };
    writeln!(out, "\n{summary}")?;
    Ok(!broken)
}

fn finding(state: State, what: &'static str, text: impl Into<String>) -> Finding {
    Finding {
        state,
        what,
        text: text.into(),
    }
}

fn data_folder(folder: &Path) -> Finding {
    let what = "Data folder";
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let tried = private::make(folder).and_then(|()| std::fs::write(&probe, b""));
    match tried {
        Ok(()) => {
            let _ = std::fs::remove_file(&probe);
            privacy(folder)
        }
        Err(error) => finding(
            State::Broken,
            what,
            format!(
                "{} cannot be written ({error}). Name another with --data-dir.",
                folder.display()
            ),
        ),
    }
}

fn privacy(folder: &Path) -> Finding {
    let what = "Data folder";
    match private::look(folder).as_deref() {
        Ok([]) => finding(
            State::Good,
            what,
            format!("{} can be written, by you alone.", folder.display()),
        ),
        Ok([first, ..]) => finding(
            State::Limited,
            what,
            format!(
                "other users of this machine can look at {}. Sayso closes it when it starts.",
                first.path.display()
            ),
        ),
        Err(error) => finding(State::Broken, what, error.to_string()),
    }
}

async fn address(config: &Config) -> Finding {
    let what = "Address";
    let listen = config.listen;
    match TcpListener::bind(listen).await {
        Ok(_) => finding(State::Good, what, format!("{listen} is free.")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if is_sayso(config).await {
                finding(
                    State::Running,
                    what,
                    format!("Sayso is running on {listen}."),
                )
            } else {
                finding(
                    State::Broken,
                    what,
                    format!("{listen} is used by another program. Choose another with --listen."),
                )
            }
        }
        Err(error) => finding(
            State::Broken,
            what,
            format!("Cannot listen on {listen} ({error}). Choose another with --listen."),
        ),
    }
}

async fn is_sayso(config: &Config) -> bool {
    let Ok(server) = OwnServer::new(config, Duration::from_secs(3)) else {
        return false;
    };
    let answer = server.send(server.request(Method::GET, "/healthz")).await;
    answer.is_ok_and(|(_, body)| body["status"] == "ok")
}

async fn claude(agents: &Agents) -> Vec<Finding> {
    let what = "Claude Code";
    let Some(path) = agents.claude_path() else {
        let problem = agents.info(agents::CLAUDE).and_then(|info| info.problem);
        return vec![finding(State::Limited, what, problem.unwrap_or_default())];
    };
    let version = match agents::version_of(path).await {
        Some(version) => finding(
            State::Good,
            what,
            format!("version {version} at {}.", path.display()),
        ),
        None => finding(
            State::Limited,
            what,
            format!(
                "{} does not say its version; is it Claude Code?",
                path.display()
            ),
        ),
    };
    vec![version, login(path).await]
}

/// Asks the agent itself whether it is logged in; no credential is looked at.
async fn login(path: &Path) -> Finding {
    let what = "Login";
    let unknown = |text: String| finding(State::Limited, what, text);
    let (events, mut received) = tokio::sync::mpsc::channel(64);
    // In a folder that nobody else can put settings into, and without those of any folder.
    let options = LaunchOptions {
        restricted: true,
        ..LaunchOptions::new(path, "/")
    };
    let handle = match sayso_claude::spawn(&options, events) {
        Ok(handle) => handle,
        Err(error) => return unknown(error.to_string()),
    };
    let wait = async {
        loop {
            match received.recv().await {
                Some(AgentEvent::Initialized(initialized)) => {
                    break match initialized.account_key_source {
                        Some(source) => finding(State::Good, what, format!("by {source}.")),
                        None => finding(
                            State::Limited,
                            what,
                            "not logged in. Run `claude` once and log in, or set ANTHROPIC_API_KEY.",
                        ),
                    };
                }
                Some(AgentEvent::Exited(exited)) => {
                    let fault = exited.error.map(|fault| fault.to_string());
                    break unknown(fault.unwrap_or_else(|| "the agent ended at once.".to_owned()));
                }
                Some(_) => {}
                None => break unknown("the agent ended at once.".to_owned()),
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), wait).await;
    handle.kill();
    found.unwrap_or_else(|_| unknown("the agent did not answer within 30 seconds.".to_owned()))
}

fn notifications(config: &Config) -> Finding {
    let what = "Browser notifications";
    let encrypted = config.tls.is_some() || config.tls_cert.is_some() || config.behind_proxy;
    if encrypted || listen::is_local(config.listen.ip()) {
        finding(State::Good, what, "browsers allow them on this address.")
    } else {
        finding(
            State::Limited,
            what,
            "browsers allow them on localhost and over HTTPS only; add --tls or --behind-proxy.",
        )
    }
}
