//! Records with versions, and news of their changes.
//!
//! In: [`Store`]'s calls. Out: [`Changes`].
//! Elsewhere: the records in memory (`memory`), what every store must do (`contract`).

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use midcall_core::Scope;
use tokio::sync::broadcast;

/// Records with versions, and news of their changes.
///
/// Of two `replace` calls that name the same version, exactly one hears `true`. Of several
/// `take` calls, exactly one gets the record. A record is gone after its time to live, for every
/// call alike and without a word: no change tells of it. Nothing is found by another user's name.
pub trait Store: Clone + Send + Sync + 'static {
    /// Adds a record; `false` if that user has one by this id already.
    fn insert(
        &self,
        scope: &Scope,
        id: &str,
        bytes: Bytes,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Puts new bytes in place of a version; `false` if the record has another one, or none.
    fn replace(
        &self,
        key: &Key,
        version: Version,
        bytes: Bytes,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Removes a record and gives it back.
    fn take(&self, key: &Key) -> impl Future<Output = Result<Option<Record>, StoreError>> + Send;

    /// The record as it is now.
    fn get(&self, key: &Key) -> impl Future<Output = Result<Option<Record>, StoreError>> + Send;

    /// Every record that a scope covers, oldest first.
    fn list(&self, scope: &Scope) -> impl Future<Output = Result<Vec<Record>, StoreError>> + Send;

    /// What changes in a scope from now on, in the order in which it happened to the user's
    /// records. Who lists after this call misses nothing.
    fn changes(&self, scope: &Scope) -> impl Future<Output = Result<Changes, StoreError>> + Send;
}

/// Where a record is found: by its user and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The user it belongs to.
    pub user: String,
    /// Its id.
    pub id: String,
}

impl Key {
    /// The key of a user's record.
    pub fn new(user: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            id: id.into(),
        }
    }
}

/// Counts the changes of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// A record as it was at some moment. `Debug` prints how many bytes it holds, never which.
#[derive(Clone, PartialEq)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// Whose it is.
    pub scope: Scope,
    /// Which of its versions this is.
    pub version: Version,
    /// What it holds. The store does not look inside.
    pub bytes: Bytes,
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("id", &self.id)
            .field("scope", &self.scope)
            .field("version", &self.version)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// One change of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It is new, or has a new version.
    Put(Record),
    /// It was taken. Everyone who watches the user hears it, however narrow their scope.
    Gone(Key),
}

/// The changes in a scope, as they happen.
#[derive(Debug)]
pub struct Changes {
    scope: Scope,
    news: broadcast::Receiver<Change>,
}

impl Changes {
    /// What of the news belongs to a scope. Stores make these; others get theirs from
    /// [`Store::changes`].
    pub fn new(scope: Scope, news: broadcast::Receiver<Change>) -> Self {
        Self { scope, news }
    }

    /// Waits for the next change. A call that is dropped before it is ready loses nothing.
    ///
    /// [`Missed`] comes when the news ran ahead of the reader, and then the next ones follow. It
    /// also comes, every time, when the store has let go of this watcher (it lost its connection,
    /// say). Subscribing anew and then listing is right in both cases.
    pub async fn next(&mut self) -> Result<Change, Missed> {
        loop {
            let change = self.news.recv().await.map_err(|_| Missed)?;
            let mine = match &change {
                Change::Put(record) => self.scope.covers(&record.scope),
                Change::Gone(key) => self.scope.user == key.user,
            };
            if mine {
                return Ok(change);
            }
        }
    }
}

/// Changes were missed: they came faster than they were read, or the store let go of the
/// watcher. Ask for [`Store::changes`] again, then list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("changes were missed: read the whole again")]
pub struct Missed;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached, or it is broken.
    #[error("the store is unreachable: {0}")]
    Unreachable(String),
}
