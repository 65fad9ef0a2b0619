//! Who waits for a call's result, and who may come back for it.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::moment::Moment;

use super::{Declared, Name, NameUse, QuestionId};
use crate::frame::Id;
use crate::token::Token;

/// The client's side of a call.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audience {
    /// The client's open requests that get the result: one, several that collect it, or none.
    #[serde(skip)]
    waiters: Vec<Waiter>,
    /// What the client was given to come back by; none until it was told to.
    names: Option<Box<Names>>,
    /// The state that it was given last.
    #[serde(skip)]
    newest: Option<Box<NewestState>>,
    /// What the client declared with its latest request for this call; none if the connection says it.
    pub declared: Option<Box<Declared>>,
    /// When a client that was told to come back has been away too long.
    #[serde(skip)]
    pub away_until: Option<Moment>,
    /// How many questions the client got in this call.
    pub asked: usize,
    /// True if some request got the result.
    #[serde(skip)]
    pub has_result: bool,
    /// How far the call is, as the client was told. Every word about it must be further.
    #[serde(skip)]
    progress: Option<f64>,
}

/// An open request of the client.
#[derive(Clone)]
pub struct Waiter {
    pub id: Id,
    /// What the client wants to hear of progress by, as JSON.
    pub token: Option<Box<[u8]>>,
    pub since: Moment,
    /// When a request that only collects the result has waited long enough.
    pub until: Option<Moment>,
    /// The claim that it collects the result by.
    pub claim: Option<Box<str>>,
    /// True if it came from another session of the same person.
    pub is_guest: bool,
}

/// What a client was given to come back by, the newest last.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    claims: VecDeque<Name>,
    states: VecDeque<Name>,
    /// What the call amounts to, to know it again. None if it can't be repeated.
    digest: Option<[u8; 32]>,
}

/// A state as the client has it, which isn't kept anywhere else, and the questions that it was given with.
struct NewestState {
    token: Token,
    told: Vec<QuestionId>,
}

/// By how many of its last states a call is known.
const STATES: usize = 4;

/// By how many claims a call is known. The first stays: it is the one in the client's log.
const CLAIMS: usize = 16;

/// How many requests may wait for one result.
const WAITERS: usize = 16;

/// How far a word of ours moves a call on: less than any server's own step.
const STEP: f64 = 1e-6;

impl Waiter {
    /// A request of the client for a call. `token`: what it wants to hear of progress by, as JSON.
    pub fn new(now: Moment, id: Id, token: Option<&[u8]>) -> Self {
        Self {
            id,
            token: token.map(Into::into),
            since: now,
            until: None,
            claim: None,
            is_guest: false,
        }
    }
}

impl Audience {
    /// A client that waits by the request it has just made.
    pub fn waiting(waiter: Waiter, declared: Option<Box<Declared>>) -> Self {
        Self {
            waiters: vec![waiter],
            declared,
            ..Self::default()
        }
    }

    pub fn waiters(&self) -> &[Waiter] {
        &self.waiters
    }

    /// The request that made the call, if the client still waits by it.
    pub fn maker(&self) -> Option<&Waiter> {
        self.waiters.iter().find(|waiter| waiter.until.is_none())
    }

    /// True if one more request may wait for the result.
    pub fn has_room(&self) -> bool {
        self.waiters.len() < WAITERS
    }

    /// A request arrives that gets the result.
    pub fn join(&mut self, waiter: Waiter) {
        self.waiters.push(waiter);
        self.away_until = None;
    }

    /// A request is answered, or taken back.
    pub fn leave(&mut self, id: &Id) -> Option<Waiter> {
        let at = self.waiters.iter().position(|waiter| waiter.id == *id)?;
        Some(self.waiters.remove(at))
    }

    /// Every request is answered.
    pub fn all_leave(&mut self) {
        self.waiters.clear();
        self.away_until = None;
    }

    /// The client has left. Requests from its other sessions stay.
    pub fn client_leaves(&mut self) {
        self.waiters.retain(|waiter| waiter.is_guest);
    }

    /// The result is kept for a model that was told of a question in it.
    pub fn expect(&mut self) {
        self.names();
    }

    /// Takes out the requests that have collected for long enough.
    pub fn late(&mut self, now: Moment) -> Vec<Waiter> {
        let is_late = |waiter: &mut Waiter| waiter.until.is_some_and(|until| until <= now);
        self.waiters.extract_if(.., is_late).collect()
    }

    /// When the next request has collected for long enough.
    pub fn late_at(&self) -> Option<Moment> {
        self.waiters.iter().filter_map(|waiter| waiter.until).min()
    }

    /// The client is given a claim. Returns one that is forgotten for it.
    pub fn claim(&mut self, name: Name) -> Option<Name> {
        let names = self.names();
        let forgotten = (names.claims.len() == CLAIMS).then(|| names.claims.remove(1));
        names.claims.push_back(name);
        forgotten.flatten()
    }

    /// The client is given a state to repeat the call with. Returns one that is forgotten for it.
    pub fn state(&mut self, name: Name, digest: Option<[u8; 32]>) -> Option<Name> {
        let names = self.names();
        names.digest = names.digest.or(digest);
        let forgotten = (names.states.len() == STATES).then(|| names.states.pop_front());
        names.states.push_back(name);
        forgotten.flatten()
    }

    /// The state that the client was given last, if it was given with these questions. A client that only waits on gets it
    /// again, so that nothing has to be written down.
    pub fn newest_state(&self, told: &[QuestionId]) -> Option<&str> {
        let newest = self.newest.as_ref().filter(|newest| newest.told == told)?;
        Some(newest.token.reveal())
    }

    /// The client is given a state with these questions.
    pub fn has_newest(&mut self, token: Token, told: Vec<QuestionId>) {
        self.newest = Some(Box::new(NewestState { token, told }));
    }

    fn names(&mut self) -> &mut Names {
        self.names.get_or_insert_with(|| {
            Box::new(Names {
                claims: VecDeque::new(),
                states: VecDeque::new(),
                digest: None,
            })
        })
    }

    /// True if the client was given something to come back by.
    pub fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// Everything that the client was given to come back by.
    pub fn all_names(&self) -> impl Iterator<Item = Name> {
        let names = self.names.iter();
        names.flat_map(|names| names.claims.iter().chain(&names.states).copied())
    }

    /// What the client comes back with a name for.
    pub fn use_of(&self, name: Name) -> NameUse {
        let names = self.names.as_ref();
        match names.is_some_and(|names| names.states.contains(&name)) {
            true => NameUse::State,
            false => NameUse::Claim,
        }
    }

    /// True if a state is the last that was given.
    pub fn is_last_state(&self, name: Name) -> bool {
        let names = self.names.as_ref();
        names.is_some_and(|names| names.states.back() == Some(&name))
    }

    /// True if a state is one of those that were given, for a call that amounts to this.
    pub fn knows(&self, name: Name, digest: &[u8; 32]) -> bool {
        let names = self.names.as_ref();
        names.is_some_and(|it| it.states.contains(&name) && it.digest.as_ref() == Some(digest))
    }

    /// Takes the server's progress. Returns the progress to tell the client instead, if the server's doesn't rise.
    pub fn hear(&mut self, progress: f64) -> Option<f64> {
        if self.progress.is_none_or(|told| progress > told) {
            self.progress = Some(progress);
            return None;
        }
        Some(self.move_on())
    }

    /// Moves the call on a little.
    pub fn move_on(&mut self) -> f64 {
        let told = self.progress.unwrap_or_default();
        let further = told + STEP.max(told.abs() * STEP);
        self.progress = Some(further);
        further
    }
}

/// How long a client that has nothing to ask may take to come back.
pub const AWAY: Duration = Duration::from_secs(60);
