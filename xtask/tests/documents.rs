//! Documents name only what exists, and nothing in the repository depends on
//! the machine it was written on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

const PARTS: [&str; 5] = ["crates", "ui", "e2e", "docs", "xtask"];

/// As cargo says it at run time; the checkout this was compiled in may be another.
fn root() -> PathBuf {
    let compiled = || env!("CARGO_MANIFEST_DIR").into();
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(compiled);
    Path::new(&manifest).join("..")
}

/// Every file of the repository that is not ignored, relative to its root.
fn files() -> Result<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])
        .current_dir(root())
        .output()
        .context("git could not be started")?;
    ensure!(output.status.success(), "git ls-files failed");
    let names = String::from_utf8(output.stdout)?;
    let exists = |name: &&str| !name.is_empty() && root().join(name).is_file();
    Ok(names
        .split('\0')
        .filter(exists)
        .map(str::to_owned)
        .collect())
}

fn documents() -> Result<Vec<(String, String)>> {
    let is_document =
        |name: &String| name.ends_with(".md") && (!name.contains('/') || name.starts_with("docs/"));
    let read = |name: String| Ok((name.clone(), std::fs::read_to_string(root().join(name))?));
    files()?.into_iter().filter(is_document).map(read).collect()
}

/// The paths of the repository that a document names between backticks.
fn paths_in(text: &str) -> BTreeSet<String> {
    let is_pattern = |word: &str| word.contains(['*', '<', '{', '…', '$']);
    let is_path = |word: &str| {
        let (part, rest) = word.split_once('/').unwrap_or((word, ""));
        PARTS.contains(&part) && !rest.is_empty() && !is_pattern(word)
    };
    text.split('`')
        .skip(1)
        .step_by(2)
        .flat_map(str::split_whitespace)
        .filter(|word| is_path(word))
        // `file.rs:12` names a line, `file.rs::name` an item in it.
        .map(|word| word.split(':').next().unwrap_or(word).to_owned())
        .collect()
}

/// The targets of relative links, without their anchors.
fn links_in(text: &str) -> BTreeSet<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ', '#']).next())
        .filter(|target| !target.is_empty() && !target.contains(':'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_path_named_in_a_document_exists() -> Result<()> {
    let mut missing = Vec::new();
    for (name, text) in documents()? {
        let beside = root().join(&name);
        let folder = beside
            .parent()
            .context("a file has a folder")?
            .to_path_buf();
        let named = paths_in(&text)
            .into_iter()
            .map(|path| (root().join(&path), path));
        let linked = links_in(&text)
            .into_iter()
            .map(|path| (folder.join(&path), path));
        for (target, path) in named.chain(linked) {
            if !target.exists() {
                missing.push(format!("{name}: {path}"));
            }
        }
    }
    ensure!(
        missing.is_empty(),
        "named but not there:\n{}",
        missing.join("\n")
    );
    Ok(())
}

#[test]
fn no_file_names_a_path_of_one_machine() -> Result<()> {
    // Written in two parts so that this file does not name them itself.
    let machine = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
    let starts_a_path = |before: Option<char>| {
        before.is_none_or(|letter| !letter.is_alphanumeric() && !"/.-_~".contains(letter))
    };
    let mut found = Vec::new();
    for name in files()? {
        let Ok(text) = std::fs::read_to_string(root().join(&name)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let names_it = machine.iter().any(|path| {
                line.match_indices(path)
                    .any(|(at, _)| starts_a_path(line[..at].chars().next_back()))
            });
            if names_it {
                found.push(format!("{name}:{}", number + 1));
            }
        }
    }
    ensure!(found.is_empty(), "machine paths in:\n{}", found.join("\n"));
    Ok(())
}

#[test]
fn lockfiles_name_no_registry_but_the_public_one() -> Result<()> {
    let mut found = Vec::new();
    for name in files()?
        .into_iter()
        .filter(|name| name.ends_with("package-lock.json"))
    {
        let text = std::fs::read_to_string(root().join(&name))?;
        let others = text.lines().filter(|line| {
            line.contains("\"resolved\":") && !line.contains("\"https://registry.npmjs.org/")
        });
        found.extend(others.map(|line| format!("{name}: {}", line.trim())));
    }
    ensure!(
        found.is_empty(),
        "other registries in:\n{}",
        found.join("\n")
    );
    Ok(())
}

#[test]
fn paths_and_links_are_found_in_a_document() {
    let text = "See `crates/store/src/lib.rs:12`, `ui/src` and `cargo run -p xtask`; not \
                `crates/*`, `/api/ws`, docs/none.md or `ui`. [Map](ARCHITECTURE.md#map) \
                [web](https://example.org/a).";
    let paths: Vec<String> = paths_in(text).into_iter().collect();
    assert_eq!(paths, ["crates/store/src/lib.rs", "ui/src"]);
    let links: Vec<String> = links_in(text).into_iter().collect();
    assert_eq!(links, ["ARCHITECTURE.md"]);
}
