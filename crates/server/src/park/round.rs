//! The rounds of a call that waits: what its client was asked, and what is still open.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::asking::{Asking, Misfit, Reply};
use crate::inbox::Open;
use crate::observe::Carrier;
use crate::running::Outcome;
use crate::token;

/// What a client was asked at once.
#[derive(Clone)]
pub(crate) struct Round {
    pub name: String,
    pub asked: Vec<Arc<Asking>>,
    pub carrier: Carrier,
    /// What a model said, once it did.
    pub said: Option<[u8; 32]>,
    /// How many answers of a model did not fit.
    misfits: u32,
    /// The round after it, once there is one.
    pub(super) next: Option<usize>,
}

impl Round {
    /// How long its questions wait.
    pub fn patience(&self) -> Duration {
        let times = self.asked.iter().map(|asking| asking.patience.time);
        times.max().unwrap_or_default()
    }
}

/// How far a call is.
#[derive(Default)]
pub(super) struct State {
    pub open: Vec<Open>,
    pub rounds: Vec<Round>,
    pub outcome: Option<Box<Outcome>>,
    pub task: Option<AbortHandle>,
    /// How many requests wait for what is next.
    pub waiters: usize,
    /// It was dropped: nobody comes back to it.
    pub gone: bool,
}

/// A call that asks something, about to be parked.
pub(crate) struct First {
    pub(super) state: State,
    pub round: Round,
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

impl First {
    /// A round that was told by a process that has nothing else of it any more. What was asked in it is
    /// known to the tool's journal.
    pub fn again(name: String) -> Self {
        let round = Round {
            name,
            asked: Vec::new(),
            carrier: Carrier::Round,
            said: None,
            misfits: 0,
            next: None,
        };
        let state = State {
            rounds: vec![round.clone()],
            ..State::default()
        };
        Self { state, round }
    }
}

impl State {
    /// Gives an answer to the tool, if it still waits for it.
    pub fn reply(&mut self, asking: &Arc<Asking>, reply: Result<Reply, Misfit>) -> bool {
        let is_meant = |open: &Open| Arc::ptr_eq(&open.asking, asking);
        let Some(found) = self.open.iter().position(is_meant) else {
            return false;
        };
        let open = self.open.remove(found);
        open.reply.send(Box::new(reply)).is_ok()
    }

    /// An answer of a model to a round does not fit. `true` if that was the last that is taken: the
    /// tool hears it then.
    pub fn misfits(&mut self, at: usize, problems: &str, digest: [u8; 32]) -> bool {
        let asking = self.rounds[at].asked[0].clone();
        let times = self.rounds[at].misfits + 1;
        self.rounds[at].misfits = times;
        let is_last = times >= asking.chances;
        let problems = problems.to_owned();
        if is_last && self.reply(&asking, Err(Misfit { problems, times })) {
            self.rounds[at].said = Some(digest);
        }
        is_last
    }

    /// Whether the tool still waits for an answer to some question of a round.
    pub fn is_asked(&self, at: usize) -> bool {
        let asked = &self.rounds[at].asked;
        let is_meant = |open: &Open| asked.iter().any(|asked| Arc::ptr_eq(asked, &open.asking));
        let mut open = self.open.iter();
        open.any(|open| is_meant(open) && !open.reply.is_closed())
    }

    /// Makes a round of what is open, after the last one.
    pub fn ask_next(&mut self, after: Option<usize>) -> Option<Round> {
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
            misfits: 0,
            next: None,
        };
        self.rounds.reserve_exact(1);
        self.rounds.push(round.clone());
        Some(round)
    }
}
