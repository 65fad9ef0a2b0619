//! What `format` asks of a text.
//!
//! A format means what the `jsonschema` crate says it means, so the crate is asked. Its one
//! leniency is switched off: a name beside an address.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use jsonschema::{EmailOptions, Validator};
use serde_json::{Value, json};

use super::problem::Fault;

/// The `format` of a text field.
#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    /// An e-mail address.
    Email,
    /// An absolute URI.
    Uri,
    /// A day: `2026-07-28`.
    Date,
    /// A moment with its offset: `2026-07-28T12:00:00Z`.
    DateTime,
    /// A hint: several lines.
    Textarea,
    /// A hint: not to be shown while it is typed.
    Password,
    /// Any other word. It is held against the value if JSON Schema knows it.
    Other(OtherFormat),
}

/// A format outside the protocol's four.
#[derive(Clone)]
pub struct OtherFormat {
    name: String,
    validator: OnceLock<Option<Validator>>,
}

impl OtherFormat {
    /// The word on the wire.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Format {
    pub(crate) fn named(name: String) -> Self {
        match name.as_str() {
            "email" => Self::Email,
            "uri" => Self::Uri,
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            "textarea" => Self::Textarea,
            "password" => Self::Password,
            _ => Self::Other(OtherFormat {
                name,
                validator: OnceLock::new(),
            }),
        }
    }

    /// The word on the wire.
    pub fn name(&self) -> &str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
            Self::Textarea => "textarea",
            Self::Password => "password",
            Self::Other(other) => &other.name,
        }
    }

    /// Whether the protocol itself names this format.
    pub fn is_standard(&self) -> bool {
        matches!(self, Self::Email | Self::Uri | Self::Date | Self::DateTime)
    }

    /// What is wrong with `text`, which must be a JSON string.
    pub(crate) fn fault(&self, text: &Value) -> Option<Fault> {
        static EMAIL: LazyLock<Option<Validator>> = LazyLock::new(|| validator("email"));
        static URI: LazyLock<Option<Validator>> = LazyLock::new(|| validator("uri"));
        static DATE: LazyLock<Option<Validator>> = LazyLock::new(|| validator("date"));
        static DATE_TIME: LazyLock<Option<Validator>> = LazyLock::new(|| validator("date-time"));

        let (validator, fault) = match self {
            Self::Email if text.as_str().is_some_and(is_plain_email) => return None,
            Self::Email => (&*EMAIL, Fault::Email),
            Self::Uri => (&*URI, Fault::Uri),
            Self::Date => (&*DATE, Fault::Date),
            Self::DateTime => (&*DATE_TIME, Fault::DateTime),
            Self::Textarea | Self::Password => return None,
            Self::Other(other) => {
                let validator = other.validator.get_or_init(|| validator(&other.name));
                let admitted = validator.as_ref().is_none_or(|known| known.is_valid(text));
                return (!admitted).then(|| Fault::Format(other.name.clone()));
            }
        };
        let admitted = validator.as_ref().is_none_or(|known| known.is_valid(text));
        (!admitted).then_some(fault)
    }
}

/// Whether a text is an address like almost all of them, which needs no full parser: letters,
/// digits and single dots or dashes. What is not plain may still be an address.
fn is_plain_email(text: &str) -> bool {
    fn is_plain(part: &str, longest: usize) -> bool {
        let mut previous = b'.';
        for byte in part.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {}
                b'.' | b'-' if previous.is_ascii_alphanumeric() => {}
                _ => return false,
            }
            previous = byte;
        }
        previous.is_ascii_alphanumeric() && part.len() <= longest
    }
    // A label of a host name has 63 bytes at most, so a host of no more needs no counting.
    text.split_once('@')
        .is_some_and(|(local, host)| is_plain(local, 64) && is_plain(host, 63))
}

/// An address is a mailbox, as JSON Schema says: `Ana <ana@example.com>` is more than that.
pub(super) fn addresses() -> EmailOptions {
    EmailOptions::default().without_display_text()
}

fn validator(format: &str) -> Option<Validator> {
    jsonschema::options()
        .should_validate_formats(true)
        .with_email_options(addresses())
        .build(&json!({ "format": format }))
        .ok()
}

impl fmt::Debug for OtherFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)
    }
}

impl PartialEq for OtherFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_address_is_an_address() {
        let crate_says = validator("email").unwrap();
        for text in [
            "ana@example.com",
            "a@b",
            "A.b-c.1@x-1.example.co",
            "1@1",
            &format!("{}@{}", "a".repeat(64), "b".repeat(63)),
        ] {
            assert!(
                is_plain_email(text) && crate_says.is_valid(&json!(text)),
                "{text}"
            );
        }
        for text in [
            "", "@", "a@", "@b", "a..b@c", "a-@b", ".a@b", "a@b.", "a@-b", "a@b@c", "é@b",
        ] {
            assert!(!is_plain_email(text), "{text}");
        }
    }
}
