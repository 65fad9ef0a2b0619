//! Requests of servers that the client has been sent as they came, and hasn't answered yet.
//!
//! A client's answer to anything else isn't a server's business: Midcall answered that question, or nobody asked it.

use std::collections::HashMap;
use std::mem::take;

use crate::call::ServerId;
use crate::frame::Id;

#[derive(Default)]
pub struct Passed {
    recent: HashMap<Id, (ServerId, Id)>,
    /// Those before. They are forgotten when there are too many again.
    older: HashMap<Id, (ServerId, Id)>,
}

/// How many requests are remembered at least.
const REMEMBERED: usize = 10_000;

/// How many a server may have open whose era has no such requests.
const MOST: usize = 1_000;

impl Passed {
    /// The client gets a server's request by this id, which may be another than the server's.
    pub fn add(&mut self, at_client: Id, server: ServerId, id: Id) {
        if self.recent.len() == REMEMBERED {
            self.older = take(&mut self.recent);
        }
        self.recent.insert(at_client, (server, id));
    }

    /// True if the client has a request of a server by the id that the server gave it.
    pub fn is(&self, server: ServerId, id: &Id) -> bool {
        let found = self.recent.get(id).or(self.older.get(id));
        found.is_some_and(|(of, known)| *of == server && known == id)
    }

    pub fn has(&self, id: &Id) -> bool {
        self.recent.contains_key(id) || self.older.contains_key(id)
    }

    /// True if there are more than a server may have whose era has no such requests.
    pub fn are_many(&self) -> bool {
        self.recent.len() + self.older.len() >= MOST
    }

    /// The request is answered, or needs no answer any more: whose it was, and by which id.
    pub fn remove(&mut self, id: &Id) -> Option<(ServerId, Id)> {
        let older = self.older.remove(id);
        self.recent.remove(id).or(older)
    }

    /// Takes out those of a server.
    pub fn of(&mut self, server: ServerId) -> Vec<Id> {
        let is_its = |_: &Id, (of, _): &mut (ServerId, Id)| *of == server;
        let recent = self.recent.extract_if(is_its).map(|(id, _)| id);
        let mut ids: Vec<Id> = recent.collect();
        ids.extend(self.older.extract_if(is_its).map(|(id, _)| id));
        ids
    }
}
