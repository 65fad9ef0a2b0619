//! How much of a stranger's input is looked at.

use serde_json::Value;

/// Bounds on what a server or a client may send. Whatever is beyond them is refused with an
/// error that names the bound, before any work is spent on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a `requestedSchema`.
    pub schema_bytes: usize,
    /// Bytes of an answer's content.
    pub content_bytes: usize,
    /// Fields of a form, those inside groups included.
    pub fields: usize,
    /// Bytes of a field's name.
    pub name_bytes: usize,
    /// Options of one choice.
    pub options: usize,
    /// Options of a form in all, each counted wherever a `$ref` repeats it.
    pub options_in_all: usize,
    /// Bytes of what people read in a form: titles, descriptions, options; counted like options.
    pub words_bytes: usize,
    /// Bytes that following `$ref`s may add to a schema.
    pub inlined_bytes: usize,
    /// Groups within groups. What lies deeper is shown as JSON.
    pub nesting: usize,
    /// Bytes of a message to the person.
    pub message_bytes: usize,
}

/// Whether a value takes no more bytes than that as JSON, looked at no further than needed.
pub(crate) fn is_within(value: &Value, bytes: usize) -> bool {
    left(value, bytes).is_some()
}

/// How many of so many bytes a value leaves as JSON; nothing if it takes more.
pub(crate) fn left(value: &Value, bytes: usize) -> Option<usize> {
    fn take(value: &Value, left: &mut usize) -> Option<()> {
        let own = match value {
            Value::String(text) => text.len() + 2,
            Value::Null | Value::Bool(_) | Value::Number(_) => 1,
            Value::Array(_) | Value::Object(_) => 2,
        };
        *left = left.checked_sub(own)?;
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| take(item, left)),
            Value::Object(members) => members.iter().try_for_each(|(name, member)| {
                *left = left.checked_sub(name.len() + 3)?;
                take(member, left)
            }),
            _ => Some(()),
        }
    }
    let mut left = bytes;
    take(value, &mut left)?;
    Some(left)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            schema_bytes: 256 * 1024,
            content_bytes: 1024 * 1024,
            fields: 200,
            name_bytes: 256,
            options: 2_000,
            options_in_all: 10_000,
            words_bytes: 256 * 1024,
            inlined_bytes: 1024 * 1024,
            nesting: 4,
            message_bytes: 64 * 1024,
        }
    }
}
