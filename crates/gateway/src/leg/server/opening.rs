//! Which era a server speaks, and how it is opened in it.
//!
//! A legacy client's `initialize` is simply passed on; only if that fails the server is asked whether it is a modern
//! one. For a modern client the server is asked first.

use crate::moment::Moment;
use midcall_core::wire::{JsonObject, Modes, Revision, code};
use serde_json::{Value, json};

use crate::call::Declared;
use crate::frame::{Frame, Id, Members};

/// What a server was told by `initialize` that its client can do, for as long as it runs.
pub struct Offered {
    /// How a person can be asked.
    pub modes: Modes,
    others: JsonObject,
}

impl Offered {
    /// What a client declares, and how others can ask a person.
    pub fn new(declared: &Declared, added: Modes) -> Self {
        Self {
            modes: declared.modes.union(added),
            others: others(declared),
        }
    }

    /// True if the server knows what this client can do. How a person is asked is for Midcall to know.
    pub fn is_of(&self, declared: &Declared) -> bool {
        self.others == others(declared)
    }
}

/// What a client can do for a legacy server, other than to ask a person.
fn others(declared: &Declared) -> JsonObject {
    let read = serde_json::from_str(&declared.capabilities);
    let mut others: JsonObject = read.unwrap_or_default();
    for name in ["elicitation", "extensions"] {
        others.shift_remove(name);
    }
    others
}

/// How far the opening of a server has come.
#[derive(Default)]
pub enum Opening {
    /// Nobody has tried.
    #[default]
    NotYet,
    /// `initialize` was sent.
    Asked(Asked),
    /// The server is being asked whether it is a modern one.
    Probing(Probe),
    Open,
    /// It doesn't speak the era that it was to be opened in.
    Failed,
}

/// An `initialize` on its way.
pub struct Asked {
    pub id: Id,
    /// True if the client sent it, so that the answer is the client's.
    pub is_clients: bool,
    /// When the server has had long enough; none if it may take any time.
    pub until: Option<Moment>,
}

/// A `server/discover` on its way.
pub struct Probe {
    pub id: Id,
    /// When the server is taken for a legacy one, or has had long enough; none if it may take any time.
    pub until: Option<Moment>,
    pub failed: Option<Failure>,
}

/// An `initialize` that failed before the server was asked what it is.
pub struct Failure {
    /// The error that the server answered with.
    pub error: Frame,
    /// The id of the client's own `initialize`; none if it was Midcall's.
    pub clients: Option<Id>,
    /// How many messages of the client waited for it.
    pub held: usize,
}

/// What a modern server says of itself; none if it isn't one.
pub fn discovered(members: &Members<'_>) -> Option<Value> {
    if let Some(error) = members.error {
        let error: Value = serde_json::from_slice(error).ok()?;
        // Errors that no other era has.
        let is_modern = match error["code"].as_i64()? {
            code::MISSING_CLIENT_CAPABILITY | code::HEADER_MISMATCH => true,
            code::UNSUPPORTED_VERSION => speaks(&error["data"]["supported"]),
            _ => false,
        };
        return is_modern.then(|| json!({"capabilities": {}}));
    }
    let result: Value = serde_json::from_slice(members.result?).ok()?;
    speaks(&result["supportedVersions"]).then_some(result)
}

/// True if the modern revision is among these.
fn speaks(versions: &Value) -> bool {
    let is_modern = |version: &Value| version == Revision::V2026_07_28.as_str();
    versions
        .as_array()
        .is_some_and(|versions| versions.iter().any(is_modern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_only_one_era_has_tells_which_one_it_is() {
        for (error, is_modern) in [
            (json!({"code": -32601}), false),
            (json!({"code": -32600}), false),
            (json!({"code": -32021}), true),
            (json!({"code": -32020}), true),
            (
                json!({"code": -32022, "data": {"supported": ["2026-07-28"]}}),
                true,
            ),
            (
                json!({"code": -32022, "data": {"supported": ["2099-01-01"]}}),
                false,
            ),
            (json!({"code": "-32021"}), false),
        ] {
            let frame = Frame::write(&json!({"id": 1, "error": error}));
            let (_, members) = frame.peek().unwrap();
            assert_eq!(discovered(&members).is_some(), is_modern, "{error}");
        }
    }
}
