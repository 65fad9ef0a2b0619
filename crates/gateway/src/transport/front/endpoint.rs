//! One server at one path: the sessions of its clients.
//!
//! A legacy client opens a session, and has a server of its own for as long as that lasts.
//! Modern clients open nothing: those of one person that can do the same share one. Nothing is
//! shared between people. What nobody uses is ended after a while, and there is a bound on all.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use midcall_core::Scope;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;

use super::fault::Fault;
use super::params::Tools;
use super::seat::{Party, Seat};
use super::streams::Whose;
use crate::token::Token;

/// Attends to whoever sits down, until they or the server are gone.
pub type Attend = Box<dyn Fn(Seat) -> BoxFuture<'static, ()> + Send + Sync>;

/// How much there may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Sessions of clients, and servers that clients share.
    pub sessions: usize,
    /// How long nobody may use one.
    pub idle: Duration,
    /// Bytes of a message.
    pub message: usize,
}

pub struct Endpoint {
    attend: Attend,
    pub bounds: Bounds,
    own: Mutex<HashMap<String, (Scope, Arc<Party>)>>,
    shared: Mutex<HashMap<(Scope, String), Arc<Party>>>,
    /// What each person's clients know of the server's tools.
    tools: Mutex<HashMap<Scope, Arc<Mutex<Tools>>>>,
    tasks: TaskTracker,
    is_ending: AtomicBool,
}

/// A session is not ended to make room for another before nobody has used it for so long.
const ROOM_AFTER: Duration = Duration::from_secs(10);

/// How often is looked for what nobody uses.
const SWEEP: Duration = Duration::from_secs(5);

/// How often is looked whether the last calls are answered.
const GLANCE: Duration = Duration::from_millis(20);

impl Endpoint {
    pub fn new(attend: Attend, bounds: Bounds) -> Arc<Self> {
        let endpoint = Arc::new(Self {
            attend,
            bounds,
            own: Mutex::default(),
            shared: Mutex::default(),
            tools: Mutex::default(),
            tasks: TaskTracker::new(),
            is_ending: AtomicBool::new(false),
        });
        tokio::spawn(sweep(Arc::downgrade(&endpoint)));
        endpoint
    }

    /// Opens a session: its id, which nobody guesses.
    pub fn open(self: &Arc<Self>, principal: &Scope) -> Result<(String, Arc<Party>), Fault> {
        self.make_room()?;
        let id = Token::random().reveal().to_owned();
        let (seat, party) = Seat::new(Whose::Own, Arc::default());
        locked(&self.own).insert(id.clone(), (principal.clone(), party.clone()));
        let (endpoint, name) = (self.clone(), id.clone());
        let attending = (self.attend)(seat);
        self.tasks.spawn(async move {
            attending.await;
            locked(&endpoint.own).remove(&name);
        });
        Ok((id, party))
    }

    /// The session of an id. That of somebody else is not there.
    pub fn session(&self, principal: &Scope, id: &str) -> Result<Arc<Party>, Fault> {
        let own = locked(&self.own);
        let (_, party) = own
            .get(id)
            .filter(|(owner, party)| owner == principal && !party.is_over())
            .ok_or(Fault::UnknownSession)?;
        Ok(party.clone())
    }

    /// The seat that a modern client shares with others like it.
    pub fn shared(
        self: &Arc<Self>,
        principal: &Scope,
        capabilities: String,
    ) -> Result<Arc<Party>, Fault> {
        let key = (principal.clone(), capabilities);
        let there = |shared: &HashMap<_, Arc<Party>>| {
            shared.get(&key).filter(|party| !party.is_over()).cloned()
        };
        if let Some(party) = there(&locked(&self.shared)) {
            return Ok(party);
        }
        self.make_room()?;
        let mut shared = locked(&self.shared);
        if let Some(party) = there(&shared) {
            return Ok(party);
        }
        let (seat, party) = Seat::new(Whose::Shared, self.tools(principal));
        shared.insert(key.clone(), party.clone());
        drop(shared);
        let (endpoint, own) = (self.clone(), party.clone());
        let attending = (self.attend)(seat);
        self.tasks.spawn(async move {
            attending.await;
            let mut shared = locked(&endpoint.shared);
            // Another may sit there already.
            if shared
                .get(&key)
                .is_some_and(|party| Arc::ptr_eq(party, &own))
            {
                shared.remove(&key);
            }
        });
        Ok(party)
    }

    /// What a person's clients know of the server's tools.
    pub fn tools(&self, principal: &Scope) -> Arc<Mutex<Tools>> {
        locked(&self.tools)
            .entry(principal.clone())
            .or_default()
            .clone()
    }

    /// Whether nothing new is taken any more.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Takes nothing new, lets what is open be answered for so long, and ends.
    pub async fn end(&self, patience: Duration) {
        self.is_ending.store(true, Ordering::Relaxed);
        let answered = async {
            while self.parties().iter().any(|party| party.waiting() > 0) {
                sleep(GLANCE).await;
            }
        };
        let _ = timeout(patience, answered).await;
        for party in self.parties() {
            party.close("the gateway is ending");
            party.leave();
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn parties(&self) -> Vec<Arc<Party>> {
        let own = locked(&self.own);
        let own: Vec<_> = own.values().map(|(_, party)| party.clone()).collect();
        let shared = locked(&self.shared);
        own.into_iter().chain(shared.values().cloned()).collect()
    }

    /// Sees to it that there is room for one more.
    fn make_room(&self) -> Result<(), Fault> {
        let parties = self.parties();
        let living = parties.iter().filter(|party| !party.is_over()).count();
        if living < self.bounds.sessions {
            return Ok(());
        }
        let idle = parties.iter().filter(|party| !party.is_over());
        let idle = idle.filter_map(|party| Some((party.idle_since()?, party)));
        let longest = idle.min_by_key(|(since, _)| *since);
        match longest.filter(|(since, _)| since.elapsed() >= ROOM_AFTER) {
            Some((_, party)) => {
                party.leave();
                Ok(())
            }
            None => Err(Fault::TooMany),
        }
    }

    fn end_idle(&self, now: Instant) {
        for party in self.parties() {
            if party
                .idle_since()
                .is_some_and(|since| since + self.bounds.idle <= now)
            {
                party.leave();
            }
        }
    }
}

async fn sweep(endpoint: std::sync::Weak<Endpoint>) {
    loop {
        sleep(SWEEP).await;
        let Some(endpoint) = endpoint.upgrade() else {
            return;
        };
        endpoint.end_idle(Instant::now());
    }
}

pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
