//! Clients that open a session by `initialize`, and are asked by requests.

use midcall_core::is_ambiguous;
use midcall_core::wire::{JsonObject, Modes, Revision, code};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::call::Declared;
use crate::frame::{ANSWER, Frame, Id, Members, repeats};
use crate::leg::NEWEST_LEGACY;
use crate::leg::server::ServerFacts;

/// What a client said of itself by `initialize`.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The revision that it asked for, or a lower one that the server agreed to.
    pub revision: Revision,
    pub declared: Declared,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams<'a> {
    protocol_version: String,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    #[serde(borrow)]
    client_info: Option<&'a RawValue>,
}

/// Reads a client's `initialize`; none if it can't be read.
pub fn opened(members: &Members<'_>) -> Option<Opened> {
    let params: InitializeParams<'_> = serde_json::from_slice(members.params?).ok()?;
    let capabilities: JsonObject = serde_json::from_str(params.capabilities.get()).ok()?;
    // An unknown revision is a later one than ours: its server will say what it knows.
    let revision = params.protocol_version.parse().unwrap_or(NEWEST_LEGACY);
    let modes = Modes::read(&capabilities);
    // A mode that a revision has no words for can't be asked in it.
    let known = Modes::sayable(revision);
    let declared = Declared {
        modes: Modes {
            form: modes.form && known.form,
            url: modes.url && known.url,
        },
        sampling: capabilities.get("sampling").is_some_and(Value::is_object),
        roots: capabilities.get("roots").is_some_and(Value::is_object),
        tasks: false,
        makes_tasks: revision == NEWEST_LEGACY && declares_tasks(&capabilities),
        capabilities: params.capabilities.get().into(),
        info: params.client_info.map(|info| info.get().into()),
        level: None,
    };
    Some(Opened { revision, declared })
}

/// What is answered to a client that opens the session again, with what the server wasn't told.
pub fn opened_already(id: &Id) -> Frame {
    let told = "midcall: the server is open already, and was told of other capabilities: start another one";
    Frame::error(Some(id), code::INVALID_REQUEST, told)
}

/// True if a client that declares this makes tasks of questions.
fn declares_tasks(capabilities: &JsonObject) -> bool {
    let requests = capabilities.get("tasks").map(|tasks| &tasks["requests"]);
    requests.is_some_and(|requests| requests["elicitation"]["create"].is_object())
}

/// The task that a client has made of a question, if its response says so and nothing else.
pub fn made_task(members: &Members<'_>) -> Option<String> {
    let result = members.result?;
    if repeats(result, &ANSWER) || str::from_utf8(result).is_ok_and(is_ambiguous) {
        return None;
    }
    let said: Value = serde_json::from_slice(result).ok()?;
    let is_answer = said.get("action").is_some() || said.get("content").is_some();
    let task = said["task"]["taskId"].as_str().filter(|_| !is_answer)?;
    Some(task.to_owned())
}

/// What a modern server says of itself, as the answer to `initialize`.
pub fn initialized(id: &Id, asked: Revision, facts: &ServerFacts) -> Frame {
    let mut capabilities = facts.said["capabilities"].clone();
    if let Some(capabilities) = capabilities.as_object_mut() {
        capabilities.shift_remove("extensions"); // They are of the other era.
    }
    let mut told = json!({"protocolVersion": asked.min(NEWEST_LEGACY), "capabilities": capabilities,
        "serverInfo": facts.info()});
    if let Some(instructions) = facts.said.get("instructions") {
        told["instructions"] = instructions.clone();
    }
    Frame::result(id, &told)
}
