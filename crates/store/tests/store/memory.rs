//! What is the memory store's own: how it gives memory back.

use std::time::Duration;

use midcall_core::Scope;
use midcall_store::{Change, Key, Memory, Missed, Store, Version};
use tokio::time::advance;

const MINUTE: Duration = Duration::from_secs(60);

async fn insert(store: &Memory, user: &str, id: impl ToString, ttl: Duration) {
    let scope = Scope::user(user);
    let inserted = store.insert(&scope, &id.to_string(), "x".into(), ttl).await;
    assert!(inserted.unwrap());
}

fn kept(store: &Memory) -> String {
    format!("{store:?}")
}

#[tokio::test(start_paused = true)]
async fn expired_records_give_their_memory_back() {
    let store = Memory::default();
    for at in 0..10_000 {
        insert(&store, &format!("user {}", at % 100), at, MINUTE).await;
    }
    assert_eq!(kept(&store), "Memory { records: 10000, users: 100 }");
    advance(MINUTE).await;
    for at in 0..2_500 {
        insert(&store, "ana", at, MINUTE).await;
    }
    assert_eq!(kept(&store), "Memory { records: 2500, users: 1 }");
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_or_replaced_leaves_nothing_behind() {
    let store = Memory::default();
    let key = Key::new("ana", "id");
    for _ in 0..100 {
        insert(&store, "ana", "id", MINUTE).await;
        let longer = store.replace(&key, Version(1), "y".into(), MINUTE * 2);
        assert!(longer.await.unwrap());
        assert_eq!(kept(&store), "Memory { records: 1, users: 1 }");
        store.take(&key).await.unwrap();
        assert_eq!(kept(&store), "Memory { records: 0, users: 0 }");
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_record_is_its_last_one() {
    let store = Memory::default();
    let key = Key::new("ana", "id");
    insert(&store, "ana", "id", MINUTE).await;
    let longer = store.replace(&key, Version(1), "y".into(), MINUTE * 3);
    assert!(longer.await.unwrap());
    advance(MINUTE * 2).await;
    insert(&store, "ana", "other", MINUTE).await;
    assert_eq!(store.get(&key).await.unwrap().unwrap().version, Version(2));
    advance(MINUTE - Duration::from_micros(1)).await;
    assert!(store.get(&key).await.unwrap().is_some());
    advance(Duration::from_micros(1)).await;
    assert!(store.get(&key).await.unwrap().is_none());
}

#[tokio::test]
async fn users_whom_nobody_watches_any_more_are_forgotten() {
    let store = Memory::default();
    let mut watchers = vec![];
    for at in 0..100 {
        let scope = Scope::user(format!("user {at}"));
        watchers.push(store.changes(&scope).await.unwrap());
    }
    let mut ana = store.changes(&Scope::user("ana")).await.unwrap();
    assert_eq!(kept(&store), "Memory { records: 0, users: 101 }");
    drop(watchers);
    for at in 0..60 {
        insert(&store, "ana", at, MINUTE).await;
    }
    assert_eq!(kept(&store), "Memory { records: 60, users: 1 }");
    assert!(matches!(ana.next().await, Ok(Change::Put(_))));
}

#[tokio::test]
async fn a_watcher_that_falls_behind_hears_so_and_goes_on() {
    let store = Memory::default();
    let mut ana = store.changes(&Scope::user("ana")).await.unwrap();
    for at in 0..257 {
        insert(&store, "ana", at, MINUTE).await;
    }
    assert_eq!(ana.next().await, Err(Missed));
    let Ok(Change::Put(next)) = ana.next().await else {
        panic!("the next ones follow");
    };
    assert_eq!(next.id, "1");
}

#[tokio::test]
async fn a_watcher_hears_that_its_store_is_gone() {
    let store = Memory::default();
    let mut ana = store.changes(&Scope::user("ana")).await.unwrap();
    drop(store);
    assert_eq!(ana.next().await, Err(Missed));
}

#[tokio::test]
async fn what_is_kept_stays_out_of_the_logs() {
    let store = Memory::default();
    let scope = Scope::user("ana");
    let secret = store.insert(&scope, "id", "secret".into(), MINUTE);
    assert!(secret.await.unwrap());
    let record = store.get(&Key::new("ana", "id")).await.unwrap();
    assert!(!format!("{store:?} {record:?}").contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn what_expired_is_gone_before_its_memory_is_given_back() {
    let store = Memory::default();
    let (ana, key) = (Scope::user("ana"), Key::new("ana", "99"));
    for at in 0..100 {
        insert(&store, "ana", at, MINUTE).await;
    }
    advance(MINUTE).await;
    assert_eq!(store.list(&ana).await.unwrap(), []);
    assert_eq!(store.get(&key).await.unwrap(), None);
    let replaced = store.replace(&key, Version(1), "y".into(), MINUTE).await;
    assert!(!replaced.unwrap());
    assert_eq!(store.take(&key).await.unwrap(), None);
    insert(&store, "ana", 99, MINUTE).await;
    assert_eq!(store.list(&ana).await.unwrap().len(), 1);
    // Three writes dropped four each; the new record took the place of an expired one.
    assert_eq!(kept(&store), "Memory { records: 88, users: 1 }");
}
