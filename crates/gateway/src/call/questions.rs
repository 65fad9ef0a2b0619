//! Questions that aren't answered yet, the oldest first, and what every message wants to know of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use crate::moment::Moment;

use super::{CallId, Name, Origin, Place, Question, QuestionId, ServerId, WantedBy};
use crate::frame::Id;

/// A table of questions. What is looked for with every message is found without looking at each.
#[derive(Default)]
pub struct Questions {
    open: BTreeMap<QuestionId, Question>,
    last: QuestionId,
    /// When they end by themselves.
    deadlines: BTreeSet<(Moment, QuestionId)>,
    /// How many somebody other than the client thinks about.
    waiting: usize,
    /// Those that can have come up in several calls of a server, by the first call that they can't have come up in.
    before: BTreeSet<(ServerId, CallId, QuestionId)>,
    /// What belongs to a call: it waits for it, it is the only one that it can have come up in, or it is told in it.
    of_call: HashMap<CallId, BTreeSet<QuestionId>>,
    /// By the ids of the servers' requests.
    asked_by: HashMap<(ServerId, Id), QuestionId>,
    told: Told,
    pub changes: Changes,
    early: Early,
}

/// What has changed since somebody looked.
#[derive(Default)]
pub struct Changes {
    /// Names that came or went.
    pub renamed: Vec<Name>,
    /// Calls whose own questions came, changed or went.
    pub touched: Vec<CallId>,
}

/// Questions as the client and its model know them.
#[derive(Default, PartialEq)] // No Debug: names are made of secrets.
struct Told {
    /// By the ids of the requests that the client got.
    requests: HashMap<Id, QuestionId>,
    /// What questions are called in the results of calls that tell them.
    keys: HashSet<(CallId, String)>,
    /// Those for the model, by the call in whose result it hears or heard of them.
    for_model: BTreeSet<(ToldIn, QuestionId)>,
    /// By what the model answers by.
    names: HashMap<Name, QuestionId>,
}

/// The call in whose result a model hears of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ToldIn {
    /// It has heard of it in this one.
    Already(CallId),
    /// It will hear of it in this one.
    Only(CallId),
    /// It will hear of it in one that came before this one.
    Before(ServerId, CallId),
}

/// Cancellations that overtook their questions. `rmcp` writes each message in a task of its own.
#[derive(Default)]
struct Early {
    /// The ids of the latest questions that are over.
    over: VecDeque<(ServerId, Id)>,
    /// Ids that a server cancelled before it asked.
    cancelled: VecDeque<(ServerId, Id)>,
}

/// How many ids of past questions are remembered, and how many of questions that may still come.
const REMEMBERED: usize = 64;

impl Questions {
    pub fn add(&mut self, question: Question) -> QuestionId {
        self.last = QuestionId(self.last.0 + 1);
        self.index(self.last, &question);
        self.open.insert(self.last, question);
        self.last
    }

    pub fn get(&self, id: QuestionId) -> Option<&Question> {
        #[cfg(test)]
        super::ledger::look();
        self.open.get(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (QuestionId, &Question)> {
        let each = self.open.iter();
        #[cfg(test)]
        let each = each.inspect(|_| super::ledger::look());
        each.map(|(id, question)| (*id, question))
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Changes a question, and gives what came of that.
    pub fn change<T>(
        &mut self,
        id: QuestionId,
        change: impl FnOnce(&mut Question) -> T,
    ) -> Option<T> {
        let mut question = self.open.remove(&id)?;
        self.unindex(id, &question);
        let changed = change(&mut question);
        self.index(id, &question);
        self.open.insert(id, question);
        Some(changed)
    }

    pub fn remove(&mut self, id: QuestionId) -> Option<Question> {
        let question = self.open.remove(&id)?;
        self.unindex(id, &question);
        if let WantedBy::Request(server, request) = &question.wanted_by {
            remember(&mut self.early.over, (*server, request.clone()));
        }
        Some(question)
    }

    /// Takes all of them out.
    pub fn drain(&mut self) -> Vec<(QuestionId, Question)> {
        let open = std::mem::take(&mut self.open);
        self.changes.renamed.extend(self.told.names.keys());
        *self = Self {
            last: self.last,
            early: std::mem::take(&mut self.early),
            changes: std::mem::take(&mut self.changes),
            ..Self::default()
        };
        open.into_iter().collect()
    }

    /// When the next of them ends by itself.
    pub fn ends_at(&self) -> Option<Moment> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Those whose time is up.
    pub fn late(&self, now: Moment) -> Vec<QuestionId> {
        let late = self.deadlines.iter().take_while(|(at, _)| *at <= now);
        late.map(|(_, id)| *id).collect()
    }

    /// True if somebody other than the client thinks about one of them.
    pub fn wait(&self) -> bool {
        self.waiting > 0
    }

    /// True if the client has one of them in a request, which it hasn't answered yet.
    pub fn are_with_client(&self) -> bool {
        !self.told.requests.is_empty()
    }

    /// What belongs to a call.
    pub fn of_call(&self, call: CallId) -> Vec<QuestionId> {
        let found = self.of_call.get(&call);
        found.into_iter().flatten().copied().collect()
    }

    /// Those that came when a server had the call, and didn't have the `next` one.
    pub fn asked_between(
        &self,
        server: ServerId,
        call: CallId,
        next: Option<CallId>,
    ) -> Vec<QuestionId> {
        let first = (server, CallId(call.0 + 1), QuestionId::default());
        let last = (
            server,
            next.unwrap_or(CallId(u64::MAX)),
            QuestionId(u64::MAX),
        );
        if first > last {
            return Vec::new();
        }
        self.before
            .range(first..=last)
            .map(|(_, _, id)| *id)
            .collect()
    }

    /// The question that a server asks by a request.
    pub fn asked_by(&self, server: ServerId, id: &Id) -> Option<QuestionId> {
        self.asked_by.get(&(server, id.clone())).copied()
    }

    /// The question that the client got in a request.
    pub fn asked_to(&self, id: &Id) -> Option<QuestionId> {
        self.told.requests.get(id).copied()
    }

    /// The first question that the model hears of in the result of a call, or has heard of in it. Where several windows
    /// share the server (`is_shared`), one that may have come up in another call may be another window's.
    pub fn to_be_told(
        &self,
        call: CallId,
        server: ServerId,
        is_shared: bool,
    ) -> Option<QuestionId> {
        let of = |told_in| (told_in, QuestionId::default())..=(told_in, QuestionId(u64::MAX));
        let first = ToldIn::Before(server, CallId(call.0 + 1));
        let last = ToldIn::Before(server, CallId(u64::MAX));
        let before = (first, QuestionId::default())..=(last, QuestionId(u64::MAX));
        let own = [of(ToldIn::Already(call)), of(ToldIn::Only(call))];
        let ranges = own.into_iter().chain((!is_shared).then_some(before));
        let found = ranges.filter_map(|range| self.told.for_model.range(range).next());
        found.map(|(_, id)| *id).min()
    }

    /// True if a question is called so in the result of a call.
    pub fn has_key(&self, call: CallId, key: &str) -> bool {
        self.told.keys.contains(&(call, key.to_owned()))
    }

    /// The question that the model answers by a name.
    pub fn named(&self, name: Name) -> Option<QuestionId> {
        self.told.names.get(&name).copied()
    }

    /// A server cancelled a question that isn't open. Unless it is over, it may still come.
    pub fn cancel_early(&mut self, server: ServerId, id: Id) {
        let key = (server, id);
        if !self.early.over.contains(&key) {
            remember(&mut self.early.cancelled, key);
        }
    }

    /// True, once, if a server cancelled the question of this id before it asked.
    pub fn take_cancelled(&mut self, server: ServerId, id: &Id) -> bool {
        let cancelled = &mut self.early.cancelled;
        let at = cancelled
            .iter()
            .position(|(by, early)| *by == server && early == id);
        at.and_then(|at| cancelled.remove(at)).is_some()
    }

    fn index(&mut self, id: QuestionId, question: &Question) {
        self.changes.touched.extend(question.wanted_by.call());
        self.deadlines.extend(question.ends_at().map(|at| (at, id)));
        self.waiting += usize::from(question.waits());
        if let Some((server, call)) = before(question) {
            self.before.insert((server, call, id));
        }
        for call in calls(question) {
            self.of_call.entry(call).or_default().insert(id);
        }
        if let Some((server, request)) = question.wanted_by.request() {
            self.asked_by.insert((server, request.clone()), id);
        }
        if let Some(request) = question.request_id() {
            self.told.requests.insert(request.clone(), id);
        }
        self.told
            .for_model
            .extend(told_in(question).map(|call| (call, id)));
        if let Some((call, key)) = question.told_in_round() {
            self.told.keys.insert((call, key.to_owned()));
        }
        if let Place::Model { name, .. } = question.place {
            self.told.names.insert(name, id);
            self.changes.renamed.push(name);
        }
    }

    fn unindex(&mut self, id: QuestionId, question: &Question) {
        self.changes.touched.extend(question.wanted_by.call());
        if let Some(at) = question.ends_at() {
            self.deadlines.remove(&(at, id));
        }
        self.waiting -= usize::from(question.waits());
        if let Some((server, call)) = before(question) {
            self.before.remove(&(server, call, id));
        }
        for call in calls(question) {
            if let Some(found) = self.of_call.get_mut(&call) {
                found.remove(&id);
                if found.is_empty() {
                    self.of_call.remove(&call);
                }
            }
        }
        if let Some((server, request)) = question.wanted_by.request() {
            self.asked_by.remove(&(server, request.clone()));
        }
        if let Some(request) = question.request_id() {
            self.told.requests.remove(request);
        }
        if let Some(call) = told_in(question) {
            self.told.for_model.remove(&(call, id));
        }
        if let Some((call, key)) = question.told_in_round() {
            self.told.keys.remove(&(call, key.to_owned()));
        }
        if let Place::Model { name, .. } = question.place {
            self.told.names.remove(&name);
            self.changes.renamed.push(name);
        }
    }

    /// Compares the indexes with what they are made of.
    #[cfg(test)]
    pub fn check(&self) {
        let mut made = Self::default();
        for (id, question) in &self.open {
            made.index(*id, question);
        }
        assert_eq!(self.deadlines, made.deadlines);
        assert_eq!(self.waiting, made.waiting);
        assert_eq!(self.before, made.before);
        assert_eq!(self.of_call, made.of_call);
        assert_eq!(self.asked_by, made.asked_by);
        assert!(self.told == made.told);
    }
}

/// The first call that a question of a server can't have come up in.
fn before(question: &Question) -> Option<(ServerId, CallId)> {
    match (&question.wanted_by, question.origin) {
        (WantedBy::Request(..) | WantedBy::Sampling(..), Origin::Before(server, call)) => {
            Some((server, call))
        }
        _ => None,
    }
}

/// Where the model hears of a question, if it is for the model.
fn told_in(question: &Question) -> Option<ToldIn> {
    match (&question.place, question.origin) {
        (
            Place::Model {
                told_in: Some(call),
                ..
            },
            _,
        ) => Some(ToldIn::Already(*call)),
        (Place::Model { told_in: None, .. }, Origin::Only(call)) => Some(ToldIn::Only(call)),
        (Place::Model { told_in: None, .. }, Origin::Before(server, next)) => {
            Some(ToldIn::Before(server, next))
        }
        _ => None,
    }
}

/// The calls that a question belongs to for sure, each once.
fn calls(question: &Question) -> impl Iterator<Item = CallId> {
    let only = question.origin.only();
    let told_in = question.told_in_round().map(|(call, _)| call);
    let wanted_by = question.wanted_by.call();
    let only = only.filter(|call| wanted_by != Some(*call));
    let told_in = told_in.filter(|call| wanted_by != Some(*call) && only != Some(*call));
    wanted_by.into_iter().chain(only).chain(told_in)
}

fn remember(ids: &mut VecDeque<(ServerId, Id)>, id: (ServerId, Id)) {
    if ids.len() == REMEMBERED {
        ids.pop_front();
    }
    ids.push_back(id);
}
