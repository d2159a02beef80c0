//! Rules: what they answer, what they leave to the human, and how they are kept.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;

use pretty_assertions::assert_eq;
use sayso::config::PolicySettings;
use serde_json::{Value, json};
use support::{Client, TOKEN, TestServer, bash, tool_result};

async fn add(client: &mut Client, rule: &str, effect: &str, more: Value) -> Value {
    let mut message = json!({
        "type": "add_rule", "rule": rule, "effect": effect, "scope": {"kind": "everywhere"},
    });
    for (key, value) in more.as_object().unwrap() {
        message[key] = value.clone();
    }
    client.call(message).await
}

async fn post(server: &TestServer, path: &str, body: &Value) -> (u16, Value) {
    let ask = reqwest::Client::new()
        .post(server.url(path))
        .bearer_auth(TOKEN);
    let answer = ask.json(body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn steps(commands: &[&str]) -> Value {
    let step = |command: &&str| json!({"tool": {"name": "Bash", "input": {"command": command}}});
    json!({"steps": commands.iter().map(step).collect::<Vec<_>>()})
}

#[tokio::test]
async fn a_rule_answers_in_a_humans_place_and_is_on_record() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let ack = add(&mut client, "Bash(touch a.txt)", "allow", json!({})).await;
    let rule = ack["rule_id"].as_str().unwrap().to_owned();
    let session = client.start(&server, &bash("touch a.txt")).await;
    client.subscribe(&session).await;
    let decision = client
        .entry(&session, |entry| entry["kind"] == "decision")
        .await;
    let outcome = &decision["outcome"];
    assert_eq!(
        (&outcome["what"], &outcome["by"]),
        (&json!("allowed"), &json!("rule"))
    );
    assert_eq!(outcome["by_name"], "Bash(touch a.txt)");
    client
        .entry(&session, |entry| entry["kind"] == "tool_result")
        .await;
    assert!(server.project().join("a.txt").exists());
    let counted = client
        .wait_for(|frame| frame["type"] == "rule_used" && frame["rule"]["hits"] == 1)
        .await;
    assert_eq!(counted["rule"]["rule_id"], rule.as_str());
    let seen = client.take_seen();
    assert!(seen.iter().all(|frame| frame["type"] != "request_opened"));
    server.stop().await;
}

#[tokio::test]
async fn a_refusal_by_rule_reaches_the_agent_with_its_reason() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let more = json!({"reason": "We use the package manager."});
    add(&mut client, "Bash(curl:*)", "deny", more).await;
    let session = client.start(&server, &bash("ls && curl example.org")).await;
    client.subscribe(&session).await;
    assert_eq!(
        tool_result(&mut client, &session).await,
        "We use the package manager."
    );
    server.stop().await;
}

#[tokio::test]
async fn what_a_rule_denies_nobody_gets_by_editing_a_call() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let more = json!({"reason": "Not from here."});
    add(&mut client, "Bash(curl:*)", "deny", more).await;
    add(&mut client, "Read(.env)", "deny", json!({})).await;
    let session = client.start(&server, &bash("touch a.txt")).await;
    let request = client.opened().await;
    std::os::unix::fs::symlink(".env", server.project().join("harmless")).unwrap();
    let edit = |command: &str| json!({"behavior": "allow", "updated_input": {"command": command}});
    for (command, rule) in [
        ("touch a.txt; curl example.org", "Bash(curl:*)"),
        ("touch a.txt && $(curl example.org)", "Bash(curl:*)"),
        ("cat .env", "Read(.env)"),
        ("cat harmless", "Read(.env)"),
    ] {
        let refused = client.respond(&request, edit(command)).await;
        assert_eq!(refused["code"], "denied_by_rule", "{command} {refused}");
        assert_eq!(refused["request_id"], request["request_id"]);
        let text = refused["message"].as_str().unwrap();
        assert!(text.contains(rule), "{text}");
    }
    let path = format!(
        "/api/requests/{}/decision",
        request["request_id"].as_str().unwrap()
    );
    let body = json!({"input_digest": request["input_digest"],
        "decision": edit("curl example.org")});
    let (status, refused) = post(&server, &path, &body).await;
    assert_eq!((status, &refused["code"]), (409, &json!("denied_by_rule")));
    let text = refused["message"].as_str().unwrap();
    assert!(text.ends_with("Not from here."), "{text}");
    let done = client.respond(&request, edit("touch b.txt")).await;
    assert_eq!(done["type"], "ack", "still open: {done}");
    client.turn_over(&session).await;
    assert!(server.project().join("b.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_part_without_a_rule_is_asked_and_named() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    add(&mut client, "Bash(touch:*)", "allow", json!({})).await;
    client.start(&server, &bash("touch a.txt && mkdir b")).await;
    let request = client.opened().await;
    let why = request["rule_explanation"].as_str().unwrap();
    assert!(why.contains("mkdir b") && !why.contains("touch"), "{why}");
    server.stop().await;
}

#[tokio::test]
async fn a_rule_for_one_use_answers_once() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    add(
        &mut client,
        "Bash(touch a.txt)",
        "allow",
        json!({"uses": 1}),
    )
    .await;
    client
        .start(&server, &steps(&["touch a.txt", "touch a.txt"]))
        .await;
    let request = client.opened().await;
    assert!(server.project().join("a.txt").exists(), "the first one ran");
    assert_eq!(request["tool_input"]["command"], "touch a.txt");
    server.stop().await;
}

#[tokio::test]
async fn questions_are_never_answered_by_a_rule() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    add(
        &mut client,
        "AskUserQuestion",
        "allow",
        json!({"confirm_broad": true}),
    )
    .await;
    let question =
        json!({"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]});
    client
        .start(&server, &json!({"steps": [{ "question": question }]}))
        .await;
    assert_eq!(client.opened().await["request_type"], "ask_user_question");
    server.stop().await;
}

#[tokio::test]
async fn i3_what_somebody_wants_to_be_asked_about_no_rule_allows() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    add(&mut client, "Bash(touch:*)", "allow", json!({})).await;
    for reason in [
        "mode",
        "hook",
        "rule",
        "safetyCheck",
        "sandboxOverride",
        "from_the_future",
    ] {
        let request = json!({"decision_reason_type": reason});
        let input = json!({"command": "touch guarded.txt"});
        let step = json!({"tool": {"name": "Bash", "input": input, "request": request}});
        client.start(&server, &json!({ "steps": [step] })).await;
        let asked = client.opened().await;
        assert_eq!(asked["decision_reason_type"], reason);
        client.respond(&asked, json!({"behavior": "deny"})).await;
        client.closed(&asked).await;
    }
    assert!(!server.project().join("guarded.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn what_is_no_good_rule_is_refused_with_the_reason() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let allow = "allow";
    for (rule, more, code, part) in [
        ("Bash(", json!({}), "invalid_rule", "field `rule`"),
        (
            "Bash(ls)",
            json!({"uses": 0}),
            "invalid_rule",
            "field `uses`",
        ),
        (
            "Bash(ls)",
            json!({"matches": ["ls -l"]}),
            "invalid_rule",
            "does not match",
        ),
        (
            "Bash(ls:*)",
            json!({"matches_not": ["ls -l"]}),
            "invalid_rule",
            "matches",
        ),
        (
            "Bash(ls)",
            json!({"scope": {"kind": "project", "path": "x"}}),
            "invalid_rule",
            "scope",
        ),
        (
            "Bash(sudo:*)",
            json!({}),
            "rule_too_broad",
            "wider than it looks",
        ),
    ] {
        let error = add(&mut client, rule, allow, more).await;
        assert_eq!(error["code"], code, "{rule}: {error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    let scope =
        json!({"scope": {"kind": "session", "session_id": "00000000-0000-4000-8000-000000000000"}});
    let error = add(&mut client, "Bash(ls)", allow, scope).await;
    assert_eq!(error["code"], "unknown_session", "{error}");
    let confirmed = add(
        &mut client,
        "Bash(sudo:*)",
        allow,
        json!({"confirm_broad": true}),
    )
    .await;
    assert_eq!(confirmed["type"], "ack", "{confirmed}");
    server.stop().await;
}

#[tokio::test]
async fn a_new_rule_decides_only_the_open_requests_that_were_named() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &bash("touch first.txt")).await;
    let first = client.opened().await;
    client.start(&server, &bash("touch second.txt")).await;
    let second = client.opened().await;

    let wanted = json!({
        "rule": "Bash(touch:*)", "effect": "allow", "scope": {"kind": "everywhere"},
        "session_id": first["session_id"],
    });
    let (_, tried) = post(&server, "/api/rules/try", &wanted).await;
    assert_eq!(tried["covers"].as_array().unwrap().len(), 2, "{tried}");
    assert_eq!(tried["would_match"][0]["subject"], "touch first.txt");

    let more = json!({"decide": [first["request_id"]]});
    add(&mut client, "Bash(touch:*)", "allow", more).await;
    let outcome = client.closed(&first).await;
    assert_eq!(
        (&outcome["what"], &outcome["by"]),
        (&json!("allowed"), &json!("rule"))
    );
    let ack = client.respond(&second, json!({"behavior": "deny"})).await;
    assert_eq!(ack["type"], "ack", "the other is still open: {ack}");
    assert!(!server.project().join("second.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn rules_that_belong_together_are_tried_together() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client.start(&server, &bash("touch a.txt && mkdir b")).await;
    let request = client.opened().await;
    let session = &request["session_id"];
    for (with, covers) in [
        (json!([]), json!([])),
        (json!(["Bash(mkdir:*)"]), json!([request["request_id"]])),
    ] {
        let wanted = json!({
            "rule": "Bash(touch:*)", "with": with, "effect": "allow",
            "scope": {"kind": "everywhere"}, "session_id": session,
        });
        let (_, tried) = post(&server, "/api/rules/try", &wanted).await;
        assert_eq!(tried["covers"], covers, "{tried}");
        assert_eq!(
            tried["would_match"].as_array().unwrap().len(),
            covers.as_array().unwrap().len()
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn rules_are_changed_switched_off_and_removed() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let ack = add(&mut client, "Bash(touch a.txt)", "allow", json!({})).await;
    let id = &ack["rule_id"];
    let rule =
        json!({"rule": "Bash(touch b.txt)", "effect": "allow", "scope": {"kind": "everywhere"}});
    let update = json!({"type": "update_rule", "rule_id": id, "rule": rule});
    assert_eq!(client.call(update).await["type"], "ack");
    let off = json!({"type": "enable_rule", "rule_id": id, "enabled": false});
    assert_eq!(client.call(off).await["type"], "ack");
    client.start(&server, &bash("touch b.txt")).await;
    client.opened().await;
    let remove = json!({"type": "remove_rule", "rule_id": id});
    assert_eq!(client.call(remove.clone()).await["type"], "ack");
    assert_eq!(client.call(remove).await["code"], "unknown_rule");
    server.stop().await;
}

#[tokio::test]
async fn what_could_be_remembered_and_why_something_is_asked() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    client
        .start(&server, &bash("npm test -- login && git status"))
        .await;
    let request = client.opened().await;
    let url = server.url(&format!(
        "/api/requests/{}/rules",
        request["request_id"].as_str().unwrap()
    ));
    let answer = reqwest::Client::new()
        .get(url)
        .bearer_auth(TOKEN)
        .send()
        .await
        .unwrap();
    let found: Value = answer.json().await.unwrap();
    let kinds: Vec<&Value> = found["suggestions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|suggestion| &suggestion["kind"])
        .collect();
    assert!(
        kinds.contains(&&json!("exact")) && kinds.contains(&&json!("prefix")),
        "{found}"
    );

    add(&mut client, "Bash(git status)", "allow", json!({})).await;
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "git status; rm -rf x"}, "cwd": server.project()});
    let (status, tested) = post(&server, "/api/rules/test", &call).await;
    assert_eq!(
        (status, &tested["decision"]),
        (200, &json!("ask")),
        "{tested}"
    );
    assert!(tested["explanation"].as_str().unwrap().contains("rm -rf x"));
    assert_eq!(tested["risks"][0]["kind"], "deletes");
    server.stop().await;
}

#[tokio::test]
async fn rules_outlive_the_server_and_a_sessions_rules_end_with_it() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let session = client.start(&server, &json!("Hello")).await;
    add(&mut client, "Bash(touch a.txt)", "allow", json!({})).await;
    let own = json!({"scope": {"kind": "session", "session_id": session}});
    add(&mut client, "Bash(touch b.txt)", "allow", own).await;
    client
        .call(json!({"type": "remove_session", "session_id": session}))
        .await;
    client.close().await;
    let folder = server.stop().await;
    let server = TestServer::start_in(folder, PolicySettings::default()).await;
    let client = server.connect().await;
    let rules = client.welcome["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert_eq!(rules[0]["rule"], "Bash(touch a.txt)");
    server.stop().await;
}

/// Runs `sayso rules` against the server, as in a terminal.
async fn terminal(server: &TestServer, arguments: &[&str]) -> (bool, String) {
    let address = server.url("").replace("http://", "");
    let home = tempfile::tempdir().unwrap();
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_sayso"))
        .arg("rules")
        .args(arguments)
        .env_clear()
        .env("HOME", home.path())
        .env("SAYSO_LISTEN", address)
        .env("SAYSO_TOKEN", TOKEN)
        .current_dir(server.project())
        .output()
        .await
        .unwrap();
    let text = if output.status.success() {
        output.stdout
    } else {
        output.stderr
    };
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn rules_are_made_and_tried_from_a_terminal() {
    let server = TestServer::start().await;
    let (_, empty) = terminal(&server, &["list"]).await;
    assert!(empty.contains("No rule yet"), "{empty}");
    let add = [
        "add",
        "allow",
        "Bash(npm test:*)",
        "--project",
        ".",
        "--uses",
        "3",
    ];
    let (added, id) = terminal(&server, &add).await;
    assert!(added, "{id}");
    let (_, listed) = terminal(&server, &["list"]).await;
    for part in [
        "allow",
        "Bash(npm test:*)",
        "3 uses left",
        "0 hits",
        id.trim(),
    ] {
        assert!(listed.contains(part), "{part} in {listed}");
    }
    let (_, tested) = terminal(&server, &["test", "npm test && rm -rf x"]).await;
    assert!(
        tested.starts_with("ask: ") && tested.contains("deletes: rm -rf x"),
        "{tested}"
    );
    let (added, why) = terminal(&server, &["add", "allow", "Bash(sudo:*)"]).await;
    assert!(!added && why.contains("wider than it looks"), "{why}");
    let (removed, _) = terminal(&server, &["remove", "Bash(npm test:*)"]).await;
    assert!(removed);
    let (removed, why) = terminal(&server, &["remove", "Bash(npm test:*)"]).await;
    assert!(!removed && why.contains("There is no rule"), "{why}");
    server.stop().await;
}
