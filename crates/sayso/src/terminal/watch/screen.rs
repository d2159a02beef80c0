//! The terminal as long as the list has it, and given back as it was, whatever happens.

use std::io::{self, Stdout, Write, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap,
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};

use super::super::line::{Colours, Line};
use crate::colours;

/// Whether there is something to give back; a panic asks from anywhere.
static TAKEN: AtomicBool = AtomicBool::new(false);

pub(super) struct Screen {
    output: Stdout,
    /// What stands there, so that only what changed is written: the way to a phone may be slow.
    shown: Vec<String>,
    colours: Colours,
}

impl Screen {
    pub(super) fn take() -> io::Result<Self> {
        give_back_on_panic();
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let mut screen = Self {
            output: stdout(),
            shown: Vec::new(),
            colours: if colours::wanted_on(&stdout()) {
                Colours::On
            } else {
                Colours::Off
            },
        };
        execute!(
            screen.output,
            EnterAlternateScreen,
            DisableLineWrap,
            EnableBracketedPaste,
            EnableFocusChange,
            Hide,
            Clear(ClearType::All)
        )?;
        Ok(screen)
    }

    pub(super) fn size(&self) -> io::Result<(usize, usize)> {
        let (columns, rows) = size()?;
        Ok((usize::from(columns), usize::from(rows)))
    }

    pub(super) fn draw(&mut self, rows: &[Line]) -> io::Result<()> {
        let painted = rows.iter().map(|row| row.painted(self.colours));
        let painted: Vec<String> = painted.collect();
        if painted == self.shown {
            return Ok(());
        }
        queue!(self.output, BeginSynchronizedUpdate)?;
        for (index, row) in painted.iter().enumerate() {
            if self.shown.get(index) == Some(row) {
                continue;
            }
            let line = u16::try_from(index).unwrap_or(u16::MAX);
            queue!(self.output, MoveTo(0, line), Clear(ClearType::CurrentLine))?;
            self.output.write_all(row.as_bytes())?;
        }
        queue!(self.output, EndSynchronizedUpdate)?;
        self.shown = painted;
        self.output.flush()
    }

    /// The next drawing is of everything.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.shown.clear();
        execute!(self.output, Clear(ClearType::All))
    }

    pub(super) fn ring(&mut self) -> io::Result<()> {
        self.output.write_all(b"\x07")?;
        self.output.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// A terminal that is gone needs nothing back.
fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(
        stdout(),
        Show,
        DisableFocusChange,
        DisableBracketedPaste,
        EnableLineWrap,
        LeaveAlternateScreen
    );
    let _ = disable_raw_mode();
}

/// Before the panic's words are written, which could not be read otherwise.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |information| {
            give_back();
            before(information);
        }));
    });
}
