//! What every store and every post must do, as assertions that each implementation runs.
//!
//! The cases use names of their own, so they may run on a store that others use too. They work
//! with real time and with tokio's paused time.

mod changes;
mod letters;
mod lifetime;
mod records;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::{Change, Changes, Key, Missed, Post, Record, Store};

/// Checks that a store keeps its promise. Call it on a runtime with several threads: the races
/// are real ones then.
///
/// # Panics
///
/// If the store breaks its promise.
pub async fn holds<S: Store>(store: S) {
    records::hold(&store).await;
    changes::hold(&store).await;
    lifetime::holds(&store).await;
}

/// Checks that a post keeps its promise.
///
/// # Panics
///
/// If the post breaks its promise.
pub async fn delivers<P: Post>(post: P) {
    letters::arrive(&post).await;
}

/// Longer than any case takes.
const LONG: Duration = Duration::from_secs(600);

/// How long news and letters may be on their way.
const SOON: Duration = Duration::from_secs(30);

/// A name that nobody else uses.
fn fresh(case: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{case}-{}-{nanos:x}-{count}", std::process::id())
}

/// Runs something on several tasks at once and gives what each got.
async fn race<T, F>(tasks: usize, run: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let start = Arc::new(Barrier::new(tasks));
    let mut racers = JoinSet::new();
    for task in 0..tasks {
        let (start, run) = (start.clone(), run(task));
        racers.spawn(async move {
            start.wait().await;
            run.await
        });
    }
    racers.join_all().await
}

/// The record, which must be there.
async fn found<S: Store>(store: &S, key: &Key) -> Record {
    let got = store.get(key).await.expect("get works");
    got.unwrap_or_else(|| panic!("{key:?} is not there"))
}

/// Replaces the record as it is now, which must work.
async fn renew<S: Store>(store: &S, key: &Key, bytes: impl Into<Bytes>, ttl: Duration) {
    let version = found(store, key).await.version;
    let replaced = store.replace(key, version, bytes.into(), ttl).await;
    assert!(
        replaced.expect("replace works"),
        "nobody else wrote {key:?}"
    );
}

/// The next change, which must come.
async fn heard(changes: &mut Changes) -> Result<Change, Missed> {
    let next = tokio::time::timeout(SOON, changes.next()).await;
    next.expect("news comes soon")
}
