//! Messages of a client without a word about how questions ended.
//!
//! Only Midcall says that, under [`meta::OUTCOME`]: a client that wrote it could pass its own answer off as a person's.

use midcall_core::wire::meta;
use serde_json::Value;

use crate::frame::{Frame, Members};

/// The message without the client's claims about outcomes; none if it makes no such claim.
pub fn unclaimed(frame: &Frame, members: &Members<'_>) -> Option<Frame> {
    if !members.tells_outcome && members.responses.is_none() {
        return None;
    }
    let mut params: Value = serde_json::from_slice(members.params?).ok()?;
    let is_meta_claimed = forget(&mut params);
    let is_response_claimed = params.get_mut("inputResponses").is_some_and(forget_each);
    let told = if members.tells_outcome && members.is_ambiguous {
        // Readers may take either of two members of one name, so only one is left.
        frame.with(&["params"], &params.to_string())
    } else {
        // Everything else stays as it was written.
        let claimed = [
            ("_meta", is_meta_claimed),
            ("inputResponses", is_response_claimed),
        ];
        let claimed = claimed.into_iter().filter(|(_, is_claimed)| *is_claimed);
        claimed.fold(None, |told: Option<Frame>, (name, _)| {
            let json = params[name].to_string();
            told.as_ref()
                .unwrap_or(frame)
                .with(&["params", name], &json)
        })
    };
    if told.is_some() {
        tracing::warn!("a client's claim about how a question ended was dropped");
    }
    told
}

/// Removes the claims from the answers of a retry. True if there were any.
pub fn forget_each(responses: &mut Value) -> bool {
    let responses = responses.as_object_mut().into_iter().flatten();
    responses.fold(false, |is_claimed, (_, response)| {
        forget(response) || is_claimed
    })
}

/// Removes the claim in an object's `_meta`. True if there was one.
fn forget(object: &mut Value) -> bool {
    let told = object.get_mut("_meta").and_then(Value::as_object_mut);
    told.is_some_and(|told| told.shift_remove(meta::OUTCOME).is_some())
}
