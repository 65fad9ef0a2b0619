//! What is asked about all parked calls with every message, found without looking at each.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use tokio::time::Instant;

use super::call::Call;
use crate::frame::Id;

/// Calls by what they are looked for by.
#[derive(Default)]
pub struct Index {
    /// By what their clients come back with. The map's hash has a key of its own, so the time that a lookup takes says
    /// nothing about a state.
    states: HashMap<String, Id>,
    /// By what the session follows their progress by.
    tokens: HashMap<Box<[u8]>, Id>,
    /// By the questions that are open in them. These are not counted anew with every change of a call.
    asks: HashMap<Id, Id>,
    /// Those without a result, the one that the next question goes to first.
    running: BTreeSet<(Order, Id)>,
    /// Those whose clients were told to come back, by when they have been away too long.
    away: BTreeSet<(Instant, Id)>,
    /// Those whose clients wait, by since when.
    held: BTreeSet<(Instant, Id)>,
    /// How many clients wait and want to hear what happens.
    loud: usize,
}

/// The order in which calls are asked: those with a waiting client first, then those with few questions, then the oldest.
type Order = (bool, bool, u64);

/// How many questions the client gets in one call before other calls are preferred. Clients give up a call
/// that asks too often, even if the questions belong to another call.
const ENOUGH: usize = 8;

impl Index {
    pub fn add(&mut self, id: &Id, call: &Call) {
        for state in &call.states {
            self.states.insert(state.reveal().to_owned(), id.clone());
        }
        if let Some(token) = &call.token {
            self.tokens.insert(token.clone(), id.clone());
        }
        if call.result.is_none() {
            self.running.insert((order(call), id.clone()));
        }
        self.away.extend(call.until.map(|at| (at, id.clone())));
        if let Some(waiter) = &call.waiter {
            self.held.insert((waiter.since, id.clone()));
            self.loud += usize::from(call.is_loud);
        }
    }

    pub fn remove(&mut self, id: &Id, call: &Call) {
        for state in &call.states {
            self.states.remove(state.reveal());
        }
        if let Some(token) = &call.token
            && self.tokens.get(token) == Some(id)
        {
            self.tokens.remove(token);
        }
        self.running.remove(&(order(call), id.clone()));
        if let Some(at) = call.until {
            self.away.remove(&(at, id.clone()));
        }
        if let Some(waiter) = &call.waiter {
            self.held.remove(&(waiter.since, id.clone()));
            self.loud -= usize::from(call.is_loud);
        }
    }

    /// A question is to be asked in a call.
    pub fn ask(&mut self, ask: &Id, id: &Id) {
        self.asks.insert(ask.clone(), id.clone());
    }

    /// Forgets a question that is answered or withdrawn.
    pub fn forget(&mut self, ask: &Id) {
        self.asks.remove(ask);
    }

    /// The call whose client was given a state.
    pub fn by_state(&self, state: &str) -> Option<&Id> {
        self.states.get(state)
    }

    /// The call that the session follows by a token.
    pub fn by_token(&self, token: &[u8]) -> Option<&Id> {
        self.tokens.get(token)
    }

    /// The call that a question was asked in.
    pub fn by_ask(&self, ask: &Id) -> Option<&Id> {
        self.asks.get(ask)
    }

    /// The call that a question of no known call is asked in.
    pub fn next(&self) -> Option<&Id> {
        self.running.first().map(|(_, id)| id)
    }

    /// How many questions are open in all calls.
    pub fn asks(&self) -> usize {
        self.asks.len()
    }

    /// True if some client that waits wants to hear what happens.
    pub fn is_loud(&self) -> bool {
        self.loud > 0
    }

    /// When the first client has been away too long.
    pub fn away_until(&self) -> Option<Instant> {
        self.away.first().map(|(at, _)| *at)
    }

    /// Since when the first client waits.
    pub fn held_since(&self) -> Option<Instant> {
        self.held.first().map(|(since, _)| *since)
    }

    /// The calls whose clients have been away too long.
    pub fn late(&self, now: Instant) -> Vec<Id> {
        let late = self.away.iter().take_while(|(at, _)| *at <= now);
        late.map(|(_, id)| id.clone()).collect()
    }

    /// The calls whose clients have waited so long.
    pub fn held(&self, hold: Duration, now: Instant) -> Vec<Id> {
        let held = self.held.iter();
        let long = held.take_while(|(since, _)| *since + hold <= now);
        long.map(|(_, id)| id.clone()).collect()
    }
}

fn order(call: &Call) -> Order {
    (call.waiter.is_none(), call.asks >= ENOUGH, call.nth)
}
