//! `sayso show`, `sayso allow` and `sayso deny`.

use std::io::{Read, Write};
use std::path::Path;

use jiff::Timestamp;
use sayso_protocol::{Allow, Decision, Deny};
use serde_json::json;

use super::arguments::{AllowArguments, DenyArguments, ShowArguments};
use super::console::Console;
use super::desk::{Desk, User, Waiting};
use super::line::{Line, Style};
use super::request::{Kind, Request};
use super::trouble::{Exit, Trouble};
use super::{file_now, page, subject, visible, words};

pub(super) async fn show(arguments: &ShowArguments) -> Result<(), Trouble> {
    let console = Console::new(arguments.json);
    let mut desk = Desk::open(&arguments.server, console.user)?;
    let (request, waiting) = desk.find(&arguments.id).await?;
    if arguments.json {
        writeln!(std::io::stdout(), "{}", waiting.json(&request)?)?;
        return Ok(());
    }
    let mut lines = whole(&mut desk, &request, &waiting).await;
    lines.push(Line::default());
    lines.push(next_steps(&request, &waiting.short_id(&request)));
    console.print(&lines)?;
    Ok(())
}

async fn whole(desk: &mut Desk, request: &Request, waiting: &Waiting) -> Vec<Line> {
    let session = waiting.sessions.get(&request.session);
    let short = waiting.short_id(request);
    let mut lines = page::lines(request, &short, session, Timestamp::now());
    if request.kind == Kind::Tool
        && let Some(baseline) = desk.baseline(request.id).await
    {
        lines.extend(file_now::line(request, &baseline));
    }
    lines
}

fn next_steps(request: &Request, short: &str) -> Line {
    let deny = format!("sayso deny {short} [--reason TEXT]");
    let text = match request.kind {
        Kind::Tool | Kind::Plan if !request.detail.input_faithful => deny,
        Kind::Tool => format!("sayso allow {short}   {deny}"),
        Kind::Plan => format!("sayso allow {short} [--mode MODE]   {deny}"),
        Kind::Questions | Kind::Form => format!("sayso answer {short}   sayso deny {short}"),
        Kind::Other => deny,
    };
    Line::own(Style::Faint, text)
}

pub(super) async fn allow(arguments: &AllowArguments) -> Result<(), Trouble> {
    let console = Console::new(arguments.json);
    let mut desk = Desk::open(&arguments.server, console.user)?;
    let (request, waiting) = desk.find(&arguments.id).await?;
    let short = waiting.short_id(&request);
    check_allowable(&request, &short, arguments.mode.as_deref())?;
    if let Some(digest) = &arguments.digest
        && *digest != request.digest
    {
        let message = format!("{short} is not what --digest names. Nothing was decided.");
        return Err(Trouble::new(Exit::Changed, "digest_mismatch", message)
            .hint(format!("Look at it again: sayso show {short}")));
    }
    if console.user == User::Human {
        console.print(&whole(&mut desk, &request, &waiting).await)?;
    }
    if !arguments.yes && arguments.digest.is_none() {
        confirm(&console, &request, &short)?;
    }
    let decision = Decision::Allow(Allow {
        permission_mode: arguments.mode.clone(),
        ..Allow::default()
    });
    // What was shown, and not what may stand there by now.
    match desk.decide(request.id, &request.digest, &decision).await {
        Err(trouble) if trouble.is("proof_required") => {
            prove(
                &mut desk,
                &console,
                arguments.password_file.as_deref(),
                trouble,
            )
            .await?;
            desk.decide(request.id, &request.digest, &decision).await?;
        }
        other => other?,
    }
    report(arguments.json, &request, &waiting, "allowed", "Allowed")
}

fn check_allowable(request: &Request, short: &str, mode: Option<&str>) -> Result<(), Trouble> {
    let unfit = |message: String| Err(Trouble::unfit(message));
    match request.kind {
        Kind::Questions | Kind::Form => {
            unfit(format!("{short} wants an answer: sayso answer {short}"))
        }
        Kind::Other => unfit(format!(
            "{short} is a request that this version does not know. It can be denied: sayso deny {short}"
        )),
        Kind::Tool | Kind::Plan if !request.detail.input_faithful => unfit(format!(
            "The input of {short} holds characters that cannot be shown. It can be denied here, or changed in the web app."
        )),
        Kind::Tool if mode.is_some() => unfit("--mode is for plans only.".to_owned()),
        Kind::Tool | Kind::Plan => Ok(()),
    }
}

/// A yes is meant: by a key for what is harmless, by a word for what is not, by a flag where nobody
/// can be asked.
fn confirm(console: &Console, request: &Request, short: &str) -> Result<(), Trouble> {
    let trouble = |message: String| Trouble::new(Exit::NotConfirmed, "not_confirmed", message);
    match (console.user, request.is_risky()) {
        (User::Script, false) => Ok(()),
        (User::Script, true) => {
            let reasons: Vec<String> = page::warnings(request)
                .into_iter()
                .map(|(_, (own, words))| format!("{own}{words}"))
                .collect();
            Err(trouble(format!(
                "{short} is risky ({}). Nothing was decided.",
                reasons.join("; ")
            ))
            .hint(
                "Look at it with `sayso show --json`, then allow it with --digest, or with --yes.",
            ))
        }
        (User::Human, is_risky) => {
            let (question, word) = if is_risky {
                ("\nType allow to allow it: ", "allow")
            } else {
                ("\nAllow it? [y/N] ", "y")
            };
            let said = console.ask(question)?.unwrap_or_default().to_lowercase();
            if said == word || (!is_risky && said == "yes") {
                return Ok(());
            }
            Err(trouble(format!(
                "Nothing was decided; {short} is still open."
            )))
        }
    }
}

async fn prove(
    desk: &mut Desk,
    console: &Console,
    file: Option<&Path>,
    trouble: Trouble,
) -> Result<(), Trouble> {
    let password = match file {
        Some(file) => Some(read_password(file)?),
        None if console.user == User::Human => {
            console.ask_secret("It is risky, so Sayso asks for your password: ")?
        }
        None => None,
    };
    let Some(password) = password else {
        return Err(
            trouble.hint("Name a file that holds it with --password-file, or use a terminal.")
        );
    };
    desk.prove(&password).await
}

fn read_password(file: &Path) -> Result<String, Trouble> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    let cannot = |error| {
        let message = format!("{} cannot be read: {error}", file.display());
        Trouble::new(Exit::Failed, "failed", message)
    };
    Ok(text
        .map_err(cannot)?
        .trim_end_matches(['\r', '\n'])
        .to_owned())
}

pub(super) async fn deny(arguments: &DenyArguments) -> Result<(), Trouble> {
    let console = Console::new(arguments.json);
    let mut desk = Desk::open(&arguments.server, console.user)?;
    let (request, waiting) = desk.find(&arguments.id).await?;
    let decision = Decision::Deny(Deny {
        message: arguments.reason.clone(),
        interrupt: arguments.stop,
    });
    desk.decide(request.id, &request.digest, &decision).await?;
    let done = match (request.kind, arguments.stop) {
        (_, true) => "Denied, and the agent's turn ends",
        (Kind::Questions, false) => "Skipped",
        (Kind::Form, false) => "Declined",
        (Kind::Tool | Kind::Plan | Kind::Other, false) => "Denied",
    };
    report(arguments.json, &request, &waiting, "denied", done)
}

/// What was done, in one line.
pub(super) fn report(
    json: bool,
    request: &Request,
    waiting: &Waiting,
    outcome: &str,
    done: &str,
) -> Result<(), Trouble> {
    let mut output = std::io::stdout().lock();
    let short = waiting.short_id(request);
    if json {
        let result = json!({
            "outcome": outcome, "request_id": request.id, "short_id": short,
            "session_id": request.session, "tool_name": request.tool_name,
            "input_digest": request.digest,
        });
        writeln!(output, "{}", visible::json(&result.to_string()))?;
    } else {
        let what = visible::plain(&subject::summary(request));
        let label = words::label(request);
        writeln!(output, "{done}: {short}  {label}  {what}")?;
    }
    Ok(())
}
