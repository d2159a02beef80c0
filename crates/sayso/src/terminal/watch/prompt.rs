//! The line at the bottom where something is typed.

use sayso_protocol::PermissionModeInfo;
use uuid::Uuid;

use super::super::interview::Interview;
use super::super::line::{Line, Style, width_of};
use super::Chosen;

#[derive(Debug)]
pub(super) struct Prompt {
    /// The request that it is about.
    pub(super) request: Uuid,
    pub(super) purpose: Purpose,
    pub(super) typed: String,
}

#[derive(Debug)]
pub(super) enum Purpose {
    /// Why it is denied; `stop` also ends the turn.
    Reason {
        stop: bool,
    },
    /// The word that allows what is risky.
    Confirm,
    Interview(Interview),
    /// Which of these modes follows an approved plan.
    Mode(Vec<PermissionModeInfo>),
    /// Before a decision is sent once more.
    Password(Chosen),
}

impl Prompt {
    pub(super) fn new(request: Uuid, purpose: Purpose) -> Self {
        Self {
            request,
            purpose,
            typed: String::new(),
        }
    }

    /// Pasted text comes in here, too, so nothing in it may act as a key.
    pub(super) fn add(&mut self, text: &str) {
        let visible = text.chars().filter(|letter| !letter.is_control());
        self.typed.extend(visible);
    }

    pub(super) fn question(&self, short: &str) -> String {
        match &self.purpose {
            Purpose::Reason { stop: false } => {
                format!("Deny {short}. Why? (Enter without words is fine, Esc goes back)")
            }
            Purpose::Reason { stop: true } => {
                format!(
                    "Deny {short} and stop the agent. Why? (Enter without words is fine, Esc goes back)"
                )
            }
            Purpose::Confirm => format!("{short} is risky. Type allow to allow it (Esc goes back)"),
            Purpose::Interview(interview) => interview.prompt().unwrap_or_default(),
            Purpose::Mode(modes) => {
                let modes = (1..).zip(modes);
                let modes = modes.map(|(number, mode)| format!("{number} {}", mode.label));
                let modes: Vec<String> = modes.collect();
                format!(
                    "Approve {short}, and then? {} (Enter alone is 1, Esc goes back)",
                    modes.join(", ")
                )
            }
            Purpose::Password(_) => "Sayso asks for your password first (Esc goes back)".to_owned(),
        }
    }

    /// What was typed, its end in view.
    pub(super) fn field(&self, width: usize) -> Line {
        let shown = match &self.purpose {
            Purpose::Password(_) => "*".repeat(self.typed.chars().count()),
            Purpose::Reason { .. }
            | Purpose::Confirm
            | Purpose::Interview(_)
            | Purpose::Mode(_) => self.typed.clone(),
        };
        let mut letters = shown.chars();
        while width_of(letters.as_str()) > width.saturating_sub(3) {
            letters.next();
        }
        Line::own(Style::Strong, "> ")
            .words(Style::Plain, letters.as_str())
            .and(Style::Chosen, " ")
    }
}
