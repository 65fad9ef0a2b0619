//! What the clients of one person share at an endpoint, whichever sessions they have there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use super::endpoint::locked;
use super::params::Tools;
use super::seat::Party;
use crate::call::{GivenName, Name, NameUse};

/// One person at one endpoint.
#[derive(Default)]
pub struct Person {
    /// What their clients know of the server's tools.
    pub tools: Mutex<Tools>,
    /// What their clients were given to come back by, and who sits where it leads to.
    names: Mutex<HashMap<Name, Given>>,
}

struct Given {
    party: Weak<Party>,
    used_for: NameUse,
}

/// Where a name leads to. It may be known to other nodes, or to a store, once there are some.
pub enum Found {
    /// To a session here.
    Here(Arc<Party>),
    /// Nowhere, or not for this.
    Nowhere,
}

impl Person {
    /// Who gave out a name for this use.
    pub fn find(&self, name: Name, used_for: NameUse) -> Found {
        let names = locked(&self.names);
        let given = names.get(&name).filter(|given| given.used_for == used_for);
        let party = given.and_then(|given| given.party.upgrade());
        match party.filter(|party| !party.is_over()) {
            Some(party) => Found::Here(party),
            None => Found::Nowhere,
        }
    }

    /// A client of theirs was given a name at a seat.
    pub fn named(&self, party: &Arc<Party>, given: &GivenName) {
        let party = Arc::downgrade(party);
        let used_for = given.used_for;
        locked(&self.names).insert(given.name, Given { party, used_for });
    }

    /// A name leads nowhere any more.
    pub fn unnamed(&self, name: Name) {
        locked(&self.names).remove(&name);
    }
}
