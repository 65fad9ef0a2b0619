//! Questions that are not answered yet, the oldest first.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::question::Question;
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
    last: Turn,
    /// The ids of the latest questions that are over.
    over: VecDeque<Id>,
    /// Ids that the server cancelled before it asked. `rmcp` writes each message in a task of its own, so a
    /// cancellation can overtake the request that it cancels.
    cancelled_early: VecDeque<Id>,
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
        self.open.insert(self.last, (id, question));
        self.last
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

    pub fn get_mut(&mut self, turn: Turn) -> Option<&mut Question> {
        self.open.get_mut(&turn).map(|(_, question)| question)
    }

    pub fn remove(&mut self, turn: Turn) -> Option<Question> {
        let (id, question) = self.open.remove(&turn)?;
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

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Turn, &mut Question)> {
        (self.open.iter_mut()).map(|(turn, (_, question))| (*turn, question))
    }

    /// Takes all of them out.
    pub fn drain(&mut self) -> impl Iterator<Item = (Turn, Question)> + use<> {
        self.ids.clear();
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
