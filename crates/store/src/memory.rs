//! Records in this process's memory.
//!
//! One lock guards everything and is never held while waiting. News is sent under it, so that
//! watchers hear changes in the order in which they happened and nobody who lists after
//! subscribing misses one. No task cleans up: every call that writes drops a few records whose
//! time is over and the channel of a user whom nobody watches any more.
//!
//! In: [`Store`]'s calls. Out: [`Changes`].

use std::borrow::Borrow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use foldhash::{HashMap, HashSet};
use midcall_core::Scope;
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::{Change, Changes, Key, Record, Store, StoreError, Version};

/// How far a watcher may fall behind before it hears [`Missed`](crate::Missed). What it has not
/// heard yet stays in memory, so this also bounds what a watcher that never reads can pin.
const NEWS: usize = 256;

/// How many expired records one call drops at most. More than one, so that they get fewer even
/// when every call adds a record.
const SWEPT: usize = 4;

/// Records in this process's memory. Clones share them.
///
/// Time is tokio's, so a paused clock holds for records too. Expired records do not exist for
/// any call; their memory is given back a few at a time by the calls that write.
///
/// ```
/// use std::time::Duration;
/// use midcall_core::Scope;
/// use midcall_store::{Key, Memory, Store, Version};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), midcall_store::StoreError> {
/// let store = Memory::default();
/// let (ana, key, hour) = (Scope::user("ana"), Key::new("ana", "q1"), Duration::from_secs(3600));
///
/// assert!(store.insert(&ana, "q1", "open".into(), hour).await?);
/// assert!(store.replace(&key, Version(1), "answered".into(), hour).await?);
/// assert!(!store.replace(&key, Version(1), "too late".into(), hour).await?);
/// assert_eq!(store.take(&key).await?.unwrap().bytes, "answered");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<State>>);

/// Prints how much is kept, not what: `Memory { records: 2, users: 1 }`. Expired records count
/// until their memory is given back.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Memory")
            .field("records", &state.expiries.len())
            .field("users", &state.users.len())
            .finish()
    }
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    async fn insert(
        &self,
        scope: &Scope,
        id: &str,
        bytes: Bytes,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        Ok(self.lock().insert(scope, id, bytes, ttl))
    }

    async fn replace(
        &self,
        key: &Key,
        version: Version,
        bytes: Bytes,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        Ok(self.lock().replace(key, version, bytes, ttl))
    }

    async fn take(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        let held = self.lock().take(key);
        Ok(held.map(|held| held.record()))
    }

    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        let held = self.lock().get(key);
        Ok(held.map(|held| held.record()))
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<Record>, StoreError> {
        let mut held = self.lock().list(scope);
        held.sort_unstable_by_key(|held| held.order);
        Ok(held.iter().map(|held| held.record()).collect())
    }

    async fn changes(&self, scope: &Scope) -> Result<Changes, StoreError> {
        let news = self.lock().watch(&scope.user);
        Ok(Changes::new(scope.clone(), news))
    }
}

struct State {
    users: HashMap<Arc<str>, User>,
    /// Every record by the end of its time.
    expiries: BTreeMap<(u64, u64), Arc<Held>>,
    /// Every user who has a channel, once; the one looked at longest ago comes first.
    watched: VecDeque<Arc<str>>,
    /// The order number of the next record.
    next: u64,
    /// Times are kept as microseconds since this moment: half the size of an `Instant`.
    start: Instant,
}

#[derive(Default)]
struct User {
    records: HashSet<ById>,
    news: Option<broadcast::Sender<Change>>,
}

/// A record, kept small: a million of them may be waiting.
struct Held {
    user: Arc<str>,
    id: Box<str>,
    /// Workspace and conversation, if it has either.
    place: Option<Box<Place>>,
    order: u64,
    version: Version,
    /// When its time is over.
    end: u64,
    bytes: Bytes,
}

#[derive(Clone)]
struct Place {
    workspace: Option<Box<str>>,
    conversation: Option<Box<str>>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            users: HashMap::default(),
            expiries: BTreeMap::new(),
            watched: VecDeque::new(),
            next: 0,
            start: Instant::now(),
        }
    }
}

impl State {
    fn insert(&mut self, scope: &Scope, id: &str, bytes: Bytes, ttl: Duration) -> bool {
        let now = self.now();
        self.sweep(now);
        if let Some(found) = self.find(&scope.user, id) {
            if found.end > now {
                return false;
            }
            let expired = found.clone();
            self.remove(&expired);
        }
        let user = match self.users.get_key_value(scope.user.as_str()) {
            Some((user, _)) => user.clone(),
            None => scope.user.as_str().into(),
        };
        let order = self.next;
        self.next += 1;
        self.put(Held {
            user,
            id: id.into(),
            place: Place::of(scope),
            order,
            version: Version(1),
            end: after(now, ttl),
            bytes,
        });
        true
    }

    fn replace(&mut self, key: &Key, version: Version, bytes: Bytes, ttl: Duration) -> bool {
        let now = self.now();
        self.sweep(now);
        let old = match self.find(&key.user, &key.id) {
            Some(held) if held.end > now && held.version == version => held.clone(),
            _ => return false,
        };
        self.expiries.remove(&(old.end, old.order));
        self.put(Held {
            user: old.user.clone(),
            id: old.id.clone(),
            place: old.place.clone(),
            order: old.order,
            version: Version(version.0 + 1),
            end: after(now, ttl),
            bytes,
        });
        true
    }

    fn take(&mut self, key: &Key) -> Option<Arc<Held>> {
        let now = self.now();
        self.sweep(now);
        let held = self.find(&key.user, &key.id)?.clone();
        if held.end <= now {
            return None;
        }
        if let Some(user) = self.users.get(key.user.as_str()) {
            user.tell(|| Change::Gone(key.clone()));
        }
        self.remove(&held);
        Some(held)
    }

    fn get(&self, key: &Key) -> Option<Arc<Held>> {
        let held = self.find(&key.user, &key.id)?;
        (held.end > self.now()).then(|| held.clone())
    }

    fn list(&self, scope: &Scope) -> Vec<Arc<Held>> {
        let now = self.now();
        let records = self
            .users
            .get(scope.user.as_str())
            .map(|user| &user.records);
        let all = records.into_iter().flatten().map(|ById(held)| held);
        all.filter(|held| held.end > now && held.is_within(scope))
            .cloned()
            .collect()
    }

    fn watch(&mut self, name: &str) -> broadcast::Receiver<Change> {
        self.sweep(self.now());
        let user = match self.users.get_mut(name) {
            Some(user) => user,
            None => self.users.entry(name.into()).or_default(),
        };
        match &user.news {
            Some(news) => news.subscribe(),
            None => {
                let (news, watcher) = broadcast::channel(NEWS);
                user.news = Some(news);
                self.watched.push_back(name.into());
                watcher
            }
        }
    }

    fn find(&self, user: &str, id: &str) -> Option<&Arc<Held>> {
        let ById(held) = self.users.get(user)?.records.get(id)?;
        Some(held)
    }

    /// Keeps a record, in place of the one with its id, and tells of it.
    fn put(&mut self, held: Held) {
        let held = Arc::new(held);
        self.expiries.insert((held.end, held.order), held.clone());
        let user = match self.users.get_mut(&held.user) {
            Some(user) => user,
            None => self.users.entry(held.user.clone()).or_default(),
        };
        user.records.replace(ById(held.clone()));
        user.tell(|| Change::Put(held.record()));
    }

    fn remove(&mut self, held: &Held) {
        self.expiries.remove(&(held.end, held.order));
        if let Some(user) = self.users.get_mut(&held.user) {
            user.records.remove(&*held.id);
            self.forget(&held.user);
        }
    }

    /// Drops a user who has neither records nor watchers.
    fn forget(&mut self, name: &str) {
        let empty = |user: &User| user.records.is_empty() && user.news.is_none();
        if self.users.get(name).is_some_and(empty) {
            self.users.remove(name);
        }
    }

    /// Gives back some of the memory that nobody can reach any more.
    fn sweep(&mut self, now: u64) {
        for _ in 0..SWEPT {
            match self.expiries.first_key_value() {
                Some((&(end, _), held)) if end <= now => {
                    let expired = held.clone();
                    self.remove(&expired);
                }
                _ => break,
            }
        }
        // Two, as the call that follows may add one.
        for _ in 0..2.min(self.watched.len()) {
            self.look_at_a_channel();
        }
    }

    fn look_at_a_channel(&mut self) {
        let Some(name) = self.watched.pop_front() else {
            return;
        };
        let Some(user) = self.users.get_mut(&name) else {
            return;
        };
        match &user.news {
            Some(news) if news.receiver_count() > 0 => self.watched.push_back(name),
            _ => {
                user.news = None;
                self.forget(&name);
            }
        }
    }

    fn now(&self) -> u64 {
        micros(Instant::now().saturating_duration_since(self.start))
    }
}

impl User {
    fn tell(&self, change: impl FnOnce() -> Change) {
        let news = self.news.as_ref();
        if let Some(news) = news.filter(|news| news.receiver_count() > 0) {
            // The last watcher may have left just now; then nobody minds.
            let _ = news.send(change());
        }
    }
}

fn after(now: u64, ttl: Duration) -> u64 {
    now.saturating_add(micros(ttl))
}

fn micros(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}

impl Held {
    fn record(&self) -> Record {
        let part = |part: Option<&str>| part.map(str::to_owned);
        Record {
            id: self.id.to_string(),
            scope: Scope {
                user: self.user.to_string(),
                workspace: part(self.workspace()),
                conversation: part(self.conversation()),
            },
            version: self.version,
            bytes: self.bytes.clone(),
        }
    }

    /// `scope.covers(..)` without making a scope of the record.
    fn is_within(&self, scope: &Scope) -> bool {
        let within = |wanted: Option<&str>, mine| wanted.is_none() || wanted == mine;
        *self.user == *scope.user
            && within(scope.workspace.as_deref(), self.workspace())
            && within(scope.conversation.as_deref(), self.conversation())
    }

    fn workspace(&self) -> Option<&str> {
        self.place.as_ref()?.workspace.as_deref()
    }

    fn conversation(&self) -> Option<&str> {
        self.place.as_ref()?.conversation.as_deref()
    }
}

impl Place {
    fn of(scope: &Scope) -> Option<Box<Self>> {
        let place = Self {
            workspace: scope.workspace.as_deref().map(Into::into),
            conversation: scope.conversation.as_deref().map(Into::into),
        };
        let somewhere = place.workspace.is_some() || place.conversation.is_some();
        somewhere.then(|| Box::new(place))
    }
}

/// A record, found by its id.
struct ById(Arc<Held>);

impl Borrow<str> for ById {
    fn borrow(&self) -> &str {
        &self.0.id
    }
}

impl Hash for ById {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl PartialEq for ById {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for ById {}
