//! What messages say that matters to the streams they go on.

use serde_json::Value;

use crate::frame::{Frame, Id, Members};

/// Where a notification says which subscription it belongs to.
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Which subscription a notification belongs to.
pub fn subscription(members: &Members<'_>) -> Option<Id> {
    let params = members
        .params
        .filter(|params| mentions_subscription(params))?;
    let params: Value = serde_json::from_slice(params).ok()?;
    Id::read(params["_meta"].get(SUBSCRIPTION)?.to_string().as_bytes())
}

pub fn has_subscription(members: &Members<'_>) -> bool {
    members.result.is_some_and(mentions_subscription)
}

fn mentions_subscription(json: &[u8]) -> bool {
    memchr::memmem::find(json, SUBSCRIPTION.as_bytes()).is_some()
}

/// A message on one line, without an end. Line breaks can only be white space in it.
pub fn flat(frame: &Frame) -> bytes::Bytes {
    let line = frame.clone().into_bytes();
    let line = line.slice_ref(line.trim_ascii());
    if memchr::memchr2(b'\r', b'\n', &line).is_none() {
        return line;
    }
    let mut flat = line.to_vec();
    for byte in &mut flat {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
    flat.into()
}
