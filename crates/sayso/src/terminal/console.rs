//! The terminal in front of a command: whether there is one, how wide it is, and asking at it.

use std::io::{self, BufRead, IsTerminal, Write};

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, read};
use crossterm::terminal;

use super::desk::User;
use super::line::{Colours, Line};
use crate::colours;

/// Wide enough for everything, where nobody looks.
const UNLIMITED: usize = usize::MAX / 2;

pub(super) struct Console {
    pub(super) user: User,
    colours: Colours,
    pub(super) width: usize,
}

impl Console {
    /// With `--json` a program reads, wherever it prints to.
    pub(super) fn new(json: bool) -> Self {
        let is_read = io::stdout().is_terminal();
        let is_human = is_read && io::stdin().is_terminal() && !json;
        let width = terminal::size().map_or(80, |(columns, _)| usize::from(columns));
        Self {
            user: if is_human { User::Human } else { User::Script },
            colours: if colours::wanted_on(&io::stdout()) {
                Colours::On
            } else {
                Colours::Off
            },
            width: if is_read { width.max(20) } else { UNLIMITED },
        }
    }

    /// Every line whole, in as many rows as it takes.
    pub(super) fn print(&self, lines: &[Line]) -> io::Result<()> {
        let mut output = io::stdout().lock();
        for row in lines.iter().flat_map(|line| line.wrapped(self.width)) {
            writeln!(output, "{}", row.painted(self.colours))?;
        }
        output.flush()
    }

    /// A line as it was typed; `None` at the end of the input.
    pub(super) fn ask(&self, question: &str) -> io::Result<Option<String>> {
        let mut output = io::stdout().lock();
        write!(output, "{question}")?;
        output.flush()?;
        let mut typed = String::new();
        let length = io::stdin().lock().read_line(&mut typed)?;
        if length == 0 {
            writeln!(output)?;
        }
        Ok((length > 0).then(|| typed.trim().to_owned()))
    }

    pub(super) fn ask_again(&self, problem: &str) -> io::Result<()> {
        writeln!(io::stdout(), "{}", super::visible::plain(problem))
    }

    /// The same without showing what is typed; `None` when it was broken off.
    pub(super) fn ask_secret(&self, question: &str) -> io::Result<Option<String>> {
        let mut output = io::stdout().lock();
        write!(output, "{question}")?;
        output.flush()?;
        terminal::enable_raw_mode()?;
        let typed = read_secret();
        terminal::disable_raw_mode()?;
        writeln!(output)?;
        typed
    }
}

fn read_secret() -> io::Result<Option<String>> {
    let mut typed = String::new();
    loop {
        let Event::Key(key) = read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Ok(Some(typed)),
            KeyCode::Esc => return Ok(None),
            KeyCode::Char('c' | 'd') if is_control => return Ok(None),
            KeyCode::Char('u') if is_control => typed.clear(),
            KeyCode::Char(letter) if !is_control => typed.push(letter),
            KeyCode::Backspace => {
                typed.pop();
            }
            _ => {}
        }
    }
}
