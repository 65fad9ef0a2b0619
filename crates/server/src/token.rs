//! Names that nobody guesses.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest;
use rmcp::model::JsonObject;
use serde_json::Value;

/// 256 random bits.
pub(crate) fn bits() -> [u8; 32] {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).expect("the system has randomness");
    bits
}

/// The same as text.
pub(crate) fn random() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bits())
}

/// Another name that nobody guesses, made of one: the same each time.
pub(crate) fn derived(seed: &str, purpose: &str) -> String {
    let digest = digest(format!("{seed}\n{purpose}").as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(digest)
}

/// What a text amounts to.
pub(crate) fn digest(text: &[u8]) -> [u8; 32] {
    bits_of(digest::digest(&digest::SHA256, text))
}

/// What a JSON object amounts to, whatever the order of its members.
pub(crate) fn digest_of(members: &JsonObject) -> [u8; 32] {
    fn feed_all(members: &JsonObject, into: &mut digest::Context) {
        let mut names: Vec<&String> = members.keys().collect();
        names.sort_unstable();
        into.update(b"{");
        for name in names {
            feed(&Value::from(name.as_str()), into);
            feed(&members[name], into);
        }
        into.update(b"}");
    }
    fn feed(value: &Value, into: &mut digest::Context) {
        match value {
            Value::Object(members) => feed_all(members, into),
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
    feed_all(members, &mut context);
    bits_of(context.finish())
}

fn bits_of(digest: digest::Digest) -> [u8; 32] {
    let mut bits = [0; 32];
    bits.copy_from_slice(digest.as_ref());
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let digest = |value: &Value| digest_of(value.as_object().unwrap());
        let one = digest(&json!({"a": 1, "b": {"c": [1, 2], "d": null}}));
        let same = digest(&json!({"b": {"d": null, "c": [1, 2]}, "a": 1}));
        assert_eq!(one, same);
        for other in [
            json!({"a": 1, "b": {"c": [2, 1], "d": null}}),
            json!({"a": "1", "b": {"c": [1, 2], "d": null}}),
            json!({"a": 1, "b": {"c": [1], "d": null}}),
            json!({"a": 1, "b": {"c": [12], "d": null}}),
            json!({}),
        ] {
            assert_ne!(one, digest(&other), "{other}");
        }
        assert_ne!(random(), random());
    }
}
