//! The fuzz targets: tests that run a few seconds in the suite, and here for as long as wished.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::step::Step;

const USUAL_MINUTES: f64 = 5.0;

/// Its name here, its package, and its name as a test.
type Target = (&'static str, &'static str, &'static str);

const TARGETS: &[Target] = &[
    ("rules", "sayso-policy", "rules"),
    ("commands", "sayso-policy", "commands"),
    ("settings", "sayso-policy", "settings_files"),
    ("frames", "sayso-protocol", "frames"),
    ("bodies", "sayso-protocol", "bodies"),
    ("lines", "sayso-claude", "lines"),
    ("conversations", "sayso-claude", "conversations"),
    ("imports", "sayso", "agents::claude::history::fuzz::imports"),
    ("runner-contents", "sayso-runner", "wire::fuzz::contents"),
    ("runner-streams", "sayso-runner", "wire::fuzz::streams"),
    ("journals", "sayso-runner", "journal::fuzz::damaged_files"),
    (
        "checkpoints",
        "sayso-store",
        "tests::audit::fuzz::checkpoints",
    ),
    ("keys", "sayso-store", "tests::audit::fuzz::keys"),
    ("databases", "sayso-store", "tests::audit::fuzz::databases"),
];

/// `words` are a target, a number of minutes, both or nothing.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (name, minutes) = match words {
        [] => (None, None),
        [word] if word.parse::<f64>().is_ok() => (None, Some(*word)),
        [name] => (Some(*name), None),
        [name, minutes] => (Some(*name), Some(*minutes)),
        [..] => bail!("`cargo xtask fuzz` takes a target and a number of minutes."),
    };
    let minutes = minutes.map_or(Ok(USUAL_MINUTES), str::parse);
    let minutes: f64 = minutes.context("the minutes are not a number")?;
    let wanted: Vec<&Target> = TARGETS
        .iter()
        .filter(|(target, ..)| name.is_none_or(|name| name == *target))
        .collect();
    if wanted.is_empty() {
        let names: Vec<_> = TARGETS.iter().map(|(name, ..)| *name).collect();
        bail!("There is no such target. There are: {}.", names.join(", "));
    }
    for (name, package, test) in wanted {
        // The runner, the store and the server have theirs among the unit tests.
        let place: &[&str] = if test.contains("::") {
            &["--lib"]
        } else {
            &["--test", "fuzz"]
        };
        let cargo = ["cargo", "test", "--locked", "-p", package];
        let command = [&cargo, place, &["--", "--exact", "--nocapture", test]].concat();
        Step::new(&format!("fuzzing {name}"), root, &command)
            .with("SAYSO_FUZZ_SECONDS", format!("{}", minutes * 60.0))
            .with("SAYSO_FUZZ_KEEP", "1")
            .run()?;
    }
    Ok(())
}
