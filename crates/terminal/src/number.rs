//! Numbers as people write them. The page reads them by the same rules (`web/js/values.js`).

use midcall_core::catalog::Locale;
use serde_json::{Number, Value};

/// The number that a text says; `None` if it says none, or one that may mean two things.
pub(crate) fn read(text: &str, locale: Locale) -> Option<Value> {
    let text = text.trim();
    let is_pt = locale == Locale::PtBr;
    // In "1,234" the comma may stand for thousands, except where it is the decimal sign; there, a dot may.
    if is_pt && is_grouped(text, '.') {
        return None;
    }
    let commas = text.matches(',').count();
    let is_decimal = commas == 1 && !text.contains('.') && (is_pt || !is_thousands(text));
    let plain = if is_decimal {
        text.replace(',', ".")
    } else {
        text.to_owned()
    };
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    if !is_written(unsigned) {
        return None;
    }
    let plain = plain.strip_prefix('+').unwrap_or(&plain);
    if let Ok(whole) = plain.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = plain.parse::<u64>() {
        return Some(whole.into());
    }
    Number::from_f64(plain.parse().ok()?).map(Value::Number)
}

/// A number with the decimal sign that [`read`] takes.
pub(crate) fn write(number: &Number, locale: Locale) -> String {
    let text = number.to_string();
    match locale {
        Locale::EnUs => text,
        Locale::PtBr => text.replace('.', ","),
    }
}

/// Three digits after the one comma.
fn is_thousands(text: &str) -> bool {
    let after = text.split_once(',').map_or("", |(_, after)| after);
    after.len() == 3 && after.bytes().all(|byte| byte.is_ascii_digit())
}

/// Up to three digits, then groups of three behind a sign each.
fn is_grouped(text: &str, sign: char) -> bool {
    let mut groups = text.strip_prefix(['+', '-']).unwrap_or(text).split(sign);
    let is_digits =
        |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups
        .next()
        .is_some_and(|group| group.len() <= 3 && is_digits(group));
    let mut rest = groups.peekable();
    first && rest.peek().is_some() && rest.all(|group| group.len() == 3 && is_digits(group))
}

/// Digits, with a dot among them or an exponent behind them.
fn is_written(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_exponent = |exponent: &str| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && is_digits(digits)
    };
    is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(is_exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read_as_the_same_number() {
        for number in [
            json!(1.5),
            json!(1.234),
            json!(-7),
            json!(1e300),
            json!(2.5e-9),
            json!(u64::MAX),
        ] {
            for locale in Locale::ALL {
                let text = write(number.as_number().unwrap(), locale);
                assert_eq!(read(&text, locale), Some(number.clone()), "{text}");
            }
        }
    }

    #[test]
    fn numbers_are_read_as_the_page_reads_them() {
        use Locale::{EnUs, PtBr};
        for (text, locale, expected) in [
            ("7", EnUs, Some(json!(7))),
            (" +007 ", EnUs, Some(json!(7))),
            ("-1.50", EnUs, Some(json!(-1.5))),
            (".5", EnUs, Some(json!(0.5))),
            ("5.", EnUs, Some(json!(5.0))),
            ("1e3", EnUs, Some(json!(1000.0))),
            ("1,5", EnUs, Some(json!(1.5))),
            ("1,234", EnUs, None),
            ("1,234", PtBr, Some(json!(1.234))),
            ("1.234", PtBr, None),
            ("1.5", PtBr, Some(json!(1.5))),
            ("1.234,5", PtBr, None),
            ("18446744073709551615", EnUs, Some(json!(u64::MAX))),
            ("1e999", EnUs, None),
            ("NaN", EnUs, None),
            ("inf", EnUs, None),
            ("0x10", EnUs, None),
            ("", EnUs, None),
            ("-", EnUs, None),
            (".", EnUs, None),
            ("1 2", EnUs, None),
        ] {
            assert_eq!(read(text, locale), expected, "{text:?}");
        }
    }
}
