//! From what is known to the rows of the screen.

use super::super::find::short_ids;
use super::super::line::{Line, Style, width_of};
use super::super::pending::what;
use super::super::request::Request;
use super::super::{page, words};
use super::state::{Link, Now, Open, State, View};

/// Below this, a request takes two rows.
const NARROW: usize = 60;

/// Fits a phone.
const HELP: [&str; 13] = [
    "↑↓ j k   move or scroll",
    "Enter    open it, answer it",
    "a        open it; read it; allow it",
    "d        deny it, with a reason",
    "s        deny it and stop the agent",
    "h        stop its clock, or let it run",
    "+        five minutes more",
    "Space b  a page down, a page up",
    "g G      to the beginning, to the end",
    "Esc      back",
    "Ctrl+L   draw the screen anew",
    "q Ctrl+C leave; requests stay open",
    "?        this help",
];

/// Exactly as many rows as the screen has. Notes how much of an open request was shown.
pub(super) fn rows(state: &mut State, now: Now) -> Vec<Line> {
    let (width, height) = (state.columns.max(1), state.rows.max(1));
    let foot = foot(state, now, width);
    let body_height = height.saturating_sub(foot.len() + 1);
    let mut rows = vec![header(state, width)];
    let body = match state.view {
        View::List => list(state, now, width, body_height),
        View::Help => HELP.map(|line| Line::own(Style::Plain, line)).to_vec(),
        View::Open(open) => open_request(state, now, open, width, body_height),
    };
    rows.extend(body.into_iter().take(body_height));
    rows.resize(body_height + 1, Line::default());
    rows.extend(foot);
    // A screen of a few rows keeps its end, where something may be typed.
    let too_many = rows.len().saturating_sub(height);
    rows.drain(..too_many);
    rows.iter().map(|row| row.cut(width)).collect()
}

fn header(state: &State, width: usize) -> Line {
    let count = state.requests.len();
    let waiting = match count {
        0 => "nothing waits".to_owned(),
        1 => "1 waits".to_owned(),
        _ => format!("{count} wait"),
    };
    let left = Line::own(Style::Strong, "Sayso  ").and(Style::Plain, waiting);
    let (style, right) = match state.link {
        Link::Connected => (Style::Faint, state.address.clone()),
        Link::Lost => (Style::Careful, "connecting…".to_owned()),
    };
    let gap = width.saturating_sub(left.width() + width_of(&right)).max(2);
    left.and(Style::Plain, " ".repeat(gap)).and(style, right)
}

fn list(state: &State, now: Now, width: usize, height: usize) -> Vec<Line> {
    if state.requests.is_empty() {
        let text = match state.link {
            Link::Connected => "Nothing waits for you. New requests appear here.",
            Link::Lost => "Waiting for the server…",
        };
        let line = Line::own(Style::Faint, text);
        return std::iter::once(Line::default())
            .chain(line.wrapped(width))
            .collect();
    }
    let all: Vec<_> = state.requests.iter().map(|request| request.id).collect();
    let ids = short_ids(&all);
    let each: usize = if width < NARROW { 2 } else { 1 };
    let fit = (height / each).max(1);
    let chosen = all
        .iter()
        .position(|id| Some(*id) == state.chosen)
        .unwrap_or(0);
    let top = (chosen + 1).saturating_sub(fit);
    let shown = state
        .requests
        .iter()
        .zip(&ids)
        .enumerate()
        .skip(top)
        .take(fit);
    let mut rows = Vec::new();
    for (index, (request, id)) in shown {
        let is_chosen = index == chosen;
        for (place, row) in entry(state, request, id, now, width)
            .into_iter()
            .enumerate()
        {
            let mark = if is_chosen && place == 0 { "▸" } else { " " };
            let row = Line::own(Style::Strong, mark).followed_by(row).cut(width);
            rows.push(if is_chosen { row.chosen(width) } else { row });
        }
    }
    rows
}

fn entry(state: &State, request: &Request, id: &str, now: Now, width: usize) -> Vec<Line> {
    let session = state.sessions.get(&request.session);
    let folder = session.map(|session| words::last_part(&session.cwd));
    let left = words::left(request, now.wall);
    let folder = Line::own(Style::Faint, folder.unwrap_or_default()).cut(14);
    let head = Line::own(Style::Plain, format!("{id}  {left:>6}  ")).followed_by(folder.clone());
    if width < NARROW {
        let indent = Line::own(Style::Plain, "  ");
        return vec![head, indent.followed_by(what(request))];
    }
    let gap = " ".repeat(16 - folder.width());
    vec![head.and(Style::Plain, gap).followed_by(what(request))]
}

fn open_request(state: &mut State, now: Now, open: Open, width: usize, height: usize) -> Vec<Line> {
    let Some(request) = state.request(open.request) else {
        return Vec::new();
    };
    let session = state.sessions.get(&request.session);
    let lines = page::lines(request, &state.short(open.request), session, now.wall);
    let file = state.files.get(&open.request).cloned();
    let lines: Vec<Line> = lines.into_iter().chain(file).collect();
    let rows: Vec<Line> = lines.iter().flat_map(|line| line.wrapped(width)).collect();
    // The last row says that there is more.
    let room = if rows.len() > height {
        height.saturating_sub(1)
    } else {
        height
    };
    let last = rows.len().saturating_sub(room);
    let top = if open.at_end {
        last
    } else {
        open.top.min(last)
    };
    let end = (top + room).min(rows.len());
    let seen = if top <= open.seen {
        open.seen.max(end)
    } else {
        open.seen
    };
    state.page_rows = room;
    state.view = View::Open(Open {
        top,
        seen,
        at_end: end == rows.len(),
        all_seen: open.all_seen || (seen >= rows.len() && room > 0),
        ..open
    });
    let count = rows.len();
    let mut shown: Vec<Line> = rows.into_iter().skip(top).take(room).collect();
    if count > height {
        let below = count - end;
        let text = if below > 0 {
            format!("-- {below} more rows below --")
        } else {
            "-- the end --".to_owned()
        };
        shown.push(Line::own(Style::Careful, text));
    }
    shown
}

/// A prompt, or what happened last and which keys there are.
fn foot(state: &State, now: Now, width: usize) -> Vec<Line> {
    let note = state.note_at(now.instant).map(|(style, text)| {
        let rows = Line::default().words(style, text).wrapped(width);
        rows.into_iter().take(2).collect::<Vec<_>>()
    });
    let mut foot = note.unwrap_or_default();
    if let Some(prompt) = &state.prompt {
        let question = prompt.question(&state.short(prompt.request));
        foot.extend(
            Line::own(Style::Careful, question)
                .wrapped(width)
                .into_iter()
                .take(4),
        );
        foot.push(prompt.field(width));
        return foot;
    }
    let is_narrow = width < NARROW;
    let keys = match (state.view, is_narrow) {
        (View::List, false) => {
            "↑↓ move  Enter open  a allow  d deny  s stop  h hold  ? help  q quit"
        }
        (View::List, true) => "Enter open a allow d deny ? help q quit",
        (View::Open(_), false) => {
            "↑↓ scroll  a allow/answer  d deny  s stop  h hold  + 5 min  Esc back"
        }
        (View::Open(_), true) => "a allow  d deny  s stop  Esc back",
        (View::Help, _) => "any key goes back",
    };
    foot.push(Line::own(Style::Faint, keys));
    foot
}
