//! Clients that open nothing, declare themselves with every request, and are asked in results.

use memchr::memmem;
use midcall_core::wire::{
    Asked, ElicitRequestParams, ElicitResult, InputRequiredResult, JsonObject,
    MissingClientCapability, Modes, Revision, TASKS_EXTENSION, UnsupportedVersion, code, member,
    meta,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::call::{Ability, Declared};
use crate::frame::{Frame, Id, Members, Object};
use crate::leg::server::ServerFacts;
use crate::leg::{LOG_LEVEL, SERVER_INFO};

/// What is answered to `initialize`, which this era doesn't have.
pub fn no_opening(id: &Id) -> Frame {
    let told = "midcall: this revision has no such method";
    Frame::error(Some(id), code::METHOD_NOT_FOUND, told)
}

/// What is answered to a request in a revision that nobody here speaks.
pub fn refused_revision(id: &Id, members: &Members<'_>) -> Option<Frame> {
    let said: Value = serde_json::from_slice(members.revision?).unwrap_or_default();
    let requested = said.as_str().unwrap_or_default();
    if requested == Revision::V2026_07_28.as_str() {
        return None;
    }
    let data = UnsupportedVersion {
        supported: Revision::SUPPORTED.map(|it| it.as_str().to_owned()).into(),
        requested: requested.to_owned(),
        rest: Default::default(),
    };
    let error = json!({"code": code::UNSUPPORTED_VERSION, "message": "Unsupported protocol version", "data": data.write()});
    Frame::write(&json!({"jsonrpc": "2.0", "error": error})).with(&["id"], id.as_json())
}

/// The error for a call in which the server needs what its client didn't declare.
pub fn missing(ability: Ability) -> Frame {
    let needs = |what: &str| {
        format!("midcall: the server needs an answer that only a client with {what} can get")
    };
    let (modes, name) = match ability {
        Ability::Form => (
            Modes {
                form: true,
                url: false,
            },
            "elicitation.form",
        ),
        Ability::Url => (
            Modes {
                form: false,
                url: true,
            },
            "elicitation.url",
        ),
        Ability::Sampling => (Modes::default(), "sampling"),
        Ability::Roots => (Modes::default(), "roots"),
    };
    let mut missing = MissingClientCapability::of(modes);
    if modes == Modes::default() {
        missing.required.insert(name.to_owned(), json!({}));
    }
    let data = missing.write(Revision::V2026_07_28).unwrap_or_default();
    let error =
        json!({"code": code::MISSING_CLIENT_CAPABILITY, "message": needs(name), "data": data});
    Frame::write(&json!({"jsonrpc": "2.0", "id": null, "error": error}))
}

/// What a request declares.
pub fn declared(members: &Members<'_>) -> Declared {
    let told = members.meta.and_then(Object::read).unwrap_or_default();
    let capabilities = told.get(meta::CLIENT_CAPABILITIES).unwrap_or("{}");
    let read = serde_json::from_str(capabilities).ok();
    let read = read.and_then(|read: Value| match read {
        Value::Object(read) => Some(read),
        _ => None,
    });
    let can = |name| {
        read.as_ref()
            .is_some_and(|it| it.get(name).is_some_and(Value::is_object))
    };
    let extensions = read.as_ref().and_then(|it| it.get("extensions"));
    let is_text = |json: &&str| json.starts_with('"');
    Declared {
        modes: read.as_ref().map(Modes::read).unwrap_or_default(),
        sampling: can("sampling"),
        roots: can("roots"),
        tasks: extensions.is_some_and(|it| it[TASKS_EXTENSION].is_object()),
        makes_tasks: false,
        capabilities: if read.is_some() {
            capabilities.into()
        } else {
            "{}".into()
        },
        info: told
            .get(meta::CLIENT_INFO)
            .filter(|info| info.starts_with('{'))
            .map(Into::into),
        level: told.get(LOG_LEVEL).filter(is_text).map(Into::into),
    }
}

/// A retry that goes to a modern server as it came, with the reasons of its refusals where servers look for them. None if
/// it has none.
pub fn with_reasons(frame: &Frame, members: &Members<'_>) -> Option<Frame> {
    let responses = members.responses?;
    let has = |text: &[u8]| memmem::find(responses, text).is_some();
    if !has(meta::REASON.as_bytes()) && !has(b"\\") {
        return None;
    }
    let all = Object::read(responses)?;
    let (mut left, mut outcomes) = (all.clone(), JsonObject::new());
    for (key, response) in all.iter() {
        let Some(mut answer) = Object::read(response.as_bytes()) else {
            continue;
        };
        let said = answer.get("_meta").map(str::to_owned).unwrap_or_default();
        let mut said = Object::read(said.as_bytes()).unwrap_or_default();
        if said.get(meta::REASON).is_none() {
            continue;
        }
        let result = serde_json::from_str(response).map(ElicitResult::read);
        if let Some(reason) = result.ok().and_then(|result| result.ok()?.reason()) {
            let outcome = json!({"state": "answered", "reason": reason.as_str()});
            outcomes.insert(key.to_owned(), outcome);
        }
        said.remove(meta::REASON);
        match said.is_empty() {
            true => answer.remove("_meta"),
            false => answer.set("_meta", said.write()),
        }
        left.set(key.to_owned(), answer.write());
    }
    let mut params = Object::read(members.params?)?;
    params.set(member::INPUT_RESPONSES, left.write());
    if !outcomes.is_empty() {
        let told = params.get("_meta").map(str::to_owned).unwrap_or_default();
        let mut told = Object::read(told.as_bytes()).unwrap_or_default();
        told.put(meta::OUTCOME, &outcomes);
        let told = told.write();
        params.set("_meta", told);
    }
    Some(frame.with_params(&params))
}

/// The state that a request brings back, if it has one. Nobody gave out one that isn't a text.
pub fn state(members: &Members<'_>) -> Option<String> {
    let state = serde_json::from_slice(members.state?).ok()?;
    match state {
        Value::Null => None,
        Value::String(state) => Some(state),
        _ => Some(String::new()),
    }
}

/// What `server/discover` would say of a server that doesn't know it.
pub fn discovered(id: &Id, facts: &ServerFacts) -> Frame {
    let mut told = json!({
        (member::RESULT_TYPE): "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": Revision::SUPPORTED, "capabilities": facts.said["capabilities"],
        "_meta": {SERVER_INFO: facts.said["serverInfo"]}
    });
    if let Some(capabilities) = told["capabilities"].as_object_mut() {
        capabilities.shift_remove("tasks");
    }
    if let Some(instructions) = facts.said.get("instructions") {
        told["instructions"] = instructions.clone();
    }
    Frame::result(id, &told)
}

/// What a modern server says to `server/discover`, with the revisions that clients may speak here.
pub fn rediscovered(frame: &Frame) -> Frame {
    let supported = json!(Revision::SUPPORTED).to_string();
    let edited = frame.with(&["result", "supportedVersions"], &supported);
    edited.unwrap_or_else(|| frame.clone())
}

/// The answer to `ping`.
pub fn pong(id: &Id) -> Frame {
    Frame::result(id, &json!({(member::RESULT_TYPE): "complete"}))
}

/// A result that says what to answer, by keys, and with what to repeat the call.
pub fn round(id: &Id, requests: &Object<'_>, state: &str) -> Frame {
    let mut told = Object::default();
    told.put(member::RESULT_TYPE, &InputRequiredResult::RESULT_TYPE);
    if !requests.is_empty() {
        told.set(member::INPUT_REQUESTS, requests.write());
    }
    told.put(member::REQUEST_STATE, &state);
    Frame::raw_result(id, &told.write())
}

/// One question of a round.
pub fn request(method: &str, params: Option<&str>) -> String {
    let mut request = Object::default();
    request.put("method", &method);
    if let Some(params) = params {
        request.set("params", params);
    }
    request.write()
}

/// The params of a question in the words of this era.
pub fn question(params: &RawValue) -> String {
    let as_it_came = params.get().to_owned();
    let read = serde_json::from_str(params.get()).ok();
    let Some(Ok(mut params)) = read.map(ElicitRequestParams::read) else {
        return as_it_came;
    };
    let id = match &mut params.asked {
        Asked::Url { elicitation_id, .. } => elicitation_id.take(),
        Asked::Form { .. } => None,
    };
    let Ok(mut params) = params.write(Revision::V2026_07_28) else {
        return as_it_came;
    };
    if let Some(id) = id {
        // Not required any more, and some clients still can't read a link without it.
        params.insert(member::ELICITATION_ID.into(), id.into());
    }
    serde_json::to_string(&params).unwrap_or(as_it_came)
}

/// A response as this era has it.
pub fn result(frame: &Frame, is_cacheable: bool) -> Frame {
    let Some((_, members)) = frame.peek() else {
        return frame.clone();
    };
    let mut told = frame.clone();
    let mut put = |path: &[&str], json: &str| {
        if let Some(edited) = told.with(path, json) {
            told = edited;
        }
    };
    if let Some(said) = members.result.and_then(Object::read) {
        if said.get(member::RESULT_TYPE).is_none() {
            put(&["result", member::RESULT_TYPE], "\"complete\"");
        }
        if is_cacheable && said.get("ttlMs").is_none() {
            put(&["result", "ttlMs"], "0");
        }
        if is_cacheable && said.get("cacheScope").is_none() {
            put(&["result", "cacheScope"], "\"private\"");
        }
    }
    match members.error_code() {
        Some(code::RESOURCE_NOT_FOUND) => {
            put(&["error", "code"], &code::INVALID_PARAMS.to_string())
        }
        Some(code::URL_ELICITATION_REQUIRED) => {
            put(&["error", "code"], &code::INTERNAL_ERROR.to_string())
        }
        _ => {}
    }
    told
}
