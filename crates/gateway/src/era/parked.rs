//! Calls of a modern client: which are open, which the client was asked something in, and which
//! it comes back for.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use midcall_core::Limits;
use midcall_core::wire::code;
use serde_json::json;
use tokio::time::Instant;

use super::Step;
use super::ask::{Ask, Back};
use super::call::{Call, Waiter};
use super::kept::Kept;
use crate::frame::{Frame, Id, Members};
use crate::token::Token;

/// Calls, by the ids that the session knows them by.
pub struct Parked {
    calls: HashMap<Id, Call>,
    /// The session's ids, by those that the client came back under.
    ids: HashMap<Id, Id>,
    /// Calls with something that the client is still to be asked.
    untold: Vec<Id>,
    kept: Kept,
    hold: Option<Duration>,
    patience: Duration,
    count: u64,
}

/// How long a client that has nothing to ask may take to come back.
const AWAY: Duration = Duration::from_secs(60);

/// How many calls may be open.
const MOST: usize = 10_000;

/// How many questions are told in one call before others are preferred. Clients give up a call
/// that asks too often, and it need not even be the one that does.
const ENOUGH: usize = 8;

impl Parked {
    pub fn new(hold: Option<Duration>, patience: Duration) -> Self {
        Self {
            calls: HashMap::new(),
            ids: HashMap::new(),
            untold: Vec::new(),
            kept: Kept::default(),
            hold,
            patience,
            count: 0,
        }
    }

    /// Whether another call may begin in which something can be asked.
    pub fn has_room(&self) -> bool {
        self.calls.len() < MOST
    }

    pub fn has_any(&self) -> bool {
        !self.calls.is_empty()
    }

    /// True if the session knows a call by this id.
    pub fn has(&self, id: &Id) -> bool {
        self.calls.contains_key(id)
    }

    /// True if the client waits for an answer under this id.
    pub fn is_waited_for(&self, id: &Id) -> bool {
        let call = self.ids.get(id).and_then(|call| self.calls.get(call));
        let waiter = call.and_then(|call| call.waiter.as_ref());
        waiter.is_some_and(|waiter| waiter.id == *id)
    }

    /// Whether a client may come back for anything.
    pub fn has_states(&self) -> bool {
        !self.calls.is_empty() || !self.kept.is_empty()
    }

    /// Whether a client that comes back by this state was told to.
    pub fn gave(&self, state: &str) -> bool {
        let mut known = self.calls.values().flat_map(|call| &call.states);
        known.any(|known| known.is(state)) || self.kept.knows(state)
    }

    /// A call begins.
    pub fn open(
        &mut self,
        now: Instant,
        id: Id,
        token: Option<&[u8]>,
        digest: [u8; 32],
        is_cacheable: bool,
        is_loud: bool,
    ) {
        self.count += 1;
        let waiter = Waiter {
            id: id.clone(),
            since: now,
            token: token.map(Into::into),
        };
        let call = Call {
            nth: self.count,
            digest,
            is_cacheable,
            is_loud,
            token: token.map(Into::into),
            waiter: Some(waiter),
            states: VecDeque::new(),
            asked: Vec::new(),
            untold: Vec::new(),
            asks: 0,
            until: None,
            result: None,
        };
        self.ids.insert(id.clone(), id.clone());
        self.calls.insert(id, call);
    }

    /// Whether the result of a call may be cached; none if it is not one of these.
    pub fn is_cacheable(&self, id: &Id) -> Option<bool> {
        self.calls.get(id).map(|call| call.is_cacheable)
    }

    /// Whether some call wants to hear what happens.
    pub fn is_loud(&self) -> bool {
        self.calls
            .values()
            .any(|call| call.is_loud && call.waiter.is_some())
    }

    /// Asks the client in the call that the question is `of`, by the name it has there. Where that
    /// is not known, it is the oldest call; where there is none, the question is given back.
    pub fn ask(&mut self, mut ask: Ask, of: Option<&(Id, String)>) -> Result<(), Ask> {
        let is_running = |call: &Call| call.result.is_none();
        let own = of.and_then(|(id, name)| {
            let call = self.calls.get(id).filter(|call| is_running(call))?;
            let is_new = |ask: &Ask| ask.key != *name;
            let name = call
                .asked
                .iter()
                .chain(&call.untold)
                .all(is_new)
                .then_some(name);
            Some((id.clone(), name.cloned()))
        });
        let oldest = || {
            let running = self.calls.iter().filter(|(_, call)| is_running(call));
            let oldest = running
                .min_by_key(|(_, call)| (call.waiter.is_none(), call.asks >= ENOUGH, call.nth));
            oldest.map(|(id, _)| (id.clone(), None))
        };
        let Some((id, name)) = own.or_else(oldest) else {
            return Err(ask);
        };
        if let Some(call) = self.calls.get_mut(&id) {
            call.asks += 1;
            let is_new = |key: &String| {
                call.asked
                    .iter()
                    .chain(&call.untold)
                    .all(|it| it.key != *key)
            };
            let keys = (call.asks..).map(|nth| format!("q{nth}"));
            ask.key = name
                .into_iter()
                .chain(keys)
                .find(is_new)
                .unwrap_or_default();
            call.untold.push(ask);
            self.untold.push(id);
        }
        Ok(())
    }

    /// Tells the client what it was asked since it was told last.
    pub fn tell(&mut self, now: Instant, steps: &mut Vec<Step>) {
        for id in std::mem::take(&mut self.untold) {
            let call = self.calls.get_mut(&id);
            let told = call.and_then(|call| call.tell(now, self.patience));
            self.told(told, steps);
        }
    }

    /// Questions whose call is over are asked in another, or not at all.
    fn ask_elsewhere(&mut self, asks: Vec<Ask>, steps: &mut Vec<Step>) {
        for ask in asks {
            if let Err(ask) = self.ask(ask, None) {
                steps.push(Step::In(ask.unanswered()));
            }
        }
    }

    /// A request of the client is answered: it does not wait any more.
    fn told(&mut self, told: Option<(Id, Frame)>, steps: &mut Vec<Step>) {
        if let Some((waiter, frame)) = told {
            self.ids.remove(&waiter);
            steps.push(Step::Out(frame));
        }
    }

    /// The session takes a question back. The client cannot be told; what becomes of its call
    /// without an answer, it may still come for.
    pub fn withdraw(&mut self, now: Instant, id: &Id) {
        for call in self.calls.values_mut() {
            let had = call.asked.len();
            call.asked.retain(|ask| ask.id != *id);
            call.untold.retain(|ask| ask.id != *id);
            if call.asked.len() < had && call.asked.is_empty() && call.waiter.is_none() {
                call.until = Some(now + AWAY);
            }
        }
    }

    /// The client comes back for a call.
    pub fn comes_back(
        &mut self,
        now: Instant,
        state: &str,
        back: Back<'_>,
        limits: &Limits,
        steps: &mut Vec<Step>,
    ) {
        if let Some(kept) = self.kept.result(now, state, back.digest) {
            return steps.extend(kept.with(&["id"], back.id.as_json()).map(Step::Out));
        }
        let is_known = |states: &VecDeque<Token>| states.iter().any(|known| known.is(state));
        let mut calls = self.calls.iter_mut();
        let found = calls.find(|(_, call)| is_known(&call.states) && call.digest == back.digest);
        let Some((session_id, call)) = found else {
            // Whatever is wrong with it, it looks the same from outside.
            let told = "midcall: this requestState is not valid for this call";
            return steps.push(Step::Out(Frame::error(
                Some(&back.id),
                code::INVALID_PARAMS,
                told,
            )));
        };
        let session_id = session_id.clone();
        if let Some(waiter) = call.waiter.take() {
            self.ids.remove(&waiter.id);
            let told = "midcall: the call was made again meanwhile";
            steps.push(Step::Out(Frame::error(
                Some(&waiter.id),
                code::INVALID_REQUEST,
                told,
            )));
        }
        self.ids.insert(back.id.clone(), session_id.clone());
        call.waiter = Some(Waiter {
            id: back.id,
            since: now,
            token: back.token.map(Into::into),
        });
        call.until = None;
        let is_last = call.states.back().is_some_and(|last| last.is(state));
        if is_last {
            // What is not answered, or not so that it fits, is asked again.
            for ask in std::mem::take(&mut call.asked) {
                match ask.answer(back.responses, limits) {
                    Some(answer) => steps.push(Step::In(answer)),
                    None => call.untold.push(ask),
                }
            }
        } else {
            // Its answers have been heard; what was asked since is asked again.
            call.untold.append(&mut call.asked);
        }
        if let Some(result) = call.result.take() {
            let left = std::mem::take(&mut call.untold);
            self.ends(now, &session_id, result, steps);
            return self.ask_elsewhere(left, steps);
        }
        let told = call.tell(now, self.patience);
        self.told(told, steps);
    }

    /// A call is over.
    pub fn ends(&mut self, now: Instant, id: &Id, frame: Frame, steps: &mut Vec<Step>) {
        let Some(mut call) = self.calls.remove(id) else {
            return;
        };
        let Some(waiter) = call.waiter.take() else {
            call.until = Some(now + AWAY);
            call.result = Some(frame);
            self.calls.insert(id.clone(), call);
            return;
        };
        self.ids.remove(&waiter.id);
        steps.extend(frame.with(&["id"], waiter.id.as_json()).map(Step::Out));
        if !call.states.is_empty() {
            self.kept.add(now, call.states, call.digest, frame);
        }
    }

    /// The client takes a call back: the id that the session knows it by.
    pub fn cancel(&mut self, id: &Id, steps: &mut Vec<Step>) -> Option<Id> {
        let id = self.ids.remove(id)?;
        if let Some(call) = self.calls.remove(&id) {
            let left = call.asked.into_iter().chain(call.untold);
            self.ask_elsewhere(left.collect(), steps);
        }
        Some(id)
    }

    /// Whether a token is that of one of these.
    pub fn follows(&self, token: Option<&[u8]>) -> bool {
        token.is_some()
            && self
                .calls
                .values()
                .any(|call| call.token.as_deref() == token)
    }

    /// A word of progress as the client hears it, by the token of the request that waits.
    pub fn progress(&self, frame: &Frame, members: &Members<'_>) -> Option<Frame> {
        let token = members.progress_token?;
        let mut calls = self.calls.values();
        let Some(call) = calls.find(|call| call.token.as_deref() == Some(token)) else {
            return Some(frame.clone()); // It is of a request that cannot ask.
        };
        let now = call.waiter.as_ref()?.token.as_deref()?;
        if now == token {
            return Some(frame.clone());
        }
        frame.with(&["params", "progressToken"], str::from_utf8(now).ok()?)
    }

    pub fn wakes_at(&self, somebody_thinks: bool) -> Option<Instant> {
        let away = self.calls.values().filter_map(|call| call.until);
        let held = self.calls.values().filter_map(|call| {
            let since = call.waiter.as_ref()?.since;
            somebody_thinks.then_some(since + self.hold?)
        });
        away.chain(held).min()
    }

    pub fn woke(&mut self, now: Instant, somebody_thinks: bool, steps: &mut Vec<Step>) {
        if self.wakes_at(somebody_thinks).is_none_or(|at| at > now) {
            return;
        }
        let (mut late, mut told) = (Vec::new(), Vec::new());
        for (id, call) in &mut self.calls {
            if call.until.is_some_and(|at| at <= now) {
                late.push(id.clone());
            }
            let since = call.waiter.as_ref().map(|waiter| waiter.since);
            if somebody_thinks
                && let (Some(hold), Some(since)) = (self.hold, since)
                && since + hold <= now
            {
                told.extend(call.come_back(now + AWAY));
            }
        }
        for told in told {
            self.told(Some(told), steps);
        }
        for id in late {
            if let Some(call) = self.calls.remove(&id) {
                let left: Vec<Ask> = call.asked.into_iter().chain(call.untold).collect();
                if call.result.is_some() {
                    // It is over, and nobody came for it.
                    self.ask_elsewhere(left, steps);
                    continue;
                }
                steps.extend(left.iter().map(|ask| Step::In(ask.unanswered())));
                let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"reason": "the client did not come back"}});
                let cancel = Frame::write(&cancel).with(&["params", "requestId"], id.as_json());
                steps.extend(cancel.map(Step::In));
            }
        }
    }
}
