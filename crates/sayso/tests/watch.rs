//! What needs a terminal: `sayso watch` and the commands that ask, in a real one (tmux).

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod support;
mod tmux;

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use support::{Client, TOKEN, TestServer, bash, tool};
use tmux::Terminal;

/// Longer than a key must wait after something moved, and than a key that is kept down is ignored.
const SETTLED: Duration = Duration::from_millis(1100);

fn line(server: &TestServer, command: &str) -> String {
    format!(
        "env -i TERM=screen HOME='{}' SAYSO_LISTEN={} SAYSO_TOKEN={TOKEN} SAYSO_DATA_DIR='{}' '{}' {command}",
        server.folder.path().display(),
        server.address,
        server.folder.path().join("data").display(),
        env!("CARGO_BIN_EXE_sayso"),
    )
}

fn watch(server: &TestServer, columns: u16, rows: u16) -> Terminal {
    Terminal::run(columns, rows, &line(server, "watch"))
}

fn short(request: &Value) -> &str {
    let id = request["request_id"].as_str().unwrap();
    &id[id.len() - 4..]
}

async fn asked(client: &mut Client, server: &TestServer, command: &str) -> Value {
    client.start(server, &bash(command)).await;
    client.opened().await
}

async fn settle() {
    tokio::time::sleep(SETTLED).await;
}

/// The line that keys act on.
fn chosen(screen: &str) -> &str {
    let mut lines = screen.lines();
    lines.find(|line| line.starts_with('▸')).unwrap_or_default()
}

#[tokio::test]
async fn requests_are_allowed_denied_and_answered_with_keys() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let terminal = watch(&server, 80, 24);
    terminal.shows("Nothing waits for you").await;

    let first = asked(&mut client, &server, "touch made").await;
    terminal.shows("Bash  touch made").await;
    settle().await;
    terminal.press(&["a"]);
    let open = terminal.shows("Run a command").await;
    assert!(open.contains("│ touch made"), "{open}");
    settle().await;
    terminal.press(&["a"]);
    let outcome = client.closed(&first).await;
    assert_eq!(outcome["what"], "allowed");
    assert_eq!(outcome["client"]["label"], "a terminal");
    terminal.shows("Allowed by you in a terminal").await;

    let second = asked(&mut client, &server, "touch unwanted").await;
    terminal.shows("touch unwanted").await;
    settle().await;
    terminal.press(&["d"]);
    terminal.shows("Why?").await;
    terminal.press(&["Not in here", "Enter"]);
    let outcome = client.closed(&second).await;
    assert_eq!(outcome["what"], "denied");
    assert_eq!(outcome["message"], "Not in here");

    let risky = asked(&mut client, &server, "rm -rf build").await;
    terminal.shows("! Bash  rm -rf build").await;
    settle().await;
    terminal.press(&["Enter"]);
    terminal.shows("it deletes files").await;
    settle().await;
    terminal.press(&["a"]);
    terminal.shows("Type allow to allow it").await;
    terminal.press(&["y", "Enter"]);
    terminal.shows("not the word allow").await;
    settle().await;
    terminal.press(&["a"]);
    terminal.shows("Type allow to allow it").await;
    terminal.press(&["allow", "Enter"]);
    assert_eq!(client.closed(&risky).await["what"], "allowed");

    let question = json!({"steps": [{"question": {"questions": [
        {"question": "Which colour?", "header": "Colour", "multiSelect": false,
         "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]},
        {"question": "What for?", "header": "Use", "multiSelect": true,
         "options": [{"label": "Walls", "description": ""}, {"label": "Doors", "description": ""}]},
    ]}}]});
    client.start(&server, &question).await;
    let question = client.opened().await;
    terminal.shows("Question  Which colour?").await;
    settle().await;
    terminal.press(&["a"]);
    terminal.shows("2  Blue").await;
    settle().await;
    terminal.press(&["a"]);
    terminal.shows("1 of 2: Which colour?").await;
    terminal.press(&["2", "Enter"]);
    terminal.shows("2 of 2: What for?").await;
    terminal.press(&["1,2", "Enter"]);
    assert_eq!(client.closed(&question).await["what"], "answered");
    terminal.shows("Answered by you").await;

    let stopped = asked(&mut client, &server, "touch never").await;
    terminal.shows("touch never").await;
    settle().await;
    terminal.press(&["s"]);
    terminal.shows("and stop the agent").await;
    terminal.press(&["Enter"]);
    assert_eq!(client.closed(&stopped).await["what"], "denied");
    client
        .turn_over(stopped["session_id"].as_str().unwrap())
        .await;

    // The terminal is given back as it was.
    terminal.shows("Nothing waits for you").await;
    terminal.press(&["q"]);
    let end = terminal.shows("the terminal is as it was").await;
    assert!(end.contains("ended with 0"), "{end}");
    assert!(!end.contains("Nothing waits"), "{end}");
    server.stop().await;
}

#[tokio::test]
async fn a_key_meant_for_something_else_decides_nothing() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let first = asked(&mut client, &server, "touch a").await;
    let second = asked(&mut client, &server, "touch b").await;
    let terminal = watch(&server, 80, 24);
    terminal.shows("touch b").await;
    settle().await;
    // One more comes and goes at the end: what is chosen stays where it is.
    let before = terminal.screen();
    assert!(chosen(&before).contains(short(&first)), "{before}");
    asked(&mut client, &server, "touch c").await;
    let after = terminal.shows("touch c").await;
    assert!(chosen(&after).contains(short(&first)), "{after}");

    // Kept down, it opens one and decides none.
    terminal.press(&["a"]);
    terminal.shows("│ touch a").await;
    for _ in 0..20 {
        terminal.press(&["a"]);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let screen = terminal.shows("Too quick to be meant").await;
    assert!(screen.contains("Sayso  3 wait"), "{screen}");

    // Somebody else decides what is open here: the next one does not take the keys that were on their way.
    client.respond(&first, json!({"behavior": "deny"})).await;
    terminal.shows("Denied by a script").await;
    terminal.press(&["d"]);
    let screen = terminal.screen();
    assert!(!screen.contains("Why?"), "{screen}");
    assert!(chosen(&screen).contains(short(&second)), "{screen}");

    // The same while a reason is being typed: it is not about the next one.
    settle().await;
    terminal.press(&["d"]);
    terminal.shows(&format!("Deny {}", short(&second))).await;
    client.respond(&second, json!({"behavior": "deny"})).await;
    terminal.hides("Why?").await;
    terminal.press(&["Enter"]);
    terminal.shows("Sayso  1 wait").await;

    // What is pasted is text, not keys.
    settle().await;
    terminal.press(&["Escape"]);
    terminal.paste("aad\nallow\nq");
    settle().await;
    let screen = terminal.shows("Sayso  1 wait").await;
    assert!(!screen.contains("Why?"), "{screen}");
    server.stop().await;
}

#[tokio::test]
async fn enter_opens_and_a_allows_without_a_second_of_waiting() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let request = asked(&mut client, &server, "touch a").await;
    let terminal = watch(&server, 80, 24);
    terminal.shows("touch a").await;
    settle().await;
    terminal.press(&["Enter"]);
    terminal.shows("│ touch a").await;
    terminal.press(&["Enter"]);
    terminal.shows("Press a to allow it").await;
    // What was said about the open one is not about the list.
    terminal.press(&["q"]);
    terminal.hides("Press a to allow it").await;
    settle().await;
    terminal.press(&["Enter"]);
    terminal.shows("│ touch a").await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    terminal.press(&["a"]);
    assert_eq!(client.closed(&request).await["what"], "allowed");
    server.stop().await;
}

#[tokio::test]
async fn a_long_request_is_read_to_its_end_before_it_is_allowed() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let content: String = (1..=60).map(|number| format!("line {number}\n")).collect();
    let write = json!({"file_path": server.project().join("long.txt"), "content": content});
    client
        .start(&server, &json!({"steps": [tool("Write", write)]}))
        .await;
    let request = client.opened().await;
    let terminal = watch(&server, 40, 20);
    terminal.shows("Write").await;
    settle().await;
    terminal.press(&["Enter"]);
    terminal.shows("more rows below").await;
    // A jump to the end is not reading.
    terminal.press(&["G"]);
    terminal.shows("+ line 60").await;
    settle().await;
    terminal.press(&["a"]);
    terminal.shows("There is more of it").await;
    for _ in 0..8 {
        terminal.press(&["Space"]);
    }
    terminal.shows("The file is new").await;
    settle().await;
    terminal.press(&["a"]);
    assert_eq!(client.closed(&request).await["what"], "allowed");
    server.stop().await;
}

#[tokio::test]
async fn the_end_of_a_request_stays_in_view_while_its_word_is_typed() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let harmless = "echo one and two and three and four; ".repeat(6);
    asked(&mut client, &server, &format!("{harmless} rm -rf the-end")).await;
    let terminal = watch(&server, 40, 16);
    terminal.shows("! Bash").await;
    settle().await;
    terminal.press(&["Enter"]);
    for _ in 0..4 {
        terminal.press(&["Space"]);
    }
    terminal.shows("-- the end --").await;
    settle().await;
    terminal.press(&["a"]);
    let screen = terminal.shows("Type allow").await;
    assert!(screen.contains("┆ rm -rf the-end"), "{screen}");
    server.stop().await;
}

#[tokio::test]
async fn it_fits_a_phone_and_follows_the_size() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    asked(
        &mut client,
        &server,
        "echo a rather long command that no phone shows in one row",
    )
    .await;
    let terminal = watch(&server, 40, 16);
    let screen = terminal.shows("  Bash  echo a rather long command").await;
    assert!(
        screen.contains("Enter open a allow d deny ? help q quit"),
        "{screen}"
    );
    assert!(
        screen.lines().all(|line| line.chars().count() <= 40),
        "{screen}"
    );
    terminal.press(&["?"]);
    let screen = terminal.shows("any key goes back").await;
    assert!(screen.contains("Ctrl+C"), "{screen}");
    terminal.press(&["x"]);
    terminal.resize(80, 24);
    terminal.shows("s stop  h hold  ? help  q quit").await;
    terminal.press(&["Enter"]);
    terminal.shows("in one row").await;
    for (columns, rows) in [(20, 5), (10, 2), (80, 24)] {
        terminal.resize(columns, rows);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    terminal.shows("Run a command").await;
    terminal.press(&["C-c"]);
    terminal.shows("ended with 0").await;
    server.stop().await;
}

#[tokio::test]
async fn it_comes_back_with_the_server_and_says_so() {
    let mut folder = tempfile::tempdir().unwrap();
    // The next server is asked for at the same address.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let server = TestServer::open(folder, |config| config.listen = address).await;
    let mut client = server.connect().await;
    asked(&mut client, &server, "touch before").await;
    let terminal = watch(&server, 80, 24);
    terminal.shows("touch before").await;
    drop(client);
    folder = server.stop().await;
    let screen = terminal.shows("The connection is lost").await;
    assert!(screen.contains("connecting…"), "{screen}");
    let server = TestServer::open(folder, |config| config.listen = address).await;
    terminal.shows("Connected again").await;
    let mut client = server.connect().await;
    let request = asked(&mut client, &server, "touch after").await;
    terminal.shows("touch after").await;
    settle().await;
    terminal.press(&["d"]);
    terminal.shows("Why?").await;
    terminal.press(&["Enter"]);
    assert_eq!(client.closed(&request).await["what"], "denied");
    server.stop().await;
}

#[tokio::test]
async fn a_fault_of_its_own_gives_the_terminal_back() {
    let server = TestServer::start().await;
    let faults = server.folder.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let watch = line(&server, "watch");
    let watch = watch.replacen(
        "env -i",
        &format!("env -i SAYSO_TEST_FAULTS='{}'", faults.display()),
        1,
    );
    let terminal = Terminal::run(80, 24, &watch);
    terminal.shows("Nothing waits for you").await;
    std::fs::write(faults.join("watch"), "").unwrap();
    let end = terminal.shows("the terminal is as it was").await;
    assert!(end.contains("the fault watch was provoked"), "{end}");
    assert!(!end.contains("Nothing waits"), "{end}");
    server.stop().await;
}

#[tokio::test]
async fn the_password_is_typed_unseen() {
    let server = TestServer::start().await;
    let body = json!({"new": "correct horse"});
    let set = reqwest::Client::new().post(server.url("/api/password"));
    let set = set.bearer_auth(TOKEN).json(&body).send().await;
    assert!(set.unwrap().status().is_success());
    let mut client = server.connect().await;
    let request = asked(&mut client, &server, "rm -rf build").await;
    let terminal = watch(&server, 80, 24);
    terminal.shows("rm -rf build").await;
    settle().await;
    terminal.press(&["Enter"]);
    settle().await;
    terminal.press(&["a"]);
    terminal.shows("Type allow").await;
    terminal.press(&["allow", "Enter"]);
    terminal.shows("asks for your password").await;
    terminal.press(&["wrong", "Enter"]);
    terminal
        .until("the refusal", |screen| {
            screen.contains("password") && !screen.contains("*****")
        })
        .await;
    terminal.press(&["correct horse"]);
    let screen = terminal.shows("> *************").await;
    assert!(!screen.contains("horse"), "{screen}");
    terminal.press(&["Enter"]);
    assert_eq!(client.closed(&request).await["what"], "allowed");
    server.stop().await;
}

#[tokio::test]
async fn the_single_commands_ask_at_a_terminal() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let request = asked(&mut client, &server, "touch a").await;
    let allow = format!("allow {}", short(&request));
    let terminal = Terminal::run(80, 24, &line(&server, &allow));
    let screen = terminal.shows("Allow it? [y/N]").await;
    assert!(screen.contains("│ touch a"), "{screen}");
    terminal.press(&["Enter"]);
    terminal.shows("ended with 8").await;
    let terminal = Terminal::run(80, 24, &line(&server, &allow));
    terminal.shows("Allow it? [y/N]").await;
    terminal.press(&["y", "Enter"]);
    terminal.shows("ended with 0").await;
    assert_eq!(
        client.closed(&request).await["client"]["label"],
        "a terminal"
    );

    let body = json!({"new": "correct horse"});
    let set = reqwest::Client::new().post(server.url("/api/password"));
    set.bearer_auth(TOKEN).json(&body).send().await.unwrap();
    let request = asked(&mut client, &server, "rm -rf build").await;
    let allow = format!("allow {}", short(&request));
    let terminal = Terminal::run(80, 24, &line(&server, &allow));
    terminal.shows("Type allow to allow it:").await;
    terminal.press(&["y", "Enter"]);
    terminal.shows("ended with 8").await;
    let terminal = Terminal::run(80, 24, &line(&server, &allow));
    terminal.shows("Type allow to allow it:").await;
    terminal.press(&["allow", "Enter"]);
    terminal.shows("asks for your password:").await;
    terminal.press(&["correct horse", "Enter"]);
    let screen = terminal.shows("ended with 0").await;
    assert!(!screen.contains("horse"), "{screen}");
    assert_eq!(client.closed(&request).await["what"], "allowed");

    let question = json!({"steps": [{"question": {"questions": [
        {"question": "Which colour?", "header": "Colour", "multiSelect": false,
         "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]},
    ]}}]});
    client.start(&server, &question).await;
    let question = client.opened().await;
    let answer = format!("answer {}", short(&question));
    let terminal = Terminal::run(40, 24, &line(&server, &answer));
    terminal.shows("Which colour? (a number").await;
    terminal.press(&["7", "Enter"]);
    terminal.shows("There is no number 7").await;
    terminal.press(&["2", "Enter"]);
    terminal.shows("ended with 0").await;
    assert_eq!(client.closed(&question).await["what"], "answered");
    server.stop().await;
}

#[tokio::test]
async fn an_approved_plan_leads_to_the_mode_that_was_chosen() {
    let server = TestServer::start().await;
    let mut client = server.connect().await;
    let terminal = watch(&server, 100, 24);
    terminal.shows("Nothing waits for you").await;
    let plan = json!({"steps": [{"plan": "# Paint the door\n\n1. Sand it"}]});
    client.start(&server, &plan).await;
    let request = client.opened().await;
    terminal.shows("Paint the door").await;
    settle().await;
    terminal.press(&["a"]);
    terminal.shows("Sand it").await;
    settle().await;
    terminal.press(&["a"]);
    let asked = terminal.shows("and then?").await;
    assert!(asked.contains("2 Accept edits"), "{asked}");
    assert!(!asked.contains("Bypass"), "{asked}");
    terminal.press(&["7", "Enter"]);
    terminal.shows("Type a number from 1 to").await;
    terminal.press(&["2", "Enter"]);
    assert_eq!(client.closed(&request).await["what"], "allowed");
    let accepts = |message: &Value| message["session"]["permission_mode"] == "acceptEdits";
    client.wait_for(accepts).await;
    server.stop().await;
}
