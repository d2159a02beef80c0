//! Old conversations that somebody else may have written, on their way into a transcript. How the inputs are
//! made and how a failure is repeated is told in `CONTRIBUTING.md`.

use std::path::PathBuf;

use sayso_fuzzing::Target;
use sayso_protocol::TranscriptEntry;

use super::*;

const WORDS: &[&str] = &[
    "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":",
    "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"model\":\"--x\",\"content\":[",
    "{\"type\":\"text\",\"text\":\"x\"}",
    "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[{\"type\":\"image\",\"source\":{}}]}",
    "\"timestamp\":\"9999-12-31T23:59:59Z\",",
    "\"timestamp\":\"-009999-01-01T00:00:00Z\",",
    "\"parentUuid\":null,",
    "\"isSidechain\":true,",
    "\"toolUseResult\":{",
    "\\ud83d",
    "]}}\n",
    "\n",
];

/// Those of the crate that reads the files: what follows from them is what is looked at here.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../claude/tests")
        .join(name)
}

#[test]
fn imports() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::of(folder.path(), Path::new("/srv/demo"));
    let place = folder.path().join("projects/-srv-demo");
    std::fs::create_dir_all(&place).unwrap();
    let file = place.join(format!("{}.jsonl", Uuid::nil()));
    let recorded = std::fs::read_dir(beside("fixtures/history/projects/-srv-demo")).unwrap();
    let recorded = recorded.filter_map(|entry| std::fs::read(entry.ok()?.path()).ok());
    let target = Target::new(beside("corpus/conversations")).seeds(recorded);
    target.longest(8000).dictionary(WORDS).run(|input| {
        std::fs::write(&file, input).unwrap();
        let Some(conversation) = kept_in(&history, Uuid::nil()) else {
            return (Vec::new(), 0);
        };
        assert!(!conversation.entries.is_empty());
        let mut kinds = Vec::new();
        for (seq, old) in (1..).zip(conversation.entries) {
            let entry = TranscriptEntry {
                seq,
                at: old.at,
                parent_tool_use_id: old.parent_tool_use_id,
                body: old.body,
            };
            // As it is stored, and as a client reads it.
            let text = serde_json::to_string(&entry).unwrap();
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            kinds.push(value["kind"].as_str().unwrap().to_owned());
        }
        kinds.dedup();
        kinds.truncate(8);
        (kinds, conversation.title.len().min(9))
    });
}
