//! Heredocs: the lines after the command that names the delimiter.

use super::super::command::{Redirect, RedirectKind, Word};
use super::{MAX_HEREDOC_DEPTH, Mode, Reader, read_in};

#[derive(Debug)]
pub(super) struct Pending {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    /// Which command it belongs to: the next one to be found when it was named.
    command: usize,
}

impl Reader<'_, '_> {
    pub(super) fn expect_heredoc(&mut self, delimiter: Word, strip_tabs: bool) {
        let command = self.held.len();
        self.heredocs.push(Pending {
            delimiter: delimiter.text,
            quoted: delimiter.quoted,
            strip_tabs,
            command,
        });
    }

    pub(super) fn read_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.heredocs) {
            let body = self.take_body(&pending);
            let mut nested = Vec::new();
            if !pending.quoted {
                nested = self.read_body(body);
            }
            let target = Word {
                text: body.to_owned(),
                literal: pending.quoted,
                quoted: pending.quoted,
            };
            if let Some(command) = self.held.get_mut(pending.command) {
                let kind = RedirectKind::HereText;
                command.redirects.push(Redirect { kind, target });
            }
            self.held.extend(nested);
        }
        self.release();
    }

    /// The commands substituted into a body.
    fn read_body(&mut self, body: &str) -> Vec<super::Command> {
        if self.heredoc_depth >= MAX_HEREDOC_DEPTH {
            self.complete = false;
            return Vec::new();
        }
        let mut commands = Vec::new();
        let mut found = |command: &super::Command| commands.push(command.clone());
        self.complete &= read_in(body, Mode::Heredoc, self.heredoc_depth + 1, &mut found);
        // The body itself is read as the word of a command without a name.
        commands.pop();
        commands
    }
}

impl<'a> Reader<'a, '_> {
    fn take_body(&mut self, pending: &Pending) -> &'a str {
        let text: &'a str = self.text;
        let start = self.at;
        while self.at < text.len() {
            let rest = text.get(self.at..).unwrap_or_default();
            let line = rest.split('\n').next().unwrap_or_default();
            let line_start = self.at;
            self.at = text.len().min(self.at + line.len() + 1);
            let compared = if pending.strip_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if compared == pending.delimiter {
                return text.get(start..line_start).unwrap_or_default();
            }
        }
        self.complete = false;
        text.get(start..).unwrap_or_default()
    }
}
