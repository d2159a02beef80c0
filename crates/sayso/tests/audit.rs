//! `sayso audit` and `sayso backup`, on a data folder with and without a server.

#![expect(clippy::unwrap_used, reason = "a failure in a helper fails the test")]

use std::path::Path;
use std::process::{Command, Output};

use pretty_assertions::assert_eq;
use sayso_store::{
    AuditActor, AuditKind, AuditRecord, SessionId, Store, UnixMillis, Write, WriteJob, Writer,
};
use serde_json::Value;
use tokio::sync::mpsc;
use uuid::Uuid;

fn sayso(data: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sayso"))
        .args(arguments)
        .env_clear()
        .env("HOME", data)
        .env("SAYSO_DATA_DIR", data)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn record(text: &str, outcome: &str, at: i64) -> AuditRecord {
    AuditRecord {
        at: UnixMillis(at),
        kind: AuditKind::Decision,
        session_id: Some(SessionId(Uuid::from_u128(1))),
        request_id: None,
        project: Some("/srv/project".to_owned()),
        tool_name: Some("Bash".to_owned()),
        outcome: outcome.to_owned(),
        actor_kind: AuditActor::Human,
        actor_label: "Chrome on Linux".to_owned(),
        text: text.to_owned(),
        body: serde_json::json!({"command": text, "password": "hunter2"}).to_string(),
    }
}

/// A server's store with these entries, still open.
struct History {
    store: Store,
    writer: Writer,
    completions: mpsc::Receiver<sayso_store::Completion>,
}

impl History {
    async fn open(data: &Path) -> Self {
        let store = Store::open(data.join("sayso.db")).await.unwrap();
        let (sender, completions) = mpsc::channel(64);
        let writer = Writer::start(store.clone(), sender, 64).unwrap();
        Self {
            store,
            writer,
            completions,
        }
    }

    async fn append(&mut self, records: Vec<AuditRecord>) {
        let writes = records.into_iter().map(Write::AppendAudit).collect();
        self.writer.submit(WriteJob { token: 1, writes }).unwrap();
        self.completions.recv().await.unwrap().result.unwrap();
    }

    async fn close(self) {
        self.writer.close().await;
        self.store.close().await;
    }
}

const SECRET: &str = "curl -H 'Authorization: Bearer abc.def.ghi' https://x";

async fn three_entries(data: &Path) -> History {
    let mut history = History::open(data).await;
    let entries = vec![
        record("=cmd|' /C calc'!A0\nrm \u{1b}[2J", "denied", 1_000),
        record(SECRET, "allowed", 2_000),
        record("cargo test, \"all\"", "allowed", 86_400_000),
    ];
    history.append(entries).await;
    history
}

#[tokio::test]
async fn a_list_shows_the_newest_first_and_hides_secrets() {
    let data = tempfile::tempdir().unwrap();
    let history = three_entries(data.path()).await;
    let list = |arguments: &[&str]| {
        let output = sayso(data.path(), &[&["audit", "list"], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    let all = list(&[]);
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines.len(), 3, "{all}");
    assert!(lines[0].contains("cargo test, \"all\""), "{all}");
    assert!(lines[0].contains("1970-01-02 00:00:00"), "{all}");
    assert!(lines[0].contains("by human (Chrome on Linux)"), "{all}");
    assert!(lines[1].contains("Bearer [masked]"), "{all}");
    assert!(!all.contains("abc.def") && !all.contains('\u{1b}'), "{all}");
    for (arguments, expected) in [
        (&["--limit", "1"][..], 1),
        (&["--outcome", "denied"], 1),
        (&["--tool", "Edit"], 1),
        (&["--project", "/srv"], 3),
        (&["--since", "1970-01-01T12:00:00Z"], 1),
        (&["--by", "human", "--search", "CARGO all"], 1),
        (&["--session", &Uuid::from_u128(1).to_string()], 3),
    ] {
        assert_eq!(list(arguments).lines().count(), expected, "{arguments:?}");
    }
    assert_eq!(list(&["--tool", "Edit"]), "Nothing in the history fits.\n");
    let json = list(&["--json", "--search", "curl"]);
    let entry: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(entry["body"]["password"], "[masked]");
    assert_eq!(entry["seq"], 2);
    assert!(!json.contains("abc.def"), "{json}");
    history.close().await;
}

#[tokio::test]
async fn a_list_tells_a_reason_from_the_command() {
    let data = tempfile::tempdir().unwrap();
    let mut history = History::open(data.path()).await;
    let denied = |shown: &str, searched: &str, by| AuditRecord {
        text: AuditRecord::findable(shown, searched),
        body: serde_json::json!({"message": "not now"}).to_string(),
        actor_kind: by,
        ..record("", "denied", 1_000)
    };
    let entries = vec![
        denied("ls -la", "not now\nls -la", AuditActor::Human),
        // As it was written before.
        denied("ls -la\nnot now", "\nls -la", AuditActor::Human),
        // A command that ends so.
        denied("ls\nnot now", "not now\nls\nnot now", AuditActor::Human),
        denied("ls", "not now\nls", AuditActor::Timeout),
    ];
    history.append(entries).await;
    let output = sayso(data.path(), &["audit", "list"]);
    let list = text(&output.stdout);
    let told: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split_once("  by "))
        .map(|(_, told)| told)
        .collect();
    assert_eq!(
        told,
        [
            "timeout (Chrome on Linux)  Bash  ls",
            "human (Chrome on Linux), \"not now\"  Bash  ls\\nnot now",
            "human (Chrome on Linux), \"not now\"  Bash  ls -la",
            "human (Chrome on Linux), \"not now\"  Bash  ls -la",
        ]
    );
    history.close().await;
}

#[tokio::test]
async fn an_export_is_exact_and_safe_to_open() {
    let data = tempfile::tempdir().unwrap();
    three_entries(data.path()).await.close().await;
    let export = |arguments: &[&str]| {
        let output = sayso(data.path(), &[&["audit", "export"], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    let jsonl = export(&["--format", "jsonl"]);
    let entries: Vec<Value> = jsonl
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seqs: Vec<i64> = entries
        .iter()
        .map(|entry| entry["seq"].as_i64().unwrap())
        .collect();
    assert_eq!(seqs, [1, 2, 3]);
    assert_eq!(entries[1]["text"], SECRET);
    assert_eq!(entries[1]["body"]["password"], "hunter2");
    assert_eq!(entries[1]["previous"], entries[0]["hash"]);
    assert_eq!(entries[0]["at"], "1970-01-01T00:00:01Z");
    let masked = export(&["--format", "jsonl", "--masked"]);
    assert!(!masked.contains("hunter2") && !masked.contains("abc.def"));

    let csv = export(&["--format", "csv", "--outcome", "denied"]);
    assert!(csv.starts_with("seq,at,kind,"), "{csv}");
    assert!(csv.contains(",\"'=cmd|' /C calc'!A0\nrm"), "{csv}");
    let file = data.path().join("history.csv");
    let name = file.display().to_string();
    assert_eq!(export(&["--format", "csv", "--out", &name]), "");
    assert_eq!(
        std::fs::read_to_string(&file)
            .unwrap()
            .matches("\r\n")
            .count(),
        4
    );
    let again = sayso(
        data.path(),
        &["audit", "export", "--format", "csv", "--out", &name],
    );
    assert_eq!(
        text(&again.stderr),
        format!(
            "sayso: {name} is there already, and an export replaces nothing. Choose another name.\n"
        )
    );
}

#[tokio::test]
async fn a_check_ends_with_what_it_found() {
    let data = tempfile::tempdir().unwrap();
    let verify = |arguments: &[&str]| {
        let output = sayso(data.path(), &[&["audit", "verify"], arguments].concat());
        let told = [text(&output.stdout), text(&output.stderr)].concat();
        (output.status.code(), told)
    };
    let (code, told) = verify(&[]);
    assert_eq!(code, Some(2));
    assert!(told.contains("There is no database at"), "{told}");

    let history = three_entries(data.path()).await;
    let (code, told) = verify(&[]);
    assert_eq!(code, Some(0), "while it runs: {told}");
    history.close().await;
    let (code, told) = verify(&[]);
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.starts_with("The history is whole: 3 entries (1 to 3)"),
        "{told}"
    );
    let found: Value = serde_json::from_str(&verify(&["--json"]).1).unwrap();
    assert_eq!((&found["ok"], &found["signed"]), (&true.into(), &3.into()));

    let checkpoints = data.path().join("audit.checkpoints");
    let kept = std::fs::read_to_string(&checkpoints).unwrap();
    std::fs::write(&checkpoints, kept.replacen("\"size\":3", "\"size\":2", 1)).unwrap();
    let (code, told) = verify(&[]);
    assert_eq!(code, Some(1));
    assert!(
        told.starts_with("Line 2 of audit.checkpoints was changed"),
        "{told}"
    );
    std::fs::remove_file(data.path().join("audit.key")).unwrap();
    let (code, told) = verify(&["--json"]);
    assert_eq!(code, Some(1));
    let found: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(found["first_bad_entry"], 1);
}

#[tokio::test]
async fn a_backup_can_be_restored_and_its_history_accepted() {
    let data = tempfile::tempdir().unwrap();
    let mut history = three_entries(data.path()).await;
    let file = data.path().join("backup.db");
    let name = file.display().to_string();
    let output = sayso(data.path(), &["backup", &name]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("To restore it"), "{output:?}");
    let again = sayso(data.path(), &["backup", &name]);
    assert!(text(&again.stderr).contains("--force"), "{again:?}");
    assert!(
        sayso(data.path(), &["backup", &name, "--force"])
            .status
            .success()
    );
    let nowhere = data.path().join("nowhere/copy.db").display().to_string();
    let failed = sayso(data.path(), &["backup", &nowhere]);
    assert_eq!(
        text(&failed.stderr),
        format!("sayso: The backup {nowhere} cannot be written: No such file or directory.\n")
    );
    history.append(vec![record("ls", "allowed", 5)]).await;
    let running = sayso(data.path(), &["audit", "adopt"]);
    assert!(text(&running.stderr).contains("is in use"), "{running:?}");
    history.close().await;

    std::fs::rename(&file, data.path().join("sayso.db")).unwrap();
    let lost = sayso(data.path(), &["audit", "verify"]);
    assert_eq!(
        text(&lost.stdout),
        "The end of the history is missing: entry 4 was signed, but not there.\n"
    );
    let adopted = sayso(data.path(), &["audit", "adopt"]);
    assert!(adopted.status.success(), "{adopted:?}");
    let whole = sayso(data.path(), &["audit", "verify"]);
    assert_eq!(whole.status.code(), Some(0));
    assert!(
        text(&whole.stdout).contains("accepted as it was found"),
        "{whole:?}"
    );
}
