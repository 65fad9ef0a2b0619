//! A modern client as the session knows it: one that was opened by `initialize`, and that is
//! asked by requests.
//!
//! A question goes to the client as the result of a call that is open. The call is parked: the
//! session still waits for the client's answer, and the client comes back with it under a new
//! id, by a state that only we can have given. Where a person takes long elsewhere, the client
//! is told to come back without a question.
//!
//! In: [`Front::client_says`], [`Front::session_says`], [`Front::woke`]. Out: [`Step`]s.
//! Elsewhere: how the session is opened for it (`welcome`), what calls are parked (`parked`), what
//! news the client follows (`follow`).

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use midcall_core::Limits;
use midcall_core::wire::{ElicitRequestParams, Modes, code, meta};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Step;
use super::ask::{Ask, Back, digest};
use super::follow::Following;
use super::parked::Parked;
use super::welcome::Opening;
use super::words::{LOG_LEVEL, complete, meta_of, modern_params, refused_revision, too_much};
use crate::frame::{Frame, Id, Kind, Members, OwnIds};
use crate::session::{forget_each, in_use};

pub struct Front {
    pub(super) opening: Opening,
    /// What the server said of itself when it was opened.
    pub(super) server: Value,
    /// What the client said of itself in its last request.
    pub(super) capabilities: Value,
    parked: Parked,
    following: Following,
    /// Requests that cannot ask anything.
    plain: HashMap<Id, Plain>,
    level: Option<Value>,
    /// Whether the server asks in rounds, too.
    has_rounds: bool,
    pub(super) own_ids: OwnIds,
    limits: Limits,
}

/// A request that cannot ask anything.
struct Plain {
    is_cacheable: bool,
    is_loud: bool,
}

/// How much a client may say before that is known.
const MOST_WAITING: usize = 1_000;

impl Front {
    /// `hold`: how long its calls stay open while a person answers elsewhere. `patience`: how long it may take to retry.
    /// `is_shared`: several clients may speak here.
    pub fn new(hold: Option<Duration>, patience: Duration, is_shared: bool) -> Self {
        Self {
            opening: Opening::NotYet,
            server: Value::Null,
            capabilities: json!({}),
            parked: Parked::new(hold, patience, is_shared),
            following: Following::default(),
            plain: HashMap::new(),
            level: None,
            has_rounds: false,
            own_ids: OwnIds::default(),
            limits: Limits::default(),
        }
    }

    /// What the client can ask by itself.
    pub fn modes(&self) -> Modes {
        self.capabilities
            .as_object()
            .map(Modes::read)
            .unwrap_or_default()
    }

    /// True if a request isn't answered yet.
    pub fn has_calls(&self) -> bool {
        self.is_opening() || self.parked.has_any() || !self.plain.is_empty()
    }

    /// True if a request of this id isn't answered yet.
    pub fn has(&self, id: &Id) -> bool {
        self.parked.is_waited_for(id) || self.plain.contains_key(id)
    }

    /// Whether what the client said waits until the session is open.
    pub fn is_opening(&self) -> bool {
        matches!(self.opening, Opening::Under(..))
    }

    /// Whether the server asks in rounds, too: then it hears answers that nobody asked for.
    pub fn server_has_rounds(&mut self, has_rounds: bool) {
        self.has_rounds = has_rounds;
    }

    /// Whether a token is that of a call in which something can be asked.
    pub fn follows(&self, token: Option<&[u8]>) -> bool {
        self.parked.follows(token)
    }

    /// Whether a request comes back by a state that was given here.
    pub fn gave_state(&self, members: &Members<'_>) -> bool {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Again<'a> {
            #[serde(borrow)]
            request_state: Option<Cow<'a, str>>,
        }
        let params = members.params.filter(|_| self.parked.has_states());
        let again = params.and_then(|params| serde_json::from_slice::<Again<'_>>(params).ok());
        let state = again.and_then(|again| again.request_state);
        state.is_some_and(|state| self.parked.gave(&state))
    }

    /// The client says something to the server.
    pub fn client_says(&mut self, now: Instant, frame: Frame, steps: &mut Vec<Step>) {
        let Some((kind, members)) = frame.peek() else {
            return steps.push(Step::In(frame)); // The session knows what to do with noise.
        };
        if let Opening::Under(_, waiting) = &mut self.opening {
            return match &kind {
                // Nobody says so much at once.
                Kind::Request { id, .. } if waiting.len() >= MOST_WAITING => {
                    steps.push(Step::Out(too_much(id)));
                }
                _ if waiting.len() >= MOST_WAITING => {
                    tracing::warn!("a message of the client was dropped: too much is waiting");
                }
                _ => waiting.push(frame),
            };
        }
        if let Kind::Request { id, .. } = &kind {
            if let Some(refused) = refused_revision(id, &members) {
                return steps.push(Step::Out(refused));
            }
            match &mut self.opening {
                Opening::Done | Opening::Under(..) => {}
                Opening::NotYet => {
                    let told = meta_of(&members);
                    steps.push(Step::In(self.open(told)));
                    self.opening = match std::mem::replace(&mut self.opening, Opening::Done) {
                        Opening::Under(id, _) => Opening::Under(id, vec![frame]),
                        other => other,
                    };
                    return;
                }
            }
        }
        match kind {
            Kind::Request { id, method } => self.request(now, &frame, id, &method, &members, steps),
            Kind::Notification { method } if method == "notifications/cancelled" => {
                self.cancelled(&frame, &members, steps);
            }
            Kind::Batch => {
                for part in frame.parts() {
                    self.client_says(now, part, steps);
                }
            }
            _ => steps.push(Step::In(frame)),
        }
    }

    fn request(
        &mut self,
        now: Instant,
        frame: &Frame,
        id: Id,
        method: &str,
        members: &Members<'_>,
        steps: &mut Vec<Step>,
    ) {
        let mut told = meta_of(members);
        self.capabilities = told[meta::CLIENT_CAPABILITIES].take();
        match method {
            "server/discover" => {
                return steps.push(Step::Out(Frame::result(&id, &self.discovered())));
            }
            "ping" => {
                return steps.push(Step::Out(Frame::result(
                    &id,
                    &json!({"resultType": "complete"}),
                )));
            }
            "subscriptions/listen" => {
                let params = members.params.unwrap_or_default();
                return self
                    .following
                    .start(id, params, &self.server, &mut self.own_ids, steps);
            }
            _ => {}
        }
        let level = told[LOG_LEVEL].take();
        let is_loud = level.is_string();
        if is_loud && self.level.as_ref() != Some(&level) {
            if self.server["capabilities"]["logging"].is_object() {
                let id = self.own_ids.fresh();
                let params = json!({"level": level});
                steps.push(Step::In(Frame::request(&id, "logging/setLevel", &params)));
            }
            self.level = Some(level);
        }
        let params = members
            .params
            .and_then(|json| serde_json::from_slice::<Value>(json).ok());
        let Some(mut params) = params.filter(Value::is_object) else {
            self.plain.insert(
                id,
                Plain {
                    is_cacheable: false,
                    is_loud,
                },
            );
            return steps.push(Step::In(frame.clone()));
        };
        let asks = matches!(method, "tools/call" | "prompts/get" | "resources/read");
        let state = params["requestState"].take();
        let mut responses = params["inputResponses"].take();
        if let Some(params) = params.as_object_mut() {
            params.shift_remove("requestState");
            params.shift_remove("inputResponses");
            if let Some(Value::Object(told)) = params.get_mut("_meta") {
                for key in [
                    meta::PROTOCOL_VERSION,
                    meta::CLIENT_CAPABILITIES,
                    meta::CLIENT_INFO,
                    meta::OUTCOME,
                    LOG_LEVEL,
                ] {
                    told.shift_remove(key);
                }
            }
        }
        let comes_back = asks && state.is_string();
        if !comes_back && self.parked.has(&id) {
            return steps.push(Step::Out(in_use(&id)));
        }
        if comes_back || asks && self.parked.has_room() {
            let digest = digest(method, &params);
            let token = members.progress_token;
            if let Some(state) = state.as_str() {
                let back = Back {
                    id,
                    token,
                    digest,
                    responses: &mut responses,
                };
                return self
                    .parked
                    .comes_back(now, state, back, &self.limits, steps);
            }
            let is_cacheable = method == "resources/read";
            self.parked
                .open(now, id, token, digest, is_cacheable, is_loud);
            if self.has_rounds && !responses.is_null() {
                forget_each(&mut responses);
                params["inputResponses"] = responses;
            }
        } else {
            let is_cacheable = method.ends_with("/list");
            self.plain.insert(
                id,
                Plain {
                    is_cacheable,
                    is_loud,
                },
            );
        }
        let written = params.to_string();
        steps.extend(frame.with(&["params"], &written).map(Step::In));
    }

    /// The client takes a request back.
    fn cancelled(&mut self, frame: &Frame, members: &Members<'_>, steps: &mut Vec<Step>) {
        let Some(id) = members.request_id.and_then(Id::read) else {
            return;
        };
        if self.following.stop(&id, &mut self.own_ids, steps) {
            return;
        }
        self.plain.remove(&id);
        let call = self.parked.cancel(&id, steps).unwrap_or(id);
        let cancel = frame.with(&["params", "requestId"], call.as_json());
        steps.extend(cancel.map(Step::In));
    }

    /// The session says something to the client. Where it is known what a question belongs to,
    /// that is told: the call, and what the server calls the question.
    pub fn session_says(
        &mut self,
        now: Instant,
        frame: Frame,
        of: Option<&(Id, String)>,
        steps: &mut Vec<Step>,
    ) {
        let Some((kind, members)) = frame.peek() else {
            return;
        };
        match kind {
            Kind::Response { id: Some(id) } => self.response(now, &id, &frame, &members, steps),
            Kind::Request { id, method } => self.question(id, &method, &members, of, steps),
            Kind::Notification { method } => match &*method {
                "notifications/progress" => {
                    steps.extend(self.parked.progress(&frame, &members).map(Step::Out));
                }
                "notifications/cancelled" => {
                    if let Some(id) = members.request_id.and_then(Id::read) {
                        self.parked.withdraw(now, &id);
                    }
                }
                "notifications/message" => {
                    let is_loud =
                        self.plain.values().any(|plain| plain.is_loud) || self.parked.is_loud();
                    steps.extend(is_loud.then_some(Step::Out(frame)));
                }
                // This era has no words for it.
                "notifications/elicitation/complete" => {}
                method => match self.following.news(method, &frame, &members) {
                    Some(told) => steps.extend(told.into_iter().map(Step::Out)),
                    None => steps.push(Step::Out(frame)),
                },
            },
            Kind::Batch => {
                for part in frame.parts() {
                    self.session_says(now, part, None, steps);
                }
            }
            Kind::Response { id: None } | Kind::Odd => steps.push(Step::Out(frame)),
            Kind::Wrong { .. } => {}
        }
    }

    fn response(
        &mut self,
        now: Instant,
        id: &Id,
        frame: &Frame,
        members: &Members<'_>,
        steps: &mut Vec<Step>,
    ) {
        if matches!(&self.opening, Opening::Under(opening, _) if opening == id) {
            return self.opened(now, members, steps);
        }
        if let Some(is_cacheable) = self.parked.is_cacheable(id) {
            let told = complete(frame, members, is_cacheable);
            return self.parked.ends(now, id, told, steps);
        }
        if let Some(plain) = self.plain.remove(id) {
            steps.push(Step::Out(complete(frame, members, plain.is_cacheable)));
        }
        // Whatever else is answered was ours.
    }

    /// The session wants to know something from the client.
    fn question(
        &mut self,
        id: Id,
        method: &str,
        members: &Members<'_>,
        of: Option<&(Id, String)>,
        steps: &mut Vec<Step>,
    ) {
        if method == "ping" {
            return steps.push(Step::In(Frame::result(&id, &json!({}))));
        }
        let can = match method {
            ElicitRequestParams::METHOD => true,
            "sampling/createMessage" => self.capabilities["sampling"].is_object(),
            "roots/list" => self.capabilities["roots"].is_object(),
            _ => false,
        };
        if !can {
            let told = "midcall: the client cannot do this";
            let error = Frame::error(Some(&id), code::METHOD_NOT_FOUND, told);
            return steps.push(Step::In(error));
        }
        let (params, elicitation) = modern_params(method, members.params, &self.limits);
        let ask = Ask::new(id, method, params, elicitation);
        if let Err((ask, why)) = self.parked.ask(ask, of) {
            let error = Frame::error(Some(&ask.id), code::INVALID_REQUEST, why);
            steps.push(Step::In(error));
        }
    }

    /// When it wants to be woken, given whether somebody other than the client thinks.
    pub fn wakes_at(&self, somebody_thinks: bool) -> Option<Instant> {
        self.parked.wakes_at(somebody_thinks)
    }

    /// Comes after everything that happens: what was asked at once is told at once.
    pub fn woke(&mut self, now: Instant, somebody_thinks: bool, steps: &mut Vec<Step>) {
        self.parked.tell(now, steps);
        self.parked.woke(now, somebody_thinks, steps);
        self.parked.tell(now, steps);
    }
}
