//! `sayso service` with a stand-in for the service manager: what is written, and what is called. No
//! systemd or launchd takes part.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Home {
    folder: TempDir,
}

struct Ran {
    code: i32,
    said: String,
}

impl Home {
    /// `systemctl` and `launchctl` note how they were called, and end with the number in the file `code`.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for name in ["systemctl", "launchctl"] {
            let script = format!(
                "#!/bin/sh\necho \"{name} $*\" >> '{0}/calls'\necho 'No bus.' >&2\nread code < '{0}/code'\nexit $code\n",
                folder.path().display()
            );
            let file = bin.join(name);
            std::fs::write(&file, script).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let home = Self { folder };
        home.manager_ends_with(0);
        home
    }

    fn manager_ends_with(&self, code: u8) {
        std::fs::write(self.path().join("code"), format!("{code}\n")).unwrap();
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_sayso"))
            .arg("service")
            .args(arguments)
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", self.path().join("bin"))
            .envs(variables.iter().copied())
            .current_dir(self.path())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        Ran {
            code: output.status.code().unwrap(),
            said: String::from_utf8(said).unwrap(),
        }
    }

    /// How the manager was called since the last look.
    fn calls(&self) -> Vec<String> {
        let file = self.path().join("calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        calls.lines().map(str::to_owned).collect()
    }

    fn unit(&self) -> PathBuf {
        self.path().join(".config/systemd/user/sayso.service")
    }
}

#[test]
fn it_is_installed_looked_at_and_removed() {
    let home = Home::new();
    let systemd = ["--manager", "systemd"];
    let run = |arguments: &[&str]| home.run(&[arguments, &systemd].concat());
    let absent = run(&["status"]);
    assert_eq!(absent.code, 5, "{}", absent.said);

    let installed = run(&[
        "install",
        "--listen",
        "127.0.0.1:7911",
        "--data-dir",
        "my data",
        "--on-shutdown",
        "stop",
    ]);
    assert_eq!(installed.code, 0, "{}", installed.said);
    assert!(
        installed.said.contains("enable-linger"),
        "{}",
        installed.said
    );
    let unit = std::fs::read_to_string(home.unit()).unwrap();
    let start = format!(
        "ExecStart=\"{}\" \"serve\" \"--listen\" \"127.0.0.1:7911\" \"--data-dir\" \"{}\" \"--on-shutdown\" \"stop\"\n",
        env!("CARGO_BIN_EXE_sayso"),
        home.path().join("my data").display()
    );
    assert!(unit.contains(&start), "{unit}");
    let path = format!(
        "Environment=\"PATH={}\"\n",
        home.path().join("bin").display()
    );
    assert!(unit.contains(&path), "agents are found: {unit}");
    let reload = "systemctl --user daemon-reload";
    let enable = "systemctl --user enable --now sayso.service";
    assert_eq!(home.calls(), [reload, enable]);

    // What changed holds from now on.
    assert_eq!(run(&["install"]).code, 0);
    assert_eq!(
        home.calls(),
        [reload, enable, "systemctl --user restart sayso.service"]
    );

    let status = run(&["status", "--json"]);
    assert_eq!(status.code, 0);
    let told: Value = serde_json::from_str(&status.said).unwrap();
    assert_eq!(told["running"], true);
    assert_eq!(told["file"], json!(home.unit()));
    assert_eq!(home.calls(), ["systemctl --user is-active sayso.service"]);
    home.manager_ends_with(3);
    let status = run(&["status", "--json"]);
    assert_eq!(status.code, 3);
    let told: Value = serde_json::from_str(&status.said).unwrap();
    assert_eq!(
        (&told["installed"], &told["running"]),
        (&json!(true), &json!(false))
    );
    home.manager_ends_with(0);
    home.calls();

    let removed = run(&["uninstall"]);
    assert_eq!(removed.code, 0, "{}", removed.said);
    assert!(!home.unit().exists());
    assert_eq!(
        home.calls(),
        ["systemctl --user disable --now sayso.service", reload]
    );
    assert_eq!(run(&["uninstall", "--json"]).code, 5);
}

#[test]
fn without_a_manager_it_says_what_to_run() {
    let home = Home::new();
    home.manager_ends_with(1);
    let installed = home.run(&["install", "--manager", "systemd"]);
    assert_eq!(installed.code, 3, "{}", installed.said);
    assert!(home.unit().exists());
    for part in [
        "No bus",
        "systemctl --user enable --now sayso.service",
        "Wrote ",
    ] {
        assert!(installed.said.contains(part), "{part}: {}", installed.said);
    }
    let nothing = home.run_with(
        &["install", "--manager", "systemd", "--json"],
        &[("PATH", "/nowhere")],
    );
    assert_eq!(nothing.code, 3, "{}", nothing.said);
    let told: Value = serde_json::from_str(&nothing.said).unwrap();
    assert_eq!(
        (&told["installed"], &told["running"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn what_somebody_else_wrote_stays() {
    let home = Home::new();
    std::fs::create_dir_all(home.unit().parent().unwrap()).unwrap();
    std::fs::write(home.unit(), "[Service]\nExecStart=/my/own\n").unwrap();
    for command in ["install", "uninstall"] {
        let refused = home.run(&[command, "--manager", "systemd"]);
        assert_eq!(refused.code, 8, "{}", refused.said);
        assert!(refused.said.contains("--force"), "{}", refused.said);
    }
    let kept = std::fs::read_to_string(home.unit()).unwrap();
    assert_eq!(kept, "[Service]\nExecStart=/my/own\n");
    assert_eq!(home.calls(), Vec::<String>::new());
    assert_eq!(
        home.run(&["install", "--manager", "systemd", "--force"])
            .code,
        0
    );
    let written = std::fs::read_to_string(home.unit()).unwrap();
    assert!(written.contains("sayso service install"), "{written}");
}

#[test]
fn print_changes_nothing_and_a_token_is_refused() {
    let home = Home::new();
    let printed = home.run(&[
        "install",
        "--print",
        "--manager",
        "systemd",
        "--listen",
        "[::1]:7911",
    ]);
    assert_eq!(printed.code, 0);
    assert!(
        printed.said.contains("\"--listen\" \"[::1]:7911\""),
        "{}",
        printed.said
    );
    let refused = home.run_with(
        &["install", "--manager", "systemd"],
        &[("SAYSO_TOKEN", "a-token-for-tests-only")],
    );
    assert_eq!(refused.code, 1);
    assert!(refused.said.contains("token"), "{}", refused.said);
    assert!(!refused.said.contains("a-token-for-tests-only"));
    assert!(!home.unit().exists());
    assert_eq!(home.calls(), Vec::<String>::new());
}

#[test]
fn launchd_gets_an_agent_of_the_users_own() {
    let home = Home::new();
    let run = |arguments: &[&str]| home.run(&[arguments, &["--manager", "launchd"]].concat());
    let file = home
        .path()
        .join("Library/LaunchAgents/org.sayso.server.plist");
    let domain = format!("gui/{}", rustix::process::getuid().as_raw());
    assert_eq!(run(&["install", "--listen", "127.0.0.1:7911"]).code, 0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("<string>127.0.0.1:7911</string>"), "{text}");
    let bootstrap = format!("launchctl bootstrap {domain} {}", file.display());
    let bootout = format!("launchctl bootout {domain}/org.sayso.server");
    assert_eq!(home.calls(), std::slice::from_ref(&bootstrap));
    assert_eq!(run(&["install"]).code, 0);
    assert_eq!(home.calls(), [bootout.as_str(), &bootstrap]);
    assert_eq!(run(&["status"]).code, 0);
    assert_eq!(
        home.calls(),
        [format!("launchctl print {domain}/org.sayso.server")]
    );
    assert_eq!(run(&["uninstall"]).code, 0);
    assert_eq!(home.calls(), [bootout]);
    assert!(!file.exists());
}
