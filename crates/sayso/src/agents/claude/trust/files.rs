//! Which files Claude would read, and what they are.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sayso_protocol::{Finding, FindingKind};
use serde_json::Value;

use super::settings;

/// A settings file that is larger is not one.
const MAXIMUM_BYTES: u64 = 4 * 1024 * 1024;

/// The folder, all above it, and the checkout that a worktree belongs to. The home folder is left out: what
/// is there is the user's own.
pub(super) fn folders(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = cwd.ancestors().map(Path::to_path_buf).collect();
    let main = cwd.ancestors().find_map(main_checkout);
    for folder in main.iter().flat_map(|main| main.ancestors()) {
        if !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_path_buf());
        }
    }
    folders.retain(|folder| Some(folder.as_path()) != home);
    folders
}

/// A worktree's `.git` is a file that names a folder inside the main checkout's.
fn main_checkout(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if !git.is_file() {
        return None;
    }
    let text = read(&git).ok().flatten()?;
    let gitdir = folder.join(text.strip_prefix("gitdir:")?.trim());
    let common = gitdir
        .ancestors()
        .find(|part| part.file_name().is_some_and(|name| name == ".git"))?;
    common.parent().map(Path::to_path_buf)
}

pub(super) fn look_into(folder: &Path, findings: &mut Vec<Finding>) {
    let own = folder.join(".claude");
    for name in ["settings.json", "settings.local.json"] {
        look_at(&own.join(name), findings, settings::in_settings);
    }
    look_at(&folder.join(".mcp.json"), findings, settings::in_servers);
    for part in ["agents", "commands", "skills"] {
        look_at_texts(&own.join(part), 0, findings);
    }
}

fn look_at(
    path: &Path,
    findings: &mut Vec<Finding>,
    inspect: impl Fn(&str, &serde_json::Map<String, Value>) -> Vec<Finding>,
) {
    let source = path.display().to_string();
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return,
        Err(error) => return findings.push(unreadable(source, error.to_string())),
    };
    if text.trim().is_empty() {
        return;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(object)) => findings.extend(inspect(&source, &object)),
        Ok(_) => findings.push(unreadable(source, "It is not a JSON object.".to_owned())),
        Err(error) => findings.push(unreadable(source, format!("It is not JSON: {error}."))),
    }
}

/// Agents, commands and skills are texts; those that bring hooks or servers say so in their head.
fn look_at_texts(folder: &Path, depth: usize, findings: &mut Vec<Finding>) {
    const DEPTH: usize = 6;
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return,
        Err(error) => {
            let source = folder.display().to_string();
            return findings.push(unreadable(source, error.to_string()));
        }
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth < DEPTH {
                look_at_texts(&path, depth + 1, findings);
            }
        } else if path.extension().is_some_and(|kind| kind == "md") {
            let source = path.display().to_string();
            match read(&path) {
                Ok(text) => findings.extend(settings::in_text(&source, &text.unwrap_or_default())),
                Err(error) => findings.push(unreadable(source, error.to_string())),
            }
        }
    }
}

/// `None` when there is no such file.
fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("It is not a plain file."));
    }
    let mut text = String::new();
    let read = file.take(MAXIMUM_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MAXIMUM_BYTES {
        return Err(io::Error::other("It is too large."));
    }
    Ok(Some(text))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn unreadable(source: String, detail: String) -> Finding {
    Finding {
        kind: FindingKind::Unreadable,
        name: "Cannot be read".to_owned(),
        source,
        detail,
    }
}
