//! `Bash`: every part must be allowed, any part can deny or ask.

use super::{Verdict, allow, deny, quote};
use crate::call::ToolCall;
use crate::rules::Rules;
use crate::shell::strict::{Plain, understand};

pub(super) fn judge(rules: &Rules, call: &ToolCall<'_>, verdict: &mut Verdict) {
    let command = call.text("command");
    deny::judge(rules, call, command.unwrap_or_default(), verdict);
    let Some(command) = command else {
        verdict.doubt("the call has no command");
        return;
    };
    let parts = match understand(command) {
        Ok(parts) => parts,
        Err(reason) => {
            verdict.doubt(reason.to_string());
            return;
        }
    };
    for part in &parts {
        match allow::covering(rules, call, part) {
            Ok(ids) => verdict.allow.extend(ids),
            Err(reason) => verdict.doubt(reason),
        }
    }
    if let Some(reason) = elsewhere(&parts) {
        verdict.doubt(reason);
    }
}

/// Git reads its config from the folder it is in, and config runs programs.
fn elsewhere(parts: &[Plain<'_>]) -> Option<String> {
    let program = |part: &Plain<'_>| part.words.first().map(|word| word.text.clone());
    let moves =
        |part: &&Plain<'_>| matches!(program(part).as_deref(), Some("cd" | "pushd" | "popd"));
    let moving = parts.iter().find(moves)?;
    let git = |part: &Plain<'_>| part.words.iter().any(|word| word.text == "git");
    parts.iter().any(git).then(|| {
        let moving = quote(moving.source);
        format!("{moving} and git in one command: the other folder's config can run programs")
    })
}
