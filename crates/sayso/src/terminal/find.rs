//! Which request is meant. Ids that were made at the same time begin alike, so people are shown how
//! one ends.

use uuid::Uuid;

/// Few enough for a phone, and enough that a slip of the finger hits nothing.
const SHORTEST: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found<T> {
    One(T),
    Nothing,
    Several(Vec<T>),
    /// Too little to go by.
    TooShort,
}

/// The end of each id, as long as it takes to tell them apart.
pub(super) fn short_ids(ids: &[Uuid]) -> Vec<String> {
    let texts: Vec<String> = ids.iter().map(simple).collect();
    let is_clear = |length: &usize| {
        let mut ends: Vec<&str> = texts.iter().map(|text| end(text, *length)).collect();
        ends.sort_unstable();
        ends.windows(2).all(|pair| pair[0] != pair[1])
    };
    let length = (SHORTEST..32).find(is_clear).unwrap_or(32);
    texts
        .iter()
        .map(|text| end(text, length).to_owned())
        .collect()
}

/// The short form of one id among others.
pub(super) fn short_id(id: Uuid, among: impl IntoIterator<Item = Uuid>) -> String {
    let mut ids = vec![id];
    ids.extend(among.into_iter().filter(|other| *other != id));
    short_ids(&ids).swap_remove(0)
}

/// The one whose id begins or ends so. The whole id wins over everything.
pub(super) fn find(wanted: &str, ids: &[Uuid]) -> Found<Uuid> {
    let wanted: String = wanted.trim().to_lowercase().replace('-', "");
    if wanted.len() < SHORTEST {
        return Found::TooShort;
    }
    let fits = |id: &&Uuid| {
        let text = simple(id);
        text.starts_with(&wanted) || text.ends_with(&wanted)
    };
    let found: Vec<Uuid> = ids.iter().filter(fits).copied().collect();
    match found.as_slice() {
        [] => Found::Nothing,
        [one] => Found::One(*one),
        _ => Found::Several(found),
    }
}

fn simple(id: &Uuid) -> String {
    id.as_simple().to_string()
}

fn end(text: &str, length: usize) -> &str {
    &text[text.len() - length..]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const IDS: [Uuid; 3] = [
        Uuid::from_u128(0x01a1_e0d4_6690_70cc_8a60_1e5d_fe4f_2df4),
        Uuid::from_u128(0x01a1_e0d4_6691_70cc_8a60_1e5d_fe4a_2df4),
        Uuid::from_u128(0x01a1_e0d7_3406_77ae_8ea1_11fe_7460_0d11),
    ];

    #[test]
    fn short_ids_are_as_long_as_it_takes() {
        assert_eq!(short_ids(&IDS[1..]), ["2df4", "0d11"]);
        assert_eq!(short_ids(&IDS), ["f2df4", "a2df4", "00d11"]);
        assert_eq!(short_ids(&[]), Vec::<String>::new());
        assert_eq!(short_id(IDS[2], []), "0d11");
    }

    #[test]
    fn one_is_found_by_its_beginning_its_end_and_its_whole_id() {
        for wanted in [
            "0d11",
            "0D11",
            "01a1e0d7",
            "01a1e0d7-3406",
            "01a1e0d7-3406-77ae-8ea1-11fe74600d11",
        ] {
            assert_eq!(find(wanted, &IDS), Found::One(IDS[2]), "{wanted}");
        }
        assert_eq!(find("2df4", &IDS), Found::Several(IDS[..2].to_vec()));
        assert_eq!(find("01a1", &IDS), Found::Several(IDS.to_vec()));
        assert_eq!(find("ffff", &IDS), Found::Nothing);
        assert_eq!(find("d11", &IDS), Found::TooShort);
    }
}
