//! What makes a schema no form.

use super::At;

/// Why a schema is not a form. A pointer says where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// More bytes than [`Limits::schema_bytes`](crate::Limits::schema_bytes).
    #[error("the schema is longer than the {limit} bytes that are read")]
    TooLong {
        /// How long it may be.
        limit: usize,
    },
    /// A longer name than [`Limits::name_bytes`](crate::Limits::name_bytes).
    #[error("at `{}`: a field's name is longer than {limit} bytes", shown(.path))]
    NameTooLong {
        /// A JSON Pointer to where the field stands.
        path: String,
        /// How long it may be.
        limit: usize,
    },
    /// Not JSON, or nested deeper than any form.
    #[error("the schema is not JSON: {0}")]
    NotJson(String),
    /// More fields than [`Limits::fields`](crate::Limits::fields).
    #[error("the form has more than {limit} fields")]
    TooManyFields {
        /// How many it may have.
        limit: usize,
    },
    /// More options than [`Limits::options`](crate::Limits::options).
    #[error("at `{}`: more than {limit} options", shown(.path))]
    TooManyOptions {
        /// A JSON Pointer into the schema.
        path: String,
        /// How many there may be.
        limit: usize,
    },
    /// More options in all than [`Limits::options_in_all`](crate::Limits::options_in_all).
    #[error("the form has more than {limit} options in all, counted for each field that has them")]
    TooManyOptionsInAll {
        /// How many there may be.
        limit: usize,
    },
    /// More to read than [`Limits::words_bytes`](crate::Limits::words_bytes).
    #[error(
        "the titles, descriptions and options of the form are longer than {limit} bytes in all, counted for each field that has them"
    )]
    TooManyWords {
        /// How long they may be.
        limit: usize,
    },
    /// More bytes behind `$ref`s than [`Limits::inlined_bytes`](crate::Limits::inlined_bytes).
    #[error("following the schema's $refs adds more than {limit} bytes to it")]
    TooMuchInlined {
        /// How many there may be.
        limit: usize,
    },
    /// Something that means nothing.
    #[error("at `{}`: {why}", shown(.path))]
    Nonsense {
        /// A JSON Pointer into the schema.
        path: String,
        /// What was expected.
        why: &'static str,
    },
}

pub(super) fn nonsense(at: &At<'_>, why: &'static str) -> FormError {
    FormError::Nonsense {
        path: at.pointer(),
        why,
    }
}

/// A path as an error shows it: strangers chose its names, and a terminal may print it.
fn shown(path: &str) -> String {
    match path {
        "" => "/".to_owned(),
        path => path.escape_debug().take(300).collect(),
    }
}
