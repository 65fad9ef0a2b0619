//! A question on its way to a modern client, and the call that it is told in.

use midcall_core::wire::{ElicitResult, code};
use midcall_core::{Elicitation, Limits};
use ring::digest as sha;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::frame::{Frame, Id};

/// A question of the session.
pub struct Ask {
    pub id: Id,
    pub key: String,
    pub method: String,
    pub params: Option<Box<RawValue>>,
    pub elicitation: Option<Box<Elicitation>>,
}

/// A client that comes back.
pub struct Back<'a> {
    pub id: Id,
    pub token: Option<&'a [u8]>,
    pub digest: [u8; 32],
    pub responses: &'a mut Value,
}

impl Ask {
    pub fn new(
        id: Id,
        method: &str,
        params: Option<Box<RawValue>>,
        elicitation: Option<Box<Elicitation>>,
    ) -> Self {
        Self {
            id,
            key: String::new(),
            method: method.to_owned(),
            params,
            elicitation,
        }
    }

    /// The session hears that nobody answered.
    pub fn unanswered(&self) -> Frame {
        if self.elicitation.is_some() {
            Frame::result(&self.id, &ElicitResult::cancel().write())
        } else {
            let told = "midcall: the client did not come back";
            Frame::error(Some(&self.id), code::INTERNAL_ERROR, told)
        }
    }

    /// The client's answer, if it is one.
    pub fn answer(&self, responses: &mut Value, limits: &Limits) -> Option<Frame> {
        let response = responses.get_mut(&self.key)?.take();
        if let Some(elicitation) = &self.elicitation {
            let result = ElicitResult::read(response.clone()).ok()?;
            elicitation.answer(result, limits).ok()?;
        }
        response
            .is_object()
            .then(|| Frame::result(&self.id, &response))
    }
}

/// What a call amounts to, to know it again under another id.
pub fn digest(method: &str, params: &Value) -> [u8; 32] {
    let mut known = params.clone();
    if let Some(known) = known.as_object_mut() {
        known.shift_remove("_meta");
    }
    let mut sum = sha::Context::new(&sha::SHA256);
    sum.update(method.as_bytes());
    sum.update(b"\0");
    sum.update(sorted(&known).to_string().as_bytes());
    sum.finish().as_ref().try_into().unwrap_or_default()
}

/// The same JSON, its members in one order.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            members
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
