//! TOML files that people write. Errors name the line and the column.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, IntoDeserializer, Visitor, value,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longer files are not settings.
const LONGEST: u64 = 256 * 1024;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct Wrong {
    pub line: usize,
    pub column: usize,
    pub reason: String,
}

impl Wrong {
    /// At a byte of a text.
    pub fn at(text: &str, place: usize, reason: impl Into<String>) -> Self {
        let place = (0..=place.min(text.len())).rfind(|place| text.is_char_boundary(*place));
        let before = &text[..place.unwrap_or(0)];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            reason: reason.into(),
        }
    }
}

/// The text of a file.
pub fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    if file.take(LONGEST + 1).read_to_string(&mut text)? as u64 > LONGEST {
        let reason = format!("it is longer than {LONGEST} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(text)
}

/// What a text says.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Wrong> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(0, |span| span.start);
        Wrong::at(text, place, error.message())
    })
}

/// A text whose strings have `${NAME}` replaced by variables of the environment.
pub struct Document<'a> {
    text: &'a str,
    table: Spanned<DeTable<'a>>,
    /// Where something was replaced.
    replaced: Vec<Range<usize>>,
}

impl<'a> Document<'a> {
    /// Parses a text and replaces the variables.
    pub fn parse(text: &'a str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, Wrong> {
        let mut table = DeTable::parse(text).map_err(|error| {
            let place = error.span().map_or(0, |span| span.start);
            Wrong::at(text, place, error.message())
        })?;
        let mut replaced = Vec::new();
        for (_, value) in table.get_mut().iter_mut() {
            replace(value, &variable, &mut replaced)
                .map_err(|(place, reason)| Wrong::at(text, place.start, reason))?;
        }
        Ok(Self {
            text,
            table,
            replaced,
        })
    }

    /// What the whole document says.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Wrong> {
        T::deserialize(self.table.clone().into_deserializer()).map_err(|error| self.wrong(&error))
    }

    /// What one value of the document says. Several structs can read one table this way, each
    /// the keys that it knows.
    pub fn read_at<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Wrong> {
        let Some(value) = self.at(path) else {
            return Err(Wrong::at(self.text, 0, "there is no such value"));
        };
        T::deserialize(value.clone().into_deserializer()).map_err(|error| self.wrong(&error))
    }

    /// Refuses a table that has other keys than these.
    pub fn knows(&self, path: &[&str], known: &[&str]) -> Result<(), Wrong> {
        let table = self.at(path).and_then(|value| value.get_ref().as_table());
        let mut keys = table.into_iter().flat_map(|table| table.keys());
        let Some(unknown) = keys.find(|key| !known.contains(&&**key.get_ref())) else {
            return Ok(());
        };
        let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        let reason = format!(
            "unknown field `{unknown}`, expected one of {}",
            known.join(", ")
        );
        Err(Wrong::at(self.text, unknown.span().start, reason))
    }

    /// Where a value is.
    pub fn place(&self, path: &[&str]) -> Range<usize> {
        self.at(path).map(Spanned::span).unwrap_or_default()
    }

    fn at(&self, path: &[&str]) -> Option<&Spanned<DeValue<'a>>> {
        let (first, rest) = path.split_first()?;
        let first = self.table.get_ref().get(*first);
        rest.iter().fold(first, |value, key| {
            value.and_then(|value| value.get_ref().get(*key))
        })
    }

    fn wrong(&self, error: &toml::de::Error) -> Wrong {
        // The error quotes the value, and what a variable holds may be a secret.
        let place = error.span().unwrap_or_default().start;
        match self.replaced.iter().find(|one| one.contains(&place)) {
            Some(one) => Wrong::at(
                self.text,
                one.start,
                "what the variable holds does not fit here",
            ),
            None => Wrong::at(self.text, place, error.message()),
        }
    }
}

/// The keys that a struct reads which derives `Deserialize`.
pub fn keys<T: DeserializeOwned>() -> &'static [&'static str] {
    /// Serde tells a deserializer the names of a struct's fields: it takes note of them.
    struct Names<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Names<'_> {
        type Error = value::Error;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(Error::custom("there are only names here"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut names: &'static [&'static str] = &[];
    // It ends with an error, once it has told the names.
    let _ = T::deserialize(Names(&mut names));
    names
}

/// Replaces variables in a value, and notes where.
fn replace(
    value: &mut Spanned<DeValue<'_>>,
    variable: &impl Fn(&str) -> Option<String>,
    replaced: &mut Vec<Range<usize>>,
) -> Result<(), (Range<usize>, String)> {
    let place = value.span();
    match value.get_mut() {
        DeValue::String(text) if text.contains('$') => {
            let found = filled(text, variable).map_err(|reason| (place.clone(), reason))?;
            *text = found.into();
            replaced.push(place);
        }
        DeValue::Array(items) => {
            for item in items.iter_mut() {
                replace(item, variable, replaced)?;
            }
        }
        DeValue::Table(members) => {
            for (_, member) in members.iter_mut() {
                replace(member, variable, replaced)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A text with its variables filled in. `$$` stands for one `$`.
fn filled(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            filled.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let (name, after) = after
                .split_once('}')
                .ok_or("a variable is written ${NAME}, and this one has no end")?;
            let value = variable(name)
                .ok_or_else(|| format!("the environment variable {name:?} is not set"))?;
            filled.push_str(&value);
            rest = after;
        } else {
            filled.push('$');
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A value that is written as on the command line.
pub fn parsed<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: std::fmt::Display>,
{
    let word = String::deserialize(deserializer)?;
    word.parse().map_err(D::Error::custom)
}

/// A value that is written as on the command line and may be left out.
pub fn parsed_option<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: std::fmt::Display>,
{
    parsed(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_as_editors_count_them() {
        for (text, place, line, column) in [
            ("", 0, 1, 1),
            ("ab", 1, 1, 2),
            ("a\nb", 2, 2, 1),
            ("é\né=", 5, 2, 2),
            ("é", 1, 1, 1),
            ("a\n", 9, 2, 1),
        ] {
            let wrong = Wrong::at(text, place, "x");
            assert_eq!((wrong.line, wrong.column), (line, column), "{text:?}");
        }
    }

    #[test]
    fn a_file_that_is_nested_without_end_is_refused() {
        let levels = 60_000;
        for text in [
            format!("a = {}{}", "[".repeat(levels), "]".repeat(levels)),
            format!("a = {}1{}", "{a=".repeat(levels), "}".repeat(levels)),
            format!("{}a = 1", "a.".repeat(levels)),
            format!("[{}a]", "a.".repeat(levels)),
        ] {
            assert!(read::<toml::Table>(&text).is_err());
            assert!(Document::parse(&text, |_| None).is_err());
        }
    }
}
