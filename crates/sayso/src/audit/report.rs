//! What `sayso audit verify` says.

use std::io::{self, Write};

use jiff::Timestamp;
use sayso_store::audit::{Beginning, CheckpointKind, Finding, Verified};
use serde_json::{Value, json};

pub(super) fn write(
    result: &Result<Verified, Finding>,
    as_json: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    match (result, as_json) {
        (result, true) => writeln!(out, "{}", as_value(result)),
        (Ok(verified), false) => {
            for sentence in sentences(verified) {
                writeln!(out, "{sentence}")?;
            }
            Ok(())
        }
        (Err(finding), false) => writeln!(out, "{finding}"),
    }
}

fn as_value(result: &Result<Verified, Finding>) -> Value {
    match result {
        Ok(verified) => json!({
            "ok": true,
            "entries": verified.entries,
            "first": verified.range.map(|(first, _)| first),
            "last": verified.range.map(|(_, last)| last),
            "signed": verified.signed,
            "head": verified.head.map(|head| head.to_string()),
            "checkpoints": verified.checkpoints,
            "key": verified.trust.as_ref().map(|trust| trust.fingerprint()),
            "remarks": remarks(verified),
        }),
        Err(finding) => json!({
            "ok": false,
            "finding": finding.to_string(),
            "first_bad_entry": finding.first_bad_entry(),
        }),
    }
}

fn sentences(verified: &Verified) -> Vec<String> {
    let mut sentences = vec![match verified.range {
        None => "The history is whole, and empty.".to_owned(),
        Some((first, last)) => format!(
            "The history is whole: {} ({first} to {last}), with {}.",
            counted(verified.entries, "entry", "entries"),
            counted(verified.checkpoints, "checkpoint", "checkpoints"),
        ),
    }];
    sentences.extend(remarks(verified));
    if let Some(trust) = &verified.trust {
        sentences.push(format!("Signed with the key {}.", trust.fingerprint()));
    }
    sentences
}

fn remarks(verified: &Verified) -> Vec<String> {
    let unsigned = verified
        .range
        .map_or(0, |(_, last)| last - verified.signed.min(last));
    let unsigned = (unsigned > 0).then(|| {
        format!(
            "The last {} not signed yet, and could be changed unnoticed until then.",
            match unsigned {
                1 => "entry is".to_owned(),
                number => format!("{number} entries are"),
            }
        )
    });
    let begins = verified.begins.as_ref().map(beginning);
    begins.into_iter().chain(unsigned).collect()
}

fn beginning(begins: &Beginning) -> String {
    let at = Timestamp::from_millisecond(begins.at).unwrap_or(Timestamp::UNIX_EPOCH);
    match begins.kind {
        CheckpointKind::Cut => format!(
            "Entries before number {} were removed on purpose, last on {at}.",
            begins.first
        ),
        CheckpointKind::Adopted => format!(
            "The history was accepted as it was found on {at}, up to entry {}: what was lost or changed before then is not known.",
            begins.size
        ),
        CheckpointKind::Begin | CheckpointKind::Head => String::new(),
    }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
