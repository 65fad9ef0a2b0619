//! What an MCP elicitation is.

pub mod link;
pub mod secret;

pub use link::Link;
pub use secret::Secret;
