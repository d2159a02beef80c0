//! Files that somebody put in the place of ours. How the inputs are made and how a failure is repeated is told
//! in `CONTRIBUTING.md`.

use std::path::PathBuf;

use sayso_fuzzing::Target;

use super::damage::{ENTRIES, signed_history};
use super::model::Model;
use super::*;
use crate::audit::{AuditKey, CHECKPOINT_FILE, CheckpointFile, KEY_FILE, Verifier};

fn corpus(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    Path::new(folder).join(name)
}

/// Only the lines that were signed, all of them and in their order, are taken for the checkpoints.
#[test]
fn checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::random(&mut Dice::new(7297));
    let file = CheckpointFile::of(folder.path());
    let signed = model.lines.join("\n") + "\n";
    let target = Target::new(corpus("checkpoints")).seeds([&signed]);
    let words = model.lines.iter().map(|line| format!("{line}\n"));
    target.dictionary(words).longest(30_000).run(|input| {
        std::fs::write(folder.path().join(CHECKPOINT_FILE), input).unwrap();
        let end = file.end().unwrap().unwrap();
        assert!(end.half <= end.length);
        let lines: Vec<String> = file.lines().unwrap().unwrap().collect();
        let verify = || {
            let mut verifier = Verifier::begin(model.key.trust(), lines.iter().cloned())?;
            model.rows.iter().try_for_each(|row| verifier.entry(row))?;
            verifier.finish(model.known)
        };
        match verify() {
            Ok(_) => {
                assert_eq!(lines, model.lines);
                String::new()
            }
            Err(finding) => {
                let text = finding.to_string();
                text.chars().filter(|sign| !sign.is_ascii_digit()).collect()
            }
        }
    });
}

#[test]
fn keys() {
    let folder = tempfile::tempdir().unwrap();
    Target::new(corpus("keys")).longest(1000).run(|input| {
        std::fs::write(folder.path().join(KEY_FILE), input).unwrap();
        let kept = AuditKey::kept_in(folder.path());
        let after = std::fs::read(folder.path().join(KEY_FILE)).unwrap();
        assert_eq!(after, input, "a key is never replaced");
        kept.map(|key| key.trust().fingerprint().len())
            .map_err(|error| error.to_string().len())
    });
}

/// A database that was changed as a file: what is verified is what was written.
#[test]
fn databases() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let folder = runtime.block_on(signed_history());
    let path = folder.path().join("sayso.db");
    let written = std::fs::read(&path).unwrap();
    let expected = runtime.block_on(check(&path)).unwrap();
    assert_eq!(expected.signed, ENTRIES);
    let target = Target::new(corpus("databases")).seeds([&written]);
    target.longest(written.len() + 5000).run(|input| {
        std::fs::write(&path, input).unwrap();
        for beside in ["sayso.db-wal", "sayso.db-shm", "sayso.db-journal"] {
            let _ = std::fs::remove_file(folder.path().join(beside));
        }
        let checked = runtime.block_on(async {
            let reader = AuditReader::open(&path).await.map_err(|_| "not opened")?;
            let verified = reader.verify().await;
            reader.close().await;
            verified.map_err(|_| "not read")
        });
        match checked {
            Ok(Ok(verified)) => {
                assert_eq!(verified, expected);
                "verified".to_owned()
            }
            Ok(Err(finding)) => {
                let text = finding.to_string();
                text.chars().filter(|sign| !sign.is_ascii_digit()).collect()
            }
            Err(step) => step.to_owned(),
        }
    });
}
