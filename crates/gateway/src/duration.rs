//! Durations as people write them on a command line: `500ms`, `45s`, `5m`, `2h`, `1d`.

use std::str::FromStr;
use std::time::Duration;

/// Reads a whole number and its unit.
pub fn read(text: &str) -> Result<Duration, &'static str> {
    const USAGE: &str = "expected a duration like 500ms, 45s, 5m, 2h or 1d";
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u32 = number.parse().map_err(|_| USAGE)?;
    let unit = match unit {
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(60 * 60),
        "d" => Duration::from_secs(24 * 60 * 60),
        _ => return Err(USAGE),
    };
    Ok(unit * number)
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
        for text in ["", "5", "m", "-5s", "1.5s", "5 m", "5w", "99999999999s"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
