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
use toml::de::{DeString, DeTable, DeValue};

use super::mistakes::Mistakes;
pub use super::mistakes::Wrong;
use crate::suggest;

/// What is said of a value from the environment, which may be a secret.
pub const VARIABLE: &str = "what the variable holds does not fit here";

/// Longer files are not settings.
const LONGEST: u64 = 256 * 1024;

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
        Wrong::at(text, place, reason(error.message()))
    })
}

/// The message of a deserializer, with the word that the person most likely meant.
fn reason(message: &str) -> String {
    for (unknown, told) in [
        ("unknown field `", "unknown key"),
        ("unknown variant `", "unknown value"),
    ] {
        let parts = message
            .strip_prefix(unknown)
            .and_then(|rest| rest.split_once('`'));
        if let Some((word, known)) = parts {
            let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
            return format!("{told} {}", choice(word, &known));
        }
    }
    message.to_owned()
}

/// What is wrong where a text isn't TOML. Of a word without quotes, the parser says that it is no number.
fn syntax(text: &str, place: usize, message: &str) -> String {
    let rest = text.get(place..).unwrap_or_default();
    let is_value = text
        .get(..place)
        .is_some_and(|before| before.trim_end().ends_with('='));
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && !"-_./".contains(letter));
    let word = &rest[..end.unwrap_or(rest.len())];
    if is_value && word.starts_with(char::is_alphabetic) {
        return format!("text is written in quotes: \"{word}\"");
    }
    message.to_owned()
}

/// An unknown word, and what the person most likely meant or may choose from.
fn choice(word: &str, known: &[&str]) -> String {
    match suggest::nearest(word, known.iter().copied()) {
        Some(meant) => format!("`{word}`. Did you mean `{meant}`?"),
        None => format!("`{word}`. Choose from: {}", known.join(", ")),
    }
}

/// A text whose strings have `${NAME}` replaced by variables of the environment.
pub struct Document<'a> {
    table: Spanned<DeTable<'a>>,
    /// Where something was replaced.
    replaced: Vec<Range<usize>>,
}

impl<'a> Document<'a> {
    /// Parses a text and replaces the variables. A text that isn't TOML has no more mistakes than those that say so.
    pub fn parse(
        text: &'a str,
        variable: impl Fn(&str) -> Option<String>,
        mistakes: &mut Mistakes,
    ) -> Option<Self> {
        let (mut table, errors) = DeTable::parse_recoverable(text);
        let mut lines = Vec::new();
        for error in &errors {
            let place = error.span().map_or(0, |span| span.start);
            let line = Wrong::at(text, place, "").line;
            // One slip is often several errors.
            if !lines.contains(&line) {
                lines.push(line);
                mistakes.add(place..place, syntax(text, place, error.message()));
            }
        }
        if !errors.is_empty() {
            return None;
        }
        let mut replaced = Vec::new();
        for (_, value) in table.get_mut().iter_mut() {
            replace(value, &variable, &mut replaced, mistakes);
        }
        Some(Self { table, replaced })
    }

    /// What a table says, or nothing if it isn't there. What can't be used is a mistake and counts as left out.
    /// Several structs can read one table this way, each the keys that it knows.
    pub fn take<T: DeserializeOwned + Default>(&self, path: &[&str], mistakes: &mut Mistakes) -> T {
        let Some(found) = self.at(path) else {
            return T::default();
        };
        let mut found = found.clone();
        loop {
            let error = match T::deserialize(found.clone().into_deserializer()) {
                Ok(said) => return said,
                Err(error) => error,
            };
            let at = error.span().unwrap_or_default().start;
            let whole = found.span();
            let DeValue::Table(table) = found.get_mut() else {
                mistakes.add(whole, "expected a table");
                return T::default();
            };
            let mut entries = table.iter();
            let Some((key, value)) = entries.find(|(_, value)| covers(&value.span(), at)) else {
                mistakes.add_to_table(&whole, reason(error.message()));
                return T::default();
            };
            mistakes.add_at(at, value.span(), self.reason(&error));
            let key = key.clone();
            table.remove(&key);
        }
    }

    /// Says which keys of a table are others than these.
    pub fn knows(&self, path: &[&str], known: &[&str], mistakes: &mut Mistakes) {
        for key in self.names(path) {
            if !known.contains(&&**key.get_ref()) {
                let reason = format!("unknown key {}", choice(key.get_ref(), known));
                mistakes.add(key.span(), reason);
            }
        }
    }

    /// The keys of a table. No path is the whole document.
    pub fn names(&self, path: &[&str]) -> impl Iterator<Item = &Spanned<DeString<'a>>> {
        let table = match path {
            [] => Some(self.table.get_ref()),
            path => self.at(path).and_then(|value| value.get_ref().as_table()),
        };
        table.into_iter().flat_map(|table| table.keys())
    }

    /// True if there is such a value, whether it can be used or not.
    pub fn has(&self, path: &[&str]) -> bool {
        self.at(path).is_some()
    }

    /// Where a value is.
    pub fn place(&self, path: &[&str]) -> Range<usize> {
        self.at(path).map(Spanned::span).unwrap_or_default()
    }

    /// A text as it is written, and its place. None if it isn't a text, or holds a variable.
    pub fn written(&self, path: &[&str]) -> Option<(Range<usize>, &str)> {
        let value = self.at(path)?;
        let place = value.span();
        let text = value.get_ref().as_str()?;
        (!self.holds_variable(&place)).then_some((place, text))
    }

    /// True if a value holds what a variable of the environment says, which may be a secret.
    pub fn holds_variable(&self, place: &Range<usize>) -> bool {
        let mut replaced = self.replaced.iter();
        replaced.any(|one| one.start < place.end && place.start < one.end)
    }

    fn at(&self, path: &[&str]) -> Option<&Spanned<DeValue<'a>>> {
        let (first, rest) = path.split_first()?;
        let first = self.table.get_ref().get(*first);
        rest.iter().fold(first, |value, key| {
            value.and_then(|value| value.get_ref().get(*key))
        })
    }

    fn reason(&self, error: &toml::de::Error) -> String {
        // The error quotes the value, and what a variable holds may be a secret.
        let place = error.span().unwrap_or_default().start;
        match self.replaced.iter().any(|one| one.contains(&place)) {
            true => VARIABLE.to_owned(),
            false => reason(error.message()),
        }
    }
}

fn covers(range: &Range<usize>, place: usize) -> bool {
    range.contains(&place)
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
    mistakes: &mut Mistakes,
) {
    let place = value.span();
    match value.get_mut() {
        DeValue::String(text) if text.contains('$') => match filled(text, variable) {
            Ok(found) => {
                *text = found.into();
                replaced.push(place);
            }
            Err(reason) => mistakes.add(place, reason),
        },
        DeValue::Array(items) => {
            for item in items.iter_mut() {
                replace(item, variable, replaced, mistakes);
            }
        }
        DeValue::Table(members) => {
            for (_, member) in members.iter_mut() {
                replace(member, variable, replaced, mistakes);
            }
        }
        _ => {}
    }
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
            assert!(Document::parse(&text, |_| None, &mut Mistakes::default()).is_none());
        }
    }
}
