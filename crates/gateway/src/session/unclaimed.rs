//! Messages of a client without what only Midcall may say, and without content that nobody accepted.
//!
//! Only Midcall says how a question ended, under [`meta::OUTCOME`]: a client that wrote it could pass its own answer off
//! as a person's. What somebody typed before they said no isn't for a server, wherever the answer passes through.

use midcall_core::is_ambiguous;
use midcall_core::wire::{Action, ElicitResult, member, meta};
use serde_json::{Value, json};

use crate::frame::{ANSWER, Frame, Members, Object, repeats};

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
    if let Some(json) = members.responses
        && let Some(responses) = tidied(json)?
    {
        let frame = told.as_ref().unwrap_or(frame);
        let edited = frame.with(&["params", member::INPUT_RESPONSES], &responses);
        told = Some(edited.ok_or(Inseparable)?);
    }
    if told.is_some() {
        tracing::warn!("something that isn't for a client to say was dropped from its message");
    }
    Ok(told)
}

/// The answers of a retry without claims, and without content beside a refusal. None if they have neither.
fn tidied(responses: &[u8]) -> Result<Option<String>, Inseparable> {
    read(responses)?;
    if str::from_utf8(responses).is_ok_and(is_ambiguous) {
        return Err(Inseparable);
    }
    let Some(all) = Object::read(responses) else {
        return Ok(None);
    };
    let (mut left, mut differs) = (all.clone(), false);
    for (key, response) in all.iter() {
        let Some(mut answer) = Object::read(response.as_bytes()) else {
            continue;
        };
        if repeats(response.as_bytes(), &ANSWER) {
            return Err(Inseparable);
        }
        let claimed = answer.get("_meta").map(|meta| read(meta.as_bytes()));
        let claimed = claimed
            .transpose()?
            .filter(|meta| meta.get(meta::OUTCOME).is_some());
        let before = answer.clone();
        if let Some(action) = refusal(&answer) {
            answer.remove("content");
            answer.put("action", &action); // Older clients say `reject`.
        }
        if let Some(mut meta) = claimed {
            forget(&mut meta);
            answer.set("_meta", meta.to_string());
        }
        if answer != before {
            left.set(key.to_owned(), answer.write());
            differs = true;
        }
    }
    Ok(differs.then(|| left.write()))
}

/// What an answer says that says no, or nothing.
fn refusal(answer: &Object<'_>) -> Option<&'static str> {
    let action = read(answer.get("action")?.as_bytes()).ok()?;
    let result = ElicitResult::read(json!({"action": action})).ok()?;
    let action = Some(result.action()).filter(|action| *action != Action::Accept);
    action.map(Action::as_str)
}

/// Removes the claim from a `_meta`. True if there was one.
fn forget(meta: &mut Value) -> bool {
    meta.as_object_mut()
        .is_some_and(|meta| meta.shift_remove(meta::OUTCOME).is_some())
}

fn read(json: &[u8]) -> Result<Value, Inseparable> {
    serde_json::from_slice(json).map_err(|_| Inseparable)
}
