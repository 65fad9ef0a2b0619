//! How messages look in the modern era.

use midcall_core::wire::{Asked, ElicitRequestParams, Revision, UnsupportedVersion, code};
use midcall_core::{Asker, Elicitation, Limits};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::frame::{Frame, Id, Members};

/// Where a result says who the server is.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// How much a request wants to hear of what happens.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The revisions that clients may speak.
pub fn supported() -> [&'static str; 3] {
    [
        Revision::V2026_07_28,
        Revision::V2025_11_25,
        Revision::V2025_06_18,
    ]
    .map(Revision::as_str)
}

/// What is answered to a request in a revision that nobody here speaks.
pub fn refused_revision(id: &Id, members: &Members<'_>) -> Option<Frame> {
    let said: Value = serde_json::from_slice(members.revision?).unwrap_or_default();
    let requested = said.as_str().unwrap_or_default();
    if requested == Revision::V2026_07_28.as_str() {
        return None;
    }
    let data = UnsupportedVersion {
        supported: vec![Revision::V2026_07_28.as_str().to_owned()],
        requested: requested.to_owned(),
        rest: Default::default(),
    };
    let error = json!({"code": code::UNSUPPORTED_VERSION, "message": "Unsupported protocol version", "data": data.write()});
    Frame::write(&json!({"jsonrpc": "2.0", "error": error})).with(&["id"], id.as_json())
}

/// The `_meta` of a request.
pub fn meta_of(members: &Members<'_>) -> Value {
    let params = members
        .params
        .and_then(|json| serde_json::from_slice::<Value>(json).ok());
    let told = params.and_then(|mut params| Some(params.get_mut("_meta")?.take()));
    told.filter(Value::is_object).unwrap_or_default()
}

/// A question in words of this era, and what it asks if it is a person's to answer.
pub fn modern_params(
    method: &str,
    params: Option<&[u8]>,
    limits: &Limits,
) -> (Option<Box<RawValue>>, Option<Box<Elicitation>>) {
    let text = params.and_then(|params| str::from_utf8(params).ok());
    let as_it_came = text.and_then(|text| RawValue::from_string(text.to_owned()).ok());
    if method != ElicitRequestParams::METHOD {
        return (as_it_came, None);
    }
    let read =
        text.and_then(|text| ElicitRequestParams::read(serde_json::from_str(text).ok()?).ok());
    let written = read.and_then(|mut params| {
        let id = match &mut params.asked {
            Asked::Url { elicitation_id, .. } => elicitation_id.take(),
            Asked::Form { .. } => None,
        };
        let mut params = params.write(Revision::V2026_07_28).ok()?;
        if let Some(id) = id {
            // Not required any more, and some clients still can't read a link without it.
            params.insert("elicitationId".into(), id.into());
        }
        serde_json::value::to_raw_value(&params).ok()
    });
    let params = written.or(as_it_came);
    let elicitation = params.as_ref().and_then(|params| {
        Elicitation::read(params.get(), Asker::named(String::new()), limits).ok()
    });
    (params, elicitation.map(Box::new))
}

/// A response as this era has it.
pub fn complete(frame: &Frame, members: &Members<'_>, is_cacheable: bool) -> Frame {
    let mut told = frame.clone();
    let mut put = |path: &[&str], json: &str| {
        if let Some(edited) = told.with(path, json) {
            told = edited;
        }
    };
    if let Some(result) = members.result {
        let said: serde_json::Map<String, Value> =
            serde_json::from_slice(result).unwrap_or_default();
        if !said.contains_key("resultType") {
            put(&["result", "resultType"], "\"complete\"");
        }
        if is_cacheable && !said.contains_key("ttlMs") {
            put(&["result", "ttlMs"], "0");
        }
        if is_cacheable && !said.contains_key("cacheScope") {
            put(&["result", "cacheScope"], "\"private\"");
        }
    }
    if let Some(error) = members.error {
        let said: Value = serde_json::from_slice(error).unwrap_or_default();
        if said["code"] == code::RESOURCE_NOT_FOUND {
            put(&["error", "code"], &code::INVALID_PARAMS.to_string());
        }
        if said["code"] == code::URL_ELICITATION_REQUIRED {
            put(&["error", "code"], &code::INTERNAL_ERROR.to_string());
        }
    }
    told
}

/// What is answered to a request that there is no room for.
pub fn too_much(id: &Id) -> Frame {
    let told = "midcall: too much is waiting for the server to be open";
    Frame::error(Some(id), code::INTERNAL_ERROR, told)
}
