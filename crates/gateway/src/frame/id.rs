//! The id of a request.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use crate::token::Token;

/// The id of a request, written in one way. Peers parse ids and write them again, so `1.0` may
/// come back as `1` and `"\u0061"` as `"a"`; what is sent on is always what came.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(Box<str>);

/// Ids are kept until they are answered, so they have an end.
const LONGEST: usize = 4_096;

impl Id {
    /// The id in some JSON; none if it cannot be one. `null` is none: nobody can answer it.
    pub fn read(json: &[u8]) -> Option<Self> {
        let text = str::from_utf8(json)
            .ok()
            .filter(|text| text.len() <= LONGEST)?;
        let written: Cow<'_, str> = match json.first()? {
            b'"' if text.contains('\\') => {
                let meant: String = serde_json::from_str(text).ok()?;
                serde_json::to_string(&meant).ok()?.into()
            }
            b'"' => text.into(),
            b'-' | b'0'..=b'9' if text.contains(['.', 'e', 'E']) => {
                serde_json::from_str::<&RawValue>(text).ok()?;
                match serde_json::from_str::<f64>(text) {
                    // Beyond this a double has no digits of its own to compare.
                    Ok(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => {
                        format!("{:.0}", number + 0.0).into()
                    }
                    Ok(number) => number.to_string().into(),
                    // No double is so large, so whoever answers has kept it as it is.
                    Err(_) => text.into(),
                }
            }
            b'-' if text == "-0" => "0".into(),
            b'-' | b'0'..=b'9' => text.into(),
            _ => return None,
        };
        Some(Self(written.into()))
    }

    /// As JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(number.to_string().into())
    }
}

/// Ids of our own requests. Nobody else's are like them: they begin with what nobody guesses.
pub struct OwnIds {
    prefix: Token,
    count: u64,
}

impl Default for OwnIds {
    fn default() -> Self {
        Self {
            prefix: Token::random(),
            count: 0,
        }
    }
}

impl OwnIds {
    /// One that was never used.
    pub fn fresh(&mut self) -> Id {
        self.count += 1;
        let prefix = self.prefix.reveal();
        Id(format!("\"midcall-{prefix}-{}\"", self.count).into())
    }

    /// Whether an id is one of these.
    pub fn has(&self, id: &Id) -> bool {
        let name = id.0.strip_prefix("\"midcall-");
        name.is_some_and(|name| name.starts_with(self.prefix.reveal()))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_id_written_in_several_ways_is_one_id() {
        for (one, other) in [
            ("1", "1.0"),
            ("10", "1e1"),
            ("-0.0", "-0"),
            ("0", "-0"),
            ("0", "-0e7"),
            ("1e400", "1e400"),
            (r#""a""#, r#""\u0061""#),
            (r#""a/b""#, r#""a\/b""#),
        ] {
            assert_eq!(
                Id::read(one.as_bytes()),
                Id::read(other.as_bytes()),
                "{one} {other}"
            );
        }
        for (one, other) in [
            ("1", r#""1""#),
            ("1", "1.5"),
            ("1e400", "1e401"),
            ("9007199254740993", "9007199254740992"),
            (r#""a""#, r#""A""#),
        ] {
            assert_ne!(
                Id::read(one.as_bytes()),
                Id::read(other.as_bytes()),
                "{one} {other}"
            );
        }
        for nothing in ["null", "true", "{}", "[]", "", "1.", "1e", "-.5"] {
            assert_eq!(Id::read(nothing.as_bytes()), None, "{nothing}");
        }
    }
}
