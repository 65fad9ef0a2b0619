//! A modern server as the session knows it: one that was opened by `initialize`, and that asks
//! by requests.
//!
//! A call that needs answers first is kept. What it needs is asked by requests of ours, as a
//! legacy server would, and once everything is answered the call is made again.
//!
//! In: [`Back::session_says`], [`Back::server_says`], [`Back::woke`]. Out: [`Step`]s.

use std::collections::HashMap;
use std::time::Duration;

use midcall_core::wire::{
    Asked, ElicitRequestParams, Input, InputRequiredResult, InputResponses, JsonObject, Members,
    RequestState, Retry, Revision, code, meta,
};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::Step;
use super::listen::Listening;
use crate::frame::{Frame, Id, Kind, Members as Peeked, OwnIds};

/// The revision that sessions are led in.
const LED_IN: Revision = Revision::V2025_11_25;

/// How often a server may ask in one call.
const MOST_ROUNDS: usize = 10;

/// How long a server that only wants to be called again is left alone, the first time and at
/// most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often it may want that in a row.
const MOST_PAUSES: u32 = 1_000;

pub struct Back {
    /// What the server said of itself.
    discovered: Value,
    listens: bool,
    /// What it is told of the client with every request.
    capabilities: Value,
    info: Value,
    level: Option<Value>,
    calls: HashMap<Id, Call>,
    /// The session's ids of calls, by the ids that the server knows them by.
    ids: HashMap<Id, Id>,
    /// What the session is asked: in which call, and by which key.
    asked: HashMap<Id, (Id, String)>,
    listening: Listening,
    own_ids: OwnIds,
}

/// A call that may take several rounds.
struct Call {
    params: JsonObject,
    method: String,
    /// The id the server knows it by.
    at: Id,
    rounds: usize,
    pauses: u32,
    state: Option<RequestState>,
    /// What is not answered yet, and what is.
    left: usize,
    answers: JsonObject,
    outcomes: JsonObject,
    /// The links a person was sent to. Asked for again, they are not finished yet.
    followed: Vec<String>,
    /// When it is made again.
    again: Option<Instant>,
}

impl Back {
    /// A server that answered `server/discover` with this. A client that does not know how
    /// (`listens`) is told its news.
    pub fn new(discovered: Value, listens: bool) -> Self {
        Self {
            discovered,
            listens,
            capabilities: json!({}),
            info: Value::Null,
            level: None,
            calls: HashMap::new(),
            ids: HashMap::new(),
            asked: HashMap::new(),
            listening: Listening::default(),
            own_ids: OwnIds::default(),
        }
    }

    /// The session says something to the server.
    pub fn session_says(&mut self, now: Instant, frame: Frame, steps: &mut Vec<Step>) {
        let Some((kind, members)) = frame.peek() else {
            return;
        };
        match kind {
            Kind::Request { id, method } => self.request(&frame, id, &method, &members, steps),
            Kind::Notification { method } => match &*method {
                "notifications/initialized" | "notifications/roots/list_changed" => {}
                "notifications/cancelled" => self.cancelled(&frame, &members, steps),
                _ => steps.push(Step::Out(frame)),
            },
            Kind::Response { id: Some(id) } => self.answered(now, &id, &members, steps),
            // A modern server knows neither.
            Kind::Batch => {
                for part in frame.parts() {
                    self.session_says(now, part, steps);
                }
            }
            Kind::Response { id: None } | Kind::Odd => {}
        }
    }

    fn request(
        &mut self,
        frame: &Frame,
        id: Id,
        method: &str,
        members: &Peeked<'_>,
        steps: &mut Vec<Step>,
    ) {
        let params: JsonObject = members
            .params
            .and_then(|params| serde_json::from_slice(params).ok())
            .unwrap_or_default();
        let mut told = json!({});
        match method {
            "initialize" => {
                told = self.initialize(params);
                if self.listens {
                    let id = self.own_ids.fresh();
                    let listen = self.listening.start(id, &self.discovered, &self.meta());
                    steps.extend(listen.into_iter().map(Step::Out));
                }
            }
            "ping" => {}
            "logging/setLevel" => self.level = params.get("level").cloned(),
            "resources/subscribe" | "resources/unsubscribe" => {
                let uri = params
                    .get("uri")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let id = self.own_ids.fresh();
                let wants = method == "resources/subscribe";
                let meta = self.meta();
                steps.extend(
                    self.listening
                        .resource(id, uri, wants, &meta)
                        .into_iter()
                        .map(Step::Out),
                );
            }
            _ => return self.call(frame, id, method, params, steps),
        }
        steps.push(Step::In(Frame::result(&id, &told)));
    }

    fn initialize(&mut self, mut params: JsonObject) -> Value {
        self.capabilities = params.remove("capabilities").unwrap_or_else(|| json!({}));
        self.info = params.remove("clientInfo").unwrap_or_default();
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let revision = asked.and_then(|asked| asked.parse().ok());
        let revision: Revision = revision.unwrap_or(LED_IN);
        let mut told = Map::new();
        told.insert(
            "protocolVersion".into(),
            revision.min(LED_IN).as_str().into(),
        );
        let mut capabilities = self.discovered["capabilities"].clone();
        if let Some(capabilities) = capabilities.as_object_mut() {
            // Extensions are of this era.
            capabilities.shift_remove("extensions");
        }
        told.insert("capabilities".into(), capabilities);
        told.insert("serverInfo".into(), self.server_info());
        if let Some(instructions) = self.discovered.get("instructions") {
            told.insert("instructions".into(), instructions.clone());
        }
        Value::Object(told)
    }

    fn server_info(&self) -> Value {
        let info = &self.discovered["_meta"][SERVER_INFO];
        if info.is_object() {
            info.clone()
        } else {
            json!({"name": "", "version": ""})
        }
    }

    /// What goes with every request.
    fn meta(&self) -> JsonObject {
        let mut told = JsonObject::new();
        told.insert(
            meta::PROTOCOL_VERSION.into(),
            Revision::V2026_07_28.as_str().into(),
        );
        told.insert(meta::CLIENT_CAPABILITIES.into(), self.capabilities.clone());
        if self.info.is_object() {
            told.insert(meta::CLIENT_INFO.into(), self.info.clone());
        }
        if let Some(level) = &self.level {
            told.insert(LOG_LEVEL.into(), level.clone());
        }
        told
    }

    fn call(
        &mut self,
        frame: &Frame,
        id: Id,
        method: &str,
        mut params: JsonObject,
        steps: &mut Vec<Step>,
    ) {
        let mut told = match params.remove("_meta") {
            Some(Value::Object(told)) => told,
            _ => JsonObject::new(),
        };
        told.extend(self.meta());
        params.insert("_meta".into(), Value::Object(told));
        let written = serde_json::to_string(&params).unwrap_or_default();
        steps.extend(frame.with(&["params"], &written).map(Step::Out));
        self.ids.insert(id.clone(), id.clone());
        let call = Call {
            params,
            method: method.to_owned(),
            at: id.clone(),
            rounds: 0,
            pauses: 0,
            state: None,
            left: 0,
            answers: JsonObject::new(),
            outcomes: JsonObject::new(),
            followed: Vec::new(),
            again: None,
        };
        self.calls.insert(id, call);
    }

    /// The session takes a call back.
    fn cancelled(&mut self, frame: &Frame, members: &Peeked<'_>, steps: &mut Vec<Step>) {
        let Some(id) = members.request_id.and_then(Id::read) else {
            return;
        };
        let Some(call) = self.calls.remove(&id) else {
            return;
        };
        self.take_back(&id, steps);
        // Between two rounds the server has nothing to take back.
        if self.ids.remove(&call.at).is_some() {
            let cancel = frame.with(&["params", "requestId"], call.at.as_json());
            steps.extend(cancel.map(Step::Out));
        }
    }

    /// The session answers a question of ours.
    fn answered(&mut self, now: Instant, id: &Id, members: &Peeked<'_>, steps: &mut Vec<Step>) {
        let Some((of, key)) = self.asked.remove(id) else {
            return;
        };
        let Some(call) = self.calls.get_mut(&of) else {
            return;
        };
        let result = members.result.map(serde_json::from_slice::<JsonObject>);
        match result {
            Some(Ok(mut result)) => {
                // How a question ended is told beside the answers.
                if let Some(Value::Object(told)) = result.get_mut("_meta")
                    && let Some(outcome) = told.shift_remove(meta::OUTCOME)
                {
                    call.outcomes.insert(key.clone(), outcome);
                }
                call.answers.insert(key, Value::Object(result));
            }
            // There is no place for errors in a round.
            _ => {
                let error = members
                    .error
                    .unwrap_or(b"{\"code\":-32603,\"message\":\"midcall: no answer\"}");
                let error: Value = serde_json::from_slice(error).unwrap_or_default();
                return self.fail(&of, &error, steps);
            }
        }
        call.left -= 1;
        if call.left == 0 {
            self.again(now, &of, steps);
        }
    }

    /// A call comes to an end before the server has finished it.
    fn fail(&mut self, id: &Id, error: &Value, steps: &mut Vec<Step>) {
        if let Some(call) = self.calls.remove(id) {
            self.ids.remove(&call.at);
            self.take_back(id, steps);
            let message = json!({"jsonrpc": "2.0", "error": error});
            steps.extend(
                Frame::write(&message)
                    .with(&["id"], id.as_json())
                    .map(Step::In),
            );
        }
    }

    /// Nobody waits for what was asked in a call.
    fn take_back(&mut self, call: &Id, steps: &mut Vec<Step>) {
        let gone = self.asked.extract_if(|_, (of, _)| of == call);
        steps.extend(gone.map(|(id, _)| Step::In(Frame::cancelled(&id))));
    }

    /// The server is gone, and with it all that it has asked.
    pub fn gone(&mut self, steps: &mut Vec<Step>) {
        let gone = self.asked.drain();
        steps.extend(gone.map(|(id, _)| Step::In(Frame::cancelled(&id))));
    }

    /// Makes a call again, with what was found out for it.
    fn again(&mut self, _now: Instant, id: &Id, steps: &mut Vec<Step>) {
        let at = self.own_ids.fresh();
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let answers = std::mem::take(&mut call.answers);
        let retry = Retry {
            input_responses: (!answers.is_empty()).then(|| InputResponses(Members(answers))),
            request_state: call.state.take(),
        };
        let mut params = retry.write(call.params.clone());
        for (key, outcome) in std::mem::take(&mut call.outcomes) {
            meta::put_outcome(&mut params, &key, outcome);
        }
        call.again = None;
        call.at = at.clone();
        self.ids.insert(at.clone(), id.clone());
        steps.push(Step::Out(Frame::request(&at, &call.method, &params)));
    }

    /// The server says something.
    pub fn server_says(&mut self, now: Instant, frame: Frame, steps: &mut Vec<Step>) {
        let Some((kind, members)) = frame.peek() else {
            return steps.push(Step::In(frame)); // The session knows what to do with noise.
        };
        match kind {
            Kind::Response { id: Some(at) } => {
                if self.listening.is(&at) {
                    return;
                }
                let Some(id) = self.ids.remove(&at) else {
                    return; // Nobody waits for it.
                };
                let is_round = members.result.is_some_and(is_round);
                if is_round && let Some(result) = members.result {
                    return self.round(now, &id, result, steps);
                }
                self.calls.remove(&id);
                let told = if id == at {
                    Some(frame)
                } else {
                    frame.with(&["id"], id.as_json())
                };
                steps.extend(told.map(Step::In));
            }
            Kind::Notification { method } => match &*method {
                "notifications/subscriptions/acknowledged" => {}
                // It ends a subscription of ours, which the session does not know.
                "notifications/cancelled" => {}
                _ => steps.push(Step::In(frame)),
            },
            Kind::Batch => {
                for part in frame.parts() {
                    self.server_says(now, part, steps);
                }
            }
            Kind::Request { id, .. } => {
                let told = "midcall: servers of this revision send no requests";
                steps.push(Step::Out(Frame::error(
                    Some(&id),
                    code::INVALID_REQUEST,
                    told,
                )));
            }
            Kind::Response { id: None } | Kind::Odd => steps.push(Step::In(frame)),
        }
    }

    /// The server needs answers before it can go on with a call.
    fn round(&mut self, now: Instant, id: &Id, result: &[u8], steps: &mut Vec<Step>) {
        let refused =
            |why: &str| json!({"code": code::INTERNAL_ERROR, "message": format!("midcall: {why}")});
        let result = serde_json::from_slice::<Value>(result).ok();
        let round = match result.map(InputRequiredResult::read) {
            Some(Ok(round)) => round,
            Some(Err(why)) => {
                return self.fail(
                    id,
                    &refused(&format!("what the server asks cannot be read: {why}")),
                    steps,
                );
            }
            None => return self.fail(id, &refused("what the server asks is not JSON"), steps),
        };
        let timeout = round.timeout_ms();
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        call.state = round.request_state;
        let mut asks = Vec::new();
        for (key, request) in round.input_requests.0 {
            match request.input {
                Input::Elicit(mut params) => {
                    if let Asked::Url {
                        url,
                        elicitation_id,
                    } = &mut params.asked
                    {
                        if call.followed.contains(url) {
                            // Not finished yet.
                            call.answers.insert(key, json!({"action": "accept"}));
                            continue;
                        }
                        call.followed.push(url.clone());
                        elicitation_id.get_or_insert_with(|| {
                            self.own_ids.fresh().as_json().trim_matches('"').to_owned()
                        });
                    }
                    let Ok(mut params) = params.write(LED_IN) else {
                        continue;
                    };
                    if let Some(timeout) = timeout {
                        let told = params.entry("_meta").or_insert_with(|| json!({}));
                        told[meta::TIMEOUT] = timeout.into();
                    }
                    asks.push((key, ElicitRequestParams::METHOD.to_owned(), Some(params)));
                }
                other => {
                    let method = other.method().to_owned();
                    let params = match other {
                        Input::Sampling(params)
                        | Input::Roots(params)
                        | Input::Other { params, .. } => params,
                        Input::Elicit(_) => None,
                    };
                    asks.push((key, method, params.map(|params| params.0)));
                }
            }
        }
        if asks.is_empty() {
            call.pauses += 1;
            if call.pauses > MOST_PAUSES {
                return self.fail(
                    id,
                    &refused("the server wants to be called again without end"),
                    steps,
                );
            }
            let pause = FIRST_PAUSE.saturating_mul(1 << (call.pauses - 1).min(10));
            call.again = Some(now + pause.min(LONGEST_PAUSE));
            return;
        }
        call.rounds += 1;
        call.pauses = 0;
        if call.rounds > MOST_ROUNDS {
            return self.fail(
                id,
                &refused("the server asks in more than 10 rounds"),
                steps,
            );
        }
        call.left = asks.len();
        for (key, method, params) in asks {
            let ask = self.own_ids.fresh();
            self.asked.insert(ask.clone(), (id.clone(), key));
            steps.push(Step::In(Frame::request(
                &ask,
                &method,
                &params.unwrap_or_default(),
            )));
        }
    }

    /// Whether it has asked the session something by that id.
    pub fn asks(&self, id: &Id) -> bool {
        self.asked.contains_key(id)
    }

    /// When it wants to be woken.
    pub fn wakes_at(&self) -> Option<Instant> {
        self.calls.values().filter_map(|call| call.again).min()
    }

    /// Makes calls again whose server wanted nothing but that.
    pub fn woke(&mut self, now: Instant, steps: &mut Vec<Step>) {
        let due = |call: &Call| call.again.is_some_and(|at| at <= now);
        let due = self.calls.iter().filter(|(_, call)| due(call));
        let due: Vec<Id> = due.map(|(id, _)| id.clone()).collect();
        for id in due {
            self.again(now, &id, steps);
        }
    }
}

/// Where a result says who the server is.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// How much a request wants to hear of what happens.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Whether a result needs answers first.
fn is_round(result: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed<'a> {
        #[serde(borrow)]
        result_type: Option<std::borrow::Cow<'a, str>>,
    }
    let typed = serde_json::from_slice::<Typed<'_>>(result);
    typed.is_ok_and(|typed| typed.result_type.as_deref() == Some(InputRequiredResult::RESULT_TYPE))
}
