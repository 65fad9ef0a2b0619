//! Records with versions, and news of their changes.

use std::time::Duration;

use bytes::Bytes;
use midcall_core::Scope;
use tokio::sync::broadcast;

/// Records with versions, and news of their changes.
///
/// Of two `replace` calls that name the same version, exactly one hears `true`. Of several
/// `take` calls, exactly one gets the record. A record is gone after its time to live. Nothing
/// is found by another user's name.
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

    /// What changes in a scope from now on. Who lists after this call misses nothing.
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

/// Counts the changes of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// A record as it was at some moment.
#[derive(Clone, Debug, PartialEq)]
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

/// One change of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It is new, or has a new version.
    Put(Record),
    /// It was taken.
    Gone(Key),
}

/// The changes in a scope, as they happen.
#[derive(Debug)]
pub struct Changes {
    scope: Scope,
    news: broadcast::Receiver<Change>,
}

/// Some changes came faster than they were read. List again: the next ones follow.
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
