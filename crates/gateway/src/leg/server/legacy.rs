//! Servers that are opened by `initialize`, and ask by requests.

use std::borrow::Cow;

use midcall_core::wire::{JsonObject, LogLevel, Modes, Revision, member, meta};
use serde_json::{Value, json};

use super::ServerFacts;
use crate::call::{Declared, TellBy};
use crate::frame::{Frame, Id, Members, Object};
use crate::leg::{LOG_LEVEL, NEWEST_LEGACY};

/// A request of a client, as such a server gets it.
pub fn call(told: TellBy, frame: &Frame) -> Frame {
    if told == TellBy::Requests {
        return frame.clone();
    }
    let peeked = frame.peek();
    let Some(mut params) = peeked.and_then(|(_, members)| Object::read(members.params?)) else {
        return frame.clone();
    };
    params.remove(member::REQUEST_STATE);
    params.remove(member::INPUT_RESPONSES);
    let told = params.get("_meta").map(str::to_owned);
    if let Some(mut told) = told
        .as_deref()
        .and_then(|json| Object::read(json.as_bytes()))
    {
        for key in [
            meta::PROTOCOL_VERSION,
            meta::CLIENT_CAPABILITIES,
            meta::CLIENT_INFO,
            meta::OUTCOME,
            LOG_LEVEL,
        ] {
            told.remove(key);
        }
        let told = told.write();
        params.set("_meta", told);
    }
    frame.with_params(&params)
}

/// A call as a task, for a tool that can only be called so. None if its client makes a task of it by itself.
pub fn as_task(frame: &Frame) -> Option<Frame> {
    let params = frame
        .peek()
        .and_then(|(_, members)| Object::read(members.params?))?;
    match params.get("task") {
        Some(_) => None,
        None => frame.with(&["params", "task"], "{}"),
    }
}

/// Waits for the result of a task.
pub fn wait_for_task(id: &Id, task: &str) -> Frame {
    Frame::request(id, "tasks/result", &json!({"taskId": task}))
}

/// Ends a task.
pub fn end_task(id: &Id, task: &str) -> Frame {
    Frame::request(id, "tasks/cancel", &json!({"taskId": task}))
}

/// What a task is called that was started.
pub fn task_id(members: &Members<'_>) -> Option<String> {
    let result: Value = serde_json::from_slice(members.result?).ok()?;
    result["task"]["taskId"].as_str().map(str::to_owned)
}

/// What a notification calls the task that it is about.
pub fn named_task(members: &Members<'_>) -> Option<String> {
    let params: Value = serde_json::from_slice(members.params?).ok()?;
    params["taskId"].as_str().map(str::to_owned)
}

/// True if a server wants its question to be a task.
pub fn wants_task(question: &Frame) -> bool {
    let peeked = question.peek();
    let params = peeked.and_then(|(_, members)| Object::read(members.params?));
    params.is_some_and(|params| params.get("task").is_some())
}

/// A question for those who make no tasks: they answer at once.
pub fn without_task(question: &Frame) -> Option<Frame> {
    let peeked = question.peek();
    let mut params = peeked.and_then(|(_, members)| Object::read(members.params?))?;
    params.get("task")?;
    params.remove("task");
    Some(question.with_params(&params))
}

/// Takes it back that questions may be tasks. `true` if that was said.
fn undeclare_tasks(capabilities: &mut JsonObject) -> bool {
    let requests = capabilities
        .get_mut("tasks")
        .and_then(|tasks| tasks.get_mut("requests"));
    let requests = requests.and_then(Value::as_object_mut);
    requests.is_some_and(|requests| requests.shift_remove("elicitation").is_some())
}

/// A client's own `initialize` as the server gets it: with what others can ask (`added`), in the newest revision, and
/// with tasks for questions only if all questions become such (`makes_tasks`). None if it stays as it is.
pub fn offer<'a>(
    frame: &'a Frame,
    revision: Revision,
    declared: &Declared,
    added: Modes,
) -> Cow<'a, Frame> {
    let edit = || {
        let mut capabilities: JsonObject = serde_json::from_str(&declared.capabilities).ok()?;
        let undeclares = !declared.makes_tasks && undeclare_tasks(&mut capabilities);
        if added == Modes::default() && !undeclares {
            return None;
        }
        let offered = revision.max(NEWEST_LEGACY);
        added.declare(&mut capabilities, offered);
        let capabilities = serde_json::to_string(&capabilities).ok()?;
        let edited = frame.with(&["params", "capabilities"], &capabilities)?;
        match offered > revision {
            true => edited.with(&["params", "protocolVersion"], &format!("\"{offered}\"")),
            false => Some(edited),
        }
    };
    edit().map_or(Cow::Borrowed(frame), Cow::Owned)
}

/// The `initialize` that Midcall itself sends, for a client that has none.
pub fn initialize(id: &Id, declared: &Declared, added: Modes) -> Frame {
    let mut capabilities: JsonObject =
        serde_json::from_str(&declared.capabilities).unwrap_or_default();
    capabilities.shift_remove("extensions");
    capabilities.shift_remove("tasks");
    added.declare(&mut capabilities, NEWEST_LEGACY);
    let info = declared
        .info
        .as_deref()
        .and_then(|info| serde_json::from_str(info).ok());
    let info: Value = info.unwrap_or_else(|| json!({"name": "client", "version": "0"}));
    let params =
        json!({"protocolVersion": NEWEST_LEGACY, "capabilities": capabilities, "clientInfo": info});
    Frame::request(id, "initialize", &params)
}

/// Says that the session is open.
pub fn opened() -> Frame {
    Frame::write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
}

/// True if a server logs as much as it is told.
pub fn logs(facts: &ServerFacts) -> bool {
    facts.said["capabilities"]["logging"].is_object()
}

/// Asks for log messages of at least a level.
pub fn set_level(id: &Id, level: LogLevel) -> Frame {
    Frame::request(id, "logging/setLevel", &json!({"level": level}))
}

/// The server's answer to `initialize` as the client gets it: in no later revision than it asked for.
pub fn agreed<'a>(frame: &'a Frame, facts: &ServerFacts, asked: Revision) -> Cow<'a, Frame> {
    if facts.revision <= asked {
        return Cow::Borrowed(frame);
    }
    let asked = format!("\"{asked}\"");
    let edited = frame.with(&["result", "protocolVersion"], &asked);
    edited.map_or(Cow::Borrowed(frame), Cow::Owned)
}
