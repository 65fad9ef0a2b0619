//! Files of settings that people write: TOML, refused with the place of what is wrong.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};

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
}
