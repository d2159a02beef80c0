//! The pattern of a `Read(…)` or `Edit(…)` rule: gitignore syntax with an
//! anchor in front.

use super::RuleError;
use crate::decision::Decision;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    pub(crate) base: PathBase,
    /// Without the anchor; begins with `/` when it holds only right there.
    pattern: String,
    /// Written with `./` in front.
    from_dot: bool,
}

/// Where a pattern starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PathBase {
    /// `//…`
    Root,
    /// `~/…`
    Home,
    /// `/…`: what the rule's own place says.
    Source,
    /// Anything else: the folder the agent works in.
    WorkingFolder,
}

impl PathPattern {
    pub(crate) fn parse(specifier: &str) -> Result<Self, RuleError> {
        let (base, pattern, from_dot) = if let Some(rest) = specifier.strip_prefix("//") {
            (PathBase::Root, format!("/{rest}"), false)
        } else if let Some(rest) = specifier.strip_prefix("~/") {
            (PathBase::Home, format!("/{rest}"), false)
        } else if specifier.starts_with('/') {
            (PathBase::Source, specifier.to_owned(), false)
        } else if let Some(rest) = specifier.strip_prefix("./") {
            (PathBase::WorkingFolder, rest.to_owned(), true)
        } else {
            (PathBase::WorkingFolder, specifier.to_owned(), false)
        };
        match pattern.chars().next() {
            None => return Err(RuleError::Glob("it is empty".to_owned())),
            Some('!') => return Err(RuleError::Negation),
            Some('#') => return Err(RuleError::Comment),
            Some('~') => return Err(RuleError::Glob("only `~/` is a home".to_owned())),
            Some(_) => {}
        }
        if pattern.trim_matches('/').is_empty() {
            return Err(RuleError::Glob("it names no file".to_owned()));
        }
        if pattern.split('/').any(|component| component == "..") {
            return Err(RuleError::ParentFolder);
        }
        let pattern = Self {
            base,
            pattern: literal_braces(&pattern),
            from_dot,
        };
        pattern.check()?;
        Ok(pattern)
    }

    fn check(&self) -> Result<(), RuleError> {
        let mut builder = ignore::gitignore::GitignoreBuilder::new("");
        for line in self.lines(Decision::Allow) {
            let added = builder.add_line(None, &line);
            added.map_err(|error| RuleError::Glob(error.to_string()))?;
        }
        let globs = builder.build();
        let globs = globs.map_err(|error| RuleError::Glob(error.to_string()))?;
        if globs.num_ignores() == 0 {
            return Err(RuleError::Glob("it matches nothing".to_owned()));
        }
        Ok(())
    }

    /// As lines of a gitignore file that lies in the base. What allows is read
    /// narrowly, what denies or asks broadly.
    pub(crate) fn lines(&self, effect: Decision) -> Vec<String> {
        if effect == Decision::Allow {
            return vec![self.narrow()];
        }
        let broad = match self.pattern.split_once('/') {
            Some((folder, rest)) if !folder.is_empty() => {
                let one_folder = !rest.contains('/');
                if one_folder {
                    format!("**/{}", self.pattern)
                } else {
                    self.pattern.clone()
                }
            }
            _ => self.pattern.clone(),
        };
        let mut lines = Vec::new();
        // `secrets/**` also covers a link that is called `secrets`.
        let folder = broad.strip_suffix("/**").unwrap_or_default();
        if !folder.trim_matches(['/', '*']).is_empty() {
            lines.push(folder.to_owned());
        }
        lines.push(broad);
        lines
    }

    fn narrow(&self) -> String {
        let names_one_folder = self.pattern.ends_with('/');
        if self.pattern.starts_with('/') || !(self.from_dot || names_one_folder) {
            self.pattern.clone()
        } else {
            format!("/{}", self.pattern)
        }
    }
}

/// Gitignore knows no `{a,b}`; the library does.
fn literal_braces(pattern: &str) -> String {
    let mut literal = String::with_capacity(pattern.len());
    let mut escaped = false;
    for character in pattern.chars() {
        if matches!(character, '{' | '}') && !escaped {
            literal.push('\\');
        }
        escaped = character == '\\' && !escaped;
        literal.push(character);
    }
    literal
}
