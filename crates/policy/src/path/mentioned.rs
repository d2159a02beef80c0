//! Which paths the caller should look up links for.

use crate::call::{Tool, ToolCall};
use crate::shell::wrappers::read_through;

use super::doubt::MAX_BYTES;
use super::lexical::absolute;
use super::links::joined;

/// No more than a human would write.
const MAX_PATHS: usize = 200;

/// The paths that `call` names, absolute, with `..` kept, and the folders they
/// are seen from. For each of them, look at every component; whatever is a
/// symbolic link belongs into [`ToolCall::links`], and so do the links on the
/// way to its target.
pub fn mentioned(call: &ToolCall<'_>) -> Vec<String> {
    let mut paths = vec![
        absolute(call.cwd, "/", None),
        absolute(call.project_root, "/", None),
    ];
    if call.tool() == Tool::Bash {
        let command = call.text("command").unwrap_or_default();
        read_through(command, &mut |found| {
            let targets = found.redirects.iter().map(|redirect| &redirect.target);
            let words = found.words.iter().skip(1).chain(targets);
            let words = words.filter(|word| word.literal && !word.text.starts_with('-'));
            let room = MAX_PATHS.saturating_sub(paths.len());
            paths.extend(words.take(room).map(|word| joined(call, &word.text)));
        });
    } else if let Some(path) = call.path() {
        paths.push(joined(call, path));
    }
    paths.retain(|path| !path.contains('\0') && path.len() <= MAX_BYTES);
    paths.dedup();
    paths
}
