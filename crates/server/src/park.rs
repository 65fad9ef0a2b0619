//! Calls that wait for an answer while no request of their client is open.
//!
//! A tool that asks a modern client, or a model, is not over: its future moves to a task of its
//! own, and the client gets a *round*, which is what it is asked and a name to come back with.
//! Whoever comes back hands in the answers and waits for what is next: the result, or another
//! round. What was told once is told again to whoever asks again, and the tool runs once.
//!
//! In: [`Parks::park`]. Out: [`Parked::next`].
//! Elsewhere: what is open and becomes a round (`round`), how one is said and how its name is
//! guarded (`layer`, `place`).

mod round;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midcall_core::wire::{ElicitResult, InputResponses};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::asking::Reply;
use crate::call::Call;
use crate::inbox::Questions;
use crate::observe::Carrier;
use crate::running::{Outcome, Running};
use round::State;
pub(crate) use round::{First, Round};

/// The calls that wait.
#[derive(Default)]
pub(crate) struct Parks(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    calls: BTreeMap<u64, Arc<Parked>>,
    rounds: HashMap<String, (u64, usize)>,
    last: u64,
    /// Those that are over, and whose results are kept.
    over: BTreeSet<u64>,
    /// Those that wait, and no request of their client is open.
    idle: BTreeSet<u64>,
}

/// One of them.
pub(crate) struct Parked {
    pub call: Arc<Call>,
    /// Whose it is: nobody else goes on with it.
    pub owner: String,
    number: u64,
    /// Where both are locked, this is before what all calls share.
    state: Mutex<State>,
    changed: Notify,
}

/// A request that waits for what is next in a call.
pub(crate) struct Waiter(Arc<Parked>);

/// What is told to whoever waits.
#[expect(clippy::large_enum_variant, reason = "it is told at once and not kept")]
pub(crate) enum Next {
    Over(Outcome),
    Asked(Round),
}

impl Parks {
    /// Takes a tool that asks something; `false` if there is no room for it. Results that are kept
    /// make room, then the oldest call that waits: of the same owner if there is one.
    pub fn park(
        self: &Arc<Self>,
        owner: String,
        running: Running,
        questions: Questions,
        first: First,
    ) -> bool {
        let call = questions.0.clone();
        let most = call.asks.settings.most;
        let mut crowded = Vec::new();
        let mut waiting = self.lock();
        if waiting.rounds.contains_key(&first.round.name) {
            return true; // A client came back to it twice at once, and the other tool runs already.
        }
        while waiting.calls.len() >= most {
            let Some(oldest) = waiting.oldest(&owner) else {
                break;
            };
            crowded.extend(waiting.calls.remove(&oldest));
            waiting.over.remove(&oldest);
            waiting.idle.remove(&oldest);
        }
        let has_room = waiting.calls.len() < most;
        if has_room {
            waiting.last += 1;
            let number = waiting.last;
            let parked = Arc::new(Parked {
                call,
                owner,
                number,
                state: Mutex::new(first.state),
                changed: Notify::new(),
            });
            waiting.calls.insert(number, parked.clone());
            waiting.idle.insert(number);
            waiting.rounds.insert(first.round.name, (number, 0));
            drop(waiting);
            let mut state = parked.lock();
            // Somebody else may have needed its room already.
            if !state.gone {
                let task = tokio::spawn(keep(self.clone(), parked.clone(), running, questions));
                state.task = Some(task.abort_handle());
            }
        } else {
            drop(waiting);
        }
        for oldest in crowded {
            self.forget(&oldest);
        }
        has_room
    }

    /// The call that a round belongs to, and which of its rounds it is. Whoever has found it need
    /// not fear that others take its room.
    pub fn find(&self, name: &str) -> Option<(Waiter, usize)> {
        let waiting = self.lock();
        let (number, at) = *waiting.rounds.get(name)?;
        let parked = waiting.calls.get(&number)?.clone();
        drop(waiting);
        Some((parked.wait()?, at))
    }

    /// Drops the calls of a session.
    pub fn end(&self, session: &str) {
        let waiting = self.lock();
        let theirs = waiting.calls.values();
        let theirs = theirs.filter(|parked| parked.owner.starts_with(session));
        let theirs: Vec<_> = theirs.cloned().collect();
        drop(waiting);
        for parked in theirs {
            self.forget(&parked);
        }
    }

    /// Drops all calls, as the end of this process would.
    pub fn forget_all(&self) {
        let all: Vec<_> = self.lock().calls.values().cloned().collect();
        for parked in all {
            self.forget(&parked);
        }
    }

    /// Drops a call, its tool included.
    pub fn forget(&self, parked: &Arc<Parked>) {
        parked.call.over.cancel();
        {
            let mut state = parked.lock();
            state.gone = true;
            state.open.clear();
            if let Some(task) = state.task.take() {
                task.abort();
            }
            let mut waiting = self.lock();
            waiting.calls.remove(&parked.number);
            waiting.over.remove(&parked.number);
            waiting.idle.remove(&parked.number);
            for round in &state.rounds {
                waiting.rounds.remove(&round.name);
            }
        }
        parked.changed.notify_waiters();
    }

    /// How many calls wait, or have a result that is kept.
    pub fn len(&self) -> usize {
        self.lock().calls.len()
    }

    fn know(&self, parked: &Parked, round: &Round, at: usize) {
        let mut waiting = self.lock();
        waiting
            .rounds
            .insert(round.name.clone(), (parked.number, at));
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Who has to go if there is no room. Nobody whose client waits for a result.
    fn oldest(&self, owner: &str) -> Option<u64> {
        let is_theirs = |number: &&u64| {
            let call = self.calls.get(number);
            call.is_some_and(|call| call.owner == owner)
        };
        let over = self.over.first();
        let theirs = || self.idle.iter().find(is_theirs);
        over.or_else(theirs).or(self.idle.first()).copied()
    }
}

/// Ends once another process goes on with a call.
type Elsewhere = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs a tool whose client is away, and keeps its result for a while.
async fn keep(parks: Arc<Parks>, parked: Arc<Parked>, mut running: Running, questions: Questions) {
    let call = &parked.call;
    let mut elsewhere: Elsewhere = match call.shared {
        Some(_) => Box::pin(call.clone().elsewhere()),
        None => Box::pin(std::future::pending()), // Which takes no room.
    };
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut running => break outcome,
            open = questions.next() => parked.lock().open.extend(open),
            () = &mut elsewhere => return parks.forget(&parked),
        }
        parked.changed.notify_waiters();
    };
    if !Box::pin(call.ended(parked.newest(), &outcome)).await {
        return parks.forget(&parked);
    }
    drop((running, questions));
    {
        let mut state = parked.lock();
        state.open.clear();
        state.outcome = Some(Box::new(outcome));
        let mut waiting = parks.lock();
        waiting.idle.remove(&parked.number);
        if waiting.calls.contains_key(&parked.number) {
            waiting.over.insert(parked.number);
        }
    }
    parked.changed.notify_waiters();
    sleep(parked.call.asks.settings.kept).await;
    parks.forget(&parked);
}

impl Parked {
    /// A round, as it was told.
    pub fn round(&self, at: usize) -> Round {
        self.lock().rounds[at].clone()
    }

    /// Hands in a client's answers to a round. `false` if none of them was asked for, something
    /// still is, and it is the last round.
    pub fn answer(&self, at: usize, responses: &InputResponses, outcomes: Option<&Value>) -> bool {
        let mut state = self.lock();
        let asked = state.rounds[at].asked.clone();
        let mut answered = false;
        for asking in &asked {
            let Some(Ok(result)) = responses.elicit_result(&asking.key) else {
                continue;
            };
            let outcome = outcomes.and_then(|outcomes| outcomes.get(&asking.key).cloned());
            answered |= state.reply(asking, Ok(Reply { result, outcome }));
        }
        answered || state.rounds[at].next.is_some() || !state.is_asked(at)
    }

    /// Hands in what a model says to the question of a round. `false` if it is not open any more.
    pub fn say(&self, at: usize, result: ElicitResult, digest: [u8; 32]) -> bool {
        let mut state = self.lock();
        let asking = state.rounds[at].asked[0].clone();
        let outcome = None;
        let answered = state.reply(&asking, Ok(Reply { result, outcome }));
        if answered {
            state.rounds[at].said = Some(digest);
        }
        answered
    }

    /// What a model says to the question of a round does not fit. `true` if that was the last answer
    /// that is taken.
    pub fn misfits(&self, at: usize, problems: &str, digest: [u8; 32]) -> bool {
        self.lock().misfits(at, problems, digest)
    }

    /// The name of its last round.
    fn newest(&self) -> String {
        let state = self.lock();
        let round = state.rounds.last();
        round.map_or(String::new(), |round| round.name.clone())
    }

    /// A request of the client is there, and waits. None if the call has just made room.
    fn wait(self: &Arc<Self>) -> Option<Waiter> {
        let mut state = self.lock();
        let mut waiting = self.call.asks.parks.lock();
        waiting.calls.get(&self.number)?;
        waiting.idle.remove(&self.number);
        state.waiters += 1;
        Some(Waiter(self.clone()))
    }

    /// What comes after a round; waits for it. What was told already is told again, unless it is
    /// answered. None once the call was dropped.
    pub async fn next(&self, mut at: usize) -> Option<Next> {
        let parks = self.call.asks.parks.clone();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.lock();
                while let Some(next) = state.rounds[at].next {
                    if state.is_asked(next) {
                        return Some(Next::Asked(state.rounds[next].clone()));
                    }
                    at = next;
                }
                if let Some(outcome) = &state.outcome {
                    return Some(Next::Over(Outcome::clone(outcome)));
                }
                if state.gone {
                    return None;
                }
                if let Some(round) = state.ask_next(Some(at)) {
                    // Known before anybody can be told of it.
                    parks.know(self, &round, state.rounds.len() - 1);
                    return Some(Next::Asked(round));
                }
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// It is taken back. The call goes with it, unless another request waits: clients repeat a retry
    /// when its connection breaks, and that is noticed later.
    pub fn leave(self) {
        let is_alone = self.0.lock().waiters == 1;
        if is_alone {
            self.0.call.asks.parks.forget(&self.0);
        }
    }

    /// Another process goes on with the call.
    pub fn give_up(self) {
        self.0.call.asks.parks.forget(&self.0);
    }
}

impl Deref for Waiter {
    type Target = Parked;

    fn deref(&self) -> &Parked {
        &self.0
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let parks = &self.0.call.asks.parks;
        let mut state = self.0.lock();
        state.waiters -= 1;
        let is_left = state.waiters == 0 && state.outcome.is_none() && !state.gone;
        // A model comes back by a name alone: there is nothing to run its tool again with.
        let last = state.rounds.last().map(|round| round.carrier);
        if is_left && self.0.call.is_replayed_only() && last != Some(Carrier::Model) {
            drop(state);
            parks.forget(&self.0);
        } else if is_left {
            parks.lock().idle.insert(self.0.number);
        }
    }
}
