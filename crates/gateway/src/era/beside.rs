//! A second process of a server, spoken to in another era than the first.
//!
//! Some servers speak both eras, and have tools that can ask in one of them only. When one says
//! so, the call is made in the other era instead, and from then on every call of that tool.

use std::collections::HashSet;
use std::time::Duration;

use midcall_core::wire::{Era, code};
use serde_json::json;
use tokio::time::Instant;

use super::Step;
use super::back::{Back, MOST_REQUESTS, too_many_requests};
use super::opening::{discover, discovered};
use crate::frame::{Frame, Id, Kind, OwnIds};
use crate::session::gone_words;

pub struct Beside {
    /// What it is spoken to in.
    era: Era,
    opening: Option<Opening>,
    /// Who interprets it, if it is modern and open.
    back: Option<Back>,
    /// The calls it has.
    calls: HashSet<Id>,
    /// What it has asked.
    asked: HashSet<Id>,
    /// What the session opened the first one by.
    initialize: Frame,
    /// Whether it does not speak that era.
    has_failed: bool,
}

/// While it is not open.
struct Opening {
    /// The request that opens it.
    id: Id,
    /// When it has had long enough.
    until: Instant,
    /// The calls that wait for it, with their refusals.
    waiting: Vec<(Id, Frame, Frame)>,
}

/// How long it may take to start and to open. It has been started before.
const OPENING: Duration = Duration::from_secs(60);

impl Beside {
    /// One in that era, and what opens it.
    pub fn new(now: Instant, era: Era, initialize: Frame, own_ids: &mut OwnIds) -> (Self, Frame) {
        let id = own_ids.fresh();
        let open = match era {
            Era::Legacy => initialize.with(&["id"], id.as_json()),
            Era::Modern => None,
        };
        let open = open.unwrap_or_else(|| discover(&id));
        let beside = Self {
            era,
            opening: Some(Opening {
                id,
                until: now + OPENING,
                waiting: Vec::new(),
            }),
            back: None,
            calls: HashSet::new(),
            asked: HashSet::new(),
            initialize,
            has_failed: false,
        };
        (beside, open)
    }

    /// Whether what the session says to the server is for this one.
    pub fn is_for(&self, frame: &Frame) -> bool {
        match frame.peek() {
            Some((Kind::Response { id: Some(id) }, _)) => self.asks(&id),
            Some((Kind::Notification { method }, members))
                if method == "notifications/cancelled" =>
            {
                let id = members.request_id.and_then(Id::read);
                id.is_some_and(|id| self.calls.contains(&id))
            }
            _ => false,
        }
    }

    /// A call is made here, because the first one refused it.
    pub fn call(&mut self, id: Id, request: Frame, refusal: Frame, steps: &mut Vec<Step>) {
        match &mut self.opening {
            _ if self.has_failed => return steps.push(Step::In(refusal)),
            Some(opening) => opening.waiting.push((id.clone(), request, refusal)),
            None => self.session_says(request, steps),
        }
        self.calls.insert(id);
    }

    /// The session says something to it.
    pub fn session_says(&mut self, frame: Frame, steps: &mut Vec<Step>) {
        match frame.peek() {
            Some((Kind::Response { id: Some(id) }, _)) => {
                self.asked.remove(&id);
            }
            Some((Kind::Notification { .. }, members)) => {
                let call = members.request_id.and_then(Id::read);
                if let Some(call) = call.filter(|call| self.calls.remove(call))
                    && let Some(opening) = &mut self.opening
                {
                    return opening.waiting.retain(|(id, _, _)| *id != call);
                }
            }
            _ => {}
        }
        match &mut self.back {
            Some(back) => back.session_says(frame, steps),
            None => steps.push(Step::Out(frame)),
        }
    }

    /// It says something.
    pub fn says(&mut self, now: Instant, frame: Frame, steps: &mut Vec<Step>) {
        let Some((kind, members)) = frame.peek() else {
            return steps.push(Step::In(frame));
        };
        if let (Kind::Response { id: Some(id) }, Some(opening)) = (&kind, &self.opening)
            && *id == opening.id
        {
            let found = match self.era {
                Era::Legacy => members.result.map(|_| None),
                Era::Modern => discovered(&members).map(Some),
            };
            return match found {
                Some(found) => self.opened(found, steps),
                None => self.fails(steps),
            };
        }
        if let Some(back) = &mut self.back {
            back.server_says(now, frame, steps);
            let in_it = |step: &Step| match step {
                Step::In(frame) => answered(frame),
                Step::Out(_) => None,
            };
            for id in steps.iter().filter_map(in_it) {
                self.calls.remove(&id);
            }
            return;
        }
        match kind {
            Kind::Response { id: Some(id) } if !self.calls.remove(&id) => {}
            Kind::Request { id, .. } if self.asked.len() < MOST_REQUESTS => {
                self.asked.insert(id);
                steps.push(Step::In(frame));
            }
            Kind::Request { id, .. } => steps.push(Step::Out(too_many_requests(&id))),
            // What has changed is told by the first one.
            Kind::Notification { method } if method.ends_with("list_changed") => {}
            _ => steps.push(Step::In(frame)),
        }
    }

    fn opened(&mut self, found: Option<serde_json::Value>, steps: &mut Vec<Step>) {
        let Some(Opening { waiting, .. }) = self.opening.take() else {
            return;
        };
        match found {
            Some(found) => {
                let mut back = Back::new(found, false);
                back.session_says(self.initialize.clone(), &mut Vec::new());
                self.back = Some(back);
            }
            None => {
                let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                steps.push(Step::Out(Frame::write(&initialized)));
            }
        }
        for (_, request, _) in waiting {
            self.session_says(request, steps);
        }
    }

    /// Whether it does not speak that era after all.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether it has ever been open.
    pub fn was_open(&self) -> bool {
        self.opening.is_none() && !self.has_failed
    }

    /// It does not speak that era after all: the refusals stand.
    fn fails(&mut self, steps: &mut Vec<Step>) {
        if let Some(Opening { waiting, .. }) = self.opening.take() {
            self.has_failed = true;
            self.calls.clear();
            let refusals = waiting.into_iter().map(|(_, _, refusal)| refusal);
            steps.extend(refusals.map(Step::In));
        }
    }

    /// It is gone: what the session hears of what it had.
    pub fn gone(mut self, steps: &mut Vec<Step>) {
        self.fails(steps);
        if let Some(back) = &mut self.back {
            back.gone(steps);
        }
        let asked = self.asked.iter();
        steps.extend(asked.map(|id| Step::In(Frame::cancelled(id))));
        for id in self.calls {
            let error = Frame::error(Some(&id), code::INTERNAL_ERROR, &gone_words("ended"));
            steps.push(Step::In(error));
        }
    }

    /// When it wants to be woken.
    pub fn wakes_at(&self) -> Option<Instant> {
        let opening = self.opening.as_ref().map(|opening| opening.until);
        opening.or(self.back.as_ref().and_then(Back::wakes_at))
    }

    pub fn woke(&mut self, now: Instant, steps: &mut Vec<Step>) {
        if self
            .opening
            .as_ref()
            .is_some_and(|opening| opening.until <= now)
        {
            self.fails(steps);
        }
        if let Some(back) = &mut self.back {
            back.woke(now, steps);
        }
    }

    /// Whether it still waits for the answer to a question.
    pub fn asks(&self, id: &Id) -> bool {
        self.asked.contains(id) || self.back.as_ref().is_some_and(|back| back.asks(id))
    }

    /// True if it still waits for the answer to a question of a round.
    pub fn asks_in_round(&self, id: &Id) -> bool {
        self.back
            .as_ref()
            .is_some_and(|back| back.asks_in_round(id))
    }
}

/// The call that a message answers.
fn answered(frame: &Frame) -> Option<Id> {
    match frame.peek() {
        Some((Kind::Response { id }, _)) => id,
        _ => None,
    }
}
