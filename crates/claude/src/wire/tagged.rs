//! Objects whose first key says of which kind they are, as the agent writes them: read in one pass.
//!
//! Only a short cut. What is written in any other way, or does not fit its kind, is read by the long way, which also
//! says what is wrong with it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What an object becomes, depending on the kind that it names.
pub(super) trait Kinds<'de>: Sized {
    /// The key that names the kind.
    const KEY: &'static str;

    /// Reads what follows the kind. Fails for kinds that have no short cut.
    fn read<D: Deserializer<'de>>(kind: &str, rest: D) -> Result<Self, D::Error>;
}

/// `None` when it takes the long way.
pub(super) fn read<'de, T: Kinds<'de>>(text: &'de str) -> Option<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = deserializer.deserialize_map(Object(PhantomData)).ok()?;
    deserializer.end().ok()?;
    Some(read)
}

pub(super) fn no_short_cut<T, E: Error>() -> Result<T, E> {
    Err(E::custom("there is no short cut"))
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Kinds<'de>> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an object that begins with `{}`", T::KEY)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let first = map.next_key::<Text<'de>>()?;
        if first.is_none_or(|Text(key)| key != T::KEY) {
            return no_short_cut();
        }
        let Text(kind) = map.next_value::<Text<'de>>()?;
        let rest = Rest {
            map,
            seen_type: T::KEY == "type",
            seen_subtype: T::KEY == "subtype",
        };
        T::read(&kind, MapAccessDeserializer::new(rest))
    }
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// What follows the first key. An object that names its kind twice is nobody's to guess.
struct Rest<A> {
    map: A,
    seen_type: bool,
    seen_subtype: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rest<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(Text(key)) = self.map.next_key::<Text<'de>>()? else {
            return Ok(None);
        };
        let repeated = match &*key {
            "type" => std::mem::replace(&mut self.seen_type, true),
            "subtype" => std::mem::replace(&mut self.seen_subtype, true),
            _ => false,
        };
        if repeated {
            return no_short_cut();
        }
        seed.deserialize(CowStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
