//! What other users of the machine can see of a server: its files, its log, its command line.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

mod recorder;
mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recorder::{Recorder, start_with};
use serde_json::json;
use support::{TOKEN, bash, printed_url};
use tokio::process::Command;

const PATIENCE: Duration = Duration::from_secs(60);

/// Everything below a folder that others could read or write.
fn open_to_others(folder: &Path, open: &mut Vec<String>) -> usize {
    let mut looked_at = 1;
    let mode = fs::symlink_metadata(folder).unwrap().mode();
    if mode & 0o077 != 0 {
        open.push(format!("{} {mode:o}", folder.display()));
    }
    if folder.is_dir() {
        for entry in fs::read_dir(folder).unwrap() {
            looked_at += open_to_others(&entry.unwrap().path(), open);
        }
    }
    looked_at
}

#[tokio::test]
async fn all_that_a_server_keeps_is_for_its_owner_alone() {
    // The recorder's servers run without a mask: what they make is as open as they ask for.
    let recorder = Recorder::start(&[], "").await;
    let mut client = recorder.connect().await;
    let mut start = start_with(&recorder, "prompt", &json!(bash("true").to_string()));
    start["type"] = json!("start_session");
    let ack = client.call(start).await;
    assert_eq!(ack["type"], "ack", "{ack}");
    client.opened().await;
    let data = recorder.path("data");
    let backup = data.join("backup.db");
    let backed_up = Command::new("sh")
        .args([
            "-c",
            "umask 000; exec \"$0\" backup \"$1\" --data-dir \"$2\"",
        ])
        .arg(env!("CARGO_BIN_EXE_sayso"))
        .args([&backup, &data])
        .output()
        .await
        .unwrap();
    assert!(backed_up.status.success(), "{backed_up:?}");
    let mut open = Vec::new();
    let looked_at = open_to_others(&data, &mut open);
    assert_eq!(open, [""; 0]);
    for name in ["sayso.db-wal", "audit.key", "agents", "backup.db"] {
        assert!(data.join(name).exists(), "{name}");
    }
    assert!(looked_at > 10, "{looked_at} files are not all");
    recorder.stop().await;
}

/// Runs a server up to its address and ends it; what it said on the way.
async fn said(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let stdout = child.stdout.take().unwrap();
    let pid = i32::try_from(child.id().unwrap()).unwrap();
    let up = async {
        // One that does not start says why instead.
        if tokio::spawn(printed_url(stdout)).await.is_ok() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        }
    };
    up.await;
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output());
    output.await.unwrap().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[tokio::test]
async fn a_folder_that_was_open_is_closed_and_the_log_says_so() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let flags = ["--data-dir", data.to_str().unwrap()];
    let first = said(home.path(), &flags, &[]).await;
    assert!(first.status.success(), "{first:?}");
    assert_eq!(text(&first).matches("closed now").count(), 0);
    for (name, mode) in [("", 0o755), ("token", 0o644), ("sayso.db", 0o666)] {
        fs::set_permissions(data.join(name), Permissions::from_mode(mode)).unwrap();
    }
    let second = text(&said(home.path(), &flags, &[]).await);
    assert_eq!(second.matches("closed now").count(), 3, "{second}");
    assert!(second.contains("delete it and start again"), "{second}");
    let mut open = Vec::new();
    open_to_others(&data, &mut open);
    assert_eq!(open, [""; 0]);
    let third = text(&said(home.path(), &flags, &[]).await);
    assert_eq!(third.matches("closed now").count(), 0, "{third}");
}

#[tokio::test]
async fn what_cannot_be_made_private_is_refused_with_one_sentence() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    for name in ["open/data", "others", "linked"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    fs::set_permissions(path("open"), Permissions::from_mode(0o777)).unwrap();
    fs::write(path("others/letter.txt"), "").unwrap();
    fs::set_permissions(path("others"), Permissions::from_mode(0o755)).unwrap();
    fs::write(path("token-of-another"), TOKEN).unwrap();
    std::os::unix::fs::symlink(path("token-of-another"), path("linked/token")).unwrap();
    for (folder, part) in [
        ("open/data", "Every user of this machine can write to"),
        ("others", "holds other things"),
        ("linked", "is a link"),
    ] {
        let folder = path(folder);
        let output = said(home.path(), &["--data-dir", folder.to_str().unwrap()], &[]).await;
        assert!(!output.status.success(), "{output:?}");
        let told = text(&output);
        assert!(told.contains(part), "{told}");
        assert!(told.contains("--data-dir"), "{told}");
        assert_eq!(told.trim().lines().count(), 1, "{told}");
    }
}

#[tokio::test]
async fn a_token_that_others_can_see_is_warned_of_and_never_shown() {
    const LISTED: &str = "in the list of processes";
    const READABLE: &str = "can read the token in";
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("sayso.toml");
    fs::write(&file, format!("token = '{TOKEN}'\n")).unwrap();
    let file = file.to_str().unwrap();
    for (mode, arguments, variables, warnings) in [
        (0o600, vec![], vec![], vec![]),
        (0o600, vec![], vec![("SAYSO_TOKEN", TOKEN)], vec![]),
        (0o600, vec!["--token", TOKEN], vec![], vec![LISTED]),
        (0o600, vec!["--config", file], vec![], vec![]),
        (0o644, vec!["--config", file], vec![], vec![READABLE]),
        (
            0o644,
            vec!["--config", file],
            vec![("SAYSO_TOKEN", TOKEN)],
            vec![],
        ),
    ] {
        fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
        let mut all = vec![("SAYSO_LOG", "trace")];
        all.extend(&variables);
        let output = said(home.path(), &arguments, &all).await;
        assert!(output.status.success(), "{:?}", output.status);
        let told = text(&output);
        let warned: Vec<&str> = [LISTED, READABLE]
            .into_iter()
            .filter(|warning| told.contains(warning))
            .collect();
        assert_eq!(warned, warnings, "{arguments:?} {variables:?}");
        assert!(!told.contains(TOKEN), "{arguments:?} {variables:?}");
    }
}

#[tokio::test]
async fn the_token_cannot_be_passed_to_agents_by_mistake() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("sayso.toml");
    fs::write(&file, "pass_environment = ['GOPATH', 'SAYSO_TOKEN']\n").unwrap();
    let output = said(home.path(), &["--config", file.to_str().unwrap()], &[]).await;
    assert!(!output.status.success());
    let told = text(&output);
    assert!(
        told.contains("`pass_environment` names `SAYSO_TOKEN`"),
        "{told}"
    );
}
