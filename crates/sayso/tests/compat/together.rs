//! What holds for all dialects: they share sessions with each other and with native clients.

use std::path::Path;

use pretty_assertions::assert_eq;
use sayso::config::PolicySettings;
use serde_json::{Value, json};

use crate::front_end::{FrontEnd, refused};
use crate::scripts::questions;
use crate::support::{TOKEN, TestServer, bash, first_request, printed_url};

const DIALECTS: [&str; 5] = ["twicc", "tofucode", "ui-chatter", "gobby", "agent-chat"];

/// A frame that shows this request, in any dialect.
fn shows(id: &Value) -> impl Fn(&Value) -> bool {
    let id = id.clone();
    move |frame| {
        let ids = [
            &frame["pending_request"]["request_id"],
            &frame["processes"][0]["pending_request"]["request_id"],
            &frame["requestId"],
            &frame["request_id"],
            &frame["question_id"],
        ];
        let is_request = frame["type"] != "request_closed" && frame["type"] != "permission_closed";
        is_request && ids.contains(&&id)
    }
}

fn answers() -> Value {
    json!({"One?": "Summary", "Several?": "Summary", "Free?": "Detailed", "Last?": "Detailed"})
}

#[tokio::test]
async fn a_decision_in_one_closes_the_request_in_all() {
    let server = TestServer::start().await;
    let mut native = server.connect().await;
    let session = native.start(&server, &questions()).await;
    let request = native.opened().await;
    let id = &request["request_id"];
    let mut twicc = FrontEnd::join(&server, "twicc", &session).await;
    let mut tofucode = FrontEnd::join(&server, "tofucode", &session).await;
    let mut panel = FrontEnd::join(&server, "ui-chatter", &session).await;
    let mut gobby = FrontEnd::join(&server, "gobby", &session).await;
    let mut chat = FrontEnd::join(&server, "agent-chat", &session).await;
    for page in [&mut twicc, &mut tofucode, &mut panel, &mut chat] {
        page.wait_for(shows(id)).await;
    }
    let calling = gobby.of_type("tool_status").await;
    gobby
        .send(&json!({
            "type": "ask_user_response", "conversation_id": calling["conversation_id"],
            "tool_call_id": calling["tool_call_id"], "answers": answers(),
        }))
        .await;
    assert_eq!(native.closed(&request).await["what"], "answered");
    twicc
        .wait_for(|frame| {
            frame["type"] == "process_state" && frame.get("pending_request").is_none()
        })
        .await;
    tofucode.of_type("request_closed").await;
    panel.of_type("permission_closed").await;
    gobby.wait_for(|frame| frame["status"] == "completed").await;
    chat.wait_for(|frame| frame["type"] == "session_status" && frame["waiting_for_user"] == false)
        .await;
    server.stop().await;
}

#[tokio::test]
async fn an_open_request_is_there_again_after_the_server_was_killed_in_every_dialect() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(["demo", "--listen", "127.0.0.1:0", "--token", TOKEN])
        .arg("--data-dir")
        .arg(folder.path().join("data"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let url = printed_url(child.stdout.take().unwrap()).await;
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let start = json!({"cwd": project, "prompt": questions().to_string()});
    let started = api.post(format!("{url}/api/sessions")).bearer_auth(TOKEN);
    let started: Value = started
        .json(&start)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let request = first_request(&api, &url).await;
    child.kill().await.unwrap();

    let server = TestServer::start_in(folder, PolicySettings::default()).await;
    let session = started["session_id"].as_str().unwrap();
    for dialect in DIALECTS {
        let mut page = FrontEnd::join(&server, dialect, session).await;
        if dialect == "gobby" {
            let calling = page.of_type("tool_status").await;
            assert_eq!(calling["tool_call_id"], request["tool_use_id"]);
            // Gobby's page would reject it when it goes.
            std::mem::forget(page);
        } else {
            page.wait_for(shows(&request["request_id"])).await;
            page.close().await;
        }
    }
    let mut page = FrontEnd::join(&server, "ui-chatter", session).await;
    page.of_type("permission_request").await;
    page.send(&json!({
        "type": "permission_response", "request_id": request["request_id"], "approved": true, "answers": answers(),
    }))
    .await;
    let closed = page.of_type("permission_closed").await;
    assert_eq!(closed["outcome"], "answered");
    server.stop().await;
}

#[tokio::test]
async fn a_token_that_may_only_look_decides_nothing_in_any_dialect() {
    let server = TestServer::start().await;
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let made = api
        .post(server.url("/api/devices/tokens"))
        .bearer_auth(TOKEN);
    let made = made.json(&json!({"name": "looks", "scopes": ["view"]}));
    let made: Value = made.send().await.unwrap().json().await.unwrap();
    let token = made["token"].as_str().unwrap_or_else(|| panic!("{made}"));
    let mut native = server.connect().await;
    let session = native.start(&server, &bash("touch never.txt")).await;
    let request = native.opened().await;
    let id = &request["request_id"];
    let tries = [
        (
            "twicc",
            json!({"type": "pending_request_response", "session_id": session, "request_id": id,
                "request_type": "tool_approval", "decision": "allow"}),
        ),
        (
            "tofucode",
            json!({"type": "permission_response", "requestId": id, "decision": "approve"}),
        ),
        (
            "ui-chatter",
            json!({"type": "permission_response", "request_id": id, "approved": true}),
        ),
    ];
    for (dialect, frame) in tries {
        let mut page = FrontEnd::with_token(&server, dialect, token, &session).await;
        page.wait_for(shows(id)).await;
        page.send(&frame).await;
        if dialect != "twicc" {
            page.of_type("error").await;
        }
        page.close().await;
    }
    native.respond(&request, json!({"behavior": "deny"})).await;
    assert_eq!(native.closed(&request).await["by"], "human");
    assert!(!server.project().join("never.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn nobody_comes_in_without_a_token_to_a_dialect_that_is_not_there_or_with_unknown_options() {
    let server = TestServer::start().await;
    let cases = [
        ("/compat/twicc/ws".to_owned(), 401),
        ("/compat/twicc/ws?token=wrong".to_owned(), 401),
        (format!("/compat/klingon/ws?token={TOKEN}"), 404),
        (format!("/compat/twicc/ws?token={TOKEN}&cmd=1"), 400),
        (format!("/compat/twicc/ws?token={TOKEN}&session_id=x"), 400),
    ];
    for (path, status) in cases {
        assert_eq!(refused(&server, &path).await, status, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_endpoints_are_printed_with_a_line_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(["demo", "--listen", "127.0.0.1:0", "--print-compat"])
        .args(["--on-shutdown", "stop"])
        .arg("--data-dir")
        .arg(folder.path().join("the data"))
        .env_remove("SAYSO_TOKEN")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let printed = read_until(child.stdout.take().unwrap(), "agent-chat/ws?").await;
    let mut lines = printed.lines();
    let token = lines.find(|line| line.starts_with("export SAYSO_TOKEN="));
    let token = token.unwrap_or_else(|| panic!("{printed}"));
    for dialect in DIALECTS {
        let line = printed
            .lines()
            .find(|line| line.contains("websocat") && line.contains(&format!("/{dialect}/ws?")));
        let line = line.unwrap_or_else(|| panic!("{dialect} in {printed}"));
        let (address, frame) = run(&format!("{token}\n{line}"), folder.path()).await;
        let mut page = FrontEnd::to(&address).await;
        page.send_text(&frame).await;
        let answer = page
            .wait_for(|frame| {
                frame["type"] != "active_processes" && frame["type"] != "session_status"
            })
            .await;
        let kind = answer["type"].as_str().unwrap();
        assert!(!kind.contains("error"), "{dialect}: {answer}");
    }
    let id = i32::try_from(child.id().unwrap()).unwrap();
    let id = rustix::process::Pid::from_raw(id).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert!(child.wait().await.unwrap().success());
}

/// What a shell makes of a printed line: the address that `websocat` is given, and what it reads.
async fn run(line: &str, folder: &Path) -> (String, String) {
    let project = folder.join("my project");
    std::fs::create_dir_all(&project).unwrap();
    let stand_in = r#"websocat() { [ "$1" = -n ] && [ $# = 2 ] && printf '%s\n' "$2" && cat; }"#;
    let shell = tokio::process::Command::new("sh")
        .args(["-euc", &format!("{stand_in}\n{line}")])
        .env_remove("SAYSO_TOKEN")
        .current_dir(project)
        .output()
        .await
        .unwrap();
    let text = String::from_utf8(shell.stdout).unwrap();
    let (address, frame) = text.split_once('\n').expect(line);
    // As websocat does.
    (address.replace(' ', "%20"), frame.trim_end().to_owned())
}

async fn read_until(stdout: tokio::process::ChildStdout, last: &str) -> String {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let mut lines = BufReader::new(stdout).lines();
    let mut text = String::new();
    while !text.contains(last) {
        let line = lines.next_line().await.unwrap().expect("more is printed");
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Each page names all tests of its dialect, and none that is not there.
#[test]
fn the_pages_name_the_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for dialect in DIALECTS {
        let tests = format!("tests/compat/{}.rs", dialect.replace('-', "_"));
        let source = std::fs::read_to_string(root.join(tests)).unwrap();
        let functions = source.split("#[tokio::test]\nasync fn ").skip(1);
        let page = root.join(format!("../../docs/compat/{dialect}.md"));
        let page = std::fs::read_to_string(page).unwrap();
        let tests: Vec<&str> = functions
            .map(|function| function.split('(').next().unwrap())
            .collect();
        assert!(tests.len() > 8, "{dialect}: {tests:?}");
        for name in &tests {
            assert!(page.contains(&format!("`{name}`")), "{dialect}.md: {name}");
        }
        let rows = page.lines().filter(|line| line.starts_with("| "));
        let named = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
        for name in named.filter(|name| name.matches('_').count() > 3) {
            assert!(tests.contains(&name), "{dialect}.md: {name} is no test");
        }
    }
}

/// The names of dialects stand in their own folder only, and each adapter is small, all its files together.
#[test]
fn nothing_outside_the_folder_knows_a_dialect() {
    fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let adapters = source.join("compat");
    assert!(all.iter().any(|path| path.starts_with(&adapters)));
    for dialect in DIALECTS {
        let name = adapters.join(dialect.replace('-', "_"));
        let own = all
            .iter()
            .filter(|path| path.starts_with(&name) || **path == name.with_extension("rs"));
        let lines: usize = own
            .map(|path| std::fs::read_to_string(path).unwrap().lines().count())
            .sum();
        assert!(lines > 0 && lines < 300, "{dialect}: {lines} lines");
    }
    for path in all.iter().filter(|path| !path.starts_with(&adapters)) {
        let text = std::fs::read_to_string(path).unwrap();
        for dialect in DIALECTS {
            let lower = text.to_lowercase();
            assert!(!lower.contains(dialect), "{dialect} in {}", path.display());
        }
    }
}
