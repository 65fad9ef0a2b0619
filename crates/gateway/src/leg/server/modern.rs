//! Servers that need no opening, and ask by results.

use std::borrow::Cow;

use memchr::memmem;
use midcall_core::is_ambiguous;
use midcall_core::wire::{
    InputRequiredResult, JsonObject, Revision, TASKS_EXTENSION, member, meta,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Offer, Returned, ServerFacts};
use crate::call::{Answers, Rounds};
use crate::frame::{Frame, Id, Object, ROUND, repeats};
use crate::leg::LOG_LEVEL;

/// How a result says that it is a task.
const TASK: &str = "task";

/// What a server says of a task.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskTold {
    pub task_id: String,
    pub status: String,
    pub poll_interval_ms: Option<u64>,
    pub input_requests: Option<Value>,
    pub result: Option<Box<RawValue>>,
    pub error: Option<Value>,
}

/// A request as such a server gets it; none if its params can't be read.
pub fn call(facts: &ServerFacts, frame: &Frame, offer: &Offer<'_>) -> Option<Frame> {
    let (_, members) = frame.peek()?;
    let params = members.params.unwrap_or(b"{}");
    let mut params = Object::read(params)?;
    params.remove(member::REQUEST_STATE); // It is ours.
    put_meta(&mut params, facts, offer);
    Some(frame.with_params(&params))
}

/// A call once more, with the answers that there are.
pub fn again(
    facts: &ServerFacts,
    frame: &Frame,
    rounds: Option<&Rounds>,
    offer: &Offer<'_>,
) -> Option<Frame> {
    let (_, members) = frame.peek()?;
    let mut params = Object::read(members.params?)?;
    params.remove(member::REQUEST_STATE);
    params.remove(member::INPUT_RESPONSES);
    put_meta(&mut params, facts, offer);
    if let Some(rounds) = rounds {
        if !rounds.answers.is_empty() {
            let answers = rounds.answers.write();
            params.set(member::INPUT_RESPONSES, answers);
        }
        if let Some(state) = &rounds.state {
            params.put(member::REQUEST_STATE, &state.0);
        }
        put_outcomes(&mut params, &rounds.answers);
    }
    Some(frame.with_params(&params))
}

/// Says who the client is and what it can do, as every request of this era does.
fn put_meta(params: &mut Object<'_>, facts: &ServerFacts, offer: &Offer<'_>) {
    let told = params.get("_meta").map(str::to_owned).unwrap_or_default();
    let mut told = Object::read(told.as_bytes()).unwrap_or_default();
    set_meta(&mut told, facts, offer);
    let told = told.write();
    params.set("_meta", told);
}

fn set_meta(told: &mut Object<'_>, facts: &ServerFacts, offer: &Offer<'_>) {
    let mut capabilities: JsonObject =
        serde_json::from_str(&offer.declared.capabilities).unwrap_or_default();
    if offer.added != Default::default() {
        offer
            .added
            .declare(&mut capabilities, Revision::V2026_07_28);
    }
    let mut capabilities = Value::Object(capabilities);
    if facts.makes_tasks {
        // Tasks are kept from the client. A server that isn't told may run a call and then refuse it.
        if !capabilities["extensions"].is_object() {
            capabilities["extensions"] = json!({});
        }
        capabilities["extensions"][TASKS_EXTENSION] = json!({});
    }
    told.put(meta::PROTOCOL_VERSION, &Revision::V2026_07_28);
    told.put(meta::CLIENT_CAPABILITIES, &capabilities);
    let mut set = |name: &'static str, json: &Option<Box<str>>| match json {
        Some(json) => told.set(name, json.to_string()),
        None => told.remove(name),
    };
    set(meta::CLIENT_INFO, &offer.declared.info);
    set(LOG_LEVEL, &offer.declared.level);
}

/// What goes with a request that no client made.
pub fn meta_of(facts: &ServerFacts, offer: &Offer<'_>) -> JsonObject {
    let mut told = Object::default();
    set_meta(&mut told, facts, offer);
    serde_json::from_str(&told.write()).unwrap_or_default()
}

fn put_outcomes(params: &mut Object<'_>, answers: &Answers) {
    if answers.outcomes.is_empty() {
        return;
    }
    let told = params.get("_meta").map(str::to_owned).unwrap_or_default();
    let mut told = Object::read(told.as_bytes()).unwrap_or_default();
    told.put(meta::OUTCOME, &answers.outcomes);
    let told = told.write();
    params.set("_meta", told);
}

/// Asks how far a task is.
pub fn poll(facts: &ServerFacts, call: &Frame, id: &Id, task: &str, offer: &Offer<'_>) -> Frame {
    about(facts, call, "tasks/get", id, task, None, offer)
}

/// Brings a task answers.
pub fn update(
    facts: &ServerFacts,
    call: &Frame,
    id: &Id,
    task: &str,
    answers: &Answers,
    offer: &Offer<'_>,
) -> Frame {
    about(facts, call, "tasks/update", id, task, Some(answers), offer)
}

/// Ends a task.
pub fn end_task(
    facts: &ServerFacts,
    call: &Frame,
    id: &Id,
    task: &str,
    offer: &Offer<'_>,
) -> Frame {
    about(facts, call, "tasks/cancel", id, task, None, offer)
}

/// A request about the task of a call.
fn about(
    facts: &ServerFacts,
    call: &Frame,
    method: &str,
    id: &Id,
    task: &str,
    answers: Option<&Answers>,
    offer: &Offer<'_>,
) -> Frame {
    let peeked = call.peek();
    let told = peeked
        .as_ref()
        .and_then(|(_, members)| Object::read(members.meta?));
    let mut told = told.unwrap_or_default();
    told.remove("progressToken"); // It is the call's.
    set_meta(&mut told, facts, offer);
    let mut params = Object::default();
    params.put("taskId", &task);
    if let Some(answers) = answers {
        let answers = answers.write();
        params.set(member::INPUT_RESPONSES, answers);
    }
    let told = told.write();
    params.set("_meta", told);
    if let Some(answers) = answers {
        put_outcomes(&mut params, answers);
    }
    let params = RawValue::from_string(params.write());
    Frame::request(id, method, &params.expect("an object is JSON"))
}

/// What a result amounts to, if it isn't the end of its call.
pub fn read(result: &[u8]) -> Option<Returned> {
    if is_round(result) {
        return Some(round(result));
    }
    if is_task(result) {
        return Some(match serde_json::from_slice(result) {
            Ok(told) => Returned::Task(Box::new(told)),
            Err(_) => Returned::Unreadable("the server's task cannot be read".to_owned()),
        });
    }
    None
}

fn round(result: &[u8]) -> Returned {
    if is_unclear(result) {
        let why = "what the server asks has a member twice, or in other letters";
        return Returned::Unreadable(why.to_owned());
    }
    match serde_json::from_slice::<Value>(result).map(InputRequiredResult::read) {
        Ok(Ok(round)) => Returned::Round(Box::new(round)),
        Ok(Err(why)) => Returned::Unreadable(format!("what the server asks cannot be read: {why}")),
        Err(_) => Returned::Unreadable("what the server asks is not JSON".to_owned()),
    }
}

/// The questions of a task, as a round has them.
pub fn task_round(requests: Value) -> Result<InputRequiredResult, String> {
    let round = json!({(member::RESULT_TYPE): InputRequiredResult::RESULT_TYPE, (member::INPUT_REQUESTS): requests});
    InputRequiredResult::read(round)
        .map_err(|why| format!("what the server asks cannot be read: {why}"))
}

/// True if a result needs answers first, or some readers think so.
pub fn is_round(result: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed<'a> {
        #[serde(borrow)]
        result_type: Option<Cow<'a, str>>,
    }
    let round = InputRequiredResult::RESULT_TYPE;
    let has = |text: &[u8]| memmem::find(result, text).is_some();
    if !has(round.as_bytes()) && !has(b"\\u") {
        return false;
    }
    match serde_json::from_slice::<Typed<'_>>(result) {
        Ok(typed) if !repeats(result, &ROUND) => typed.result_type.as_deref() == Some(round),
        _ => true,
    }
}

/// True if a result that needs answers first can be read in two ways.
pub fn is_unclear(result: &[u8]) -> bool {
    repeats(result, &ROUND) || str::from_utf8(result).is_ok_and(is_ambiguous)
}

/// True if a server makes a task of a call.
fn is_task(result: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed {
        result_type: Option<String>,
    }
    memmem::find(result, b"\"task\"").is_some()
        && serde_json::from_slice::<Typed>(result)
            .is_ok_and(|typed| typed.result_type.as_deref() == Some(TASK))
}

/// True if a server may make tasks of calls.
pub fn makes_tasks(discovered: &Value) -> bool {
    discovered["capabilities"]["extensions"][TASKS_EXTENSION].is_object()
}

/// Asks a server whether it is a modern one.
pub fn discover(id: &Id) -> Frame {
    let params = json!({"_meta": {
        meta::PROTOCOL_VERSION: Revision::V2026_07_28, meta::CLIENT_CAPABILITIES: {},
        meta::CLIENT_INFO: {"name": "midcall", "version": env!("CARGO_PKG_VERSION")}
    }});
    Frame::request(id, "server/discover", &params)
}
