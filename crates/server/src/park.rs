//! Calls that wait for an answer while no request of their client is open.
//!
//! A tool that asks a modern client, or a model, is not over: its future moves to a task of its
//! own, and the client gets a *round*, which is what it is asked and a name to come back with.
//! Whoever comes back hands in the answers and waits for what is next: the result, or another
//! round. What was told once is told again to whoever asks again, and the tool runs once.
//!
//! In: [`Parks::park`]. Out: [`Parked::next`].
//! Elsewhere: how a round is said and how its name is guarded (`layer`).

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midcall_core::wire::{ElicitResult, InputResponses};
use rmcp::ErrorData;
use rmcp::model::ServerResult;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::asking::{Asking, Reply, Told};
use crate::call::{Call, Open};
use crate::observe::Carrier;
use crate::token;

/// A tool at work.
pub(crate) type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
pub(crate) type Outcome = Result<ServerResult, ErrorData>;

/// The calls that wait.
#[derive(Default)]
pub(crate) struct Parks(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    calls: BTreeMap<u64, Arc<Parked>>,
    rounds: HashMap<String, (u64, usize)>,
    last: u64,
}

/// One of them.
pub(crate) struct Parked {
    pub call: Arc<Call>,
    /// Whose it is: nobody else goes on with it.
    pub owner: String,
    number: u64,
    state: Mutex<State>,
    changed: Notify,
    task: Mutex<Option<AbortHandle>>,
    /// What the tool knows as the cancelling of its request.
    token: CancellationToken,
}

#[derive(Default)]
struct State {
    open: Vec<Open>,
    rounds: Vec<Round>,
    outcome: Option<Outcome>,
}

/// What a client was asked at once.
#[derive(Clone)]
pub(crate) struct Round {
    pub name: String,
    pub asked: Vec<(Arc<Asking>, Arc<Told>)>,
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

impl Parks {
    /// Takes a tool that asks something, and gives the first round. The oldest call goes where
    /// there are too many.
    pub fn park(
        self: &Arc<Self>,
        call: Arc<Call>,
        owner: String,
        token: CancellationToken,
        running: Running,
        inbox: mpsc::UnboundedReceiver<Open>,
        open: Vec<Open>,
    ) -> (Arc<Parked>, Round) {
        let most = call.asks.settings.most;
        let mut crowded = Vec::new();
        let parked = {
            let mut waiting = self.lock();
            while waiting.calls.len() >= most
                && let Some((_, oldest)) = waiting.calls.pop_first()
            {
                crowded.push(oldest);
            }
            waiting.last += 1;
            let parked = Arc::new(Parked {
                call,
                owner,
                number: waiting.last,
                state: Mutex::new(State {
                    open,
                    ..State::default()
                }),
                changed: Notify::new(),
                task: Mutex::default(),
                token,
            });
            waiting.calls.insert(parked.number, parked.clone());
            parked
        };
        for oldest in crowded {
            self.forget(&oldest);
        }
        let round = parked.lock().ask_next(None);
        let round = round.expect("it was parked because it asks something");
        self.know(&parked, &round, 0);
        let task = tokio::spawn(keep(self.clone(), parked.clone(), running, inbox));
        *parked.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
        (parked, round)
    }

    /// The call that a round belongs to, and which of its rounds it is.
    pub fn find(&self, name: &str) -> Option<(Arc<Parked>, usize)> {
        let waiting = self.lock();
        let (number, round) = waiting.rounds.get(name)?;
        Some((waiting.calls.get(number)?.clone(), *round))
    }

    /// Drops a call, its tool included.
    pub fn forget(&self, parked: &Arc<Parked>) {
        {
            let mut waiting = self.lock();
            waiting.calls.remove(&parked.number);
            for round in &parked.lock().rounds {
                waiting.rounds.remove(&round.name);
            }
        }
        parked.token.cancel();
        let task = parked
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            task.abort();
        }
        parked.lock().open.clear();
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

    fn is_there(&self, parked: &Parked) -> bool {
        self.lock().calls.contains_key(&parked.number)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a tool whose client is away, and keeps its result for a while.
async fn keep(
    parks: Arc<Parks>,
    parked: Arc<Parked>,
    mut running: Running,
    mut inbox: mpsc::UnboundedReceiver<Open>,
) {
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut running => break outcome,
            Some(open) = inbox.recv() => {
                let mut state = parked.lock();
                state.open.push(open);
                state.open.extend(std::iter::from_fn(|| inbox.try_recv().ok()));
            }
        }
        parked.changed.notify_waiters();
    };
    drop(running);
    {
        let mut state = parked.lock();
        state.open.clear();
        state.outcome = Some(outcome);
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

    /// Hands in a client's answers to a round. `false` if none of them was asked for, and something
    /// still is.
    pub fn answer(&self, at: usize, responses: &InputResponses, outcomes: Option<&Value>) -> bool {
        let mut state = self.lock();
        let keys: Vec<String> = state.rounds[at]
            .asked
            .iter()
            .map(|(asking, _)| asking.key.clone())
            .collect();
        let mut answered = false;
        for key in &keys {
            let Some(Ok(result)) = responses.elicit_result(key) else {
                continue;
            };
            let outcome = outcomes.and_then(|outcomes| outcomes.get(key).cloned());
            answered |= state.reply(at, key, result, outcome);
        }
        answered
            || !state
                .open
                .iter()
                .any(|open| keys.contains(&open.asking.key) && !open.reply.is_closed())
    }

    /// Hands in what a model says to the question of a round. `false` if it is not open any more.
    pub fn say(&self, at: usize, result: ElicitResult, digest: [u8; 32]) -> bool {
        let mut state = self.lock();
        let key = state.rounds[at].asked[0].0.key.clone();
        let answered = state.reply(at, &key, result, None);
        if answered {
            state.rounds[at].said = Some(digest);
        }
        answered
    }

    /// What comes after a round; waits for it. None once the call was dropped.
    pub async fn next(self: &Arc<Self>, at: usize) -> Option<Next> {
        let parks = self.call.asks.parks.clone();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let fresh = {
                let mut state = self.lock();
                if let Some(next) = state.rounds[at].next {
                    return Some(Next::Asked(state.rounds[next].clone()));
                }
                if let Some(outcome) = &state.outcome {
                    return Some(Next::Over(outcome.clone()));
                }
                let round = state.ask_next(Some(at));
                round.map(|round| (state.rounds.len() - 1, round))
            };
            if let Some((at, round)) = fresh {
                parks.know(self, &round, at);
                return Some(Next::Asked(round));
            }
            if !parks.is_there(self) {
                return None;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives an answer to the tool, if it still waits for it, and it is the round that was asked.
    fn reply(
        &mut self,
        at: usize,
        key: &str,
        result: ElicitResult,
        outcome: Option<Value>,
    ) -> bool {
        let asked = &self.rounds[at].asked;
        let is_meant = |open: &Open| {
            let is_same = |(asking, _): &(Arc<Asking>, _)| Arc::ptr_eq(asking, &open.asking);
            open.asking.key == key && asked.iter().any(is_same)
        };
        let Some(found) = self.open.iter().position(is_meant) else {
            return false;
        };
        let open = self.open.remove(found);
        open.reply.send(Reply { result, outcome }).is_ok()
    }

    /// Makes a round of what is open, after the last one.
    fn ask_next(&mut self, after: Option<usize>) -> Option<Round> {
        self.open.retain(|open| !open.reply.is_closed());
        let first = self.open.first()?;
        let carrier = first.carrier;
        // A model is told one question at a time, a client all that came up together.
        let several = match carrier {
            Carrier::Model => 1,
            _ => self.open.len(),
        };
        let together = self.open.iter().filter(|open| open.carrier == carrier);
        let asked: Vec<_> = together
            .take(several)
            .map(|open| (open.asking.clone(), open.told.clone()))
            .collect();
        if let Some(after) = after {
            let is_last = after + 1 == self.rounds.len();
            let is_told = |(asking, _): &(Arc<Asking>, Arc<Told>)| {
                let told = &self.rounds[after].asked;
                told.iter().any(|(told, _)| Arc::ptr_eq(told, asking))
            };
            if !is_last
                || (asked.len() == self.rounds[after].asked.len() && asked.iter().all(is_told))
            {
                return None; // The same again: it waits for an answer, not for a round.
            }
            self.rounds[after].next = Some(self.rounds.len());
        }
        let round = Round {
            name: token::random(),
            asked,
            carrier,
            said: None,
            next: None,
        };
        self.rounds.push(round.clone());
        Some(round)
    }
}
