//! What an MCP elicitation is.

pub mod wire;
