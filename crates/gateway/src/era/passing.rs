//! What goes between a modern client and a modern server as it came.
//!
//! A client that can ask everything by itself needs nobody in between, and the session knows
//! nothing of its requests. Its calls are remembered all the same: once a server does in one
//! what only the other era has words for, the session hears of the call.

use std::collections::HashMap;

use midcall_core::wire::{Era, Modes, code, meta};
use serde_json::Value;
use tokio::time::Instant;

use super::back::Back;
use super::bridge::Bridge;
use super::elsewhere::{question, tool};
use super::opening::Leg;
use super::task::knows_tasks;
use super::words::complete;
use crate::frame::{Frame, Id, Kind, Members};
use crate::leg::wrong_era::refuses_era;
use crate::session::Act;

/// Requests that the session knows nothing of.
#[derive(Default)]
pub struct Passing {
    open: HashMap<Id, Request>,
    count: u64,
}

struct Request {
    /// How old it is among the others.
    nth: u64,
    /// As it was made, if something can be asked in it.
    call: Option<Frame>,
}

/// How many there may be. The session refuses what is too much.
const MOST: usize = 10_000;

impl Passing {
    fn add(&mut self, id: Id, call: Option<Frame>) {
        self.count += 1;
        let nth = self.count;
        self.open.insert(id, Request { nth, call });
    }

    fn has_room(&self) -> bool {
        self.open.len() < MOST
    }

    pub fn has_any(&self) -> bool {
        !self.open.is_empty()
    }

    pub fn has(&self, id: &Id) -> bool {
        self.open.contains_key(id)
    }

    fn remove(&mut self, id: &Id) -> Option<Option<Frame>> {
        self.open.remove(id).map(|request| request.call)
    }

    /// Takes out those in which something can be asked, the oldest first.
    fn calls(&mut self) -> Vec<Frame> {
        let calls = (self.open).extract_if(|_, request| request.call.is_some());
        let mut calls: Vec<Request> = calls.map(|(_, request)| request).collect();
        calls.sort_by_key(|request| request.nth);
        calls.into_iter().filter_map(|it| it.call).collect()
    }

    /// Takes out all of them.
    pub fn drain(&mut self) -> impl Iterator<Item = Id> {
        self.open.drain().map(|(id, _)| id)
    }
}

impl Bridge {
    /// Whether nobody may be needed in between.
    fn are_modern(&self) -> bool {
        self.front.is_some() && matches!(self.server, Leg::Known(Era::Modern))
    }

    /// Whether what a modern client says goes to a modern server as it is.
    pub(super) fn client_passes(&mut self, frame: &Frame) -> bool {
        if !self.are_modern() {
            return false;
        }
        match frame.peek() {
            Some((Kind::Request { id, method }, members)) => {
                let front = self.front.as_ref();
                let comes_back = front.is_some_and(|front| front.gave_state(&members));
                let makes_tasks = self.back.as_ref().is_some_and(Back::makes_tasks);
                let is_task = makes_tasks && has_no_tasks(&method, &members);
                let passes = self.passing.has_room()
                    && !comes_back
                    && !is_task
                    && !self.is_elsewhere(members.name)
                    && self.session.stays_out(&method, declared(&members));
                if passes {
                    let asks = matches!(&*method, "tools/call" | "prompts/get" | "resources/read");
                    self.passing.add(id, asks.then(|| frame.kept()));
                }
                passes
            }
            Some((Kind::Notification { method }, members))
                if method == "notifications/cancelled" =>
            {
                let id = members.request_id.and_then(Id::read);
                id.is_some_and(|id| self.passing.remove(&id).is_some())
            }
            _ => false,
        }
    }

    /// Passes on what a modern server says to a modern client, or gives it back if the session
    /// has to hear it.
    pub(super) fn server_passes(
        &mut self,
        now: Instant,
        frame: Frame,
        acts: &mut Vec<Act>,
    ) -> Option<Frame> {
        let peeked = frame.peek().filter(|_| self.are_modern());
        let passes = match peeked {
            Some((Kind::Response { id: Some(id) }, members)) => match self.passing.remove(&id) {
                // Links are to be followed first: this era has no such error.
                Some(Some(call))
                    if members.error_code() == Some(code::URL_ELICITATION_REQUIRED) =>
                {
                    self.take_in(now, &call, acts);
                    false
                }
                Some(Some(call))
                    if self.speaks_both
                        && refuses_era(&members)
                        && let Some(tool) = tool(&call) =>
                {
                    self.elsewhere.insert(tool, frame.kept());
                    self.pass(now, call, acts);
                    return None;
                }
                Some(Some(call))
                    if members
                        .result
                        .is_some_and(|result| self.session.must_judge(result)) =>
                {
                    self.take_in(now, &call, acts);
                    false
                }
                Some(_) if members.error.is_some() => {
                    acts.push(Act::ToClient(complete(&frame, &members, false)));
                    return None;
                }
                known => known.is_some(),
            },
            Some((Kind::Notification { method }, members)) => match &*method {
                "notifications/progress" => {
                    let front = self.front.as_ref();
                    !front.is_some_and(|front| front.follows(members.progress_token))
                }
                "notifications/cancelled" => {
                    let id = members.request_id.and_then(Id::read);
                    let back = self.back.as_ref();
                    !id.is_some_and(|id| back.is_some_and(|back| back.asks(&id)))
                }
                method => method != "notifications/elicitation/complete",
            },
            // Its revision has no such thing. Whichever call it belongs to, it is asked in one.
            Some((Kind::Request { .. }, _)) => {
                for call in self.passing.calls() {
                    self.take_in(now, &call, acts);
                }
                false
            }
            _ => false,
        };
        if !passes {
            return Some(frame);
        }
        acts.push(Act::ToClient(frame));
        None
    }

    /// The session hears of a call that the server has already.
    fn take_in(&mut self, now: Instant, call: &Frame, acts: &mut Vec<Act>) {
        let Some(call) = as_first_made(call) else {
            return;
        };
        let (id, mut said) = (question(&call), Vec::new());
        self.interpret(now, call, &mut said);
        said.retain(|act| !matches!(act, Act::ToServer(frame) if question(frame) == id));
        acts.append(&mut said);
    }
}

/// Whether it is a call of a client that knows nothing of tasks.
fn has_no_tasks(method: &str, members: &Members<'_>) -> bool {
    let params = members
        .params
        .and_then(|json| serde_json::from_slice(json).ok());
    method == "tools/call" && params.is_none_or(|params| !knows_tasks(&params))
}

/// What a modern request says that its client can ask.
fn declared(members: &Members<'_>) -> Modes {
    let params = members
        .params
        .and_then(|json| serde_json::from_slice(json).ok());
    params
        .map(|params| meta::declared_modes(&params))
        .unwrap_or_default()
}

/// A call without what it was repeated with: the server has that, and it is none of our states.
fn as_first_made(call: &Frame) -> Option<Frame> {
    let (_, members) = call.peek()?;
    let mut params: Value = serde_json::from_slice(members.params?).ok()?;
    let params = params.as_object_mut()?;
    params.shift_remove("requestState");
    params.shift_remove("inputResponses");
    call.with(&["params"], &serde_json::to_string(params).ok()?)
}
