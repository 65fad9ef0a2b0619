//! A modern server as the session knows it: one that was opened by `initialize`, and that asks
//! by requests.
//!
//! A call that needs answers first is kept. What it needs is asked by requests of ours, as a
//! legacy server would, and once everything is answered the call is made again.
//!
//! In: [`Back::session_says`], [`Back::server_says`], [`Back::woke`]. Out: [`Step`]s.

use std::collections::{BTreeSet, HashMap, HashSet};

use midcall_core::wire::{JsonObject, RequestState, Revision, code, meta};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::Step;
use super::listen::Listening;
use super::round::is_round;
use super::task::{About, Task, declare, is_task};
use super::words::{LOG_LEVEL, SERVER_INFO};
use crate::frame::{Frame, Id, Kind, Members as Peeked, OwnIds};

/// The revision that sessions are led in.
pub(super) const LED_IN: Revision = Revision::V2025_11_25;

/// How many requests a server may have open.
pub(super) const MOST_REQUESTS: usize = 1_000;

pub struct Back {
    /// What the server said of itself.
    pub(super) discovered: Value,
    listens: bool,
    /// What it is told of the client with every request.
    capabilities: Value,
    info: Value,
    level: Option<Value>,
    pub(super) calls: HashMap<Id, Call>,
    /// When calls are made again. What isn't so any more stays until its time.
    pub(super) due: BTreeSet<(Instant, Id)>,
    /// The session's ids of calls, by the ids that the server knows them by.
    pub(super) ids: HashMap<Id, Id>,
    /// What the session is asked: in which call, and by which key.
    pub(super) asked: HashMap<Id, (Id, String)>,
    /// What the server asks by requests all the same, and waits for by these ids.
    requests: HashSet<Id>,
    /// What is sent about the tasks of calls.
    pub(super) tasks: HashMap<Id, (Id, About)>,
    /// Calls that were taken back and may become tasks all the same, by the server's ids.
    pub(super) dropped: HashMap<Id, Call>,
    listening: Listening,
    pub(super) own_ids: OwnIds,
}

/// A call that may take several rounds.
pub(super) struct Call {
    pub(super) params: JsonObject,
    pub(super) method: String,
    /// The id the server knows it by.
    pub(super) at: Id,
    pub(super) rounds: usize,
    pub(super) pauses: u32,
    pub(super) state: Option<RequestState>,
    /// What is not answered yet, and what is.
    pub(super) left: usize,
    pub(super) answers: JsonObject,
    pub(super) outcomes: JsonObject,
    /// The links that a person agreed to open. Asked for again, they are not finished yet.
    pub(super) followed: HashSet<String>,
    /// The links that a person is asked to open, by their keys.
    pub(super) links: HashMap<String, String>,
    /// When it is made again.
    pub(super) again: Option<Instant>,
    /// The task that the server makes of it.
    pub(super) task: Option<Task>,
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
            due: BTreeSet::new(),
            ids: HashMap::new(),
            asked: HashMap::new(),
            requests: HashSet::new(),
            tasks: HashMap::new(),
            dropped: HashMap::new(),
            listening: Listening::default(),
            own_ids: OwnIds::default(),
        }
    }

    /// The session says something to the server.
    pub fn session_says(&mut self, frame: Frame, steps: &mut Vec<Step>) {
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
            Kind::Response { id: Some(id) } if self.requests.remove(&id) => {
                steps.push(Step::Out(frame));
            }
            Kind::Response { id: Some(id) } => self.answered(&id, &members, steps),
            // A modern server knows neither.
            Kind::Batch => {
                for part in frame.parts() {
                    self.session_says(part, steps);
                }
            }
            Kind::Response { id: None } | Kind::Odd | Kind::Wrong { .. } => {}
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
        let params = members.params.map(serde_json::from_slice::<JsonObject>);
        let Ok(params) = params.transpose() else {
            let told = "midcall: the params can't be read, so they can't be said in the other era";
            let error = Frame::error(Some(&id), code::INVALID_PARAMS, told);
            return steps.push(Step::In(error));
        };
        let params = params.unwrap_or_default();
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
        let mut capabilities = self.capabilities.clone();
        if self.makes_tasks() {
            declare(&mut capabilities);
        }
        told.insert(meta::CLIENT_CAPABILITIES.into(), capabilities);
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
        params.shift_remove("inputResponses"); // It has heard them.
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
            followed: HashSet::new(),
            links: HashMap::new(),
            again: None,
            task: None,
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
        self.end_task(&call, steps);
        // Between two rounds the server has nothing to take back.
        if self.ids.remove(&call.at).is_some() {
            let cancel = frame.with(&["params", "requestId"], call.at.as_json());
            steps.extend(cancel.map(Step::Out));
            self.drop_call(call);
        }
    }

    /// The server is gone, and with it all that it has asked.
    pub fn gone(&mut self, steps: &mut Vec<Step>) {
        let asked = self.asked.drain().map(|(id, _)| id);
        let gone = asked.chain(self.requests.drain());
        steps.extend(gone.map(|id| Step::In(Frame::cancelled(&id))));
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
                if let Some(about) = self.tasks.remove(&at) {
                    return self.told_of_task(now, about, &members, steps);
                }
                let Some(id) = self.ids.remove(&at) else {
                    return self.answered_late(&at, &members, steps); // Nobody waits for it.
                };
                let is_round = members.result.is_some_and(is_round);
                if is_round && let Some(result) = members.result {
                    return self.round(now, &id, result, steps);
                }
                if let Some(result) = members.result.filter(|result| is_task(result)) {
                    return self.task(now, &id, result, steps);
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
                // The session knows nothing of tasks, and subscriptions are ours.
                "notifications/subscriptions/acknowledged"
                | "notifications/tasks"
                | "notifications/tasks/status" => {}
                "notifications/cancelled" => {
                    // Else it ends a subscription of ours, which the session does not know.
                    let id = members.request_id.and_then(Id::read);
                    if id.is_some_and(|id| self.requests.remove(&id)) {
                        steps.push(Step::In(frame));
                    }
                }
                _ => steps.push(Step::In(frame)),
            },
            Kind::Batch => {
                for part in frame.parts() {
                    self.server_says(now, part, steps);
                }
            }
            // Its revision has no such thing, but some SDKs do it, and wait for the answer.
            Kind::Request { id, .. } if self.requests.len() < MOST_REQUESTS => {
                self.requests.insert(id);
                steps.push(Step::In(frame));
            }
            Kind::Request { id, .. } => steps.push(Step::Out(too_many_requests(&id))),
            Kind::Wrong {
                id: Some(id),
                why,
                is_answer: true,
            } => self.server_says(now, Frame::refused_answer(&id, why), steps),
            // The session refuses what is wrong.
            Kind::Response { id: None } | Kind::Odd | Kind::Wrong { .. } => {
                steps.push(Step::In(frame));
            }
        }
    }

    /// True if it has asked the session something by that id in a round, and so in a call that is known.
    pub fn asks_in_round(&self, id: &Id) -> bool {
        self.asked.contains_key(id)
    }

    /// Whether it has asked the session something by that id.
    pub fn asks(&self, id: &Id) -> bool {
        self.asked.contains_key(id) || self.requests.contains(id)
    }

    /// When it wants to be woken.
    pub fn wakes_at(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Makes calls again whose server wanted nothing but that.
    pub fn woke(&mut self, now: Instant, steps: &mut Vec<Step>) {
        while let Some((at, id)) = self.due.pop_first() {
            if at > now {
                self.due.insert((at, id));
                return;
            }
            if self
                .calls
                .get(&id)
                .is_some_and(|call| call.again == Some(at))
            {
                self.again(&id, steps);
            }
        }
    }
}

/// What a server gets that has too many requests open.
pub(super) fn too_many_requests(id: &Id) -> Frame {
    let told = "midcall: too many requests of the server are open";
    Frame::error(Some(id), code::INVALID_REQUEST, told)
}
