//! Names that nobody guesses.

use aws_lc_rs::{digest, rand};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::Value;

/// 256 random bits.
pub(crate) fn bits() -> [u8; 32] {
    let mut bits = [0; 32];
    rand::fill(&mut bits).expect("the system has randomness");
    bits
}

/// The same as text.
pub(crate) fn random() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bits())
}

/// What a JSON value amounts to, whatever the order of its members.
pub(crate) fn digest_of(value: &Value) -> [u8; 32] {
    fn feed(value: &Value, into: &mut digest::Context) {
        match value {
            Value::Object(members) => {
                let mut names: Vec<&String> = members.keys().collect();
                names.sort_unstable();
                into.update(b"{");
                for name in names {
                    feed(&Value::from(name.as_str()), into);
                    feed(&members[name], into);
                }
                into.update(b"}");
            }
            Value::Array(items) => {
                into.update(b"[");
                for item in items {
                    feed(item, into);
                }
                into.update(b"]");
            }
            single => {
                into.update(single.to_string().as_bytes());
                into.update(b",");
            }
        }
    }
    let mut context = digest::Context::new(&digest::SHA256);
    feed(value, &mut context);
    let mut bits = [0; 32];
    bits.copy_from_slice(context.finish().as_ref());
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let one = digest_of(&json!({"a": 1, "b": {"c": [1, 2], "d": null}}));
        assert_eq!(
            one,
            digest_of(&json!({"b": {"d": null, "c": [1, 2]}, "a": 1}))
        );
        for other in [
            json!({"a": 1, "b": {"c": [2, 1], "d": null}}),
            json!({"a": "1", "b": {"c": [1, 2], "d": null}}),
            json!({"a": 1, "b": {"c": [1], "d": null}}),
            json!({"a": 1, "b": {"c": [12], "d": null}}),
            json!({}),
        ] {
            assert_ne!(one, digest_of(&other), "{other}");
        }
        assert_ne!(random(), random());
    }
}
