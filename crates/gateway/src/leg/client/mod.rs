//! What clients say, and what they are told.

pub mod legacy;
pub mod modern;

use serde_json::json;

use crate::call::{Request, TellBy};
use crate::frame::{Frame, Id};

/// A server's response as the client gets it that made the call.
pub fn result(call: &Request, response: &Frame, id: &Id) -> Frame {
    let told = match call.told {
        TellBy::Requests => response.clone(),
        TellBy::Results => modern::result(response, call.is_cacheable),
    };
    told.with_id(id)
}

/// Word that a call goes on. `token` is what the client wants to hear of it by, as JSON.
pub fn progress(token: &[u8], progress: f64, words: &str) -> Option<Frame> {
    let told = json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": null, "progress": progress, "message": words}});
    Frame::write(&told).with(&["params", "progressToken"], str::from_utf8(token).ok()?)
}

/// What a client gets that uses the id of a call which is still running.
pub fn in_use(id: &Id) -> Frame {
    let told = "midcall: this id belongs to a call that is still running";
    Frame::error(Some(id), midcall_core::wire::code::INVALID_REQUEST, told)
}

/// What is answered to a request that there is no room for.
pub fn too_much(id: &Id) -> Frame {
    let told = "midcall: too much is waiting for the server to be open";
    Frame::error(Some(id), midcall_core::wire::code::INTERNAL_ERROR, told)
}
