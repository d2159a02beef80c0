//! Characters that a human does not see, or sees where they are not.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Letters and marks that show as nothing or as a blank.
const BLANK: &[std::ops::RangeInclusive<char>] = &[
    '\u{034F}'..='\u{034F}',
    '\u{115F}'..='\u{1160}',
    '\u{17B4}'..='\u{17B5}',
    '\u{180B}'..='\u{180F}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{FE00}'..='\u{FE0F}',
    '\u{FFA0}'..='\u{FFA0}',
    '\u{FFFC}'..='\u{FFFD}',
    '\u{1D159}'..='\u{1D159}',
    '\u{E0100}'..='\u{E01EF}',
];

/// The first character of `text` that is not what it looks like.
pub(crate) fn deceptive(text: &str) -> Option<char> {
    text.chars().find(|character| is_deceptive(*character))
}

/// Not what it looks like: it shows as nothing, as a blank, or elsewhere than it stands. Line breaks
/// and tabs are such, too.
pub fn is_deceptive(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    let hidden = matches!(
        character.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::PrivateUse
            | GeneralCategory::Surrogate
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    );
    hidden || BLANK.iter().any(|range| range.contains(&character))
}

#[cfg(test)]
mod tests {
    use super::deceptive;

    #[test]
    fn invisible_characters_are_found() {
        for character in [
            '\0',
            '\t',
            '\n',
            '\u{1b}',
            '\u{7f}',
            '\u{a0}',
            '\u{200b}',
            '\u{202e}',
            '\u{2028}',
            '\u{2066}',
            '\u{2800}',
            '\u{3000}',
            '\u{3164}',
            '\u{feff}',
            '\u{e0063}',
            '\u{e000}',
            '\u{fe0f}',
            '\u{10ffff}',
        ] {
            assert_eq!(deceptive(&format!("a{character}b")), Some(character));
        }
        assert_eq!(deceptive("plain text, café, 日本語, –"), None);
    }
}
