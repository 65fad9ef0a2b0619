//! Questions to the model that have ended, for a model that answers late or twice.

use std::collections::VecDeque;

use midcall_desk::Outcome;

use super::{CallId, Name};

/// A question that has ended.
pub struct EndedQuestion {
    pub name: Name,
    /// The call in whose result the model was told of it.
    pub told_in: Option<CallId>,
    pub how: How,
}

/// How it ended.
pub enum How {
    /// The model answered. This is the digest of what it sent.
    Answered([u8; 32]),
    /// Nobody answered. This is the key of the words for that.
    Otherwise(&'static str),
}

/// The latest of them.
#[derive(Default)]
pub struct EndedQuestions {
    latest: VecDeque<EndedQuestion>,
    /// Names that came or went.
    pub renamed: Vec<Name>,
}

/// How many are remembered.
const REMEMBERED: usize = 256;

impl EndedQuestions {
    pub fn add(&mut self, ended: EndedQuestion) {
        if self.latest.len() == REMEMBERED {
            let forgotten = self.latest.pop_front();
            self.renamed.extend(forgotten.map(|ended| ended.name));
        }
        self.renamed.push(ended.name);
        self.latest.push_back(ended);
    }

    pub fn find(&self, name: Name) -> Option<&EndedQuestion> {
        self.latest.iter().find(|ended| ended.name == name)
    }
}

impl How {
    /// How a question ended that the model didn't answer; none if it did.
    pub fn without_answer(outcome: &Outcome) -> Option<Self> {
        match outcome {
            Outcome::Answered(..) => None,
            Outcome::TimedOut => Some(Self::Otherwise("mcp.elicitation.model.timed_out")),
            Outcome::Withdrawn(_) | Outcome::Unavailable(_) => {
                Some(Self::Otherwise("mcp.elicitation.model.withdrawn"))
            }
        }
    }
}
