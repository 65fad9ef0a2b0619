//! News of records: complete, in order, and for those in scope only.

use std::collections::BTreeMap;

use bytes::Bytes;
use midcall_core::Scope;
use tokio::task::JoinSet;

use super::{LONG, found, fresh, heard, renew};
use crate::{Change, Changes, Key, Record, Store, Version};

pub(super) async fn hold<S: Store>(store: &S) {
    changes_come_in_order(store).await;
    what_does_not_happen_is_not_told(store).await;
    scopes_hear_their_own(store).await;
    a_dropped_wait_loses_nothing(store).await;
    nothing_is_missed_between_changes_and_list(store).await;
    everyone_hears(store).await;
    a_slow_watcher_can_start_again(store).await;
}

async fn changes_come_in_order<S: Store>(store: &S) {
    let scope = Scope::user(fresh("news")).workspace("w");
    let key = Key::new(&scope.user, "id");
    assert!(
        store
            .insert(&scope, "before", "".into(), LONG)
            .await
            .unwrap()
    );
    let mut changes = store.changes(&scope).await.unwrap();
    let mut made = vec![];
    assert!(store.insert(&scope, "id", "0".into(), LONG).await.unwrap());
    made.push(Change::Put(found(store, &key).await));
    for step in 1..50 {
        renew(store, &key, step.to_string(), LONG).await;
        made.push(Change::Put(found(store, &key).await));
    }
    store.take(&key).await.unwrap();
    made.push(Change::Gone(key.clone()));
    assert!(
        store
            .insert(&scope, "id", "again".into(), LONG)
            .await
            .unwrap()
    );
    made.push(Change::Put(found(store, &key).await));
    for change in made {
        assert_eq!(heard(&mut changes).await, Ok(change));
    }
}

async fn what_does_not_happen_is_not_told<S: Store>(store: &S) {
    let scope = Scope::user(fresh("silence"));
    let key = Key::new(&scope.user, "id");
    assert!(store.insert(&scope, "id", "".into(), LONG).await.unwrap());
    let mut changes = store.changes(&scope).await.unwrap();
    assert!(!store.insert(&scope, "id", "b".into(), LONG).await.unwrap());
    let wrong = Version(found(store, &key).await.version.0 + 1);
    assert!(!store.replace(&key, wrong, "b".into(), LONG).await.unwrap());
    let absent = Key::new(&scope.user, "absent");
    assert_eq!(store.take(&absent).await.unwrap(), None);
    assert_eq!(heard_ids(store, &scope, &mut changes).await, [""; 0]);
}

async fn scopes_hear_their_own<S: Store>(store: &S) {
    let ana = Scope::user(fresh("ana"));
    let bob = Scope::user(fresh("bob"));
    let scopes = [
        ana.clone(),
        ana.clone().workspace("w"),
        ana.clone().workspace("w").conversation("c"),
        ana.clone().workspace("v"),
        bob.clone(),
        bob.clone().workspace("w").conversation("c"),
    ];
    let mut watchers = vec![];
    for scope in &scopes {
        watchers.push(store.changes(scope).await.unwrap());
    }
    for (at, scope) in scopes.iter().enumerate() {
        let id = at.to_string();
        assert!(store.insert(scope, &id, "".into(), LONG).await.unwrap());
    }
    for (viewer, changes) in scopes.iter().zip(&mut watchers) {
        let covered = scopes.iter().enumerate().filter(|(_, s)| viewer.covers(s));
        let mine: Vec<_> = covered.map(|(at, _)| at.to_string()).collect();
        let ids = heard_ids(store, viewer, changes).await;
        let ids: Vec<_> = ids.into_iter().filter(|id| id.len() == 1).collect();
        assert_eq!(ids, mine, "{viewer:?} hears its own");
    }

    let mut bobs = store.changes(&bob).await.unwrap();
    store.take(&Key::new(&ana.user, "0")).await.unwrap();
    assert_eq!(heard_ids(store, &bob, &mut bobs).await, [""; 0]);
}

/// The ids of what was heard until now: a last record marks where that is.
async fn heard_ids<S: Store>(store: &S, scope: &Scope, changes: &mut Changes) -> Vec<String> {
    let end = fresh("end");
    assert!(store.insert(scope, &end, "".into(), LONG).await.unwrap());
    let mut ids = vec![];
    loop {
        let id = match heard(changes).await.expect("little was said") {
            Change::Put(record) => record.id,
            Change::Gone(key) => key.id,
        };
        if id == end {
            return ids;
        }
        ids.push(id);
    }
}

async fn a_dropped_wait_loses_nothing<S: Store>(store: &S) {
    let scope = Scope::user(fresh("cancel"));
    let mut changes = store.changes(&scope).await.unwrap();
    for at in 0..50 {
        let id = at.to_string();
        assert!(store.insert(&scope, &id, "".into(), LONG).await.unwrap());
    }
    for at in 0..50 {
        // Each wait loses against something that is ready at once, some of the time.
        let change = loop {
            tokio::select! {
                change = heard(&mut changes) => break change,
                () = tokio::task::yield_now() => {}
            }
        };
        let Ok(Change::Put(record)) = change else {
            panic!("{change:?} is no put");
        };
        assert_eq!(record.id, at.to_string());
    }
}

async fn nothing_is_missed_between_changes_and_list<S: Store>(store: &S) {
    const WRITERS: usize = 4;
    let scope = Scope::user(fresh("picture"));
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        tasks.spawn(write(store.clone(), scope.clone(), writer));
    }
    for _ in 0..8 {
        tasks.spawn(follow(store.clone(), scope.clone(), WRITERS));
        tokio::task::yield_now().await;
    }
    tasks.join_all().await;
}

/// Changes records in many ways, and at last writes that it is done.
async fn write<S: Store>(store: S, scope: Scope, writer: usize) {
    for step in 0..60_usize {
        let id = format!("{writer}-{}", step % 7);
        let key = Key::new(&scope.user, &id);
        let bytes = Bytes::from(step.to_string());
        let added = store.insert(&scope, &id, bytes, LONG).await.unwrap();
        if !added && step % 3 == 0 {
            store.take(&key).await.unwrap();
        } else if !added {
            renew(&store, &key, step.to_string(), LONG).await;
        }
        tokio::task::yield_now().await;
    }
    let id = format!("done-{writer}");
    assert!(store.insert(&scope, &id, "".into(), LONG).await.unwrap());
}

/// Subscribes, lists and follows until all writers are done: then it sees what is there.
async fn follow<S: Store>(store: S, scope: Scope, writers: usize) {
    let (mut changes, mut picture) = begin(&store, &scope).await;
    // The list may be ahead of the news: a last record marks where they meet.
    let (end, mut ending) = (fresh("end"), false);
    while !picture.contains_key(&end) {
        let done = picture.keys().filter(|id| id.starts_with("done-"));
        if !ending && done.count() == writers {
            assert!(store.insert(&scope, &end, "".into(), LONG).await.unwrap());
            ending = true;
        }
        match heard(&mut changes).await {
            Ok(Change::Put(record)) => drop(picture.insert(record.id.clone(), record)),
            Ok(Change::Gone(key)) => drop(picture.remove(&key.id)),
            Err(_) => (changes, picture) = begin(&store, &scope).await,
        }
    }
    // Other followers write their ends meanwhile; they are no part of the picture.
    let (_, mut now) = begin(&store, &scope).await;
    now.retain(|id, _| !id.starts_with("end-"));
    picture.retain(|id, _| !id.starts_with("end-"));
    assert_eq!(picture, now, "who follows sees what is there");
}

async fn begin<S: Store>(store: &S, scope: &Scope) -> (Changes, BTreeMap<String, Record>) {
    let changes = store.changes(scope).await.unwrap();
    let listed = store.list(scope).await.unwrap();
    let picture = listed.into_iter().map(|record| (record.id.clone(), record));
    (changes, picture.collect())
}

async fn everyone_hears<S: Store>(store: &S) {
    let scope = Scope::user(fresh("crowd"));
    let mut watchers = vec![];
    for _ in 0..2_000 {
        watchers.push(store.changes(&scope).await.unwrap());
    }
    assert!(store.insert(&scope, "id", "a".into(), LONG).await.unwrap());
    let record = found(store, &Key::new(&scope.user, "id")).await;
    for changes in &mut watchers {
        assert_eq!(heard(changes).await, Ok(Change::Put(record.clone())));
    }
}

/// Whether 3,000 changes are too many is the store's affair; that none is skipped in silence,
/// and that one can start again, is not.
async fn a_slow_watcher_can_start_again<S: Store>(store: &S) {
    let scope = Scope::user(fresh("slow"));
    let key = Key::new(&scope.user, "id");
    assert!(store.insert(&scope, "id", "".into(), LONG).await.unwrap());
    let mut slow = store.changes(&scope).await.unwrap();
    for step in 1..=3_000_u32 {
        renew(store, &key, step.to_string(), LONG).await;
    }
    for step in 1..=3_000_u32 {
        let Ok(change) = heard(&mut slow).await else {
            break;
        };
        let Change::Put(record) = change else {
            panic!("{change:?} is no put");
        };
        assert_eq!(record.bytes, step.to_string(), "nothing is skipped");
    }

    let (mut changes, picture) = begin(store, &scope).await;
    assert_eq!(picture["id"].bytes, "3000");
    renew(store, &key, "on", LONG).await;
    let record = found(store, &key).await;
    assert_eq!(heard(&mut changes).await, Ok(Change::Put(record)));
}
