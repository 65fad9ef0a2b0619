//! Requests of the server that the client has been sent as they came, and hasn't answered yet.
//!
//! A client's answer to anything else isn't the server's business: Midcall answered that question, or nobody asked it.

use std::collections::HashSet;
use std::mem::take;

use crate::frame::Id;

#[derive(Default)]
pub struct Passed {
    recent: HashSet<Id>,
    /// Those before. They are forgotten when there are too many again.
    older: HashSet<Id>,
}

/// How many requests are remembered at least.
const REMEMBERED: usize = 10_000;

impl Passed {
    pub fn add(&mut self, id: Id) {
        if self.recent.len() == REMEMBERED {
            self.older = take(&mut self.recent);
        }
        self.recent.insert(id);
    }

    pub fn has(&self, id: &Id) -> bool {
        self.recent.contains(id) || self.older.contains(id)
    }

    /// The request is answered, or needs no answer any more. False if there is none.
    pub fn remove(&mut self, id: &Id) -> bool {
        let was_older = self.older.remove(id);
        self.recent.remove(id) || was_older
    }
}
