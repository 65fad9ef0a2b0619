//! Comparing JSON numbers exactly: 2^53 + 1 is not 2^53, and 1 is 1.0.

use std::cmp::Ordering;

use serde_json::Number;

/// Which of two numbers is greater, without rounding either.
pub(crate) fn order(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => order_mixed(a, float(b)),
        (None, Some(b)) => order_mixed(b, float(a)).reverse(),
        (None, None) => float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal),
    }
}

/// Whether JSON Schema calls it an integer: `3`, and `3.0` too.
pub(crate) fn is_integer(number: &Number) -> bool {
    whole(number).is_some() || float(number).fract() == 0.0
}

/// Whether an integer lies outside what is kept digit by digit. Beyond 64 bits a JSON number
/// is a double, and the last digits a person typed are gone.
pub(crate) fn is_rounded(number: &Number) -> bool {
    let kept = -9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0;
    // The lower end is itself what a lower number is rounded to.
    let value = float(number);
    whole(number).is_none() && (!kept.contains(&value) || value == kept.start)
}

/// The exact value of a number that was written without fraction and fits 64 bits.
pub(crate) fn whole(number: &Number) -> Option<i128> {
    number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from))
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn order_mixed(whole: i128, float: f64) -> Ordering {
    // `as` saturates, so a float beyond i128 still lands on its own side of every 64-bit
    // integer; only the fraction is left to decide.
    whole
        .cmp(&(float as i128))
        .then_with(|| 0.0_f64.total_cmp(&(float.fract() + 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_ordered_without_rounding() {
        use Ordering::*;
        for (a, b, expected) in [
            ("1", "1.0", Equal),
            ("0", "-0.0", Equal),
            ("-0.0", "0.0", Equal),
            ("1", "1.5", Less),
            ("-1", "-1.5", Greater),
            ("0", "-0.5", Greater),
            ("9007199254740993", "9007199254740992.0", Greater),
            ("18446744073709551615", "18446744073709551616.0", Less),
            ("-9223372036854775808", "-1e300", Greater),
            ("18446744073709551615", "1e300", Less),
            ("2.5", "2.25", Greater),
        ] {
            assert_eq!(order(&number(a), &number(b)), expected, "{a} and {b}");
            assert_eq!(
                order(&number(b), &number(a)),
                expected.reverse(),
                "{b} and {a}"
            );
        }
    }

    #[test]
    fn integers_beyond_64_bits_are_known_to_be_rounded() {
        assert!(!is_rounded(&number("18446744073709551615")));
        assert!(!is_rounded(&number("-9223372036854775808")));
        assert!(!is_rounded(&number("1e3")));
        assert!(is_rounded(&number("18446744073709551617")));
        assert!(is_rounded(&number("-1e30")));
        assert!(is_rounded(&number("-9223372036854775809")));
    }
}
