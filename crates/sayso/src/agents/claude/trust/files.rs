//! Which files Claude would read, and what they are.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
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
    let tasks = own.join("scheduled_tasks.json");
    look_at(&tasks, findings, settings::in_tasks);
    for part in ["agents", "commands", "skills"] {
        look_at_texts(&own.join(part), findings, Text::Head);
    }
    look_at_texts(&own.join("workflows"), findings, Text::Program);
}

/// How a text can make something run.
#[derive(Clone, Copy)]
enum Text {
    /// Those that bring hooks or servers say so in their head.
    Head,
    /// All of it is one.
    Program,
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

/// Agents, commands, skills and workflows, in folders of any depth. A folder that is too deep or too full to be
/// looked through is not trusted.
fn look_at_texts(folder: &Path, findings: &mut Vec<Finding>, kind: Text) {
    const DEPTH: usize = 6;
    const ENTRIES: usize = 5000;
    let mut left = ENTRIES;
    let mut open = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let source = folder.display().to_string();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => continue,
            Err(error) => {
                findings.push(unreadable(source, error.to_string()));
                continue;
            }
        };
        let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> = entries.take(left + 1).collect();
        if paths.len() > left || depth > DEPTH {
            let detail = "It holds more than Sayso looks through.".to_owned();
            return findings.push(unreadable(source, detail));
        }
        left -= paths.len();
        paths.sort();
        for path in &paths {
            if !path.is_dir() {
                look_at_text(path, findings, kind);
            }
        }
        let folders = paths.into_iter().rev().filter(|path| path.is_dir());
        open.extend(folders.map(|path| (path, depth + 1)));
    }
}

fn look_at_text(path: &Path, findings: &mut Vec<Finding>, kind: Text) {
    let source = path.display().to_string();
    let is_markdown = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    let inspect = match kind {
        Text::Head if !is_markdown => return,
        Text::Head => settings::in_text,
        Text::Program => settings::in_workflow,
    };
    match read(path) {
        Ok(text) => findings.extend(inspect(&source, &text.unwrap_or_default())),
        Err(error) => findings.push(unreadable(source, error.to_string())),
    }
}

/// `None` when there is no such file.
fn read(path: &Path) -> io::Result<Option<String>> {
    // A pipe would make the opening wait for whoever writes into it.
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(without_waiting)
        .open(path);
    let file = match opened {
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
