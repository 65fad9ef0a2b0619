//! Requests of servers that the client has been sent as they came, and hasn't answered yet.
//!
//! A client's answer to anything else isn't a server's business: Midcall answered that question, or nobody asked it.

use std::collections::HashMap;
use std::mem::take;

use crate::call::ServerId;
use crate::frame::Id;

#[derive(Default)]
pub struct Passed {
    recent: Requests,
    /// Those before. They are forgotten when there are too many again.
    older: Requests,
}

/// Requests by the ids that each side knows.
#[derive(Default)]
struct Requests {
    at_client: HashMap<Id, (ServerId, Id)>,
    at_server: HashMap<(ServerId, Id), Id>,
}

/// How many requests are remembered at least.
const REMEMBERED: usize = 10_000;

/// How many a server may have open whose era has no such requests.
const MOST: usize = 1_000;

impl Passed {
    /// The client gets a server's request by this id, which may be another than the server's.
    pub fn add(&mut self, at_client: Id, server: ServerId, id: Id) {
        if self.recent.at_client.len() == REMEMBERED {
            self.older = take(&mut self.recent);
        }
        self.recent.add(at_client, server, id);
    }

    /// True if the client has a request of a server by the id that the server gave it.
    pub fn is(&self, server: ServerId, id: &Id) -> bool {
        let found = self.recent.at_client.get(id);
        let found = found.or(self.older.at_client.get(id));
        found.is_some_and(|(of, known)| *of == server && known == id)
    }

    pub fn has(&self, id: &Id) -> bool {
        self.recent.at_client.contains_key(id) || self.older.at_client.contains_key(id)
    }

    /// True if there are more than a server may have whose era has no such requests.
    pub fn are_many(&self) -> bool {
        self.recent.at_client.len() + self.older.at_client.len() >= MOST
    }

    /// The client answers a request: whose it was, and by which id.
    pub fn remove(&mut self, id: &Id) -> Option<(ServerId, Id)> {
        let older = self.older.remove(id);
        self.recent.remove(id).or(older)
    }

    /// The server takes a request back: by which id the client knows it.
    pub fn take_back(&mut self, server: ServerId, id: &Id) -> Option<Id> {
        let key = (server, id.clone());
        let known = self.recent.at_server.get(&key);
        let known = known.or(self.older.at_server.get(&key))?.clone();
        self.remove(&known);
        Some(known)
    }

    /// Takes out all of them: whose each was, and by which id.
    pub fn drain(&mut self) -> Vec<(ServerId, Id)> {
        let all = [take(&mut self.recent), take(&mut self.older)];
        let all = all.into_iter().flat_map(|requests| requests.at_client);
        all.map(|(_, of)| of).collect()
    }

    /// Takes out those of a server.
    pub fn of(&mut self, server: ServerId) -> Vec<Id> {
        let recent = self.recent.of(server);
        recent.into_iter().chain(self.older.of(server)).collect()
    }
}

impl Requests {
    fn add(&mut self, at_client: Id, server: ServerId, id: Id) {
        self.at_server
            .insert((server, id.clone()), at_client.clone());
        self.at_client.insert(at_client, (server, id));
    }

    fn remove(&mut self, at_client: &Id) -> Option<(ServerId, Id)> {
        let at_server = self.at_client.remove(at_client)?;
        // The server may have used the id again.
        if self.at_server.get(&at_server) == Some(at_client) {
            self.at_server.remove(&at_server);
        }
        Some(at_server)
    }

    fn of(&mut self, server: ServerId) -> Vec<Id> {
        self.at_server.retain(|(of, _), _| *of != server);
        let is_its = |_: &Id, (of, _): &mut (ServerId, Id)| *of == server;
        let its = self.at_client.extract_if(is_its);
        its.map(|(id, _)| id).collect()
    }
}
