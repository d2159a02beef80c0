//! Keys, as far as the list knows them.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Letter(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl+C.
    Interrupt,
    /// Ctrl+U: empties what was typed.
    Clear,
    /// Ctrl+L: the screen is disturbed.
    Repaint,
}

pub(super) fn read(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let known = match key.code {
        KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::CONTROL) => match letter {
            'c' => Key::Interrupt,
            'u' => Key::Clear,
            'l' => Key::Repaint,
            'd' | 'f' => Key::PageDown,
            'b' => Key::PageUp,
            'h' => Key::Backspace,
            _ => return None,
        },
        // A letter with Alt is not that letter.
        KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    };
    Some(known)
}
