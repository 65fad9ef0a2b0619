//! The question that a model is told to ask a person, as a tool's result carries it.
//!
//! MCP has no such question. It is for clients that cannot ask by themselves, and only Midcall says
//! it: there is nothing to read.

use serde_json::Value;

use super::{JsonObject, members::put};

/// A question for a model to ask. The model hands in what the person said under `elicit_id`.
///
/// ```
/// use midcall_core::wire::ElicitationPending;
/// # use serde_json::json;
///
/// let pending = ElicitationPending {
///     elicit_id: "x7",
///     message: "For which day?",
///     schema: &json!({"type": "object"}),
///     instructions: "Ask the person",
/// };
/// assert_eq!(json!(pending.write()), json!({"elicitId": "x7", "message": "For which day?",
///     "schema": {"type": "object"}, "instructions": "Ask the person"}));
/// ```
#[derive(Clone, Copy)] // No Debug: the id is a secret, and a schema may repeat what a person typed
pub struct ElicitationPending<'a> {
    /// The secret that identifies the question: anyone who has it can answer.
    pub elicit_id: &'a str,
    /// What the person is asked.
    pub message: &'a str,
    /// What the content of an answer has to fit.
    pub schema: &'a Value,
    /// What the model is to do.
    pub instructions: &'a str,
}

impl ElicitationPending<'_> {
    /// The member that it is under, in `_meta` and in structured content.
    pub const MEMBER: &'static str = "elicitationPending";

    /// Writes it.
    pub fn write(&self) -> JsonObject {
        let mut pending = JsonObject::new();
        put(&mut pending, ELICIT_ID, self.elicit_id);
        put(&mut pending, "message", self.message);
        put(&mut pending, "schema", self.schema.clone());
        put(&mut pending, "instructions", self.instructions);
        pending
    }
}

/// The name of a question, in the question and in an answer to it.
pub(crate) const ELICIT_ID: &str = "elicitId";
