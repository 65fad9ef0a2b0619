//! What the clients of one person share at an endpoint, whichever sessions they have there.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};

use midcall_core::model::AddedTool;
use serde::Deserialize;

use super::endpoint::locked;
use super::inbox::Clients;
use super::params;
use crate::call::{GivenName, Name, NameUse, Tools};
use crate::frame::{Frame, Kind};

/// One person at one endpoint.
#[derive(Default)]
pub struct Person {
    /// Which arguments of the server's tools their clients repeat in headers.
    pub params: Mutex<params::HeaderParams>,
    /// What their latest sessions learned of the server's tools.
    pub learned: Mutex<Option<Tools>>,
    /// Sessions that go on although their clients have left, the one that was left first in front.
    left: Mutex<VecDeque<Weak<Clients>>>,
    /// What their clients were given to come back by, and which session that leads to.
    names: Mutex<HashMap<Name, Given>>,
}

struct Given {
    clients: Weak<Clients>,
    used_for: NameUse,
}

/// Where a name leads to. It may be known to other nodes, or to a store, once there are some.
pub enum Found {
    /// To a session here.
    Here(Arc<Clients>),
    /// Nowhere, or not for this.
    Nowhere,
}

/// How many sessions of a person go on at an endpoint although their clients have left. Each may have a process.
pub const MOST_LEFT: usize = 32;

/// What those are told who wait for a session that made room for others.
const MADE_ROOM: &str = "too many results wait to be collected here: the oldest were given up";

/// The arguments of the added tools that name something.
#[derive(Deserialize)]
struct Brought {
    claim: Option<String>,
    #[serde(rename = "elicitId")]
    question: Option<String>,
}

impl Person {
    /// The session that gave out what a call of one of the added tools brings. A tool of the server may have the same name:
    /// it gets every call that brings nothing of ours.
    pub fn host(&self, frame: &Frame) -> Option<Arc<Clients>> {
        #[derive(Deserialize)]
        struct Params {
            arguments: Brought,
        }
        let (Kind::Request { method, .. }, members) = frame.peek()? else {
            return None;
        };
        if method != "tools/call" {
            return None;
        }
        let name: String = serde_json::from_slice(members.name?).ok()?;
        let tool = AddedTool::of_name(&name)?;
        let Params { arguments } = serde_json::from_slice(members.params?).ok()?;
        let (secret, used_for) = match tool {
            AddedTool::Await => (arguments.claim, NameUse::Claim),
            AddedTool::Send => (arguments.question, NameUse::Question),
        };
        match self.find(Name::of_ours(&secret?)?, used_for) {
            Found::Here(clients) => Some(clients),
            Found::Nowhere => None,
        }
    }

    /// A session goes on although its client has left. The oldest of too many ends.
    pub fn keeps(&self, clients: &Arc<Clients>) {
        let mut left = locked(&self.left);
        left.retain(|clients| clients.upgrade().is_some_and(|clients| !clients.is_over()));
        left.push_back(Arc::downgrade(clients));
        let oldest = (left.len() > MOST_LEFT).then(|| left.pop_front()).flatten();
        drop(left);
        if let Some(oldest) = oldest.and_then(|oldest| oldest.upgrade()) {
            oldest.end(MADE_ROOM);
        }
    }

    /// Who gave out a name for this use.
    pub fn find(&self, name: Name, used_for: NameUse) -> Found {
        let names = locked(&self.names);
        let given = names.get(&name).filter(|given| given.used_for == used_for);
        let clients = given.and_then(|given| given.clients.upgrade());
        match clients.filter(|clients| !clients.is_over()) {
            Some(clients) => Found::Here(clients),
            None => Found::Nowhere,
        }
    }

    /// A client of theirs was given a name at an inbox.
    pub fn named(&self, clients: &Arc<Clients>, given: &GivenName) {
        let clients = Arc::downgrade(clients);
        let used_for = given.used_for;
        locked(&self.names).insert(given.name, Given { clients, used_for });
    }

    /// A name leads nowhere any more.
    pub fn unnamed(&self, name: Name) {
        locked(&self.names).remove(&name);
    }
}
