//! Why a text is not a rule.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("a rule cannot be empty")]
    Empty,
    #[error("a rule cannot be longer than {most} characters")]
    TooLong { most: usize },
    #[error("the rule has the character U+{:04X}, which does not show", u32::from(*.0))]
    Deceptive(char),
    #[error("a rule is `Tool` or `Tool(what)`, with nothing before or after")]
    Malformed,
    #[error("`{0}` is not the name of a tool; names are case-sensitive")]
    UnknownTool(String),
    #[error("the parentheses are empty; write `{0}` alone to mean every call")]
    EmptySpecifier(String),
    #[error("blanks at the ends are part of the pattern and would never match")]
    Padded,
    #[error("`{0}` has no rules with a path; write `{1}(…)`, which holds for it too")]
    PathOnOtherTool(String, &'static str),
    #[error("`{0}` is what the pattern itself is about; leave the name out")]
    PrimaryParameter(String),
    #[error("`{0}` takes no pattern")]
    NoSpecifier(String),
    #[error("a pattern that begins with `!` would mean everything else")]
    Negation,
    #[error("a pattern that begins with `#` is a comment; write `\\#`")]
    Comment,
    #[error("`..` in a pattern leads out of its folder; name the folder with `//` or `~/`")]
    ParentFolder,
    #[error("the path pattern is not valid: {0}")]
    Glob(String),
    #[error("write `domain:` and a host name, such as `domain:example.com`")]
    NotADomain,
    #[error("`:*` is read as a wildcard only at the end; here it would never match")]
    MisplacedWildcard,
}
