//! How much of a stranger's input is looked at.

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
    /// Options of one choice.
    pub options: usize,
    /// Groups within groups. What lies deeper is shown as JSON.
    pub nesting: usize,
    /// Bytes of a message to the person.
    pub message_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            schema_bytes: 256 * 1024,
            content_bytes: 1024 * 1024,
            fields: 200,
            options: 2_000,
            nesting: 4,
            message_bytes: 64 * 1024,
        }
    }
}
