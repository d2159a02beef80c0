//! Whatever a client sends is data for the agent, or refused by name: never another argument, never a command.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod recorder;
mod support;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recorder::{Recorded, Recorder, start_with};
use serde_json::{Value, json};
use support::Client;

/// A file that no value below may bring about.
const CANARY: &str = "canary-that-sang";

/// Values that once were commands or options in programs of this kind.
fn hostile() -> Vec<String> {
    let mut values: Vec<String> = [
        "-p",
        "--dangerously-skip-permissions",
        "--resume",
        "$(touch CANARY)",
        "`touch CANARY`",
        "; touch CANARY",
        "' ; touch CANARY '",
        "\" && touch CANARY && \"",
        "x\ntouch CANARY",
        "x\0touch CANARY",
        "x --settings=y",
        "\u{202e}ünïcödé 例え",
        r#"--settings={"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch CANARY"}]}]}}"#,
    ]
    .iter()
    .map(|value| value.replace("CANARY", CANARY))
    .collect();
    values.push("x".repeat(1024 * 1024));
    values
}

/// What came of a start: how the agent saw itself, or the refusal.
enum Outcome {
    Started { session: String, agent: Recorded },
    Refused(Value),
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Socket,
    Rest,
}

async fn start(recorder: &Recorder, client: &mut Client, way: Way, mut body: Value) -> Outcome {
    let answer = match way {
        Way::Rest => recorder.post("/api/sessions", &body).await,
        Way::Socket => {
            body["type"] = json!("start_session");
            client.call(body).await
        }
    };
    let Some(session) = answer["session_id"].as_str() else {
        return Outcome::Refused(answer);
    };
    Outcome::Started {
        session: session.to_owned(),
        agent: record(recorder).await,
    }
}

async fn record(recorder: &Recorder) -> Recorded {
    let wait = async {
        loop {
            if let Some(agent) = recorder.take_records().pop() {
                return agent;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let agent = tokio::time::timeout(Duration::from_secs(60), wait).await;
    agent.unwrap()
}

/// Every argument, with the conversation's id left out.
fn arguments(agent: &Recorded) -> Vec<&str> {
    let arguments = agent.arguments.iter().map(|argument| {
        let id = argument.strip_prefix("--session-id=");
        match id.map(uuid::Uuid::parse_str) {
            Some(Ok(_)) => "--session-id=",
            Some(Err(_)) | None => argument,
        }
    });
    arguments.collect()
}

const USUAL: [&str; 8] = [
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--permission-prompt-tool=stdio",
    "--include-partial-messages",
    r#"--settings={"useAutoModeDuringPlan":false}"#,
    "--permission-mode=default",
    "--session-id=",
];

/// The usual ones, with the model where it stands.
fn with_model(model: &str) -> Vec<&str> {
    let (before, after) = USUAL.split_at(USUAL.len() - 1);
    [before, &[model], after].concat()
}

fn shown(value: &str) -> String {
    value.chars().take(60).collect()
}

async fn remove(client: &mut Client, session: &str) {
    let ack = client
        .call(json!({"type": "remove_session", "session_id": session}))
        .await;
    assert_eq!(ack["type"], "ack", "{ack}");
}

fn assert_no_canary(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        assert_ne!(entry.file_name(), CANARY, "in {}", folder.display());
        if entry.file_type().unwrap().is_dir() {
            assert_no_canary(&entry.path());
        }
    }
}

#[tokio::test]
async fn no_field_of_a_start_becomes_an_argument_or_a_command() {
    let recorder = Recorder::start(&[], "").await;
    let mut client = recorder.connect().await;
    for value in hostile() {
        let model = format!("--model={value}");
        let good_model = !value.starts_with('-') && !value.contains(char::is_control);
        let good_model = good_model && value.len() < 1000;
        // The field, what the agent is started with, and what a refusal must hold.
        let cases: [(&str, Option<Vec<&str>>, &str); 6] = [
            ("cwd", None, "folder_not_found"),
            ("agent", None, "agent_unavailable"),
            ("permission_mode", None, "`permission_mode`"),
            ("resume", None, "`resume`"),
            ("model", good_model.then(|| with_model(&model)), "`model`"),
            ("prompt", Some(USUAL.to_vec()), ""),
        ];
        for (field, expected, refusal) in cases {
            for way in [Way::Socket, Way::Rest] {
                let what = format!("{field} {} {way:?}", shown(&value));
                let body = start_with(&recorder, field, &json!(value));
                match start(&recorder, &mut client, way, body).await {
                    Outcome::Started { session, agent } => {
                        assert_eq!(Some(arguments(&agent)), expected, "{what}");
                        remove(&mut client, &session).await;
                    }
                    Outcome::Refused(error) => {
                        assert_eq!(expected, None, "{what}: {error}");
                        let error = error.to_string();
                        assert!(error.contains(refusal), "{what}: {}", shown(&error));
                    }
                }
            }
        }
    }
    assert!(recorder.take_records().is_empty(), "no other was started");
    assert_no_canary(recorder.folder.path());
    recorder.stop().await;
}

#[tokio::test]
async fn a_folder_of_any_name_is_where_the_agent_works_and_nothing_else() {
    let recorder = Recorder::start(&[], "").await;
    let mut client = recorder.connect().await;
    let project = recorder.path("project").canonicalize().unwrap();
    let names = hostile().into_iter();
    for name in names.filter(|name| name.len() < 256 && !name.contains('\0')) {
        let folder = project.join(&name);
        std::fs::create_dir(&folder).unwrap();
        for way in [Way::Socket, Way::Rest] {
            let body = start_with(&recorder, "cwd", &json!(folder));
            match start(&recorder, &mut client, way, body).await {
                Outcome::Started { session, agent } => {
                    assert_eq!(
                        (&agent.folder, arguments(&agent)),
                        (&folder, USUAL.to_vec())
                    );
                    remove(&mut client, &session).await;
                }
                Outcome::Refused(error) => assert_eq!(error, Value::Null, "{name}"),
            }
        }
    }
    assert_no_canary(recorder.folder.path());
    recorder.stop().await;
}

/// Otherwise one folder is looked at and the agent starts in the other.
#[tokio::test]
async fn a_folder_whose_name_is_not_unicode_is_not_taken_for_another_one() {
    let recorder = Recorder::start(&[], "").await;
    let mut client = recorder.connect().await;
    let project = recorder.path("project");
    let real = project.join(OsStr::from_bytes(b"name-\xff"));
    std::fs::create_dir(&real).unwrap();
    std::fs::create_dir(project.join("name-\u{fffd}")).unwrap();
    std::os::unix::fs::symlink(&real, project.join("link")).unwrap();
    let body = start_with(&recorder, "cwd", &json!(project.join("link")));
    match start(&recorder, &mut client, Way::Socket, body).await {
        Outcome::Started { agent, .. } => assert_eq!(agent.folder, real),
        Outcome::Refused(error) => {
            assert_eq!(error["code"], "folder_not_found");
            assert!(error["message"].as_str().unwrap().contains("Unicode"));
        }
    }
    recorder.stop().await;
}

#[tokio::test]
async fn what_a_session_is_called_later_reaches_no_command_line_either() {
    let recorder = Recorder::start(&[], "").await;
    let mut client = recorder.connect().await;
    let body = start_with(&recorder, "model", &json!("opus"));
    let Outcome::Started { session, .. } = start(&recorder, &mut client, Way::Socket, body).await
    else {
        return assert_eq!("started", "refused");
    };
    for value in hostile() {
        let title = json!({"type": "rename_session", "session_id": session, "title": value});
        let answer = client.call(title).await;
        let long = value.len() > 200;
        let expected = if long { "error" } else { "ack" };
        assert_eq!(answer["type"], expected, "{}", shown(&value));
        assert!(!long || answer["message"].as_str().unwrap().contains("`title`"));
        let model = json!({"type": "set_model", "session_id": session, "model": value});
        if value.starts_with('-') || value.contains(char::is_control) || long {
            let error = client.call(model).await;
            assert!(error["message"].as_str().unwrap().contains("`model`"));
        }
        // Ids in an address, too.
        let id: String = value
            .bytes()
            .take(300)
            .map(|byte| format!("%{byte:02x}"))
            .collect();
        let error = recorder
            .post(&format!("/api/sessions/{id}/stop"), &json!({}))
            .await;
        assert!(error["code"].is_string(), "{error}");
    }
    client
        .call(json!({"type": "stop_session", "session_id": session}))
        .await;
    client.state(&session, "dead").await;
    let mut body = start_with(&recorder, "resume", &json!(session));
    body["cwd"] = json!("--help");
    let Outcome::Started { agent, .. } = start(&recorder, &mut client, Way::Rest, body).await
    else {
        return assert_eq!("started", "refused");
    };
    assert_eq!(arguments(&agent), with_model("--model=opus"));
    assert_no_canary(recorder.folder.path());
    recorder.stop().await;
}

/// What the addresses of other front ends' sockets hold is no different.
#[tokio::test]
async fn no_field_of_a_front_ends_address_becomes_an_argument_or_a_command() {
    let recorder = Recorder::start(&[], "").await;
    let project = recorder.path("project").canonicalize().unwrap();
    let address = recorder.url.replacen("http", "ws", 1);
    let socket = async |fields: &[(&str, &str)]| {
        let mut url = reqwest::Url::parse(&format!("{address}/compat/twicc/ws")).unwrap();
        url.query_pairs_mut().extend_pairs(fields);
        let mut client = Client::at(url.as_str(), support::TOKEN).await;
        let message = json!({"type": "send_message", "text": "hello"});
        client.send_text(&message.to_string()).await;
        client
    };
    // Longer addresses are refused before anything looks at them.
    for value in hostile().iter().filter(|value| value.len() < 1000) {
        let cwd = project.display().to_string();
        for fields in [
            [("cwd", value.as_str()), ("agent", "claude")],
            [("cwd", cwd.as_str()), ("agent", value)],
        ] {
            let mut client = socket(&fields).await;
            let refused = client.wait_for(|frame| frame["type"] == "error").await;
            let code = refused["code"].as_str().unwrap();
            assert!(
                ["folder_not_found", "agent_unavailable"].contains(&code),
                "{refused}"
            );
        }
    }
    assert!(recorder.take_records().is_empty(), "none was started");
    let names = hostile().into_iter();
    for name in names.filter(|name| name.len() < 256 && !name.contains('\0')) {
        let folder = project.join(&name);
        std::fs::create_dir(&folder).unwrap();
        let cwd = folder.display().to_string();
        let _client = socket(&[("cwd", cwd.as_str()), ("agent", "claude")]).await;
        let agent = record(&recorder).await;
        assert_eq!(
            (&agent.folder, arguments(&agent)),
            (&folder, USUAL.to_vec())
        );
    }
    assert_no_canary(recorder.folder.path());
    recorder.stop().await;
}

/// Neither is what an old conversation says of itself: anybody can have written the file.
#[tokio::test]
async fn nothing_of_an_old_conversation_becomes_an_argument_or_a_command() {
    let recorder = Recorder::start(&[], "").await;
    let mut client = recorder.connect().await;
    let project = recorder.path("project").canonicalize().unwrap();
    let import = |cwd: &Value, id: &Value| json!({"type": "import_conversation", "cwd": cwd, "conversation_id": id});
    for value in hostile() {
        let nil = json!(uuid::Uuid::nil());
        let refused = client.call(import(&json!(value), &nil)).await;
        assert_eq!(refused["code"], "folder_not_found", "{}", shown(&value));
        let refused = client.call(import(&json!(project), &json!(value))).await;
        assert_eq!(refused["code"], "invalid_message", "{}", shown(&value));
    }
    let kept: String = project
        .display()
        .to_string()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    let kept = recorder.path("home").join(".claude/projects").join(kept);
    std::fs::create_dir_all(&kept).unwrap();
    for value in hostile().iter().filter(|value| value.len() < 1000) {
        let id = uuid::Uuid::new_v4();
        let said = |role: &str, content: Value| {
            json!({"type": role, "uuid": uuid::Uuid::new_v4(), "parentUuid": null, "sessionId": value, "cwd": value,
                "gitBranch": value, "version": value, "timestamp": "2026-01-01T00:00:00Z",
                "message": {"role": role, "id": value, "model": value, "content": content}})
        };
        let text = json!([{"type": "text", "text": value}]);
        let lines = [said("user", json!(value)), said("assistant", text)];
        let lines = lines.map(|line| format!("{line}\n")).concat();
        std::fs::write(kept.join(format!("{id}.jsonl")), lines).unwrap();
        let imported = client.call(import(&json!(project), &json!(id))).await;
        let session = imported["session_id"].as_str().unwrap();
        let body = start_with(&recorder, "resume", &json!(session));
        let expected: Vec<String> = match start(&recorder, &mut client, Way::Socket, body).await {
            Outcome::Started { agent, .. } => agent.arguments,
            Outcome::Refused(error) => {
                let text = error["message"].as_str().unwrap_or_default();
                assert!(text.contains("model"), "{}: {error}", shown(value));
                continue;
            }
        };
        let usual = |argument: &&String| {
            USUAL.contains(&argument.as_str())
                || **argument == format!("--resume={id}")
                || **argument == format!("--model={value}")
        };
        let strange: Vec<&String> = expected.iter().filter(|one| !usual(one)).collect();
        assert!(strange.is_empty(), "{}: {strange:?}", shown(value));
        remove(&mut client, session).await;
    }
    assert_no_canary(recorder.folder.path());
    recorder.stop().await;
}
