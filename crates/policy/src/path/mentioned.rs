//! Which paths the caller should look up links for.

use crate::call::{Tool, ToolCall};
use crate::shell::wrappers::read_through;

use super::doubt::MAX_BYTES;
use super::lexical::absolute;
use super::links::write_joined;

/// No more than a human would write.
const MAX_PATHS: usize = 200;

/// The paths that `call` names, each once, absolute, with `..` kept, and the
/// folders they are seen from. For each of them, look at every component;
/// whatever is a symbolic link belongs into [`ToolCall::links`], and so do the
/// links on the way to its target.
pub fn mentioned(call: &ToolCall<'_>) -> Vec<String> {
    let folders = [call.cwd, call.project_root].map(|folder| absolute(folder, "/", None));
    let mut room = MAX_PATHS - folders.len();
    let mut paths = Vec::from(folders);
    paths.dedup();
    let mut path = String::new();
    let mut note = |written: &str| {
        path.clear();
        write_joined(&mut path, call, written);
        if !paths.contains(&path) {
            paths.push(path.clone());
        }
    };
    if call.tool() == Tool::Bash {
        let command = call.text("command").unwrap_or_default();
        read_through(command, &mut |found| {
            let targets = found.redirects.iter().map(|redirect| &redirect.target);
            let words = found.words.iter().skip(1).chain(targets);
            let words = words.filter(|word| word.literal && !word.text.starts_with('-'));
            for word in words.take(room) {
                room -= 1;
                note(&word.text);
            }
        });
    } else if let Some(path) = call.path() {
        note(path);
    }
    paths.retain(|path| !path.contains('\0') && path.len() <= MAX_BYTES);
    paths
}
