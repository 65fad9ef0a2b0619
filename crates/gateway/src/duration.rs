//! Durations as people write them on a command line: `500ms`, `45s`, `5m`, `2h`, `1d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The units, the smallest first, and how many milliseconds each has.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60 * 1_000),
    ("h", 60 * 60 * 1_000),
    ("d", 24 * 60 * 60 * 1_000),
];

/// Reads a whole number and its unit.
pub fn read(text: &str) -> Result<Duration, &'static str> {
    const USAGE: &str = "expected a duration like 500ms, 45s, 5m, 2h or 1d";
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u32 = number.parse().map_err(|_| USAGE)?;
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(USAGE)?;
    Ok(Duration::from_millis(*unit) * number)
}

/// A duration as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        read(text).map(Self)
    }
}

/// In the largest unit that leaves no rest.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let units = UNITS.iter().rev();
        let (name, unit) = units
            .map(|(name, unit)| (name, u128::from(*unit)))
            .find(|(_, unit)| millis > 0 && millis.is_multiple_of(*unit))
            .unwrap_or((&"ms", 1));
        write!(f, "{}{name}", millis / unit)
    }
}

/// How long a call is kept open; for ever if none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold(pub Option<Duration>);

impl FromStr for Hold {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const USAGE: &str = "expected never, or a duration like 500ms, 45s, 5m, 2h or 1d";
        match text {
            "never" => Ok(Self(None)),
            text => read(text).map(|hold| Self(Some(hold))).map_err(|_| USAGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        for (text, millis) in [
            ("500ms", 500),
            ("45s", 45_000),
            ("5m", 300_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
            ("0s", 0),
        ] {
            assert_eq!(read(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["500ms", "45s", "5m", "2h", "1d", "90s", "0ms"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        for text in ["", "5", "m", "-5s", "1.5s", "5 m", "5w", "99999999999s"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
