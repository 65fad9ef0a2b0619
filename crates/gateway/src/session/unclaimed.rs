//! Messages of a client without a word about how questions ended.
//!
//! Only Midcall says that, under [`meta::OUTCOME`]: a client that wrote it could pass its own answer off as a person's.

use midcall_core::wire::meta;
use serde_json::Value;

use crate::frame::{Frame, Members};

/// A client's claim about an outcome that can't be taken out of its message.
pub struct Inseparable;

impl Inseparable {
    /// What the client is told.
    pub const WORDS: &str =
        "midcall: the params say how a question ended, or may do so, in a way that can't be read";
}

/// The message without the client's claims about outcomes; none if it makes no such claim.
pub fn unclaimed(frame: &Frame, members: &Members<'_>) -> Result<Option<Frame>, Inseparable> {
    if !members.tells_outcome && members.responses.is_none() {
        return Ok(None);
    }
    // Readers may take either of two members of one name.
    if members.is_ambiguous {
        return Err(Inseparable);
    }
    let mut told = None;
    if let Some(json) = members.meta.filter(|_| members.tells_outcome) {
        let mut meta = read(json)?;
        forget(&mut meta);
        told = Some(
            frame
                .with(&["params", "_meta"], &meta.to_string())
                .ok_or(Inseparable)?,
        );
    }
    if let Some(json) = members.responses {
        let mut responses = read(json)?;
        if forget_each(&mut responses) {
            let frame = told.as_ref().unwrap_or(frame);
            let json = responses.to_string();
            told = Some(
                frame
                    .with(&["params", "inputResponses"], &json)
                    .ok_or(Inseparable)?,
            );
        }
    }
    if told.is_some() {
        tracing::warn!("a client's claim about how a question ended was dropped");
    }
    Ok(told)
}

/// Removes the claims from the answers of a retry. True if there were any.
pub fn forget_each(responses: &mut Value) -> bool {
    let responses = responses.as_object_mut().into_iter().flatten();
    responses.fold(false, |is_claimed, (_, response)| {
        response.get_mut("_meta").is_some_and(forget) || is_claimed
    })
}

/// Removes the claim from a `_meta`. True if there was one.
fn forget(meta: &mut Value) -> bool {
    meta.as_object_mut()
        .is_some_and(|meta| meta.shift_remove(meta::OUTCOME).is_some())
}

fn read(json: &[u8]) -> Result<Value, Inseparable> {
    serde_json::from_slice(json).map_err(|_| Inseparable)
}
