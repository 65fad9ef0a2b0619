//! One server at one path: the sessions of its clients.
//!
//! A legacy client opens a session, and has a server of its own for as long as that lasts.
//! Modern clients open nothing: those of one person that can do the same share one. Nothing is
//! shared between people. What nobody uses is ended after a while, and there is a bound on all. A session whose client
//! has left goes on while somebody may come back by what that client was given (`person`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use midcall_core::Scope;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;

use super::fault::Fault;
use super::inbox::{Clients, Inbox};
use super::person::Person;
use super::streams::Tenancy;
use crate::token::Token;

/// Attends to clients at their inbox, until they or the server are gone.
pub type Attend = Box<dyn Fn(Inbox) -> BoxFuture<'static, ()> + Send + Sync>;

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
    /// How long somebody may be away who was told to come back.
    away: Duration,
    own: Mutex<HashMap<String, (Scope, Arc<Clients>)>>,
    shared: Mutex<HashMap<(Scope, String), Arc<Clients>>>,
    /// All of them, and those whose clients have left.
    everyone: Mutex<Vec<Arc<Clients>>>,
    people: Mutex<HashMap<Scope, Arc<Person>>>,
    /// Room for messages that are being read, in bytes.
    room: Arc<Semaphore>,
    tasks: TaskTracker,
    is_ending: AtomicBool,
}

/// Bytes of messages that may be read at the same time; two of the longest in any case.
const MOST_READING: usize = 256 * 1024 * 1024;

/// A session is not ended to make room for another before nobody has used it for so long.
const ROOM_AFTER: Duration = Duration::from_secs(10);

/// What those are told whose session ends because nobody uses it.
const UNUSED: &str = "nobody has used this session for long";

/// How often is looked for what nobody uses.
const SWEEP: Duration = Duration::from_secs(5);

/// How often is looked whether the last calls are answered.
const GLANCE: Duration = Duration::from_millis(20);

impl Endpoint {
    /// An endpoint whose clients may be away so long after they were told to come back.
    pub fn new(attend: Attend, bounds: Bounds, away: Duration) -> Arc<Self> {
        let endpoint = Arc::new(Self {
            attend,
            bounds,
            away,
            own: Mutex::default(),
            shared: Mutex::default(),
            everyone: Mutex::default(),
            people: Mutex::default(),
            room: Arc::new(Semaphore::new(MOST_READING.max(2 * bounds.message))),
            tasks: TaskTracker::new(),
            is_ending: AtomicBool::new(false),
        });
        tokio::spawn(sweep(Arc::downgrade(&endpoint)));
        endpoint
    }

    /// Room for so much more of a message that is being read.
    pub fn room_for(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Fault> {
        let bytes = u32::try_from(bytes).map_err(|_| Fault::TooMany)?;
        let room = self.room.clone().try_acquire_many_owned(bytes);
        room.map_err(|_| Fault::TooMany)
    }

    /// Opens a session: its id, which nobody guesses.
    pub fn open(self: &Arc<Self>, principal: &Scope) -> Result<(String, Arc<Clients>), Fault> {
        self.make_room()?;
        let id = Token::random().reveal().to_owned();
        let (inbox, clients) = self.inbox(Tenancy::Own, principal)?;
        locked(&self.own).insert(id.clone(), (principal.clone(), clients.clone()));
        let (endpoint, name) = (self.clone(), id.clone());
        let attended = self.attended(inbox, clients.clone());
        self.tasks.spawn(async move {
            attended.await;
            locked(&endpoint.own).remove(&name);
        });
        Ok((id, clients))
    }

    /// A new inbox, unless we are ending.
    fn inbox(&self, tenancy: Tenancy, principal: &Scope) -> Result<(Inbox, Arc<Clients>), Fault> {
        let person = self.person(principal);
        let mut everyone = locked(&self.everyone);
        self.takes_new()?;
        let (inbox, clients) = Inbox::new(tenancy, person);
        everyone.push(clients.clone());
        Ok((inbox, clients))
    }

    /// Attends to a clients until it is over.
    fn attended(
        self: &Arc<Self>,
        inbox: Inbox,
        clients: Arc<Clients>,
    ) -> impl Future<Output = ()> + use<> {
        let attending = (self.attend)(inbox);
        let endpoint = self.clone();
        async move {
            attending.await;
            locked(&endpoint.everyone).retain(|other| !Arc::ptr_eq(other, &clients));
        }
    }

    /// The session of an id. That of somebody else is not there.
    pub fn session(&self, principal: &Scope, id: &str) -> Result<Arc<Clients>, Fault> {
        let own = locked(&self.own);
        let (_, clients) = own
            .get(id)
            .filter(|(owner, clients)| owner == principal && !clients.has_left())
            .ok_or(Fault::UnknownSession)?;
        Ok(clients.clone())
    }

    /// The inbox that a modern client shares with others like it: `client` is what they are and can.
    pub fn shared(
        self: &Arc<Self>,
        principal: &Scope,
        client: String,
    ) -> Result<Arc<Clients>, Fault> {
        let key = (principal.clone(), client);
        let there = |shared: &HashMap<_, Arc<Clients>>| {
            shared
                .get(&key)
                .filter(|clients| !clients.has_left())
                .cloned()
        };
        if let Some(clients) = there(&locked(&self.shared)) {
            return Ok(clients);
        }
        self.make_room()?;
        let mut shared = locked(&self.shared);
        if let Some(clients) = there(&shared) {
            return Ok(clients);
        }
        let (inbox, clients) = self.inbox(Tenancy::Shared, principal)?;
        shared.insert(key.clone(), clients.clone());
        drop(shared);
        let (endpoint, own) = (self.clone(), clients.clone());
        let attended = self.attended(inbox, clients.clone());
        self.tasks.spawn(async move {
            attended.await;
            let mut shared = locked(&endpoint.shared);
            // There may be another already.
            if shared
                .get(&key)
                .is_some_and(|clients| Arc::ptr_eq(clients, &own))
            {
                shared.remove(&key);
            }
        });
        Ok(clients)
    }

    /// What a person's clients share.
    pub fn person(&self, principal: &Scope) -> Arc<Person> {
        locked(&self.people)
            .entry(principal.clone())
            .or_default()
            .clone()
    }

    /// Whether nothing new is taken any more.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Refuses what is new once we are ending.
    pub fn takes_new(&self) -> Result<(), Fault> {
        match self.is_ending() {
            true => Err(Fault::Ending),
            false => Ok(()),
        }
    }

    /// Takes nothing new, lets what is open be answered for so long, and ends.
    pub async fn end(&self, patience: Duration) {
        self.is_ending.store(true, Ordering::Relaxed);
        let answered = async {
            let is_open = |clients: &Arc<Clients>| clients.waiting() > 0 || clients.owes();
            while self.everyone().iter().any(is_open) {
                sleep(GLANCE).await;
            }
        };
        let _ = timeout(patience, answered).await;
        for clients in self.everyone() {
            clients.end("the gateway is ending");
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn everyone(&self) -> Vec<Arc<Clients>> {
        locked(&self.everyone).clone()
    }

    /// Sees to it that there is room for one more.
    fn make_room(&self) -> Result<(), Fault> {
        let everyone = self.everyone();
        let living = everyone.iter().filter(|clients| !clients.is_over()).count();
        if living < self.bounds.sessions {
            return Ok(());
        }
        let idle = everyone.iter().filter(|clients| !clients.is_over());
        let idle =
            idle.filter_map(|clients| Some((self.idle_since(clients, clients.owes())?, clients)));
        let longest = idle.min_by_key(|(since, _)| *since);
        match longest.filter(|(since, _)| since.elapsed() >= ROOM_AFTER) {
            Some((_, clients)) => {
                clients.end(UNUSED);
                Ok(())
            }
            None => Err(Fault::TooMany),
        }
    }

    fn end_idle(&self, now: Instant) {
        for clients in self.everyone() {
            let since = self.idle_since(&clients, clients.is_named());
            if since.is_some_and(|since| since + self.bounds.idle <= now) {
                clients.end(UNUSED);
            }
        }
    }

    /// Since when nobody uses a session, nor is expected back.
    fn idle_since(&self, clients: &Clients, is_expected: bool) -> Option<Instant> {
        let since = clients.idle_since()?;
        if is_expected {
            return Some(since + self.away).filter(|until| *until <= Instant::now());
        }
        Some(since)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{GivenName, Name, NameUse};
    use crate::frame::Frame;
    use crate::transport::front::inbox::ClientEvent;
    use crate::transport::front::person::Found;
    use serde_json::json;

    const IDLE: Duration = Duration::from_secs(60);
    const AWAY: Duration = Duration::from_secs(600);

    /// Something to come back by, for what it is not known whether it comes.
    fn given(used_for: NameUse) -> GivenName {
        GivenName {
            name: Name::mint().1,
            used_for,
            call: None,
            until: None,
            is_owed: true,
        }
    }

    /// An endpoint whose server answers every call with the same.
    fn endpoint(sessions: usize, answer: &'static str) -> Arc<Endpoint> {
        let attend: Attend = Box::new(move |mut inbox| {
            Box::pin(async move {
                while let ClientEvent::Client(frame) = inbox.next(true).await {
                    if let Some((crate::frame::Kind::Request { id, .. }, _)) = frame.peek() {
                        if answer == "input_required" {
                            inbox.named(given(NameUse::State));
                        }
                        inbox.send(&Frame::result(&id, &json!({"resultType": answer})));
                    }
                }
            })
        });
        let bounds = Bounds {
            sessions,
            idle: IDLE,
            message: 1024,
        };
        Endpoint::new(attend, bounds, AWAY)
    }

    async fn uses(clients: &Arc<Clients>) {
        let ping = Frame::request(&1.into(), "tools/call", &json!({}));
        let mut reading = clients.call(&ping, |_| Default::default()).await.unwrap();
        while reading.next().await.is_some() {}
    }

    #[tokio::test]
    async fn nothing_is_shared_between_people_or_kinds_of_clients() {
        let endpoint = endpoint(100, "complete");
        let (ana, bob) = (Scope::user("ana"), Scope::user("bob"));
        let (id, own) = endpoint.open(&ana).unwrap();
        assert!(Arc::ptr_eq(&own, &endpoint.session(&ana, &id).unwrap()));
        assert!(endpoint.session(&bob, &id).is_err());
        assert!(endpoint.session(&ana, "").is_err());
        let shared = |whom: &Scope, can: &str| endpoint.shared(whom, can.to_owned()).unwrap();
        let hers = shared(&ana, "{}");
        assert!(Arc::ptr_eq(&hers, &shared(&ana, "{}")));
        assert!(!Arc::ptr_eq(&hers, &shared(&bob, "{}")));
        assert!(!Arc::ptr_eq(&hers, &shared(&ana, "{\"sampling\":{}}")));
        let knows = |whom: &Scope| endpoint.person(whom);
        assert!(!Arc::ptr_eq(&knows(&ana), &knows(&bob)));
    }

    #[tokio::test]
    async fn a_name_leads_to_its_session_for_its_own_person_and_use() {
        let person = Arc::new(Person::default());
        let (mut inbox, clients) = Inbox::new(Tenancy::Shared, person.clone());
        let (_, name) = Name::mint();
        let given = GivenName {
            name,
            used_for: NameUse::State,
            call: None,
            until: None,
            is_owed: true,
        };
        let leads = |person: &Person, used_for| match person.find(name, used_for) {
            Found::Here(found) => Arc::ptr_eq(&found, &clients),
            Found::Nowhere => false,
        };
        assert!(!leads(&person, NameUse::State));
        inbox.named(given.clone());
        assert!(leads(&person, NameUse::State));
        assert!(!leads(&person, NameUse::Claim));
        assert!(!leads(&Person::default(), NameUse::State));
        inbox.unnamed(name);
        assert!(!leads(&person, NameUse::State));
        inbox.named(given);
        drop(inbox);
        assert!(!leads(&person, NameUse::State), "its session is over");
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_uses_ends_after_a_while() {
        for (answer, lasts) in [("complete", IDLE), ("input_required", IDLE + AWAY)] {
            let endpoint = endpoint(100, answer);
            let ana = Scope::user("ana");
            let (id, own) = endpoint.open(&ana).unwrap();
            let shared = endpoint.shared(&ana, String::new()).unwrap();
            uses(&own).await;
            uses(&shared).await;
            sleep(lasts - SWEEP).await;
            assert!(!own.is_over() && !shared.is_over(), "{answer}");
            sleep(2 * SWEEP).await;
            assert!(own.is_over() && shared.is_over(), "{answer}");
            assert!(endpoint.session(&ana, &id).is_err());
            let again = endpoint.shared(&ana, String::new()).unwrap();
            assert!(!Arc::ptr_eq(&shared, &again));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_read_or_waits_is_not_idle() {
        let endpoint = endpoint(100, "complete");
        let (_, own) = endpoint.open(&Scope::user("ana")).unwrap();
        let reading = own.read(super::super::streams::BY_GET).unwrap();
        sleep(10 * IDLE).await;
        assert!(!own.is_over());
        drop(reading);
        sleep(2 * IDLE).await;
        assert!(own.is_over());
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_room_for_so_many_and_the_idlest_makes_room_for_another() {
        let endpoint = endpoint(2, "complete");
        let ana = Scope::user("ana");
        let (_, first) = endpoint.open(&ana).unwrap();
        let (_, second) = endpoint.open(&ana).unwrap();
        assert!(matches!(endpoint.open(&ana), Err(Fault::TooMany)));
        assert!(matches!(
            endpoint.shared(&ana, String::new()),
            Err(Fault::TooMany)
        ));
        sleep(ROOM_AFTER).await;
        uses(&first).await;
        endpoint.open(&ana).unwrap();
        assert!(second.is_over() && !first.is_over());
    }

    #[tokio::test]
    async fn messages_that_are_being_read_are_bounded() {
        let endpoint = endpoint(1, "complete");
        let all = endpoint.room_for(MOST_READING).unwrap();
        assert!(matches!(endpoint.room_for(1), Err(Fault::TooMany)));
        drop(all);
        assert!(endpoint.room_for(1).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_open_calls_no_longer_than_it_may() {
        let attend: Attend = Box::new(|mut inbox| {
            Box::pin(async move { while let ClientEvent::Client(_) = inbox.next(true).await {} })
        });
        let bounds = Bounds {
            sessions: 1,
            idle: IDLE,
            message: 1024,
        };
        let endpoint = Endpoint::new(attend, bounds, AWAY);
        let (_, clients) = endpoint.open(&Scope::user("ana")).unwrap();
        let call = Frame::request(&1.into(), "tools/call", &json!({}));
        let mut reading = clients.call(&call, |_| Default::default()).await.unwrap();
        let start = Instant::now();
        endpoint.end(Duration::from_secs(10)).await;
        assert!(endpoint.is_ending());
        assert_eq!(start.elapsed().as_secs(), 10);
        let told = reading.next().await.unwrap();
        let said = String::from_utf8(told.data.to_vec()).unwrap();
        assert!(said.contains("the gateway is ending"), "{said}");
    }
}
