//! How the agent is started: its arguments and its environment, as pure functions.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde_json::{Map, Value};
use thiserror::Error;
use uuid::Uuid;

use crate::mode::PermissionMode;

/// Longer than the longest name that a provider has for a model.
const LONGEST_MODEL: usize = 256;

/// A text that cannot be the name of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "must have 1 to {LONGEST_MODEL} characters, none of them invisible, and must not begin with `-`"
)]
pub struct BadModelName;

/// What Sayso itself is told through its environment begins so; its token is among it.
pub const OWN_PREFIX: &str = "SAYSO_";

/// Says whether a text may be given to the agent as the name of a model.
pub fn check_model(name: &str) -> Result<(), BadModelName> {
    let fits = (1..=LONGEST_MODEL).contains(&name.chars().count());
    if fits && !name.starts_with('-') && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(BadModelName)
}

/// What a session is started with. Nothing in it reaches a shell, and `cwd` is never an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchOptions {
    pub program: PathBuf,
    /// Come before the protocol's own arguments, for a program that needs a subcommand.
    pub leading_arguments: Vec<OsString>,
    pub cwd: PathBuf,
    pub permission_mode: Option<PermissionMode>,
    pub model: Option<String>,
    pub conversation: Conversation,
    /// Lets the session switch to bypassPermissions later; the CLI refuses it otherwise.
    pub allow_bypass: bool,
    /// Leaves out what the folder itself brings: its settings, hooks and servers.
    pub restricted: bool,
    /// Names of further variables that the operator lets the agent see.
    pub passed_variables: PassedVariables,
    /// Set for the agent whatever the host's own environment says.
    pub set_variables: Vec<(OsString, OsString)>,
    /// Given to the agent with `--settings`, over Sayso's own.
    pub settings: Map<String, Value>,
}

/// Which conversation of the agent a session holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conversation {
    #[default]
    New,
    /// A new one under an id the host picked.
    NewWithId(Uuid),
    Resume(Uuid),
    /// A copy of an old one; the old one stays as it is.
    Fork {
        of: Uuid,
        id: Option<Uuid>,
    },
}

/// Names of environment variables beyond the built-in list. Sayso's own are never passed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassedVariables(pub Vec<String>);

impl LaunchOptions {
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            leading_arguments: Vec::new(),
            cwd: cwd.into(),
            permission_mode: None,
            model: None,
            conversation: Conversation::New,
            allow_bypass: false,
            restricted: false,
            passed_variables: PassedVariables::default(),
            set_variables: Vec::new(),
            settings: Map::new(),
        }
    }

    /// Values are joined to their flags with `=`, so that one with a leading dash stays a value.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = self.leading_arguments.clone();
        let mut push = |argument: String| arguments.push(argument.into());
        push("--output-format=stream-json".to_owned());
        push("--input-format=stream-json".to_owned());
        push("--verbose".to_owned());
        push("--permission-prompt-tool=stdio".to_owned());
        push("--include-partial-messages".to_owned());
        push(format!("--settings={}", Value::Object(self.all_settings())));
        if let Some(mode) = &self.permission_mode {
            push(format!("--permission-mode={mode}"));
        }
        if let Some(model) = &self.model {
            push(format!("--model={model}"));
        }
        match self.conversation {
            Conversation::New => {}
            Conversation::NewWithId(id) => push(format!("--session-id={id}")),
            Conversation::Resume(id) => push(format!("--resume={id}")),
            Conversation::Fork { of, id } => {
                push(format!("--resume={of}"));
                push("--fork-session".to_owned());
                if let Some(id) = id {
                    push(format!("--session-id={id}"));
                }
            }
        }
        if self.allow_bypass {
            push("--allow-dangerously-skip-permissions".to_owned());
        }
        if self.restricted {
            push("--setting-sources=user".to_owned());
            push("--strict-mcp-config".to_owned());
        }
        arguments
    }

    fn all_settings(&self) -> Map<String, Value> {
        let mut settings = Map::new();
        // Otherwise a classifier decides in plan mode, and the human is never asked.
        settings.insert("useAutoModeDuringPlan".to_owned(), Value::Bool(false));
        settings.extend(self.settings.clone());
        settings
    }

    /// What the agent sees of `inherited`, and what is set for it.
    pub fn environment(
        &self,
        inherited: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let mut environment: Vec<(OsString, OsString)> = inherited
            .into_iter()
            .filter(|(name, _)| self.passes(name))
            .collect();
        let own = [
            ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
            ("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "sayso"),
        ];
        let own = own
            .into_iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        // A folder can also bring messages that are sent by themselves; no setting leaves them out.
        let without_tasks = self
            .restricted
            .then(|| ("CLAUDE_CODE_DISABLE_CRON".into(), "1".into()));
        let own = own.chain(without_tasks);
        for (name, value) in own.chain(self.set_variables.iter().cloned()) {
            environment.retain(|(known, _)| *known != name);
            environment.push((name, value));
        }
        environment
    }

    fn passes(&self, name: &OsStr) -> bool {
        let Some(name) = name.to_str() else {
            return false;
        };
        // These describe a session that Sayso itself may run in; the new agent is not part of it.
        const OF_AN_OUTER_SESSION: [&str; 4] = [
            "CLAUDECODE",
            "CLAUDE_CODE_SSE_PORT",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
        ];
        const NAMES: [&str; 6] = ["HOME", "PATH", "LANG", "TMPDIR", "USER", "SHELL"];
        const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "no_proxy", "all_proxy"];
        const PREFIXES: [&str; 3] = ["LC_", "ANTHROPIC_", "CLAUDE_"];
        if OF_AN_OUTER_SESSION.contains(&name) || name.starts_with(OWN_PREFIX) {
            return false;
        }
        NAMES.contains(&name)
            || PROXIES.contains(&name.to_ascii_lowercase().as_str())
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || self.passed_variables.0.iter().any(|passed| passed == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    const BASE: [&str; 6] = [
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--verbose",
        "--permission-prompt-tool=stdio",
        "--include-partial-messages",
        r#"--settings={"useAutoModeDuringPlan":false}"#,
    ];

    fn arguments(change: impl FnOnce(&mut LaunchOptions)) -> Vec<String> {
        let mut options = LaunchOptions::new("claude", "/srv/demo");
        change(&mut options);
        let arguments = options.arguments().into_iter();
        arguments
            .map(|argument| argument.into_string().unwrap())
            .collect()
    }

    #[test]
    fn checklist_1_the_four_flags_and_partial_messages_are_always_there() {
        assert_eq!(arguments(|_| {}), BASE);
    }

    #[test]
    fn each_option_becomes_one_argument() {
        let one = Uuid::from_u128(1);
        let two = Uuid::from_u128(2);
        type Change = Box<dyn FnOnce(&mut LaunchOptions)>;
        let cases: Vec<(Change, Vec<String>)> = vec![
            (
                Box::new(|options| options.permission_mode = Some(PermissionMode::AcceptEdits)),
                vec!["--permission-mode=acceptEdits".into()],
            ),
            (
                Box::new(|options| options.model = Some("--dash".into())),
                vec!["--model=--dash".into()],
            ),
            (
                Box::new(move |options| options.conversation = Conversation::NewWithId(one)),
                vec![format!("--session-id={one}")],
            ),
            (
                Box::new(move |options| options.conversation = Conversation::Resume(one)),
                vec![format!("--resume={one}")],
            ),
            (
                Box::new(move |options| {
                    options.conversation = Conversation::Fork {
                        of: one,
                        id: Some(two),
                    };
                }),
                vec![
                    format!("--resume={one}"),
                    "--fork-session".into(),
                    format!("--session-id={two}"),
                ],
            ),
            (
                Box::new(|options| options.allow_bypass = true),
                vec!["--allow-dangerously-skip-permissions".into()],
            ),
            (
                Box::new(|options| options.restricted = true),
                vec![
                    "--setting-sources=user".into(),
                    "--strict-mcp-config".into(),
                ],
            ),
        ];
        for (change, expected) in cases {
            let all = arguments(change);
            assert_eq!(all.get(BASE.len()..), Some(expected.as_slice()));
        }
    }

    #[test]
    fn leading_arguments_come_first_and_settings_are_merged() {
        let all = arguments(|options| {
            options.leading_arguments = vec!["fake-agent".into()];
            options.settings.insert("model".into(), json!("x"));
        });
        assert_eq!(all.first().map(String::as_str), Some("fake-agent"));
        assert!(all.contains(&r#"--settings={"model":"x","useAutoModeDuringPlan":false}"#.into()));
    }

    #[test]
    fn the_name_of_a_model_is_told_from_a_flag_and_from_rubbish() {
        let longest = "m".repeat(LONGEST_MODEL);
        for name in [
            "opus",
            "opus[1m]",
            "us.maker.model-v1:0",
            "Ünïcode 5",
            &longest,
        ] {
            assert_eq!(check_model(name), Ok(()), "{name}");
        }
        let longer = "m".repeat(LONGEST_MODEL + 1);
        for name in [
            "",
            "-",
            "--settings={}",
            "a\nb",
            "a\0b",
            "\u{1b}[2J",
            &longer,
        ] {
            assert_eq!(check_model(name), Err(BadModelName), "{name}");
        }
    }

    #[test]
    fn the_folder_is_never_an_argument() {
        let all = arguments(|options| options.cwd = "-rf $(touch x)".into());
        assert_eq!(all, BASE);
    }

    fn visible(names: &[&str], passed: &[&str]) -> Vec<String> {
        let mut options = LaunchOptions::new("claude", "/srv/demo");
        options.passed_variables =
            PassedVariables(passed.iter().map(|&name| name.into()).collect());
        let inherited = names.iter().map(|&name| (name.into(), "inherited".into()));
        let environment = options.environment(inherited).into_iter();
        environment
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn checklist_1_the_environment_is_an_allow_list() {
        let own = [
            "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1",
            "CLAUDE_CODE_STARTUP_FAILURE_RESULTS=1",
            "CLAUDE_CODE_ENTRYPOINT=sayso",
        ];
        let check = |name: &str, passed: &[&str], expected: bool| {
            let mut all = vec![];
            if expected {
                all.push(format!("{name}=inherited"));
            }
            all.extend(own.map(str::to_owned));
            assert_eq!(visible(&[name], passed), all, "{name}");
        };
        for name in [
            "HOME",
            "PATH",
            "LANG",
            "LC_ALL",
            "TMPDIR",
            "USER",
            "SHELL",
            "http_proxy",
            "HTTPS_PROXY",
            "no_proxy",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CONFIG_DIR",
        ] {
            check(name, &[], true);
        }
        for name in [
            "CLAUDECODE",
            "CLAUDE_CODE_SSE_PORT",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "AWS_SECRET_ACCESS_KEY",
            "SSH_AUTH_SOCK",
            "TERM",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "ENV",
            "IFS",
            "NODE_OPTIONS",
            "NODE_PATH",
            "BUN_OPTIONS",
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "EDITOR",
            "PAGER",
            "SAYSO_TOKEN",
        ] {
            check(name, &[], false);
        }
        check("GOPATH", &["GOPATH"], true);
        let mut restricted = LaunchOptions::new("claude", "/srv/demo");
        restricted.restricted = true;
        let environment = restricted.environment([]);
        assert!(environment.contains(&("CLAUDE_CODE_DISABLE_CRON".into(), "1".into())));
        check("CLAUDECODE", &["CLAUDECODE"], false);
        check("SAYSO_TOKEN", &["SAYSO_TOKEN"], false);
    }
}
