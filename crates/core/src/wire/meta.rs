//! The `_meta` keys that matter to a question, and what they say.
//!
//! In 2026-07-28 every request carries who sends it in `params._meta`: there is
//! no opening to remember it from. Keys of ours begin with `dev.midcall/`.

use serde_json::Value;

use super::{
    JsonObject, Members, Modes, Revision, UnknownRevision,
    members::{millis, object_at, put},
};

/// The revision of a modern request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client of a modern request can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Which program sends a modern request. Self-reported: for show, not for trust.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The task that a message of 2025-11-25 belongs to.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// How long a server wants its question to wait, in milliseconds.
pub const TIMEOUT: &str = "dev.midcall/timeoutMs";
/// Whether accepting a question destroys something.
pub const DESTRUCTIVE: &str = "dev.midcall/destructive";
/// How the texts of a form should be typed, by their pointers: `{"/story": {"multiline": true,
/// "placeholder": "Once upon a time"}, "/code": {"secret": true}}`. MCP's schemas have no word for it.
pub const HINTS: &str = "dev.midcall/hints";
/// What 2026-07-28 says beside a round, by the keys of its requests: its `elicitation/create` has no
/// `_meta`. In the revisions before it stands in the question's own.
const BESIDE: [&str; 2] = [DESTRUCTIVE, HINTS];
/// What is wrong with an answer: in the result of a tool that a model answers by, and in the data of
/// the error that a server gets instead of a client's answer.
pub const PROBLEMS: &str = "dev.midcall/problems";
/// What a client is waiting for, and the claim to collect it with: in the result of a call that took too long.
pub const WAITING: &str = "dev.midcall/waiting";
/// In what a server says of itself: true if it knows a call that it gets a second time, and goes on with the first.
pub const JOINS: &str = "dev.midcall/joins";
/// Why the person said no, in the answer that `<mcp-elicitation>` hands to its host. Servers hear it in [`OUTCOME`].
pub const REASON: &str = "dev.midcall/reason";
/// How the question ended, and who answered.
pub const OUTCOME: &str = "dev.midcall/outcome";

/// The revision a modern request declares. `None` means that the request is
/// not a modern one.
pub fn declared_revision(params: &JsonObject) -> Option<Result<Revision, UnknownRevision>> {
    let version = meta_of(params)?.get(PROTOCOL_VERSION)?;
    Some(version.as_str().unwrap_or_default().parse())
}

/// The modes of elicitation a modern request declares.
pub fn declared_modes(params: &JsonObject) -> Modes {
    meta_of(params)
        .and_then(|meta| meta.get(CLIENT_CAPABILITIES))
        .and_then(Value::as_object)
        .map(Modes::read)
        .unwrap_or_default()
}

/// Tells a modern server how one of its questions ended: in the retry's
/// `params._meta`, by the key of the input request.
pub fn put_outcome(params: &mut JsonObject, key: &str, outcome: Value) {
    let meta = object_at(params, "_meta");
    put(object_at(meta, OUTCOME), key, outcome);
}

/// How long a server wants its question to wait. Zero is not a wait.
pub(super) fn timeout_ms(meta: Option<&Members>) -> Option<u64> {
    millis(meta?.get(TIMEOUT)?).filter(|ms| *ms > 0)
}

/// Moves what is said of a question to where a round says it.
pub(super) fn lift(key: &str, question: &mut Option<Members>, round: &mut Option<Members>) {
    let Some(said) = question else { return };
    for name in BESIDE {
        if let Some(word) = said.0.shift_remove(name) {
            let round = round.get_or_insert_default();
            put(object_at(&mut round.0, name), key, word);
        }
    }
    if said.0.is_empty() {
        *question = None;
    }
}

/// Moves what a round says of a question into the question itself. What that says counts.
pub(super) fn lower(key: &str, round: &mut Option<Members>, question: &mut Option<Members>) {
    let Some(said) = round else { return };
    for name in BESIDE {
        let Some(Value::Object(by_key)) = said.0.get_mut(name) else {
            continue;
        };
        if let Some(word) = by_key.shift_remove(key) {
            let question = question.get_or_insert_default();
            question.0.entry(name).or_insert(word);
        }
        if by_key.is_empty() {
            said.0.shift_remove(name);
        }
    }
    if said.0.is_empty() {
        *round = None;
    }
}

fn meta_of(params: &JsonObject) -> Option<&JsonObject> {
    params.get("_meta")?.as_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::members::object;

    fn params(meta: Value) -> JsonObject {
        object(json!({"name": "book", "_meta": meta}), "params").unwrap()
    }

    #[test]
    fn a_modern_request_declares_itself() {
        let modern = params(json!({
            PROTOCOL_VERSION: "2026-07-28",
            CLIENT_CAPABILITIES: {"elicitation": {"url": {}}},
        }));
        assert_eq!(declared_revision(&modern), Some(Ok(Revision::V2026_07_28)));
        assert_eq!(
            declared_modes(&modern),
            Modes {
                form: false,
                url: true
            }
        );
    }

    #[test]
    fn absent_is_legacy_and_unknown_is_an_error() {
        for meta in [json!({}), json!(null), json!("x"), json!([])] {
            assert_eq!(declared_revision(&params(meta.clone())), None, "{meta}");
            assert_eq!(declared_modes(&params(meta)), Modes::default());
        }
        for version in [json!("2031-01-01"), json!(7), json!(null)] {
            let request = params(json!({PROTOCOL_VERSION: version}));
            assert!(matches!(declared_revision(&request), Some(Err(_))));
        }
    }

    #[test]
    fn outcomes_of_several_questions_stand_side_by_side() {
        let mut retry = params(json!({"progressToken": 1}));
        put_outcome(&mut retry, "city", json!({"state": "answered"}));
        put_outcome(&mut retry, "day", json!({"state": "timed_out"}));
        assert_eq!(
            retry["_meta"],
            json!({"progressToken": 1, OUTCOME: {
                "city": {"state": "answered"},
                "day": {"state": "timed_out"},
            }})
        );

        let mut odd = params(json!("not an object"));
        put_outcome(&mut odd, "k", json!(1));
        assert_eq!(odd["_meta"], json!({OUTCOME: {"k": 1}}));
    }
}
