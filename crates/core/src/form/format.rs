//! What `format` asks of a text.
//!
//! A format means what the `jsonschema` crate says it means, so the crate is asked.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use jsonschema::Validator;
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

fn validator(format: &str) -> Option<Validator> {
    jsonschema::options()
        .should_validate_formats(true)
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
