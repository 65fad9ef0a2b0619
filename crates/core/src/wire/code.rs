//! Error codes: JSON-RPC's own, and those MCP adds.

/// The bytes were not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// Not a JSON-RPC request, or one that makes no sense on this connection.
pub const INVALID_REQUEST: i64 = -32600;
/// The method is unknown, or its capability was not declared.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The params do not fit the method. 2025-11-25 also uses it for a mode of
/// elicitation that the client did not declare.
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed inside the receiver.
pub const INTERNAL_ERROR: i64 = -32603;

/// Legacy: there is no such resource. Modern peers say [`INVALID_PARAMS`].
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// 2025-11-25: links must be followed before the call can succeed. Its data is
/// [`UrlElicitationRequired`](super::UrlElicitationRequired).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// 2026-07-28: an HTTP header and the body disagree, or a header is missing.
pub const HEADER_MISMATCH: i64 = -32020;
/// 2026-07-28: the request needs a capability that its client did not declare.
/// Its data is [`MissingClientCapability`](super::MissingClientCapability).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// 2026-07-28: the server does not speak the request's revision. Its data is
/// [`UnsupportedVersion`](super::UnsupportedVersion).
pub const UNSUPPORTED_VERSION: i64 = -32022;
