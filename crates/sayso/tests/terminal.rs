//! Every command of the terminal against a real server: what it prints, with and without `--json`, and
//! its exit code. `watch.rs` has what needs a terminal.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure in a helper fails the test"
)]

mod support;

use std::process::Stdio;
use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Client, TOKEN, TestServer, bash, tool};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a command left behind.
#[derive(Debug)]
struct Ran {
    code: i32,
    said: String,
    complained: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.said).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn command(server: &TestServer, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", server.folder.path())
        .env("SAYSO_LISTEN", server.address.to_string())
        .env("SAYSO_TOKEN", TOKEN)
        .env("SAYSO_DATA_DIR", server.folder.path().join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

async fn run(mut command: Command) -> Ran {
    let output = command.output().await.unwrap();
    Ran {
        code: output.status.code().unwrap(),
        said: String::from_utf8(output.stdout).unwrap(),
        complained: String::from_utf8(output.stderr).unwrap(),
    }
}

async fn sayso(server: &TestServer, arguments: &[&str]) -> Ran {
    run(command(server, arguments)).await
}

async fn sayso_reading(server: &TestServer, arguments: &[&str], input: &str) -> Ran {
    let mut command = command(server, arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    Ran {
        code: output.status.code().unwrap(),
        said: String::from_utf8(output.stdout).unwrap(),
        complained: String::from_utf8(output.stderr).unwrap(),
    }
}

fn id(request: &Value) -> &str {
    request["request_id"].as_str().unwrap()
}

/// How `pending` names it.
fn short(request: &Value) -> &str {
    let id = id(request);
    &id[id.len() - 4..]
}

async fn asked(client: &mut Client, server: &TestServer, step: Value) -> Value {
    client.start(server, &json!({"steps": [step]})).await;
    client.opened().await
}

async fn asked_command(client: &mut Client, server: &TestServer, command: &str) -> Value {
    client.start(server, &bash(command)).await;
    client.opened().await
}

#[tokio::test]
async fn pending_lists_what_waits_and_waits_for_it() {
    let server = TestServer::start().await;
    let nothing = sayso(&server, &["pending"]).await;
    assert_eq!(nothing.code, 0);
    assert!(
        nothing.said.contains("Nothing waits for you"),
        "{nothing:?}"
    );
    let nothing = sayso(&server, &["pending", "--json"]).await;
    assert_eq!((nothing.code, nothing.said.as_str()), (0, ""));
    let nothing = sayso(&server, &["pending", "--wait=200ms"]).await;
    assert_eq!(nothing.code, 12, "{nothing:?}");

    let mut client = server.connect().await;
    let waiting = tokio::spawn(run(command(&server, &["pending", "--wait", "--json"])));
    let first = asked_command(&mut client, &server, "touch a").await;
    let came = waiting.await.unwrap();
    assert_eq!(came.code, 0);
    assert_eq!(came.json()["request_id"], first["request_id"]);

    let second = asked_command(&mut client, &server, "rm -rf build\necho done").await;
    let list = sayso(&server, &["pending"]).await;
    let lines: Vec<&str> = list.said.lines().collect();
    assert_eq!(lines.len(), 3, "{list:?}");
    for (line, parts) in [
        (lines[0], vec!["ID", "AGE", "LEFT", "FOLDER", "WHAT"]),
        (
            lines[1],
            vec![short(&first), "  4:", "project", "Bash  touch a"],
        ),
        (
            lines[2],
            vec![short(&second), "! Bash  rm -rf build ⏎ echo done"],
        ),
    ] {
        for part in parts {
            assert!(line.contains(part), "{part} is missing: {line}");
        }
    }
    let list = sayso(&server, &["pending", "--json"]).await;
    let lines: Vec<Value> = list
        .said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["short_id"], short(&second));
    assert_eq!(lines[1]["cwd"], json!(server.project()));
    assert_eq!(lines[1]["input_digest"], second["input_digest"]);
    assert_eq!(lines[1]["tool_input"], second["tool_input"]);
    server.stop().await;
}

#[tokio::test]
async fn likely_secrets_are_masked_in_lists_and_whole_where_they_are_decided() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let request = asked_command(&mut client, &server, "deploy --token abcdef123456").await;
    let list = sayso(&server, &["pending"]).await;
    assert!(!list.said.contains("abcdef123456"), "{list:?}");
    let shown = sayso(&server, &["show", short(&request)]).await;
    assert!(shown.said.contains("--token abcdef123456"), "{shown:?}");
    server.stop().await;
}

#[tokio::test]
async fn show_has_the_whole_request() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let long = format!("echo {} && rm -rf build", "x".repeat(5000));
    let request = asked_command(&mut client, &server, &long).await;
    let shown = sayso(&server, &["show", short(&request)]).await;
    assert_eq!(shown.code, 0);
    for part in [
        "Run a command",
        "Careful  it deletes files: rm -rf build",
        &"x".repeat(5000),
        "sayso allow",
        "then it is denied",
    ] {
        assert!(shown.said.contains(part), "{part} is missing");
    }
    let shown = sayso(&server, &["show", id(&request), "--json"]).await;
    assert_eq!(shown.json()["input_digest"], request["input_digest"]);
    assert_eq!(shown.json()["tool_input"]["command"], json!(long));

    let file = server.project().join("notes.txt");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let edit = json!({"file_path": file, "old_string": "gone", "new_string": "new\n\tline"});
    let request = asked(&mut client, &server, tool("Edit", edit)).await;
    let shown = sayso(&server, &["show", short(&request)]).await;
    for part in [
        "- gone\n",
        "+ new\n",
        "+     line\n",
        "not in the file any more",
    ] {
        assert!(
            shown.said.contains(part),
            "{part} is missing: {}",
            shown.said
        );
    }
    let write = json!({"file_path": file, "content": "all new\n"});
    let request = asked(&mut client, &server, tool("Write", write)).await;
    let shown = sayso(&server, &["show", short(&request)]).await;
    for part in ["+ all new\n", "replaces a file that has 2 lines now"] {
        assert!(
            shown.said.contains(part),
            "{part} is missing: {}",
            shown.said
        );
    }
    // A tool that nobody knows: nothing of its input is left out.
    let odd =
        json!({"first": 12345678901234567890_u64, "deep": {"list": [1, "two"]}, "text": "a\nb"});
    let request = asked(&mut client, &server, tool("mcp__shop__buy", odd)).await;
    let shown = sayso(&server, &["show", short(&request)]).await;
    for part in [
        "Use buy of the tool server shop",
        "12345678901234567890",
        "\"two\"",
        "│   b",
    ] {
        assert!(
            shown.said.contains(part),
            "{part} is missing: {}",
            shown.said
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn allow_lets_it_run_and_deny_says_why() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let request = asked_command(&mut client, &server, "touch made").await;
    let allowed = sayso(&server, &["allow", short(&request)]).await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert!(allowed.said.starts_with("Allowed: "), "{allowed:?}");
    assert!(allowed.said.contains("Bash  touch made"), "{allowed:?}");
    let outcome = client.closed(&request).await;
    assert_eq!(outcome["what"], "allowed");
    assert_eq!(outcome["client"]["label"], "a script");

    let request = asked_command(&mut client, &server, "touch more").await;
    let allowed = sayso(&server, &["allow", short(&request), "--json"]).await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    let expected = json!({
        "outcome": "allowed", "request_id": request["request_id"], "short_id": short(&request),
        "session_id": request["session_id"], "tool_name": "Bash",
        "input_digest": request["input_digest"],
    });
    assert_eq!(allowed.json(), expected);
    client.closed(&request).await;

    let request = asked_command(&mut client, &server, "touch no").await;
    let denied = sayso(
        &server,
        &["deny", short(&request), "--reason", "Not in my repository"],
    )
    .await;
    assert_eq!(denied.code, 0, "{denied:?}");
    assert!(denied.said.starts_with("Denied: "), "{denied:?}");
    let outcome = client.closed(&request).await;
    assert_eq!(outcome["what"], "denied");
    assert_eq!(outcome["message"], "Not in my repository");

    let request = asked_command(&mut client, &server, "touch never").await;
    let session = request["session_id"].as_str().unwrap().to_owned();
    let denied = sayso(&server, &["deny", short(&request), "--stop", "--json"]).await;
    assert_eq!(denied.code, 0, "{denied:?}");
    assert_eq!(denied.json()["outcome"], "denied");
    client.closed(&request).await;
    client.turn_over(&session).await;
    assert!(!server.project().join("no").exists());
    server.stop().await;
}

#[tokio::test]
async fn what_is_risky_is_not_allowed_by_the_way() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let request = asked_command(&mut client, &server, "rm -rf build").await;
    for arguments in [
        vec!["allow", short(&request)],
        vec!["allow", short(&request), "--json"],
    ] {
        let refused = sayso(&server, &arguments).await;
        assert_eq!(refused.code, 8, "{refused:?}");
        assert!(refused.complained.contains("deletes files"), "{refused:?}");
        if arguments.contains(&"--json") {
            assert_eq!(refused.json()["error"]["code"], "not_confirmed");
        }
    }
    let wrong = "0".repeat(64);
    let refused = sayso(&server, &["allow", short(&request), "--digest", &wrong]).await;
    assert_eq!(refused.code, 9, "{refused:?}");
    // Also with both: --yes is no way around what --digest names.
    let refused = sayso(
        &server,
        &["allow", short(&request), "--yes", "--digest", &wrong],
    )
    .await;
    assert_eq!(refused.code, 9, "{refused:?}");

    let shown = sayso(&server, &["show", short(&request), "--json"])
        .await
        .json();
    let digest = shown["input_digest"].as_str().unwrap();
    let allowed = sayso(&server, &["allow", short(&request), "--digest", digest]).await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    client.closed(&request).await;

    let request = asked_command(&mut client, &server, "rm -rf other").await;
    let allowed = sayso(&server, &["allow", short(&request), "-y"]).await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert_eq!(client.closed(&request).await["what"], "allowed");
    server.stop().await;
}

#[tokio::test]
async fn the_password_comes_from_a_file() {
    let server = TestServer::start().await;
    let url = server.url("/api/password");
    let body = json!({"new": "correct horse"});
    let set = reqwest::Client::new()
        .post(url)
        .bearer_auth(TOKEN)
        .json(&body);
    assert!(set.send().await.unwrap().status().is_success());
    let mut client = server.connect().await;
    let request = asked_command(&mut client, &server, "rm -rf build").await;
    let allow = ["allow", short(&request), "--yes"];
    let refused = sayso(&server, &allow).await;
    assert_eq!(refused.code, 10, "{refused:?}");
    assert!(
        refused.complained.contains("--password-file"),
        "{refused:?}"
    );
    let file = server.folder.path().join("password");
    let path = file.display().to_string();
    let with_file = [allow.as_slice(), &["--password-file", &path, "--json"]].concat();
    std::fs::write(&file, "wrong\n").unwrap();
    let refused = sayso(&server, &with_file).await;
    assert_eq!(refused.code, 10, "{refused:?}");
    std::fs::write(&file, "correct horse\n").unwrap();
    let allowed = sayso(&server, &with_file).await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert_eq!(client.closed(&request).await["what"], "allowed");
    server.stop().await;
}

fn question_step() -> Value {
    json!({"question": {"questions": [
        {"question": "Which colour?", "header": "Colour", "multiSelect": false,
         "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": "cold"}]},
        {"question": "What for?", "header": "Use", "multiSelect": true,
         "options": [{"label": "Walls", "description": ""}, {"label": "Doors", "description": ""}]},
    ]}})
}

/// What the transcript says was answered.
async fn answers(client: &mut Client, request: &Value) -> Value {
    let session = request["session_id"].as_str().unwrap();
    client.subscribe(session).await;
    let is_it =
        |entry: &Value| entry["kind"] == "decision" && entry["request_id"] == request["request_id"];
    client.entry(session, is_it).await["answers"].clone()
}

#[tokio::test]
async fn questions_are_answered_by_option_by_words_and_as_json() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let both = json!({"Which colour?": "Blue", "What for?": ["Walls", "Doors"]});
    let cases: [(&[&str], Option<&str>, Value); 4] = [
        (
            &[
                "--choose",
                "Which colour?=Blue",
                "--choose",
                "Use=Walls",
                "--choose",
                "2=Doors",
            ],
            None,
            both.clone(),
        ),
        (
            &[
                "--text",
                "1=a pale = green",
                "--choose",
                "Use=Walls",
                "--note",
                "Use=only inside",
            ],
            None,
            json!({"Which colour?": "a pale = green", "What for?": ["Walls"]}),
        ),
        (
            &[
                "--answers",
                r#"{"Which colour?":"Blue","What for?":["Walls","Doors"]}"#,
                "--json",
            ],
            None,
            both.clone(),
        ),
        (
            &["--answers", "-"],
            Some(r#"{"Which colour?":"Blue","What for?":["Walls","Doors"]}"#),
            both,
        ),
    ];
    for (arguments, input, expected) in cases {
        let request = asked(&mut client, &server, question_step()).await;
        let all = [&["answer", short(&request)], arguments].concat();
        let answered = sayso_reading(&server, &all, input.unwrap_or_default()).await;
        assert_eq!(answered.code, 0, "{answered:?}");
        if arguments.contains(&"--json") {
            assert_eq!(answered.json()["outcome"], "answered");
        } else {
            assert!(answered.said.starts_with("Answered: "), "{answered:?}");
        }
        assert_eq!(answers(&mut client, &request).await, expected);
    }
    server.stop().await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_decides_nothing() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let question = asked(&mut client, &server, question_step()).await;
    let command = asked_command(&mut client, &server, "touch a").await;
    let plan = asked(&mut client, &server, json!({"plan": "# Do it"})).await;
    for (request, fate) in [
        (&question, "then it is skipped"),
        (&command, "then it is denied"),
        (&plan, "then it is rejected"),
    ] {
        let shown = sayso(&server, &["show", short(request)]).await;
        assert!(shown.said.contains(fate), "{shown:?}");
    }
    let shown = sayso(&server, &["show", short(&plan)]).await;
    assert!(
        shown
            .said
            .contains("│ # Do it\n\nThe plan is kept in plan.md\n"),
        "{shown:?}"
    );
    let cases: [&[&str]; 8] = [
        &["answer", short(&question)],
        &["answer", short(&question), "--choose", "Which colour?=Rde"],
        &["answer", short(&question), "--choose", "Who?=Red"],
        // The other question is missing: the server says so.
        &["answer", short(&question), "--choose", "Colour=Red"],
        &["answer", short(&question), "--answers", "not json"],
        &["allow", short(&question)],
        &["answer", short(&command), "--choose", "1=x"],
        &["allow", short(&command), "--mode", "acceptEdits"],
    ];
    for arguments in cases {
        let json = [arguments, &["--json"]].concat();
        for arguments in [arguments, &json] {
            let refused = sayso(&server, arguments).await;
            assert_eq!(refused.code, 11, "{arguments:?}: {refused:?}");
            assert!(refused.complained.starts_with("sayso: "), "{refused:?}");
        }
    }
    let refused = sayso(
        &server,
        &["allow", short(&plan), "--mode", "bypassPermissions"],
    )
    .await;
    assert_ne!(
        refused.code, 0,
        "a plan never leads to the mode that asks nothing"
    );
    let pending = sayso(&server, &["pending", "--json"]).await;
    assert_eq!(pending.said.lines().count(), 3, "{pending:?}");

    let allowed = sayso(&server, &["allow", short(&plan), "--mode", "acceptEdits"]).await;
    assert_eq!(allowed.code, 0, "{allowed:?}");
    let skipped = sayso(&server, &["deny", short(&question)]).await;
    assert!(skipped.said.starts_with("Skipped: "), "{skipped:?}");
    assert_eq!(client.closed(&question).await["what"], "denied");
    let usage = sayso(&server, &["allow"]).await;
    assert_eq!(usage.code, 2);
    server.stop().await;
}

#[tokio::test]
async fn forms_are_filled_in() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let form = json!({"elicit": {
        "mcp_server_name": "shop", "message": "Who are you?", "mode": "form",
        "requested_schema": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "age": {"type": "integer"},
            "size": {"type": "string", "enum": ["S", "L"]}, "sure": {"type": "boolean"},
        }},
    }});
    let request = asked(&mut client, &server, form).await;
    let shown = sayso(&server, &["show", short(&request)]).await;
    for part in [
        "shop asks for information",
        "Who are you?",
        "name (needed)",
        "2  L",
    ] {
        assert!(
            shown.said.contains(part),
            "{part} is missing: {}",
            shown.said
        );
    }
    let refused = sayso(&server, &["answer", short(&request), "--choose", "age=7"]).await;
    assert_eq!(refused.code, 11, "the name is missing: {refused:?}");
    let answered = sayso(
        &server,
        &[
            "answer",
            short(&request),
            "--choose",
            "name=Ada",
            "--choose",
            "age=7",
            "--choose",
            "sure=yes",
        ],
    )
    .await;
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!(client.closed(&request).await["what"], "answered");
    server.stop().await;
}

#[tokio::test]
async fn ids_may_be_short_but_never_unclear() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let first = asked_command(&mut client, &server, "touch a").await;
    let second = asked_command(&mut client, &server, "touch b").await;
    // Ids that were made at about the same time begin alike.
    let common = &id(&first)[..6];
    for arguments in [vec!["allow", common], vec!["show", common, "--json"]] {
        let unclear = sayso(&server, &arguments).await;
        assert_eq!(unclear.code, 6, "{unclear:?}");
        for part in [short(&first), short(&second), "touch a", "touch b"] {
            assert!(unclear.complained.contains(part), "{unclear:?}");
        }
    }
    for wanted in ["ffffffff", "abc", "what"] {
        for command in ["show", "allow", "deny", "answer"] {
            let unknown = sayso(&server, &[command, wanted]).await;
            assert_eq!(unknown.code, 5, "{command} {wanted}: {unknown:?}");
            assert!(unknown.complained.contains("sayso pending"), "{unknown:?}");
        }
    }
    let whole = sayso(&server, &["deny", &id(&first).to_uppercase()]).await;
    assert_eq!(whole.code, 0, "{whole:?}");
    let begins = sayso(&server, &["deny", &id(&second)[..30]]).await;
    assert_eq!(begins.code, 0, "{begins:?}");
    server.stop().await;
}

#[tokio::test]
async fn whoever_comes_later_is_told_who_decided_what() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let request = asked_command(&mut client, &server, "touch a").await;
    client
        .respond(&request, json!({"behavior": "deny", "message": "no"}))
        .await;
    client.closed(&request).await;
    for command in ["allow", "deny", "answer", "show"] {
        let late = sayso(&server, &[command, short(&request)]).await;
        assert_eq!(late.code, 7, "{command}: {late:?}");
        assert!(late.complained.contains("Denied by a script"), "{late:?}");
    }
    let late = sayso(&server, &["allow", id(&request), "--json"]).await;
    assert_eq!(late.code, 7);
    let error = &late.json()["error"];
    assert_eq!(error["code"], "already_decided");
    let outcome = &error["outcome"];
    assert_eq!(
        (&outcome["what"], &outcome["by"], &outcome["client"]),
        (
            &json!("denied"),
            &json!("human"),
            &json!({"label": "a script"})
        )
    );

    // Two at once: one wins, and the other one knows.
    let request = asked_command(&mut client, &server, "touch b").await;
    let (allow, deny) = (
        ["allow", id(&request), "--json"],
        ["deny", id(&request), "--json"],
    );
    let (one, other) = tokio::join!(sayso(&server, &allow), sayso(&server, &deny));
    let mut codes = [one.code, other.code];
    codes.sort_unstable();
    assert_eq!(codes, [0, 7], "{one:?} {other:?}");
    let outcome = client.closed(&request).await;
    let winner = if one.code == 0 { "allowed" } else { "denied" };
    assert_eq!(outcome["what"], winner);
    server.stop().await;
}

/// Everything that a terminal would obey, or that would hide or reorder words.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]8;;https://evil.example\u{1b}\\\u{9b}31m\u{7f}\r\u{8}\u{202e}\u{200b}\u{2028}\u{e0041}y";

fn assert_harmless(text: &str) {
    let order = text.chars().find(|letter| {
        (letter.is_control() && *letter != '\n')
            || ('\u{200b}'..='\u{200f}').contains(letter)
            || ('\u{2028}'..='\u{202e}').contains(letter)
            || ('\u{e0000}'..='\u{e007f}').contains(letter)
    });
    assert_eq!(order, None, "{text:?}");
}

#[tokio::test]
async fn an_agent_gives_the_terminal_no_orders() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let input =
        json!({"command": format!("echo {HOSTILE}"), "description": HOSTILE, HOSTILE: HOSTILE});
    let mut step = tool("Bash", input);
    step["tool"]["request"] = json!({
        "decision_reason": HOSTILE, "title": HOSTILE, "blocked_path": HOSTILE, "description": HOSTILE,
    });
    let mut requests = vec![asked(&mut client, &server, step).await];
    let path = json!({"file_path": HOSTILE, "content": HOSTILE});
    requests.push(asked(&mut client, &server, tool("Write", path)).await);
    let odd = tool(&format!("mcp__{HOSTILE}__t"), json!({"a": {"b": HOSTILE}}));
    requests.push(asked(&mut client, &server, odd).await);
    let question = json!({"question": {"questions": [{
        "question": HOSTILE, "header": HOSTILE, "multiSelect": false,
        "options": [{"label": HOSTILE, "description": HOSTILE}, {"label": "b", "description": ""}],
    }]}});
    requests.push(asked(&mut client, &server, question).await);
    let rename = json!({"type": "rename_session", "session_id": requests[0]["session_id"], "title": "a\u{202e}b"});
    client.call(rename).await;

    for request in &requests {
        let shown = sayso(&server, &["show", short(request)]).await;
        assert_eq!(shown.code, 0, "{shown:?}");
        assert_harmless(&shown.said);
        for part in ["⟨U+001B⟩", "⟨U+009B⟩", "⟨U+202E⟩", "⟨U+200B⟩"] {
            assert!(
                shown.said.contains(part),
                "{part} is missing: {}",
                shown.said
            );
        }
        let shown = sayso(&server, &["show", short(request), "--json"]).await;
        assert_harmless(&shown.said);
        assert_eq!(
            shown.json()["tool_input"],
            request["tool_input"],
            "and it means the same"
        );
        let refused = sayso(&server, &["answer", short(request), "--choose", "x=y"]).await;
        assert_harmless(&refused.complained);
    }
    for arguments in [["pending"].as_slice(), &["pending", "--json"]] {
        let list = sayso(&server, arguments).await;
        assert_harmless(&list.said);
        assert!(!list.said.is_empty());
    }
    let reason = format!("no {HOSTILE}");
    client
        .respond(&requests[0], json!({"behavior": "deny", "message": reason}))
        .await;
    client.closed(&requests[0]).await;
    let late = sayso(&server, &["allow", short(&requests[0]), "--yes", "--json"]).await;
    assert_eq!(late.code, 7);
    assert_harmless(&late.said);
    assert_harmless(&late.complained);
    for request in &requests[1..] {
        let denied = sayso(&server, &["deny", short(request)]).await;
        assert_eq!(denied.code, 0);
        assert_harmless(&denied.said);
    }
    server.stop().await;
}

#[tokio::test]
async fn no_server_and_a_wrong_token_have_codes_of_their_own() {
    let server = TestServer::start().await;
    for arguments in [
        ["pending"].as_slice(),
        &["show", "abcd"],
        &["allow", "abcd"],
        &["deny", "abcd"],
        &["answer", "abcd"],
        &["watch"],
    ] {
        let arguments = [arguments, &["--json"]].concat();
        let mut nobody = command(&server, &arguments);
        nobody.env("SAYSO_LISTEN", "127.0.0.1:1");
        let nobody = run(nobody).await;
        assert_eq!(nobody.code, 3, "{arguments:?}: {nobody:?}");
        assert_eq!(nobody.json()["error"]["code"], "unreachable");
        assert!(nobody.complained.contains("127.0.0.1:1"), "{nobody:?}");

        let mut stranger = command(&server, &arguments);
        stranger.env("SAYSO_TOKEN", "another-token-for-tests");
        let stranger = run(stranger).await;
        assert_eq!(stranger.code, 4, "{arguments:?}: {stranger:?}");
        assert_eq!(stranger.json()["error"]["code"], "unauthorized");
    }
    let mut new = command(&server, &["pending"]);
    new.env_remove("SAYSO_TOKEN").env_remove("SAYSO_DATA_DIR");
    let new = run(new).await;
    assert_eq!(new.code, 3, "{new:?}");
    assert!(new.complained.contains("No Sayso has run"), "{new:?}");
    let blind = sayso(&server, &["watch"]).await;
    assert_eq!(blind.code, 1, "without a terminal it says what to use");
    assert!(blind.complained.contains("--json"), "{blind:?}");
    server.stop().await;
}

#[tokio::test]
async fn watch_tells_scripts_what_happens() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let first = asked_command(&mut client, &server, "touch a").await;
    let mut watching = command(&server, &["watch", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = async || -> Value {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    };
    assert_eq!(next().await["type"], "connected");
    let opened = next().await;
    assert_eq!(opened["type"], "request_opened");
    assert_eq!(opened["pending_request"], first);
    let second = asked_command(&mut client, &server, "touch b").await;
    assert_eq!(next().await["pending_request"], second);
    client.respond(&first, json!({"behavior": "deny"})).await;
    let closed = next().await;
    assert_eq!(closed["type"], "request_closed");
    assert_eq!(closed["request_id"], first["request_id"]);
    assert_eq!(closed["outcome"]["what"], "denied");
    // The server ends, and with it what is open.
    server.stop().await;
    loop {
        match next().await["type"].as_str().unwrap() {
            "disconnected" => break,
            other => assert_eq!(other, "request_closed"),
        }
    }
    let pid = rustix::process::Pid::from_raw(watching.id().unwrap().try_into().unwrap());
    rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::TERM).unwrap();
    let ended = tokio::time::timeout(PATIENCE, watching.wait()).await;
    assert_eq!(ended.unwrap().unwrap().code(), Some(0));
}

#[tokio::test]
async fn help_has_the_exit_codes() {
    let server = TestServer::start().await;
    for command in ["pending", "show", "allow", "deny", "answer", "watch"] {
        let help = sayso(&server, &[command, "--help"]).await;
        assert_eq!(help.code, 0);
        assert!(help.said.contains("Exit codes:"), "{help:?}");
        assert!(help.said.contains("--json"), "{help:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn doctor_sees_that_it_runs() {
    let server = TestServer::start().await;
    let report = sayso(&server, &["doctor"]).await;
    assert_eq!(report.code, 0, "{report:?}");
    assert!(report.said.contains("\nSayso is running: "), "{report:?}");
    assert!(!report.said.contains("can start"), "{report:?}");
    server.stop().await;
}

/// `sayso demo` keeps its token beside the other one's; who tries it in two terminals need not know.
#[tokio::test]
async fn the_demo_server_is_found_without_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let sayso = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
        command.args(arguments).env_clear().env("HOME", home.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.kill_on_drop(true);
        command
    };
    let mut server = sayso(&["demo", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let url = support::printed_url(server.stdout.take().unwrap()).await;
    let address = url.strip_prefix("http://").unwrap();
    let list = run(sayso(&["pending", "--listen", address])).await;
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.said.contains("Nothing waits"), "{list:?}");
    let link = run(sayso(&["pair", "--listen", address])).await;
    assert_eq!(link.code, 0, "{link:?}");
    assert!(link.said.contains(&format!("{url}/#")), "{link:?}");
    let rules = run(sayso(&["rules", "--listen", address, "list"])).await;
    assert!(rules.said.contains("No rule yet"), "{rules:?}");
    let add = ["add", "allow", "Bash(ls:*)", "--project", "/no/such/folder"];
    let add = [&["rules", "--listen", address], &add[..]].concat();
    let nowhere = run(sayso(&add)).await;
    assert_eq!(
        nowhere.complained,
        "sayso: There is no folder /no/such/folder.\n"
    );
    let stranger = ["--token", "another-token-for-tests"];
    for command in [&["pair"][..], &["rules", "list"]] {
        let (name, rest) = command.split_at(1);
        let arguments = [name, &stranger[..], &["--listen", address], rest].concat();
        let refused = run(sayso(&arguments)).await;
        assert!(
            refused.complained.contains("--data-dir") && !refused.complained.contains("sayso pair"),
            "{refused:?}"
        );
    }
    // These read the data folder themselves.
    let folder = home.path().join(".local/share/sayso/demo");
    let folder = folder.display().to_string();
    let backup = home.path().join("copy.db").display().to_string();
    for arguments in [
        &["audit", "list"][..],
        &["audit", "export", "--format", "jsonl"],
        &["audit", "verify"],
        &["audit", "adopt"],
        &["backup", &backup],
    ] {
        let lost = run(sayso(arguments)).await;
        assert_ne!(lost.code, 0, "{lost:?}");
        let hint = format!("add --data-dir {folder:?}");
        assert!(lost.complained.contains(&hint), "{lost:?}");
    }
    let list = run(sayso(&["audit", "list", "--data-dir", &folder])).await;
    assert_eq!(list.code, 0, "{list:?}");
    let help = run(sayso(&["demo", "--help"])).await;
    assert!(
        help.said
            .contains("[default: demo in the platform's data folder]"),
        "{help:?}"
    );
    server.kill().await.unwrap();
}
