//! Calls that wait for an answer while no request of their client is open.
//!
//! A tool that asks a modern client, or a model, is not over: its future moves to a task of its
//! own, and the client gets a *round*, which is what it is asked and a name to come back with.
//! Whoever comes back hands in the answers and waits for what is next: the result, or another
//! round. What was told once is told again to whoever asks again, and the tool runs once.
//!
//! In: [`Parks::park`]. Out: [`Parked::next`].
//! Elsewhere: how a round is said and how its name is guarded (`layer`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midcall_core::wire::{ElicitResult, InputResponses};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::asking::{Asking, Reply};
use crate::call::Call;
use crate::inbox::{Open, Questions};
use crate::observe::Carrier;
use crate::running::{Outcome, Running};
use crate::token;

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

#[derive(Default)]
struct State {
    open: Vec<Open>,
    rounds: Vec<Round>,
    outcome: Option<Box<Outcome>>,
    task: Option<AbortHandle>,
    /// How many requests wait for what is next.
    waiters: usize,
    /// It was dropped: nobody comes back to it.
    gone: bool,
}

/// A call that asks something, about to be parked.
pub(crate) struct First {
    state: State,
    pub round: Round,
}

/// A request that waits for what is next in a call.
pub(crate) struct Waiter(Arc<Parked>);

/// What a client was asked at once.
#[derive(Clone)]
pub(crate) struct Round {
    pub name: String,
    pub asked: Vec<Arc<Asking>>,
    pub carrier: Carrier,
    /// What a model said, once it did.
    pub said: Option<[u8; 32]>,
    /// The round after it, once there is one.
    next: Option<usize>,
}

/// What is told to whoever waits.
#[expect(clippy::large_enum_variant, reason = "it is told at once and not kept")]
pub(crate) enum Next {
    Over(Outcome),
    Asked(Round),
}

impl First {
    /// The first round of what is open. None if nobody waits for an answer any more.
    pub fn of(open: Vec<Open>) -> Option<Self> {
        let mut state = State {
            open,
            ..State::default()
        };
        let round = state.ask_next(None)?;
        Some(Self { state, round })
    }
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

/// Runs a tool whose client is away, and keeps its result for a while.
async fn keep(parks: Arc<Parks>, parked: Arc<Parked>, mut running: Running, questions: Questions) {
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut running => break outcome,
            open = questions.next() => parked.lock().open.extend(open),
        }
        parked.changed.notify_waiters();
    };
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
    tokio::time::sleep(parked.call.asks.settings.kept).await;
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
            answered |= state.reply(asking, Reply { result, outcome });
        }
        answered || state.rounds[at].next.is_some() || !state.is_asked(at)
    }

    /// Hands in what a model says to the question of a round. `false` if it is not open any more.
    pub fn say(&self, at: usize, result: ElicitResult, digest: [u8; 32]) -> bool {
        let mut state = self.lock();
        let asking = state.rounds[at].asked[0].clone();
        let outcome = None;
        let answered = state.reply(&asking, Reply { result, outcome });
        if answered {
            state.rounds[at].said = Some(digest);
        }
        answered
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
}

impl Deref for Waiter {
    type Target = Parked;

    fn deref(&self) -> &Parked {
        &self.0
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.waiters -= 1;
        if state.waiters == 0 && state.outcome.is_none() && !state.gone {
            let mut waiting = self.0.call.asks.parks.lock();
            waiting.idle.insert(self.0.number);
        }
    }
}

impl State {
    /// Gives an answer to the tool, if it still waits for it.
    fn reply(&mut self, asking: &Arc<Asking>, reply: Reply) -> bool {
        let is_meant = |open: &Open| Arc::ptr_eq(&open.asking, asking);
        let Some(found) = self.open.iter().position(is_meant) else {
            return false;
        };
        let open = self.open.remove(found);
        open.reply.send(Box::new(reply)).is_ok()
    }

    /// Whether the tool still waits for an answer to some question of a round.
    fn is_asked(&self, at: usize) -> bool {
        let asked = &self.rounds[at].asked;
        let is_meant = |open: &Open| asked.iter().any(|asked| Arc::ptr_eq(asked, &open.asking));
        let mut open = self.open.iter();
        open.any(|open| is_meant(open) && !open.reply.is_closed())
    }

    /// Makes a round of what is open, after the last one.
    fn ask_next(&mut self, after: Option<usize>) -> Option<Round> {
        self.open.retain(|open| !open.reply.is_closed());
        let carrier = self.open.first()?.carrier;
        let mut asked: Vec<Arc<Asking>> = Vec::new();
        for open in self.open.iter().filter(|open| open.carrier == carrier) {
            // Two of one name could not be told apart: the second waits for the next round.
            let is_new = asked.iter().all(|told| told.key != open.asking.key);
            if is_new {
                asked.push(open.asking.clone());
            }
        }
        if let Some(after) = after {
            let is_last = after + 1 == self.rounds.len();
            let told = &self.rounds[after].asked;
            let is_told = |asking: &Arc<Asking>| told.iter().any(|told| Arc::ptr_eq(told, asking));
            if !is_last || (asked.len() == told.len() && asked.iter().all(is_told)) {
                return None; // The same again: it waits for an answer, not for a round.
            }
            self.rounds[after].next = Some(self.rounds.len());
        }
        asked.shrink_to_fit();
        let round = Round {
            name: token::random(),
            asked,
            carrier,
            said: None,
            next: None,
        };
        self.rounds.reserve_exact(1);
        self.rounds.push(round.clone());
        Some(round)
    }
}
