//! What an MCP elicitation is.
