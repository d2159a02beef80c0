//! What an agent and its runner see of the server that started them: nothing that is not meant for them.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod recorder;
mod support;

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use recorder::{Recorded, Recorder, start_with};
use serde_json::json;
use support::TOKEN;

/// Variables that make programs run or load something, or that are nobody's business.
const DANGEROUS: [&str; 22] = [
    "AWS_SECRET_ACCESS_KEY",
    "BASH_ENV",
    "BASH_FUNC_ls%%",
    "BUN_OPTIONS",
    "CLAUDECODE",
    "CLAUDE_CODE_SSE_PORT",
    "EDITOR",
    "ENV",
    "GIT_CONFIG_COUNT",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH_COMMAND",
    "JAVA_TOOL_OPTIONS",
    "NODE_OPTIONS",
    "PAGER",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYOPT",
    "SAYSO_LOG_FORMAT",
    "SSH_AUTH_SOCK",
];

async fn started(recorder: &Recorder) -> Recorded {
    let mut client = recorder.connect().await;
    let prompt = json!({"steps": [{"say": "Hello."}]}).to_string();
    let mut start = start_with(recorder, "prompt", &json!(prompt));
    start["type"] = json!("start_session");
    let ack = client.call(start).await;
    let session = ack["session_id"].as_str().unwrap().to_owned();
    client.turn_over(&session).await;
    recorder.take_records().pop().unwrap()
}

#[tokio::test]
async fn an_agent_sees_a_short_list_of_variables_and_no_secret_of_ours() {
    let mut variables: Vec<(&str, &str)> = DANGEROUS.iter().map(|name| (*name, "/x")).collect();
    variables.extend([
        // They change the server itself, so they name nothing that is there.
        ("LD_PRELOAD", "/nowhere/library.so"),
        ("LD_LIBRARY_PATH", "/nowhere"),
        ("LANG", "C.UTF-8"),
        ("ANTHROPIC_API_KEY", "for the agent"),
        ("GOPATH", "/go"),
    ]);
    let config = "pass_environment = ['GOPATH']\n";
    let recorder = Recorder::start(&variables, config).await;
    let mut recorded = started(&recorder).await;
    let mark = recorded.environment.remove("SAYSO_AGENT");
    let is_mark = mark.is_some_and(|mark| uuid::Uuid::try_parse(&mark).is_ok());
    assert!(is_mark, "what the agent starts elsewhere is known by it");
    let home = recorder.path("home").display().to_string();
    let path = std::env::var("PATH").unwrap();
    let expected: BTreeMap<String, String> = [
        ("ANTHROPIC_API_KEY", "for the agent"),
        ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "sayso"),
        ("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1"),
        ("GOPATH", "/go"),
        ("HOME", &home),
        ("LANG", "C.UTF-8"),
        ("PATH", &path),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    assert_eq!(recorded.environment, expected);
    assert!(
        !recorded
            .arguments
            .iter()
            .any(|argument| argument.contains(TOKEN)),
        "{:?}",
        recorded.arguments
    );
    recorder.stop().await;
}

#[tokio::test]
async fn an_agent_has_three_open_files_and_its_runner_knows_nothing_but_its_folder() {
    let recorder = Recorder::start(&[], "").await;
    let recorded = started(&recorder).await;
    let inherited = format!("/proc/{}/fd/7", recorder.server.id().unwrap());
    assert!(
        std::fs::exists(inherited).unwrap(),
        "the server has one more"
    );
    let pipes = ["0", "1", "2"].map(|number| (number.to_owned(), "pipe".to_owned()));
    assert_eq!(recorded.files, BTreeMap::from(pipes));
    assert_eq!(
        recorded.folder,
        recorder.path("project").canonicalize().unwrap()
    );

    let runners = sayso_runner::find(&recorder.path("data/agents")).unwrap();
    let runner = runners.first().unwrap();
    let pid = runner.record.as_ref().unwrap().pid;
    let proc = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
        let parts: Vec<String> = text.split_terminator('\0').map(str::to_owned).collect();
        parts
    };
    assert_eq!(proc("environ"), [""; 0]);
    let folder = runner.folder.display().to_string();
    let program = env!("CARGO_BIN_EXE_sayso");
    assert_eq!(proc("cmdline"), [program, "runner", &folder]);
    // What it holds: its own folder, pipes to its agent, its socket, the kernel's means to wait, and the two files in
    // memory that it lends with the pipes.
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let target = std::fs::read_link(entry.unwrap().path()).unwrap();
        let target = target.display().to_string();
        let own = [
            "pipe:",
            "socket:",
            "anon_inode:",
            "/dev/null",
            "/memfd:said",
            "/memfd:told",
            &folder,
        ];
        assert!(own.iter().any(|kind| target.starts_with(kind)), "{target}");
    }
    recorder.stop().await;
}
