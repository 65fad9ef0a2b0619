//! Which connections stay when too many are open.
//!
//! A connection waits until it has sent a complete request, and again between two requests. Closing
//! one that waits loses nothing, so that is what happens to strangers when there are too many: the
//! one that has waited longest goes first. A stranger is a connection that hasn't shown a valid key
//! yet. A connection with a request that is being served is never closed here, and neither is one
//! that has shown a key.
//!
//! A client that connects is about to send something, one that sent headers is about to send the body,
//! and one that got a response may send the next request. For a moment ([`FRESH`]) all of them count as
//! fresh, so that a crowd of clients can come at once.
//!
//! In: [`Places::enter`]. Out: [`Place::goes`]. Not here: sockets (`connections`), keys (`auth`).

#[cfg(test)]
mod stories;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

use crate::times::FRESH;

/// How many strangers may wait.
const WAITING: usize = 256;
/// How many may wait if they are fresh.
const WAITING_FRESH: usize = 2_048;
/// Places that strangers never get.
const KEPT: usize = 64;

/// The connections of a listener.
pub struct Places {
    /// How many strangers may be served at the same time.
    most_served: usize,
    /// How many strangers may wait if they are fresh.
    most_fresh: usize,
    all: Mutex<All>,
    /// Told when more wait than may for long.
    crowded: Notify,
}

#[derive(Default)]
struct All {
    connections: HashMap<Id, Connection>,
    /// Strangers that wait, by the time from which on each may be closed.
    waiting: BTreeSet<(Instant, Id)>,
    /// How many strangers are being served.
    served: usize,
    last: Id,
}

type Id = u64;

struct Connection {
    standing: Standing,
    /// The number of its latest request, and whether that is still being answered.
    request: u64,
    is_answering: bool,
    goes: Arc<Notify>,
}

#[derive(Clone, Copy, PartialEq)]
enum Standing {
    /// A stranger without a complete request. It may be closed from this time on.
    Waiting(Instant),
    /// A stranger whose request is being served.
    Served,
    /// A stranger that has to go, unless its request is read in the last moment.
    Going,
    /// A connection that has shown a valid key.
    Known,
}

/// One connection among the others.
#[derive(Clone)]
pub struct Place {
    id: Id,
    places: Arc<Places>,
    goes: Arc<Notify>,
}

/// A place that is given back when this is dropped.
pub struct Taken(pub Place);

/// A request that is being answered, until this is dropped.
pub struct Answering {
    place: Place,
    request: u64,
}

/// Tells that a request has arrived whole.
#[derive(Clone)]
pub struct Arrival {
    place: Place,
    request: u64,
}

impl Places {
    /// Places for that many connections in all.
    pub fn new(most: usize) -> Self {
        Self {
            // A process that may open few files still serves its page.
            most_served: most.saturating_sub(KEPT + WAITING).max(most / 4).max(1),
            most_fresh: WAITING_FRESH.min(most / 2).max(WAITING),
            all: Mutex::default(),
            crowded: Notify::new(),
        }
    }

    /// Takes a place for a new connection. If too many wait, others go.
    pub fn enter(self: &Arc<Self>) -> Taken {
        let goes = Arc::new(Notify::new());
        let mut all = self.lock();
        all.last += 1;
        let id = all.last;
        let connection = Connection {
            standing: Standing::Going,
            request: 0,
            is_answering: false,
            goes: goes.clone(),
        };
        all.connections.insert(id, connection);
        all.put(id, fresh());
        self.trim(&mut all);
        drop(all);
        let places = self.clone();
        Taken(Place { id, places, goes })
    }

    /// Has the stranger go that has waited longest, fresh or not. False if none waits.
    pub fn make_room(&self) -> bool {
        self.lock().evict()
    }

    /// Keeps the number of those that wait low, even if nobody comes any more.
    pub async fn tend(&self) {
        loop {
            self.crowded.notified().await;
            while let Some(next) = self.next_to_go() {
                sleep_until(next).await;
                self.trim(&mut self.lock());
            }
        }
    }

    /// When the next one has to go, if too many wait.
    fn next_to_go(&self) -> Option<Instant> {
        let all = self.lock();
        let (at, _) = all.waiting.first()?;
        (all.waiting.len() > WAITING).then_some(*at)
    }

    fn trim(&self, all: &mut All) {
        let now = Instant::now();
        while all.waiting.len() > WAITING {
            let is_due = all.waiting.first().is_some_and(|(at, _)| *at <= now);
            if !is_due && all.waiting.len() <= self.most_fresh {
                self.crowded.notify_one();
                return;
            }
            all.evict();
        }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time until which a connection counts as fresh from now on.
fn fresh() -> Instant {
    Instant::now() + FRESH.get()
}

impl All {
    /// Has a stranger wait.
    fn put(&mut self, id: Id, at: Instant) {
        self.change(id, Standing::Waiting(at));
    }

    /// Has the first of those that wait go.
    fn evict(&mut self) -> bool {
        let Some((_, id)) = self.waiting.first().copied() else {
            return false;
        };
        self.change(id, Standing::Going);
        if let Some(connection) = self.connections.get(&id) {
            connection.goes.notify_one();
        }
        true
    }

    fn change(&mut self, id: Id, to: Standing) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return; // It has been closed meanwhile.
        };
        let from = connection.standing;
        if from == Standing::Known {
            return;
        }
        connection.standing = to;
        self.leave(from, id);
        match to {
            Standing::Waiting(at) => {
                self.waiting.insert((at, id));
            }
            Standing::Served => self.served += 1,
            Standing::Going | Standing::Known => {}
        }
    }

    fn leave(&mut self, standing: Standing, id: Id) {
        match standing {
            Standing::Waiting(at) => {
                self.waiting.remove(&(at, id));
            }
            Standing::Served => self.served -= 1,
            Standing::Going | Standing::Known => {}
        }
    }
}

impl Place {
    /// The connection has sent something. It isn't fresh any more, unless that has all headers of a
    /// request.
    pub fn speaks(&self) {
        let mut all = self.places.lock();
        let is_waiting = |one: &Connection| matches!(one.standing, Standing::Waiting(_));
        if all.connections.get(&self.id).is_some_and(is_waiting) {
            all.put(self.id, Instant::now());
            self.places.trim(&mut all);
        }
    }

    /// The headers of a request have arrived. The rest of it is on its way, so the connection is fresh
    /// again.
    pub fn answer(&self) -> (Answering, Arrival) {
        let mut all = self.places.lock();
        let mut request = 0;
        if let Some(connection) = all.connections.get_mut(&self.id) {
            connection.request += 1;
            connection.is_answering = true;
            request = connection.request;
        }
        all.put(self.id, fresh());
        let place = self.clone();
        let arrival = Arrival { place, request };
        let place = self.clone();
        (Answering { place, request }, arrival)
    }

    /// The connection has shown a valid key: it stays.
    pub fn keep(&self) {
        self.places.lock().change(self.id, Standing::Known);
    }

    /// Whether as many strangers are being served as there may be.
    pub fn is_crowded(&self) -> bool {
        let all = self.places.lock();
        all.served > self.places.most_served
    }

    /// Waits until the connection has to go. It gets one more turn to read what has arrived.
    pub async fn goes(&self) {
        loop {
            self.goes.notified().await;
            yield_now().await;
            let all = self.places.lock();
            let standing = all.connections.get(&self.id).map(|one| one.standing);
            if standing.is_none_or(|standing| standing == Standing::Going) {
                return;
            }
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let id = self.0.id;
        let mut all = self.0.places.lock();
        if let Some(connection) = all.connections.remove(&id) {
            all.leave(connection.standing, id);
        }
    }
}

impl Arrival {
    /// The request has arrived whole, and isn't answered yet: the connection stays.
    pub fn complete(&self) {
        let mut all = self.place.places.lock();
        let is_it = |one: &Connection| {
            one.is_answering && one.request == self.request && one.standing != Standing::Served
        };
        if all.connections.get(&self.place.id).is_some_and(is_it) {
            all.change(self.place.id, Standing::Served);
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let places = &self.place.places;
        let mut all = places.lock();
        let connection = all.connections.get_mut(&self.place.id);
        let Some(connection) = connection.filter(|one| one.request == self.request) else {
            return;
        };
        connection.is_answering = false;
        if connection.standing == Standing::Served {
            all.put(self.place.id, fresh());
            places.trim(&mut all);
        }
    }
}
