//! What an MCP elicitation is.

pub mod catalog;
pub mod seal;
