//! Files that a command would change although no rule may say so.

use crate::call::ToolCall;
use crate::path::{absolute, holds_credentials, is_protected, is_within, joined, resolve};
use crate::risk::written_paths;
use crate::shell::command::Word;
use crate::shell::strict::PlainWord;

/// Why these words may not be allowed by any rule.
pub(super) fn objection(call: &ToolCall<'_>, words: &[PlainWord]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let deletes = matches!(program.text.as_str(), "rm" | "rmdir" | "unlink" | "shred");
    if deletes && let Some(glob) = arguments.iter().find(|word| word.glob) {
        return Some(format!("`{}` may be any file", glob.text));
    }
    let arguments: Vec<Word> = arguments.iter().map(PlainWord::to_word).collect();
    let mut targets = written_paths(&program.text, &arguments);
    if matches!(program.text.as_str(), "cd" | "pushd") {
        targets.extend(arguments.first());
    }
    targets.into_iter().find_map(|target| {
        let text = &target.text;
        let places = [
            Some(absolute(text, call.cwd, Some(call.home))),
            resolve(&joined(call, text), call.links),
        ];
        let guarded = |place: &String| is_protected(place) || holds_credentials(place);
        let places = || places.iter().flatten();
        if places().any(guarded) {
            return Some(format!("`{text}` is protected"));
        }
        if deletes && places().any(|place| is_critical(call, place)) {
            return Some(format!(
                "`{text}` holds more than one should delete by a rule"
            ));
        }
        None
    })
}

/// The root, a folder right below it, a home, the project, or a folder that
/// holds one of them.
fn is_critical(call: &ToolCall<'_>, place: &str) -> bool {
    let depth = place.split('/').filter(|part| !part.is_empty()).count();
    let holds = |path: &str| is_within(&absolute(path, "/", None), place);
    depth <= 1 || holds(call.home) || holds(call.project_root) || holds(call.cwd)
}
