//! The calls in which a question can have come up.
//!
//! On stdio nobody says which call a question belongs to, so it may be any that was open when the question came. Calls
//! are numbered as they are opened, and a question remembers the number of the next one: a list of ids in each question
//! would take calls times questions.

use super::Session;
use crate::frame::Id;

/// The calls of one question.
#[derive(Clone, Debug, PartialEq)]
pub enum Candidates {
    /// This call, which the question is about.
    Only(Id),
    /// Every call with a lower number that is still open.
    Before(u64),
}

impl Session {
    /// The calls in which a question can have come up now.
    pub(super) fn candidates(&self) -> Candidates {
        Candidates::Before(self.calls.count())
    }

    /// True if a question can have come up in this call.
    pub(super) fn is_candidate(&self, candidates: &Candidates, call: &Id) -> bool {
        match candidates {
            Candidates::Only(only) => only == call,
            Candidates::Before(next) => self.nth(call).is_some_and(|nth| nth < *next),
        }
    }

    /// True if a call in which the question can have come up is still open.
    pub(super) fn has_candidate(&self, candidates: &Candidates) -> bool {
        match candidates {
            Candidates::Only(call) => self.nth(call).is_some(),
            Candidates::Before(next) => self.two_oldest().0.is_some_and(|nth| nth < *next),
        }
    }

    /// True if several calls in which the question can have come up are still open.
    pub(super) fn has_candidates(&self, candidates: &Candidates) -> bool {
        match candidates {
            Candidates::Only(_) => false,
            Candidates::Before(next) => self.two_oldest().1.is_some_and(|nth| nth < *next),
        }
    }

    /// The number of a call that the server has not answered.
    pub(super) fn nth(&self, call: &Id) -> Option<u64> {
        self.calls.nth(call).or_else(|| self.claims.nth(call))
    }

    /// The numbers of the two oldest calls that the server has not answered.
    pub(super) fn two_oldest(&self) -> (Option<u64>, Option<u64>) {
        let (mut first, mut second) = (None, None);
        for nth in self.calls.at_server().take(2).chain(self.claims.numbers()) {
            if first.is_none_or(|oldest| nth < oldest) {
                second = first.replace(nth);
            } else if second.is_none_or(|other| nth < other) {
                second = Some(nth);
            }
        }
        (first, second)
    }
}
