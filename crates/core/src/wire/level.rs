//! How important a line of a server's log is.

use serde::{Deserialize, Serialize};

/// The level of a log message, the least important first. Who asks for a level wants it and all after it.
///
/// ```
/// use midcall_core::wire::LogLevel;
///
/// let level: LogLevel = serde_json::from_str("\"warning\"")?;
/// assert!(LogLevel::Debug < level && level < LogLevel::Emergency);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are those of RFC 5424")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}
