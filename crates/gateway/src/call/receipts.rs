//! Answers that people gave at the desk, until it is known whether they arrived.
//!
//! A question leaves the ledger with its answer, and what becomes of that is known later, when the call goes on. What is
//! kept until then is its number and nothing of what was said.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{CallId, QuestionId, ServerId};
use crate::frame::Id;

/// The answers of calls that go on.
#[derive(Default)]
pub struct Receipts {
    /// Those of one call, and how far each is.
    of_call: BTreeMap<(CallId, QuestionId), Way>,
    /// Those sent that can belong to several calls of a server, by the first call that they can't belong to, and the
    /// requests of the server that they answer.
    before: BTreeMap<(ServerId, CallId, QuestionId), Id>,
}

/// How far an answer is on its way to the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// It waits for other answers, or for the server to open.
    Waits,
    /// It went to the server: in the call, or as the answer to this request.
    Sent(Option<(ServerId, Id)>),
}

/// How many sent answers are kept. A server may ask in one call for as long as it likes.
const MOST: usize = 1_000;

impl Receipts {
    /// Notes an answer for a call.
    pub fn add(&mut self, call: CallId, question: QuestionId, way: Way) {
        self.of_call.insert((call, question), way);
    }

    /// Notes an answer that was sent and can belong to any call of a server before this one.
    pub fn add_before(
        &mut self,
        (server, request): (ServerId, Id),
        call: CallId,
        question: QuestionId,
    ) {
        self.before.insert((server, call, question), request);
    }

    /// The answers of a call have been sent. Returns those that weren't before.
    pub fn send(&mut self, call: CallId) -> Vec<QuestionId> {
        let answers = self.of_call.range_mut(all(call));
        let waiting = answers.filter(|(_, way)| **way == Way::Waits);
        let sent = waiting.map(|((_, question), way)| {
            *way = Way::Sent(None);
            *question
        });
        sent.collect()
    }

    /// An answer that was about to be sent with its call wasn't.
    pub fn unsend(&mut self, call: CallId, question: QuestionId) {
        if let Some(way) = self.of_call.get_mut(&(call, question)) {
            *way = Way::Waits;
        }
    }

    /// Takes the answers of a call that were sent.
    pub fn take_sent(&mut self, call: CallId) -> Vec<QuestionId> {
        self.take_those(call, Way::is_sent)
    }

    /// Takes the answers of a call that weren't sent.
    pub fn take_waiting(&mut self, call: CallId) -> Vec<QuestionId> {
        self.take_those(call, |way| !way.is_sent())
    }

    fn take_those(&mut self, call: CallId, is_one: impl Fn(&Way) -> bool) -> Vec<QuestionId> {
        let answers = self.of_call.range(all(call));
        let those = answers.filter(|(_, way)| is_one(way));
        let those: Vec<QuestionId> = those.map(|((_, question), _)| *question).collect();
        for question in &those {
            self.of_call.remove(&(call, *question));
        }
        those
    }

    /// Takes all answers of a call, and whether each was sent.
    pub fn take(&mut self, call: CallId) -> Vec<(QuestionId, bool)> {
        let answers = self.of_call.range(all(call));
        let taken = answers.map(|((_, question), way)| (*question, way.is_sent()));
        let taken: Vec<(QuestionId, bool)> = taken.collect();
        for (question, _) in &taken {
            self.of_call.remove(&(call, *question));
        }
        taken
    }

    /// Takes the answers that can belong to no call of a server from `oldest` on.
    pub fn take_before(&mut self, server: ServerId, oldest: Option<CallId>) -> Vec<QuestionId> {
        let oldest = oldest.unwrap_or(CallId(u64::MAX));
        let first = (server, CallId(0), QuestionId(0));
        let last = (server, oldest, QuestionId(u64::MAX));
        let taken = self.before.range(first..=last);
        let taken: Vec<_> = taken.map(|(answer, _)| *answer).collect();
        for answer in &taken {
            self.before.remove(answer);
        }
        taken.into_iter().map(|(_, _, question)| question).collect()
    }

    /// Takes the answer to a request of a server.
    pub fn take_answer(&mut self, server: ServerId, request: &Id) -> Option<QuestionId> {
        let is_it =
            |way: &Way| matches!(way, Way::Sent(Some((at, id))) if *at == server && id == request);
        let found = self.of_call.iter().find(|(_, way)| is_it(way));
        if let Some((call, question)) = found.map(|(key, _)| *key) {
            self.of_call.remove(&(call, question));
            return Some(question);
        }
        let mut before = self.before.iter();
        let found = before.find(|((at, ..), id)| *at == server && *id == request);
        let key = found.map(|(key, _)| *key)?;
        self.before.remove(&key);
        Some(key.2)
    }

    /// Takes the oldest of those sent, if there are too many.
    pub fn surplus(&mut self) -> Option<QuestionId> {
        if self.of_call.len() + self.before.len() <= MOST {
            return None;
        }
        if let Some(((_, _, question), _)) = self.before.pop_first() {
            return Some(question);
        }
        let found = self.of_call.iter().find(|(_, way)| way.is_sent());
        let (call, question) = found.map(|(key, _)| *key)?;
        self.of_call.remove(&(call, question));
        Some(question)
    }
}

impl Way {
    fn is_sent(&self) -> bool {
        matches!(self, Self::Sent(_))
    }
}

fn all(call: CallId) -> RangeInclusive<(CallId, QuestionId)> {
    (call, QuestionId(0))..=(call, QuestionId(u64::MAX))
}
