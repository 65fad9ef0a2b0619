//! Calls of a modern client: which are open, which the client was asked something in, and which
//! it comes back for.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use midcall_core::Limits;
use midcall_core::wire::code;
use serde_json::json;
use tokio::time::Instant;

use super::Step;
use super::ask::{Ask, Back};
use super::call::{Call, Waiter};
use super::index::Index;
use super::kept::Kept;
use crate::frame::{Frame, Id, Members};

/// Calls, by the ids that the session knows them by.
pub struct Parked {
    calls: HashMap<Id, Call>,
    index: Index,
    /// The session's ids, by those that the client came back under.
    ids: HashMap<Id, Id>,
    /// Calls with something that the client is still to be asked.
    untold: Vec<Id>,
    kept: Kept,
    hold: Option<Duration>,
    patience: Duration,
    count: u64,
    /// True if the calls may be those of several clients, and one must not see what another is asked.
    is_shared: bool,
}

/// How long a client that has nothing to ask may take to come back.
const AWAY: Duration = Duration::from_secs(60);

/// How many calls may be open.
const MOST: usize = 10_000;

/// How many questions may be open in all calls. The session has a bound for people's, but not for models'.
const MOST_ASKS: usize = 1_000;

/// Why a question is not asked.
const NO_CALL: &str = "midcall: the client is asked in its calls, and none is open";
const TOO_MANY: &str = "midcall: too many questions are open";

impl Parked {
    pub fn new(hold: Option<Duration>, patience: Duration, is_shared: bool) -> Self {
        Self {
            is_shared,
            calls: HashMap::new(),
            index: Index::default(),
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
        self.index.by_state(state).is_some() || self.kept.knows(state)
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
        self.index.add(&id, &call);
        self.calls.insert(id, call);
    }

    /// Changes a call, and gives what came of that.
    fn change<T>(&mut self, id: &Id, change: impl FnOnce(&mut Call) -> T) -> Option<T> {
        let call = self.calls.get_mut(id)?;
        self.index.remove(id, call);
        let changed = change(call);
        self.index.add(id, call);
        Some(changed)
    }

    /// Takes a call out, with the questions that are open in it.
    fn take(&mut self, id: &Id) -> Option<(Call, Vec<Ask>)> {
        let mut call = self.calls.remove(id)?;
        self.index.remove(id, &call);
        let mut asks = std::mem::take(&mut call.asked);
        asks.append(&mut call.untold);
        for ask in &asks {
            self.index.forget(&ask.id);
        }
        Some((call, asks))
    }

    /// Whether the result of a call may be cached; none if it is not one of these.
    pub fn is_cacheable(&self, id: &Id) -> Option<bool> {
        self.calls.get(id).map(|call| call.is_cacheable)
    }

    /// Whether some call wants to hear what happens.
    pub fn is_loud(&self) -> bool {
        self.index.is_loud()
    }

    /// Asks the client in the call that the question is `of`, by the name it has there. Where that
    /// is not known, it is the oldest call; where there is none, or too much is asked already, the question is given
    /// back, with the reason.
    pub fn ask(
        &mut self,
        mut ask: Ask,
        of: Option<&(Id, String)>,
    ) -> Result<(), (Ask, &'static str)> {
        if self.index.asks() >= MOST_ASKS {
            return Err((ask, TOO_MANY));
        }
        let is_running = |id: &Id| self.calls.get(id).is_some_and(|call| call.result.is_none());
        let own = of.filter(|(id, _)| is_running(id));
        let Some(id) = own.map(|(id, _)| id).or(self.index.next()).cloned() else {
            return Err((ask, NO_CALL));
        };
        self.index.ask(&ask.id, &id);
        self.change(&id, |call| {
            call.asks += 1;
            let asks = call.asked.iter().chain(&call.untold);
            let taken: HashSet<&str> = asks.map(|ask| ask.key.as_str()).collect();
            let keys = (call.asks..).map(|nth| format!("q{nth}"));
            let mut keys = own.map(|(_, name)| name.clone()).into_iter().chain(keys);
            let key = keys.find(|key| !taken.contains(key.as_str()));
            ask.key = key.unwrap_or_default();
            call.untold.push(ask);
        });
        self.untold.push(id);
        Ok(())
    }

    /// Tells the client what it was asked since it was told last.
    pub fn tell(&mut self, now: Instant, steps: &mut Vec<Step>) {
        for id in std::mem::take(&mut self.untold) {
            let patience = self.patience;
            let told = self.change(&id, |call| call.tell(now, patience));
            self.told(told.flatten(), steps);
        }
    }

    /// Questions whose call is over are asked in another of the same client, or not at all.
    fn ask_elsewhere(&mut self, asks: Vec<Ask>, steps: &mut Vec<Step>) {
        for ask in asks {
            if self.is_shared {
                steps.push(Step::In(ask.unanswered()));
            } else if let Err((ask, _)) = self.ask(ask, None) {
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
        let Some(call) = self.index.by_ask(id).cloned() else {
            return;
        };
        self.index.forget(id);
        self.change(&call, |call| {
            let had = call.asked.len();
            call.asked.retain(|ask| ask.id != *id);
            call.untold.retain(|ask| ask.id != *id);
            if call.asked.len() < had && call.asked.is_empty() && call.waiter.is_none() {
                call.until = Some(now + AWAY);
            }
        });
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
        let is_meant = |id: &&Id| {
            let call = self.calls.get(*id);
            call.is_some_and(|call| call.digest == back.digest)
        };
        let Some(session_id) = self.index.by_state(state).filter(is_meant).cloned() else {
            // Whatever is wrong with it, it looks the same from outside.
            let told = "midcall: this requestState is not valid for this call";
            return steps.push(Step::Out(Frame::error(
                Some(&back.id),
                code::INVALID_PARAMS,
                told,
            )));
        };
        let waiter = self.change(&session_id, |call| call.waiter.take());
        if let Some(waiter) = waiter.flatten() {
            self.ids.remove(&waiter.id);
            let told = "midcall: the call was made again meanwhile";
            steps.push(Step::Out(Frame::error(
                Some(&waiter.id),
                code::INVALID_REQUEST,
                told,
            )));
        }
        self.ids.insert(back.id.clone(), session_id.clone());
        let (mut answered, patience) = (Vec::new(), self.patience);
        let told = self.change(&session_id, |call| {
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
                        Some(answer) => {
                            steps.push(Step::In(answer));
                            answered.push(ask.id);
                        }
                        None => call.untold.push(ask),
                    }
                }
            } else {
                // Its answers have been heard; what was asked since is asked again.
                call.untold.append(&mut call.asked);
            }
            match call.result.take() {
                Some(result) => Err(result),
                None => Ok(call.tell(now, patience)),
            }
        });
        for ask in answered {
            self.index.forget(&ask);
        }
        match told {
            Some(Ok(told)) => self.told(told, steps),
            Some(Err(result)) => self.ends(now, &session_id, result, steps),
            None => {}
        }
    }

    /// A call is over.
    pub fn ends(&mut self, now: Instant, id: &Id, frame: Frame, steps: &mut Vec<Step>) {
        let is_away = self.calls.get(id).is_some_and(|call| call.waiter.is_none());
        if is_away {
            self.change(id, |call| {
                call.until = Some(now + AWAY);
                call.result = Some(frame);
            });
            return;
        }
        let Some((mut call, left)) = self.take(id) else {
            return;
        };
        if let Some(waiter) = call.waiter.take() {
            self.ids.remove(&waiter.id);
            steps.extend(frame.with(&["id"], waiter.id.as_json()).map(Step::Out));
        }
        if !call.states.is_empty() {
            self.kept.add(now, call.states, call.digest, frame);
        }
        self.ask_elsewhere(left, steps);
    }

    /// The client takes a call back: the id that the session knows it by.
    pub fn cancel(&mut self, id: &Id, steps: &mut Vec<Step>) -> Option<Id> {
        let id = self.ids.remove(id)?;
        if let Some((_, left)) = self.take(&id) {
            self.ask_elsewhere(left, steps);
        }
        Some(id)
    }

    /// Whether a token is that of one of these.
    pub fn follows(&self, token: Option<&[u8]>) -> bool {
        token.is_some_and(|token| self.index.by_token(token).is_some())
    }

    /// A word of progress as the client hears it, by the token of the request that waits.
    pub fn progress(&self, frame: &Frame, members: &Members<'_>) -> Option<Frame> {
        let token = members.progress_token?;
        let id = self.index.by_token(token);
        let Some(call) = id.and_then(|id| self.calls.get(id)) else {
            return Some(frame.clone()); // It is of a request that cannot ask.
        };
        let now = call.waiter.as_ref()?.token.as_deref()?;
        if now == token {
            return Some(frame.clone());
        }
        frame.with(&["params", "progressToken"], str::from_utf8(now).ok()?)
    }

    pub fn wakes_at(&self, somebody_thinks: bool) -> Option<Instant> {
        let hold = self.hold.filter(|_| somebody_thinks);
        let held = hold.and_then(|hold| Some(self.index.held_since()? + hold));
        let times = [self.index.away_until(), held];
        times.into_iter().flatten().min()
    }

    pub fn woke(&mut self, now: Instant, somebody_thinks: bool, steps: &mut Vec<Step>) {
        if self.wakes_at(somebody_thinks).is_none_or(|at| at > now) {
            return;
        }
        let late = self.index.late(now);
        let hold = self.hold.filter(|_| somebody_thinks);
        for id in hold.map_or(Vec::new(), |hold| self.index.held(hold, now)) {
            let told = self.change(&id, |call| call.come_back(now + AWAY));
            self.told(told.flatten(), steps);
        }
        for id in late {
            if let Some((call, left)) = self.take(&id) {
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
