//! Files of settings that people write: TOML, refused with the place of what is wrong.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
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

/// The same, with `${NAME}` in its texts replaced by variables of the environment.
pub fn read_with<T: DeserializeOwned>(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<T, Wrong> {
    let wrong = |error: toml::de::Error| {
        let place = error.span().map_or(0, |span| span.start);
        Wrong::at(text, place, error.message())
    };
    let mut table = DeTable::parse(text).map_err(wrong)?;
    let mut replaced = Vec::new();
    for (_, value) in table.get_mut().iter_mut() {
        replace(value, &variable, &mut replaced)
            .map_err(|(place, reason)| Wrong::at(text, place.start, reason))?;
    }
    T::deserialize(toml::de::Deserializer::from(table)).map_err(|error| {
        // What is wrong is told with the value, and that may be a secret.
        let place = error.span().unwrap_or_default();
        match replaced.iter().find(|one| one.contains(&place.start)) {
            Some(one) => Wrong::at(text, one.start, "what the variable holds does not fit here"),
            None => wrong(error),
        }
    })
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
pub fn worded<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: std::fmt::Display>,
{
    let word = String::deserialize(deserializer)?;
    word.parse().map(Some).map_err(D::Error::custom)
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
            assert!(read_with::<toml::Table>(&text, |_| None).is_err());
        }
    }
}
