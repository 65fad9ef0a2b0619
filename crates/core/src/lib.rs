//! What an MCP elicitation is.

pub mod link;

pub use link::Link;
