//! What the replicas of a server have in common of a call: a page in a store that they share.
//!
//! A page says which round was told last, and what was said so far. Whoever goes on with the call
//! *takes* the page, which is a compare-and-swap: of a tool that waits in one process and one that runs
//! again in another, exactly one goes on, and the other is dropped. Who has taken a page keeps a lease.
//! Where that runs out, its process has ended, and the next one takes over.
//!
//! Elsewhere: what becomes of a client that comes back (`layer::resume`), how effects run (`once`).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use midcall_core::Scope;
use midcall_core::seal::{Context, Keys, TooLarge};
use midcall_store::{Key, Record as Kept, Store, StoreError, Version};
use rmcp::ErrorData;
use rmcp::model::{CustomResult, ServerResult};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::asks::Settings;
use crate::journal::Record;
use crate::running::Outcome;
use crate::token;

/// How long a process may say nothing before others take it for ended.
const LEASE: Duration = Duration::from_secs(10);

/// How often a process that goes on with a call says so.
pub(crate) const RENEWED: Duration = Duration::from_secs(3);

/// How long what an effect gave is known.
const EFFECTS: Duration = Duration::from_secs(24 * 60 * 60);

/// Why the store that replicas share did not help.
///
/// ```
/// use midcall_server::{AskError, SharedError};
/// fn is_outage(error: &AskError) -> bool {
///     matches!(error, AskError::Shared(SharedError::Store(_)))
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedError {
    /// It failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// More than may be sealed at once.
    #[error("what was said in this call cannot be kept: {0}")]
    TooLarge(#[from] TooLarge),
    /// A record that was not written by this server, or with other keys.
    #[error("the store has a record of this call that cannot be read: {0}")]
    Unreadable(String),
}

/// A store, whichever it is.
pub(crate) trait Shelf: Send + Sync {
    fn insert<'a>(&'a self, key: &'a Key, bytes: Bytes, ttl: Duration) -> Told<'a, bool>;
    fn replace<'a>(
        &'a self,
        key: &'a Key,
        at: Version,
        bytes: Bytes,
        ttl: Duration,
    ) -> Told<'a, bool>;
    fn get<'a>(&'a self, key: &'a Key) -> Told<'a, Option<Kept>>;
}

type Told<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

impl<S: Store> Shelf for S {
    fn insert<'a>(&'a self, key: &'a Key, bytes: Bytes, ttl: Duration) -> Told<'a, bool> {
        Box::pin(async move {
            let scope = Scope::user(&*key.user);
            Store::insert(self, &scope, &key.id, bytes, ttl).await
        })
    }

    fn replace<'a>(
        &'a self,
        key: &'a Key,
        at: Version,
        bytes: Bytes,
        ttl: Duration,
    ) -> Told<'a, bool> {
        Box::pin(Store::replace(self, key, at, bytes, ttl))
    }

    fn get<'a>(&'a self, key: &'a Key) -> Told<'a, Option<Kept>> {
        Box::pin(Store::get(self, key))
    }
}

/// What all replicas know of a call. No `Debug`: it has what people typed.
#[derive(Serialize, Deserialize)]
pub(crate) struct Page {
    /// The round that was told last.
    pub round: String,
    pub record: Record,
    pub stage: Stage,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The client was told this, and is away.
    Told(Value),
    /// Somebody goes on with the call, under this lease.
    Taken(String),
    /// The tool has ended.
    Over(Result<Value, ErrorData>),
}

/// A page, and the version that it has.
pub(crate) struct Read {
    pub page: Page,
    pub version: Version,
}

/// The page of one call, as far as this process had a hand in it.
pub(crate) struct Shared {
    shelf: Arc<dyn Shelf>,
    keys: Keys,
    key: Key,
    kept: Duration,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// The version that this process wrote last.
    version: Option<Version>,
    lease: Option<Key>,
}

/// What is known of an effect that is about to run.
pub(crate) enum Effect {
    /// It was never begun: it is now.
    Begun,
    /// It was begun, and nobody knows whether it happened.
    Unsure,
    Done(Value),
}

impl Shared {
    /// The page of the call with this seed. None without a store.
    pub fn new(settings: &Settings, principal: &str, seed: &str) -> Option<Box<Self>> {
        Some(Box::new(Self {
            shelf: settings.store.clone()?,
            keys: settings.keys.clone(),
            key: Key::new(principal, format!("call-{}", token::derived(seed, "page"))),
            kept: settings.kept,
            held: Mutex::default(),
        }))
    }

    pub async fn read(&self) -> Result<Option<Read>, SharedError> {
        let Some(kept) = self.shelf.get(&self.key).await? else {
            return Ok(None);
        };
        let version = kept.version;
        let page = self.open(&self.key, &kept.bytes)?;
        Ok(Some(Read { page, version }))
    }

    /// The version that this process wrote last.
    pub async fn version(&self) -> Option<Version> {
        self.held.lock().await.version
    }

    /// The client is about to be told of a round. `false` if another process goes on with the call.
    pub async fn tell(&self, page: &Page, wait: Duration) -> Result<bool, SharedError> {
        self.write(page, wait.saturating_add(self.kept)).await
    }

    /// The tool has ended. `false` if another process goes on with the call.
    pub async fn end(
        &self,
        round: String,
        record: Record,
        outcome: &Outcome,
    ) -> Result<bool, SharedError> {
        let result = match outcome {
            Ok(result) => Ok(serde_json::to_value(result).unwrap_or_default()),
            Err(error) => Err(error.clone()),
        };
        let stage = Stage::Over(result);
        let page = Page {
            round,
            record,
            stage,
        };
        self.write(&page, self.kept).await
    }

    /// Goes on with the call. `false` if another process does.
    pub async fn take(&self, read: Read, record: Record) -> Result<bool, SharedError> {
        let lease = Key::new(&*self.key.user, format!("lease-{}", token::random()));
        if !self.shelf.insert(&lease, Bytes::new(), LEASE).await? {
            return Ok(false);
        }
        let page = Page {
            round: read.page.round,
            record,
            stage: Stage::Taken(lease.id.clone()),
        };
        let mut held = self.held.lock().await;
        let ttl = EFFECTS; // As long as the tool takes, and it has ended or been taken over before.
        let bytes = self.seal(&self.key, &page)?;
        let is_taken = self
            .shelf
            .replace(&self.key, read.version, bytes, ttl)
            .await?;
        if is_taken {
            held.version = Some(Version(read.version.0 + 1));
            held.lease = Some(lease);
        }
        Ok(is_taken)
    }

    /// Goes on with the call, without a client that came back to it. `false` if another process does.
    pub async fn take_back(&self, record: Record) -> Result<bool, SharedError> {
        let version = self.version().await;
        match self.read().await? {
            Some(read) if Some(read.version) == version => self.take(read, record).await,
            _ => Ok(false),
        }
    }

    /// Says that this process still goes on with the call, if it does.
    pub async fn renew(&self) {
        let held = self.held.lock().await;
        let Some(lease) = &held.lease else { return };
        let renewed = async {
            match self.shelf.get(lease).await? {
                Some(kept) => {
                    self.shelf
                        .replace(lease, kept.version, Bytes::new(), LEASE)
                        .await
                }
                None => self.shelf.insert(lease, Bytes::new(), LEASE).await,
            }
        };
        let _ = renewed.await; // If that fails for long, another process takes over.
    }

    /// Whether the process with this lease is still there.
    pub async fn is_alive(&self, lease: &str) -> Result<bool, SharedError> {
        let lease = Key::new(&*self.key.user, lease);
        Ok(self.shelf.get(&lease).await?.is_some())
    }

    /// An effect is about to run: at most one call of this hears [`Effect::Begun`].
    pub async fn begin(&self, name: &str) -> Result<Effect, SharedError> {
        let key = self.effect(name);
        let intent = self.seal(&key, &Value::Null)?;
        if self.shelf.insert(&key, intent, EFFECTS).await? {
            return Ok(Effect::Begun);
        }
        let Some(kept) = self.shelf.get(&key).await? else {
            return Ok(Effect::Unsure);
        };
        let done: Option<(Value,)> = self.open(&key, &kept.bytes)?;
        Ok(done.map_or(Effect::Unsure, |(value,)| Effect::Done(value)))
    }

    /// What the effect gave.
    pub async fn done(&self, name: &str, value: &Value) -> Result<(), SharedError> {
        let key = self.effect(name);
        let bytes = self.seal(&key, &(value,))?;
        let is_noted = self.shelf.replace(&key, Version(1), bytes, EFFECTS).await?;
        let gone = || SharedError::Unreadable("the intent of an effect is gone".to_owned());
        is_noted.then_some(()).ok_or_else(gone)
    }

    async fn write(&self, page: &Page, ttl: Duration) -> Result<bool, SharedError> {
        let bytes = self.seal(&self.key, page)?;
        let mut held = self.held.lock().await;
        let (is_written, version) = match held.version {
            None => (self.shelf.insert(&self.key, bytes, ttl).await?, Version(1)),
            Some(version) => {
                let is_written = self.shelf.replace(&self.key, version, bytes, ttl).await?;
                (is_written, Version(version.0 + 1))
            }
        };
        if is_written {
            held.version = Some(version);
            held.lease = None;
        }
        Ok(is_written)
    }

    fn effect(&self, name: &str) -> Key {
        let name = token::derived(name, "effect");
        Key::new(&*self.key.user, format!("{}-{name}", self.key.id))
    }

    fn context(key: &Key) -> Context {
        Context::new("midcall-server store")
            .scope(&key.user)
            .about(&key.id)
    }

    fn seal(&self, key: &Key, content: &impl Serialize) -> Result<Bytes, SharedError> {
        let plain = serde_json::to_vec(content).expect("it has nothing but JSON in it");
        let sealed = self
            .keys
            .seal(&plain, &Self::context(key), None, token::bits())?;
        Ok(Bytes::from(sealed))
    }

    fn open<T: DeserializeOwned>(&self, key: &Key, bytes: &[u8]) -> Result<T, SharedError> {
        let plain = self.keys.open(bytes, &Self::context(key), 0);
        let plain = plain.map_err(|why| SharedError::Unreadable(why.to_string()))?;
        let other =
            |_| SharedError::Unreadable("another version of this server wrote it".to_owned());
        serde_json::from_slice(&plain).map_err(other)
    }
}

/// What a tool came to in another process.
pub(crate) fn outcome(result: Result<Value, ErrorData>) -> Outcome {
    result.map(|result| ServerResult::CustomResult(CustomResult(result)))
}
