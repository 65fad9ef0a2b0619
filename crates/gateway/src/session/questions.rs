//! Questions that are not answered yet, the oldest first.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use tokio::time::Instant;

use super::candidates::Candidates;
use super::question::{Question, WantedBy};
use crate::frame::Id;

/// A question. Ids are no names for it: a server may use its own again while the desk still has
/// news of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn(pub u64);

#[derive(Default)]
pub struct Questions {
    open: BTreeMap<Turn, (Option<Id>, Question)>,
    /// By the id of the request that asks: the server's, or one of ours to the client.
    ids: HashMap<Id, Turn>,
    index: Index,
    last: Turn,
    /// The ids of the latest questions that are over.
    over: VecDeque<Id>,
    /// Ids that the server cancelled before it asked. `rmcp` writes each message in a task of its own, so a
    /// cancellation can overtake the request that it cancels.
    cancelled_early: VecDeque<Id>,
}

/// What every message wants to know of the questions, found without looking at each.
#[derive(Default)]
struct Index {
    /// When they end by themselves.
    until: BTreeSet<(Instant, Turn)>,
    /// How many somebody other than the client thinks about.
    waiting: usize,
    /// The server's, by the number of the first call that they can't have come up in.
    asked_before: BTreeSet<(u64, Turn)>,
    /// What a call waits for.
    wanted_for: HashMap<Id, BTreeSet<Turn>>,
    /// Approvals of the server's requests to the model, by the ids of those.
    sampled: HashMap<Id, Turn>,
}

impl Index {
    fn add(&mut self, turn: Turn, question: &Question) {
        self.until.extend(question.until().map(|at| (at, turn)));
        self.waiting += usize::from(question.waits());
        if let WantedBy::Sampling(id, _) = &question.wanted_by {
            self.sampled.insert(id.clone(), turn);
        }
        match (&question.wanted_by, &question.calls) {
            (WantedBy::Server(_) | WantedBy::Sampling(..), Candidates::Before(next)) => {
                self.asked_before.insert((*next, turn));
            }
            (WantedBy::Server(_) | WantedBy::Sampling(..), Candidates::Only(_)) => {}
            (WantedBy::Confirmation(call) | WantedBy::Links(call), _) => {
                let wanted = self.wanted_for.entry(call.clone()).or_default();
                wanted.insert(turn);
            }
        }
    }

    fn remove(&mut self, turn: Turn, question: &Question) {
        if let Some(at) = question.until() {
            self.until.remove(&(at, turn));
        }
        self.waiting -= usize::from(question.waits());
        if let WantedBy::Sampling(id, _) = &question.wanted_by {
            self.sampled.remove(id);
        }
        match (&question.wanted_by, &question.calls) {
            (WantedBy::Server(_) | WantedBy::Sampling(..), Candidates::Before(next)) => {
                self.asked_before.remove(&(*next, turn));
            }
            (WantedBy::Server(_) | WantedBy::Sampling(..), Candidates::Only(_)) => {}
            (WantedBy::Confirmation(call) | WantedBy::Links(call), _) => {
                if let Some(wanted) = self.wanted_for.get_mut(call) {
                    wanted.remove(&turn);
                    if wanted.is_empty() {
                        self.wanted_for.remove(call);
                    }
                }
            }
        }
    }
}

/// How many ids of past questions are remembered, and how many of questions that may still come.
const REMEMBERED: usize = 64;

impl Questions {
    /// Adds one that is asked by a request of that id.
    pub fn add(&mut self, id: Option<Id>, question: Question) -> Turn {
        self.last = Turn(self.last.0 + 1);
        if let Some(id) = &id {
            self.ids.insert(id.clone(), self.last);
        }
        self.index.add(self.last, &question);
        self.open.insert(self.last, (id, question));
        self.last
    }

    /// The approval of the server's request of this id to the model.
    pub fn sampled(&self, id: &Id) -> Option<Turn> {
        self.index.sampled.get(id).copied()
    }

    pub fn turn(&self, id: &Id) -> Option<Turn> {
        self.ids.get(id).copied()
    }

    /// The id of the request that asks it.
    pub fn id(&self, turn: Turn) -> Option<&Id> {
        self.open.get(&turn)?.0.as_ref()
    }

    pub fn get(&self, turn: Turn) -> Option<&Question> {
        self.open.get(&turn).map(|(_, question)| question)
    }

    /// Changes a question, and gives what came of that.
    pub fn change<T>(&mut self, turn: Turn, change: impl FnOnce(&mut Question) -> T) -> Option<T> {
        let (_, question) = self.open.get_mut(&turn)?;
        self.index.remove(turn, question);
        let changed = change(question);
        self.index.add(turn, question);
        Some(changed)
    }

    /// When the next of them ends by itself.
    pub fn lapse_at(&self) -> Option<Instant> {
        self.index.until.first().map(|(at, _)| *at)
    }

    /// Those whose time is up.
    pub fn late(&self, now: Instant) -> Vec<Turn> {
        let until = self.index.until.iter();
        let late = until.take_while(|(at, _)| *at <= now);
        late.map(|(_, turn)| *turn).collect()
    }

    /// True if somebody other than the client thinks about one of them.
    pub fn wait(&self) -> bool {
        self.index.waiting > 0
    }

    /// The server's questions that came when the call of that number was open, and the next wasn't.
    pub fn asked_between(
        &self,
        nth: u64,
        next: Option<u64>,
    ) -> impl Iterator<Item = (Turn, &Question)> {
        let first = (nth + 1, Turn::default());
        let last = (next.unwrap_or(u64::MAX), Turn(u64::MAX));
        let asked = (first <= last).then(|| self.index.asked_before.range(first..=last));
        let asked = asked.into_iter().flatten();
        asked.filter_map(|(_, turn)| Some((*turn, self.get(*turn)?)))
    }

    /// What a call waits for.
    pub fn wanted_for(&self, call: &Id) -> Vec<Turn> {
        let wanted = self.index.wanted_for.get(call);
        wanted.into_iter().flatten().copied().collect()
    }

    pub fn remove(&mut self, turn: Turn) -> Option<Question> {
        let (id, question) = self.open.remove(&turn)?;
        self.index.remove(turn, &question);
        if let Some(id) = id {
            self.ids.remove(&id);
            remember(&mut self.over, id);
        }
        Some(question)
    }

    /// The server cancelled a question that isn't open. Unless it is over, it may still come.
    pub fn cancel_early(&mut self, id: Id) {
        if !self.over.contains(&id) {
            remember(&mut self.cancelled_early, id);
        }
    }

    /// True, once, if the server cancelled the question of this id before it asked.
    pub fn take_cancelled(&mut self, id: &Id) -> bool {
        let at = self.cancelled_early.iter().position(|early| early == id);
        at.and_then(|at| self.cancelled_early.remove(at)).is_some()
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Turn, &Question)> {
        (self.open.iter()).map(|(turn, (_, question))| (*turn, question))
    }

    /// Takes all of them out.
    pub fn drain(&mut self) -> impl Iterator<Item = (Turn, Question)> + use<> {
        self.ids.clear();
        self.index = Index::default();
        let open = std::mem::take(&mut self.open);
        open.into_iter()
            .map(|(turn, (_, question))| (turn, question))
    }
}

fn remember(ids: &mut VecDeque<Id>, id: Id) {
    if ids.len() == REMEMBERED {
        ids.pop_front();
    }
    ids.push_back(id);
}
