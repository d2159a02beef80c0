//! Command patterns by their text, so that 1,000 rules cost a few lookups.

use super::RuleId;
use crate::rule::{CommandPattern, Shape, Wildcards};
use crate::shell::strict;
use crate::texts::Texts;

#[derive(Debug, Default)]
pub(crate) struct CommandIndex {
    everything: Vec<RuleId>,
    exact: Texts<Vec<RuleId>>,
    prefixes: Texts<Vec<RuleId>>,
    /// No prefix has more blanks than this.
    most_blanks: usize,
    /// By their first word, where that is literal.
    by_program: Texts<Vec<(Wildcards, RuleId)>>,
    wildcards: Vec<(Wildcards, RuleId)>,
    /// The first words of all rules that have a literal one.
    first_words: Texts<()>,
    /// Some rule has a quote in it. Without one, a command written with quotes
    /// matches nothing that it does not match without them.
    pub(crate) has_quotes: bool,
}

/// A rule that matched a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) id: RuleId,
    /// It names this text and no other.
    pub(crate) exact: bool,
}

impl CommandIndex {
    pub(super) fn add(&mut self, pattern: CommandPattern, id: RuleId) {
        match pattern.shape {
            Shape::Everything => self.everything.push(id),
            Shape::Exact(text) => {
                for text in spellings(text) {
                    self.has_quotes |= text.contains('\'');
                    self.first_words.entry(first_word(&text).to_owned());
                    self.exact.entry(text).push(id.clone());
                }
            }
            Shape::Prefix(text) => {
                for text in spellings(text) {
                    self.has_quotes |= text.contains('\'');
                    self.first_words.entry(first_word(&text).to_owned());
                    let blanks = text.matches(' ').count();
                    self.most_blanks = self.most_blanks.max(blanks);
                    self.prefixes.entry(text).push(id.clone());
                }
            }
            Shape::Wildcards(pattern) => {
                self.has_quotes |= pattern.parts().iter().any(|part| part.contains('\''));
                let first = pattern
                    .parts()
                    .first()
                    .and_then(|part| part.split_once(' '));
                match first.map(|(program, _)| program.to_owned()) {
                    Some(program) => {
                        self.first_words.entry(program.clone());
                        self.by_program.entry(program).push((pattern, id));
                    }
                    None => self.wildcards.push((pattern, id)),
                }
            }
        }
    }

    /// False when no text that begins with `word` can match, however the word
    /// is written; cheaper than looking for it.
    pub(crate) fn may_match(&self, word: &str) -> bool {
        let for_any = !(self.everything.is_empty() && self.wildcards.is_empty());
        self.has_quotes || for_any || self.first_words.contains(word)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.everything.is_empty()
            && self.exact.is_empty()
            && self.prefixes.is_empty()
            && self.by_program.is_empty()
            && self.wildcards.is_empty()
    }

    /// Every rule here, for a command that is too long to be read.
    pub(crate) fn all(&self) -> Vec<RuleId> {
        let by_text = self.exact.values().chain(self.prefixes.values()).flatten();
        let by_program = self.by_program.values().flatten();
        let patterns = by_program.chain(&self.wildcards).map(|(_, id)| id);
        let ids = self.everything.iter().chain(by_text).chain(patterns);
        ids.cloned().collect()
    }

    /// Adds the rules that match `text`, one sub-command.
    pub(crate) fn find(&self, text: &str, hits: &mut Vec<Hit>) {
        let mut push = |ids: &[RuleId], exact: bool| {
            let ids = ids.iter().cloned();
            hits.extend(ids.map(|id| Hit { id, exact }));
        };
        push(&self.everything, false);
        if let Some(ids) = self.exact.get(text) {
            push(ids, true);
        }
        if !self.prefixes.is_empty() {
            let blanks = text.match_indices(' ').map(|(at, _)| at);
            let ends = blanks.take(self.most_blanks + 1);
            for end in ends.chain([text.len()]) {
                if let Some(ids) = text.get(..end).and_then(|text| self.prefixes.get(text)) {
                    push(ids, false);
                }
            }
        }
        let of_program = self.by_program.get(first_word(text)).into_iter().flatten();
        for (pattern, id) in of_program.chain(&self.wildcards) {
            if pattern.matches(text) {
                push(std::slice::from_ref(id), false);
            }
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// The text as it is written, and as the words in it would be written here.
fn spellings(text: String) -> Vec<String> {
    let plain = strict::understand(&text).ok();
    let canonical = plain.and_then(|commands| match commands.as_slice() {
        [command] if command.assignments.is_empty() => Some(strict::join(&command.words)),
        _ => None,
    });
    let mut spellings = vec![text];
    spellings.extend(canonical.filter(|canonical| *canonical != spellings[0]));
    spellings
}
