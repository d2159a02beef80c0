//! What the program says and does before it serves.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

use std::path::Path;
use std::process::{Command, Output};

use pretty_assertions::assert_eq;
use sayso::config::{Config, Overrides};

/// Runs `sayso` with nothing of the surroundings but a home of its own.
fn sayso(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/nowhere")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_names_the_commands_and_what_a_newcomer_does_first() {
    let home = tempfile::tempdir().unwrap();
    let output = sayso(home.path(), &["--help"], &[]);
    let help = text(&output.stdout);
    for part in [
        "serve",
        "demo",
        "doctor",
        "--listen",
        "SAYSO_TOKEN",
        "no API key",
    ] {
        assert!(help.contains(part), "{part} is missing:\n{help}");
    }
    assert!(!help.contains("fake-claude"), "{help}");
}

#[test]
fn doctor_says_what_is_missing_and_how_to_mend_it() {
    let home = tempfile::tempdir().unwrap();
    let output = sayso(home.path(), &["doctor", "--listen", "127.0.0.1:0"], &[]);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{report}");
    assert!(
        report.contains("npm install -g @anthropic-ai/claude-code"),
        "{report}"
    );
    assert!(report.contains("sayso demo"), "{report}");
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let folder = file.join("data").display().to_string();
    let output = sayso(home.path(), &["doctor", "--data-dir", &folder], &[]);
    assert!(!output.status.success());
    assert!(
        text(&output.stdout).contains("BROKEN"),
        "a folder that cannot be made"
    );
}

#[test]
fn a_bad_start_ends_with_one_clear_sentence() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(
        data.join("sayso.db"),
        "this is a letter to a friend, not a database",
    )
    .unwrap();
    let data = data.display().to_string();
    let config = home.path().join("sayso.toml");
    std::fs::write(&config, "listne = '127.0.0.1:1'").unwrap();
    let config = config.display().to_string();
    let cases: [(&[&str], &str); 6] = [
        (
            // It logs that others can see the token.
            &[
                "--listen",
                "127.0.0.1:0",
                "--data-dir",
                &data,
                "--token",
                "some-long-test-token",
            ],
            "sayso.db",
        ),
        (&["--config", &config], "listne"),
        (&["--config", "/nowhere/sayso.toml"], "/nowhere/sayso.toml"),
        (&["--listen", "0.0.0.0:0"], "--behind-proxy"),
        (&["--token", "short"], "at least 16 characters"),
        (&["--listen", "here"], "--listen"),
    ];
    for (arguments, part) in cases {
        let output = sayso(home.path(), arguments, &[]);
        let told = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(told.contains(part), "{arguments:?}: {told}");
        assert!(!told.contains("panicked"), "{told}");
        assert!(!told.contains('\u{1b}'), "a pipe has no colours: {told:?}");
    }
    let kept = std::fs::read(home.path().join("data/sayso.db")).unwrap();
    assert_eq!(
        kept, b"this is a letter to a friend, not a database",
        "never replaced"
    );
}

/// The refusals come before anything is bound: for no moment is there a port that others could reach.
#[test]
fn beyond_this_machine_it_starts_only_with_encryption_a_name_and_a_paired_browser() {
    let home = tempfile::tempdir().unwrap();
    let host = ["--allow-host", "box.example"];
    let cases: [(&[&str], &str); 6] = [
        (&[], "--tls self-signed"),
        (&host, "--tls self-signed"),
        (&["--tls", "self-signed"], "--allow-host"),
        (&["--behind-proxy"], "--allow-host"),
        (
            &["--tls", "self-signed", host[0], host[1]],
            "No device is paired",
        ),
        (&["--behind-proxy", host[0], host[1]], "No device is paired"),
    ];
    for (arguments, part) in cases {
        let arguments = [&["--listen", "0.0.0.0:0"], arguments].concat();
        let output = sayso(home.path(), &arguments, &[]);
        let told = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let (certificate, key) = (home.path().join("own.pem"), home.path().join("own.key"));
    let made = rcgen::generate_simple_self_signed(vec!["box.example".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let files = [certificate.display().to_string(), key.display().to_string()];
    for mode in [0o644, 0o604, 0o620, 0o666] {
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
        let start = ["--listen", "127.0.0.1:0", "--tls-cert", &files[0]];
        let arguments = [&start[..], &["--tls-key", &files[1]]].concat();
        let output = sayso(home.path(), &arguments, &[]);
        let told = text(&output.stderr);
        assert!(!output.status.success(), "{mode:o}");
        assert!(told.contains("chmod") && told.contains("own.key"), "{told}");
    }
}

#[test]
fn flags_win_over_the_file_and_the_file_over_the_defaults() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("sayso.toml");
    let toml = "listen = '127.0.0.1:1111'\ndata_dir = '/from/file'\n[policies]\ntimeout = 'never'\nquestion_timeout = '1h'\n";
    std::fs::write(&file, toml).unwrap();
    let overrides = Overrides {
        listen: Some("127.0.0.1:2222".parse().unwrap()),
        ..Overrides::default()
    };
    let config = Config::load(Some(&file), &overrides).unwrap();
    assert_eq!(config.listen.port(), 2222);
    assert_eq!(config.data_dir, Path::new("/from/file"));
    assert_eq!(config.default_agent, "claude");
    let policies = config.policies.policies();
    assert_eq!(policies.tool_timeout, None);
    assert_eq!(
        policies.question_timeout.map(|limit| limit.as_secs()),
        Some(3600)
    );
    assert_eq!(
        policies.idle_timeout.map(|limit| limit.as_secs()),
        Some(1800)
    );
}

#[test]
fn a_policy_can_be_a_variable() {
    let home = tempfile::tempdir().unwrap();
    let output = sayso(
        home.path(),
        &["doctor"],
        &[("SAYSO_POLICIES__TIMEOUT", "soon")],
    );
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("`soon` is not a duration"),
        "{output:?}"
    );
    let variables = [
        ("SAYSO_POLICIES__TIMEOUT", "10m"),
        ("SAYSO_SOMETHING_ELSE", "1"),
    ];
    let output = sayso(
        home.path(),
        &["doctor", "--listen", "127.0.0.1:0"],
        &variables,
    );
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_policy_is_checked_line_by_line() {
    use std::io::Write;
    use std::process::Stdio;
    let line = r#"{"deny":["Bash(curl:*)"],"tool_name":"Bash","tool_input":{"command":"curl x"},"cwd":"/srv"}"#;
    for (input, good) in [(line, true), ("not a call", false)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sayso"))
            .args(["policy", "check"])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.success(), good, "{output:?}");
        let problem = if good {
            ""
        } else {
            "sayso: 1 line could not be read.\n"
        };
        assert_eq!(text(&output.stderr), problem);
        let decision = if good { "deny" } else { "ask" };
        let answer = text(&output.stdout);
        assert!(
            answer.starts_with(&format!(r#"{{"decision":"{decision}""#)),
            "{answer}"
        );
    }
}
