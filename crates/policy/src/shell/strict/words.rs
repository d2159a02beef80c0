//! Words that mean exactly what they say, in every shell that may run them.

use tree_sitter::Node;

use super::PlainWord;

/// The text of a word, if there is nothing in it for a shell to replace other
/// than file name patterns.
pub(super) fn plain_word(command: &str, node: Node<'_>) -> Option<PlainWord> {
    let mut word = PlainWord {
        text: String::new(),
        bare: true,
        glob: false,
    };
    if node.kind() != "concatenation" {
        push_part(command, node, &mut word)?;
        return Some(word);
    }
    let mut end = node.start_byte();
    for index in 0..node.child_count() {
        let part = node.child(index)?;
        if part.start_byte() != end {
            return None;
        }
        end = part.end_byte();
        push_part(command, part, &mut word)?;
    }
    (end == node.end_byte()).then_some(word)
}

fn push_part(command: &str, node: Node<'_>, word: &mut PlainWord) -> Option<()> {
    let source = command.get(node.byte_range())?;
    match node.kind() {
        "word" | "number" => {
            if !is_plain(source, word.text.is_empty()) {
                return None;
            }
            word.glob |= source.contains(['*', '?', '[', ']']);
            word.text.push_str(source);
        }
        "raw_string" => {
            let content = between(source, '\'')?;
            word.bare = false;
            word.text.push_str(content);
        }
        "string" => {
            let content = between(source, '"')?;
            if content.contains(['$', '`', '\\']) {
                return None;
            }
            word.bare = false;
            word.text.push_str(content);
        }
        _ => return None,
    }
    Some(())
}

/// What stands between two quotes, with no other such quote inside.
fn between(source: &str, quote: char) -> Option<&str> {
    let content = source.strip_prefix(quote)?.strip_suffix(quote)?;
    (!content.contains(quote)).then_some(content)
}

fn is_plain(source: &str, starts_word: bool) -> bool {
    let mut before: Option<char> = None;
    for character in source.chars() {
        let plain = match character {
            '=' => before.is_some() || !starts_word,
            // `HEAD~1`; at the start or after other signs it may be a home.
            '~' => before.is_some_and(char::is_alphanumeric),
            _ if character.is_ascii() => {
                character.is_ascii_alphanumeric() || "_-./:,@%+*?[]".contains(character)
            }
            _ => character.is_alphanumeric() && !has_blank_byte(character),
        };
        if !plain {
            return false;
        }
        before = Some(character);
    }
    true
}

/// Some shells take a byte that is a blank in an old encoding for one.
fn has_blank_byte(character: char) -> bool {
    let mut bytes = [0; 4];
    let bytes = character.encode_utf8(&mut bytes).bytes();
    bytes.into_iter().any(|byte| matches!(byte, 0x85 | 0xA0))
}

pub(super) fn variable_value(command: &str, node: Node<'_>) -> Option<String> {
    let word = plain_word(command, node)?;
    (!word.glob).then_some(word.text)
}
