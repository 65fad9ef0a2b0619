//! The one user of local mode.

use midcall_core::Scope;

/// Whoever started this process: the user whose questions wait here, and who may answer them.
pub fn principal() -> Scope {
    Scope::user("local")
}
