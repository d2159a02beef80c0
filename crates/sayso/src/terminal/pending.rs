//! `sayso pending`: what waits for a human, one line each.

use std::io::Write;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::arguments::PendingArguments;
use super::console::Console;
use super::desk::{Desk, Waiting};
use super::find::short_ids;
use super::line::{Line, Style, width_of};
use super::request::Request;
use super::session::Sessions;
use super::trouble::{Exit, Trouble};
use super::{subject, words};

/// Looking over REST does not count as somebody being there, as a socket would.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Below this, a request takes two lines.
const NARROW: usize = 60;

pub(super) async fn run(arguments: &PendingArguments) -> Result<(), Trouble> {
    let console = Console::new(arguments.json);
    let mut desk = Desk::open(&arguments.server, console.user)?;
    let started = Instant::now();
    let waiting = loop {
        let waiting = desk.waiting().await?;
        let Some(limit) = arguments.wait.filter(|_| waiting.requests.is_empty()) else {
            break waiting;
        };
        if limit.0.is_some_and(|limit| started.elapsed() >= limit) {
            let message = format!("Nothing came within {limit}.");
            return Err(Trouble::new(Exit::NothingCame, "nothing_came", message));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    };
    if arguments.json {
        let mut output = std::io::stdout().lock();
        for request in &waiting.requests {
            writeln!(output, "{}", waiting.json(request)?)?;
        }
        return Ok(());
    }
    console.print(&table(&waiting, console.width))?;
    Ok(())
}

fn table(waiting: &Waiting, width: usize) -> Vec<Line> {
    if waiting.requests.is_empty() {
        let text = "Nothing waits for you. `sayso pending --wait` waits for the next request, `sayso watch` shows them as they come.";
        return vec![Line::own(Style::Plain, text)];
    }
    let now = Timestamp::now();
    let ids = short_ids(&waiting.ids());
    let mut rows: Vec<[String; 4]> = vec![["ID", "AGE", "LEFT", "FOLDER"].map(str::to_owned)];
    let requests = waiting.requests.iter().zip(&ids);
    rows.extend(requests.map(|(request, id)| {
        [
            id.clone(),
            words::age(request.created_at, now),
            words::left(request, now),
            folder(request, &waiting.sessions),
        ]
    }));
    let columns: [usize; 4] = std::array::from_fn(|column| {
        let widths = rows.iter().map(|row| width_of(&row[column]));
        widths.max().unwrap_or(0).min(16)
    });
    let mut shown = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let request = index.checked_sub(1).map(|index| &waiting.requests[index]);
        let mut line = Line::default();
        for (cell, column) in row.iter().zip(columns) {
            let style = if request.is_none() {
                Style::Faint
            } else {
                Style::Plain
            };
            let cell = Line::own(style, cell.as_str()).cut(column);
            let gap = " ".repeat(column - cell.width() + 2);
            line = line.followed_by(cell).and(style, gap);
        }
        match request {
            None if width < NARROW => shown.push(line),
            None => shown.push(line.and(Style::Faint, "WHAT")),
            Some(request) if width < NARROW => {
                shown.push(line.cut(width));
                let indent = Line::own(Style::Plain, "  ");
                shown.push(indent.followed_by(what(request)).cut(width));
            }
            Some(request) => shown.push(line.followed_by(what(request)).cut(width)),
        }
    }
    shown
}

fn folder(request: &Request, sessions: &Sessions) -> String {
    let session = sessions.get(&request.session);
    session.map_or_else(|| "-".to_owned(), |session| words::last_part(&session.cwd))
}

/// A mark for what is risky, the tool and what it would do.
pub(super) fn what(request: &Request) -> Line {
    let mark = if request.detail.destructive || request.detail.default_to_no {
        Line::own(Style::Danger, "! ")
    } else if request.is_risky() {
        Line::own(Style::Careful, "! ")
    } else {
        Line::default()
    };
    mark.and(Style::Strong, words::label(request))
        .and(Style::Plain, "  ")
        .words(Style::Plain, &subject::summary(request))
}
