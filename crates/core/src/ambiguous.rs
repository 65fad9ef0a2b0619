//! JSON that two readers may understand in two ways.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// True if an object in the JSON, at any depth, has a member twice: some readers take the first, some the last, and what
/// one of them judges isn't what another shows. Also true if it isn't JSON, or is nested deeper than JSON is read here.
///
/// ```
/// use midcall_core::is_ambiguous;
///
/// assert!(is_ambiguous(r#"{"file": "a.txt", "file": "b.txt"}"#));
/// assert!(!is_ambiguous(r#"{"files": [{"file": "a.txt"}, {"file": "b.txt"}]}"#));
/// ```
pub fn is_ambiguous(json: &str) -> bool {
    let mut reader = serde_json::Deserializer::from_str(json);
    Once.deserialize(&mut reader).is_err() || reader.end().is_err()
}

/// A value whose members are there once.
struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a member is there twice"));
            }
            map.next_value_seed(Self)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_there_once_at_every_depth() {
        for (json, expected) in [
            ("{}", false),
            (
                r#"[1, -2, 1.5, 1e400, true, null, "x", {"a": 1}, {"a": 1}]"#,
                true,
            ), // no number
            (
                r#"[1, -2, 1.5, true, null, "x", {"a": 1}, {"a": 1}]"#,
                false,
            ),
            (r#"{"a": {"b": 1, "b": 2}}"#, true),
            (r#"[[{"a": 1, "\u0061": 2}]]"#, true),
            (r#"{"a": 1} {"#, true),
        ] {
            assert_eq!(is_ambiguous(json), expected, "{json}");
        }
        assert!(is_ambiguous(&"[".repeat(100_000)));
    }
}
