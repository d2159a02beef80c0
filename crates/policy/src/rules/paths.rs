//! Path patterns, compiled together for each place they start from.

use std::collections::{BTreeMap, HashMap};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{RuleId, Source};
use crate::call::ToolCall;
use crate::decision::Decision;
use crate::path::{absolute, resolve};
use crate::rule::{PathBase, PathPattern, PathTool};

type Place = (PathTool, PathBase, Source);

/// What a pattern that matches a folder says about the files in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reach {
    /// It holds for them too.
    Below,
    /// Nothing: `src/*` allows the files in `src`, not those further down.
    Direct,
}

#[derive(Debug, Default)]
pub(crate) struct PathIndex {
    effect: Option<Decision>,
    sets: Vec<PathSet>,
}

#[derive(Debug)]
struct PathSet {
    tool: PathTool,
    base: PathBase,
    source: Source,
    reach: Reach,
    /// All patterns together, or in parts when they are too many for one.
    globs: Vec<Gitignore>,
    ids: HashMap<String, Vec<RuleId>>,
    /// Rules that could not be compiled and must hold for every path.
    everywhere: Vec<RuleId>,
}

impl PathIndex {
    pub(super) fn new(effect: Decision, entries: Vec<(Place, PathPattern, RuleId)>) -> Self {
        let mut places: HashMap<(Place, Reach), BTreeMap<String, Vec<RuleId>>> = HashMap::new();
        for ((tool, base, source), pattern, id) in entries {
            // Only patterns that start from the source differ by it.
            let source = if base == PathBase::Source {
                source
            } else {
                Source::Session
            };
            for line in pattern.lines(effect) {
                let place = ((tool, base, source.clone()), reach(effect, &line));
                let lines = places.entry(place).or_default();
                lines.entry(line).or_default().push(id.clone());
            }
        }
        let sets = places.into_iter();
        let sets = sets.map(|(place, lines)| PathSet::new(effect, place, lines));
        Self {
            effect: Some(effect),
            sets: sets.collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    pub(crate) fn has(&self, tool: PathTool) -> bool {
        self.sets.iter().any(|set| set.tool == tool)
    }

    /// The rules for `tool` that match `path` (absolute, normalised); nothing
    /// when none does.
    pub(crate) fn find(
        &self,
        call: &ToolCall<'_>,
        tool: PathTool,
        path: &str,
    ) -> Option<Vec<RuleId>> {
        let mut found: Option<Vec<RuleId>> = None;
        for set in self.sets.iter().filter(|set| set.tool == tool) {
            let base = set.folder(call);
            let mut bases = vec![base];
            if self.effect != Some(Decision::Allow) {
                // What denies also holds where the folder really is.
                bases.extend(resolve(&bases[0], call.links));
                bases.dedup();
            }
            for base in bases {
                if let Some(ids) = set.find(&base, path) {
                    found.get_or_insert_default().extend(ids.iter().cloned());
                }
            }
        }
        found
    }
}

impl PathSet {
    fn new(
        effect: Decision,
        ((tool, base, source), reach): (Place, Reach),
        lines: BTreeMap<String, Vec<RuleId>>,
    ) -> Self {
        let mut globs = Vec::new();
        let mut failed = Vec::new();
        let texts: Vec<&str> = lines.keys().map(String::as_str).collect();
        compile(effect, &texts, &mut globs, &mut failed);
        let ids_of = |line: &&str| lines.get(*line).cloned().unwrap_or_default();
        let mut everywhere = Vec::new();
        if effect != Decision::Allow {
            everywhere = failed.iter().flat_map(ids_of).collect();
        }
        Self {
            tool,
            base,
            source,
            reach,
            globs,
            ids: lines.into_iter().collect(),
            everywhere,
        }
    }

    fn folder(&self, call: &ToolCall<'_>) -> String {
        let normal = |path: &str| absolute(path, "/", None);
        match (self.base, &self.source) {
            (PathBase::Root, _) => "/".to_owned(),
            (PathBase::Home, _) => normal(call.home),
            (PathBase::WorkingFolder, _) | (PathBase::Source, Source::Session) => normal(call.cwd),
            (PathBase::Source, Source::Project) => normal(call.project_root),
            (PathBase::Source, Source::User) => normal(&format!("{}/.claude", call.home)),
            (PathBase::Source, Source::Folder(folder)) => normal(folder),
        }
    }

    fn find(&self, base: &str, path: &str) -> Option<&[RuleId]> {
        if !self.everywhere.is_empty() {
            return Some(&self.everywhere);
        }
        let relative = path.strip_prefix(base.trim_end_matches('/'))?;
        let relative = relative.strip_prefix('/')?;
        if relative.is_empty() {
            return None;
        }
        self.globs.iter().find_map(|globs| {
            let matched = match self.reach {
                Reach::Below => globs.matched_path_or_any_parents(relative, false),
                Reach::Direct => globs.matched(relative, false),
            };
            let glob = matched.inner().filter(|_| matched.is_ignore())?;
            let ids = self.ids.get(glob.original());
            Some(ids.map(Vec::as_slice).unwrap_or_default())
        })
    }
}

/// What allows is read narrowly: only a folder that is named stands for what
/// is in it.
fn reach(effect: Decision, line: &str) -> Reach {
    let name = line.trim_end_matches('/').rsplit('/').next();
    let has_wildcard = name.is_some_and(|name| name.contains(['*', '?', '[']));
    if effect == Decision::Allow && has_wildcard {
        Reach::Direct
    } else {
        Reach::Below
    }
}

/// One matcher for as many lines as fit into one.
fn compile<'a>(
    effect: Decision,
    lines: &[&'a str],
    globs: &mut Vec<Gitignore>,
    failed: &mut Vec<&'a str>,
) {
    let ignore_case = effect != Decision::Allow;
    match (compile_together(ignore_case, lines), lines) {
        (_, []) => {}
        (Ok(together), _) => globs.push(together),
        (Err(_), [line]) => failed.push(line),
        (Err(_), _) => {
            let (first, second) = lines.split_at(lines.len() / 2);
            compile(effect, first, globs, failed);
            compile(effect, second, globs, failed);
        }
    }
}

fn compile_together(ignore_case: bool, lines: &[&str]) -> Result<Gitignore, ignore::Error> {
    let mut builder = GitignoreBuilder::new("");
    builder.case_insensitive(ignore_case)?;
    for line in lines {
        builder.add_line(None, line)?;
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::{PathSet, Reach};
    use crate::decision::Decision;
    use crate::rule::{PathBase, PathTool};
    use crate::rules::{RuleId, Source};

    fn set(effect: Decision, lines: &[&str]) -> PathSet {
        let ids = |line: &&str| ((*line).to_owned(), vec![RuleId::new(line)]);
        let place = (PathTool::Read, PathBase::Root, Source::Session);
        PathSet::new(
            effect,
            (place, Reach::Below),
            lines.iter().map(ids).collect(),
        )
    }

    #[test]
    fn a_line_that_cannot_be_compiled_does_not_take_the_others_along() {
        let set = set(Decision::Allow, &["[z-a]", "a", "b", "c"]);
        for name in ["a", "b", "c"] {
            let ids = [RuleId::new(name)];
            assert_eq!(set.find("/", &format!("/x/{name}")), Some(&ids[..]));
        }
        assert_eq!(set.find("/", "/x/z"), None);
    }

    #[test]
    fn what_cannot_be_compiled_denies_everything() {
        let set = set(Decision::Deny, &["[z-a]", "a"]);
        let ids = [RuleId::new("[z-a]")];
        assert_eq!(set.find("/", "/x/z"), Some(&ids[..]));
    }
}
