//! The names of the members in which MCP carries questions and answers.

/// In an `elicitation/create` for a link, up to 2025-11-25: what the link is called.
pub const ELICITATION_ID: &str = "elicitationId";
/// In the data of `-32042`: the links to follow.
pub const ELICITATIONS: &str = "elicitations";
/// In a result of 2026-07-28: what the server has to know before it can go on.
pub const INPUT_REQUESTS: &str = "inputRequests";
/// In the params of a repeated call: the answers.
pub const INPUT_RESPONSES: &str = "inputResponses";
/// In an `elicitation/create` for a form: its schema.
pub const REQUESTED_SCHEMA: &str = "requestedSchema";
/// In a result and in the params of the repeated call: what the server wants back, unread.
pub const REQUEST_STATE: &str = "requestState";
/// In every result of 2026-07-28: whether it is the last one.
pub const RESULT_TYPE: &str = "resultType";
