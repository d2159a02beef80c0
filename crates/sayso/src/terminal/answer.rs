//! `sayso answer`: questions and forms.

use std::io::Read;

use super::arguments::AnswerArguments;
use super::console::Console;
use super::decide::report;
use super::desk::{Desk, User};
use super::form::Form;
use super::interview::Interview;
use super::page;
use super::request::{Kind, Request};
use super::trouble::{Exit, Trouble};

pub(super) async fn run(arguments: &AnswerArguments) -> Result<(), Trouble> {
    let console = Console::new(arguments.json);
    let mut desk = Desk::open(&arguments.server, console.user)?;
    let (request, waiting) = desk.find(&arguments.id).await?;
    let short = waiting.short_id(&request);
    let form = form_of(&request, &short)?;
    let mut interview = Interview::new(form, request.detail.free_text);
    if is_given(arguments) {
        fill(&mut interview, arguments).map_err(Trouble::unfit)?;
    } else if console.user == User::Human {
        let session = waiting.sessions.get(&request.session);
        console.print(&page::lines(
            &request,
            &short,
            session,
            jiff::Timestamp::now(),
        ))?;
        ask(&console, &mut interview, &short)?;
    } else {
        let message =
            "Nobody can be asked here. Give the answers with --choose, --text or --answers.";
        return Err(Trouble::unfit(message).hint(format!("The questions: sayso show {short}")));
    }
    let decision = interview.decision().map_err(Trouble::unfit)?;
    desk.decide(request.id, &request.digest, &decision).await?;
    report(arguments.json, &request, &waiting, "answered", "Answered")
}

fn form_of(request: &Request, short: &str) -> Result<Form, Trouble> {
    let message = match request.kind {
        Kind::Questions | Kind::Form => match Form::of(request) {
            Some(form) => return Ok(form),
            None => format!(
                "The questions of {short} cannot be read. It can be denied: sayso deny {short}"
            ),
        },
        Kind::Tool | Kind::Plan => {
            format!("{short} wants a yes or a no: sayso allow {short}, or sayso deny {short}")
        }
        Kind::Other => format!("{short} can only be denied: sayso deny {short}"),
    };
    Err(Trouble::unfit(message))
}

fn is_given(arguments: &AnswerArguments) -> bool {
    let lists = [&arguments.choose, &arguments.text, &arguments.note];
    arguments.answers.is_some() || lists.iter().any(|list| !list.is_empty())
}

fn fill(interview: &mut Interview, arguments: &AnswerArguments) -> Result<(), String> {
    match arguments.answers.as_deref() {
        Some("-") => {
            let mut json = String::new();
            let read = std::io::stdin().read_to_string(&mut json);
            read.map_err(|error| format!("Standard input cannot be read: {error}"))?;
            interview.take_all(&json)?;
        }
        Some(json) => interview.take_all(json)?,
        None => {}
    }
    for said in &arguments.choose {
        interview.choose(said)?;
    }
    for said in &arguments.text {
        interview.say(said)?;
    }
    for said in &arguments.note {
        interview.note(said)?;
    }
    Ok(())
}

fn ask(console: &Console, interview: &mut Interview, short: &str) -> Result<(), Trouble> {
    while let Some(prompt) = interview.prompt() {
        let Some(typed) = console.ask(&format!("\n{prompt}\n> "))? else {
            let message = format!("Nothing was answered; {short} is still open.");
            return Err(Trouble::new(Exit::NotConfirmed, "not_confirmed", message));
        };
        if let Err(problem) = interview.take(&typed) {
            console.ask_again(&problem)?;
        }
    }
    Ok(())
}
