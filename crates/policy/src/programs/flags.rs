//! Whether a command may be allowed by a rule that names only its beginning.

use super::table::{Options, TABLE};
use super::{git, needs_exact_rule};
use crate::shell::strict::PlainWord;

/// Why only a rule with the whole command can allow these words.
pub(crate) fn objection(words: &[PlainWord]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let program = program.text.as_str();
    if needs_exact_rule(program) {
        return Some(format!("`{program}` runs other programs or code"));
    }
    let table = TABLE.iter().find(|row| row.programs.contains(&program));
    let known = table.is_some() || program == "git" || takes_targets(program);
    if let Some(word) = arguments.iter().find(|word| word.glob)
        && (known || word.text.starts_with('-'))
    {
        return Some(format!("`{}` may become any file name", word.text));
    }
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let flagged = match (program, table) {
        ("git", _) => git::objection(&texts),
        (_, Some(options)) => flagged(program, options, &texts),
        _ => flagged_operand(program, &texts),
    };
    flagged.map(|word| format!("`{word}` can run programs or write files"))
}

/// Programs whose operands are files that they change.
fn takes_targets(program: &str) -> bool {
    matches!(
        program,
        "rm" | "rmdir"
            | "unlink"
            | "shred"
            | "truncate"
            | "mv"
            | "cp"
            | "ln"
            | "install"
            | "chmod"
            | "chown"
            | "dd"
            | "uniq"
    )
}

fn flagged(program: &str, options: &Options, arguments: &[&str]) -> Option<String> {
    // `tar xIf …`: the first word is a cluster without a dash.
    if program.ends_with("tar")
        && let Some(first) = arguments.first()
        && !first.starts_with('-')
        && first.contains(['I', 'F'])
    {
        return Some((*first).to_owned());
    }
    if program.ends_with("make")
        && let Some(variable) = arguments.iter().find(|word| word.contains('='))
    {
        return Some((*variable).to_owned());
    }
    if program == "cargo"
        && let Some(toolchain) = arguments.first().filter(|word| word.starts_with('+'))
    {
        return Some((*toolchain).to_owned());
    }
    let mut words = arguments.iter().take_while(|word| **word != "--");
    let found = words.find(|word| is_flagged(options, word));
    found.map(|word| (*word).to_owned())
}

fn is_flagged(options: &Options, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    if options.words.contains(&name) {
        return true;
    }
    let Some(rest) = word.strip_prefix('-') else {
        return word.starts_with('@') && options.programs.contains(&"gcc");
    };
    if let Some(long) = rest.strip_prefix('-') {
        return is_long(options, long);
    }
    let letters = options.short;
    let cluster = rest.contains(|letter| letters.contains(letter));
    let by_one_dash = options.one_dash && rest.len() > 1 && is_long(options, rest);
    cluster || by_one_dash
}

/// Parsers that accept any beginning of a name do so for all of its kin.
fn is_long(options: &Options, long: &str) -> bool {
    let name = long.split('=').next().unwrap_or_default();
    let is_kin = |listed: &&str| {
        name.strip_prefix(*listed)
            .is_some_and(|rest| rest.starts_with('-'))
    };
    let is_beginning = |listed: &&str| options.abbreviates && listed.starts_with(name);
    let fits = |listed: &&str| *listed == name || is_kin(listed) || is_beginning(listed);
    !name.is_empty() && options.long.iter().any(fits)
}

fn flagged_operand(program: &str, arguments: &[&str]) -> Option<String> {
    let mut operands = arguments.iter().filter(|word| !word.starts_with('-'));
    let found = match program {
        // The second operand is written to.
        "uniq" => operands.nth(1),
        "dd" => operands.find(|word| word.starts_with("of=")),
        _ => None,
    };
    found.map(|word| (*word).to_owned())
}
