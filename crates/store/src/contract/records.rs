//! Records without regard to time: one id, one record; one version, one winner.

use bytes::Bytes;
use midcall_core::Scope;

use super::{LONG, found, fresh, race, renew};
use crate::{Key, Store, Version};

pub(super) async fn hold<S: Store>(store: &S) {
    an_id_is_used_once(store).await;
    a_record_lives_from_insert_to_take(store).await;
    one_of_many_inserts_wins(store).await;
    one_of_many_replaces_wins(store).await;
    one_of_many_takes_wins(store).await;
    lists_are_oldest_first(store).await;
    scopes_see_their_own(store).await;
    any_size_fits(store).await;
    any_name_fits(store).await;
}

async fn an_id_is_used_once<S: Store>(store: &S) {
    let scope = Scope::user(fresh("once"));
    let key = Key::new(&scope.user, "id");
    assert!(store.insert(&scope, "id", "a".into(), LONG).await.unwrap());
    let elsewhere = scope.clone().workspace("w");
    for scope in [&scope, &elsewhere] {
        let again = store.insert(scope, "id", "b".into(), LONG).await.unwrap();
        assert!(!again, "an id is taken in all of a user's scopes");
    }
    assert_eq!(found(store, &key).await.bytes, "a");
    assert_eq!(store.list(&scope).await.unwrap().len(), 1);

    let other = Scope::user(fresh("once"));
    assert!(store.insert(&other, "id", "c".into(), LONG).await.unwrap());
    assert_eq!(found(store, &key).await.bytes, "a");
}

async fn a_record_lives_from_insert_to_take<S: Store>(store: &S) {
    let scope = Scope::user(fresh("life")).workspace("w").conversation("c");
    let key = Key::new(&scope.user, "id");
    assert_eq!(store.get(&key).await.unwrap(), None);
    assert_eq!(store.take(&key).await.unwrap(), None);
    let absent = store.replace(&key, Version(1), "x".into(), LONG).await;
    assert!(!absent.unwrap(), "nothing is there to replace");

    assert!(store.insert(&scope, "id", "a".into(), LONG).await.unwrap());
    let first = found(store, &key).await;
    assert_eq!((first.id.as_str(), &first.scope), ("id", &scope));
    assert_eq!(first.bytes, "a");

    let mut last = first.version;
    for step in 0..5 {
        renew(store, &key, format!("b{step}"), LONG).await;
        let now = found(store, &key).await;
        assert!(now.version > last, "versions rise");
        assert_eq!((&now.scope, now.bytes), (&scope, format!("b{step}").into()));
        let late = store.replace(&key, last, "late".into(), LONG).await;
        assert!(!late.unwrap(), "an old version is not replaced");
        last = now.version;
    }
    let early = Version(last.0 + 1);
    let early = store.replace(&key, early, "early".into(), LONG).await;
    assert!(!early.unwrap(), "a version to come is not replaced");

    let there = found(store, &key).await;
    assert_eq!(store.take(&key).await.unwrap(), Some(there));
    assert_eq!(store.get(&key).await.unwrap(), None);
    assert_eq!(store.take(&key).await.unwrap(), None);
    assert!(store.list(&scope).await.unwrap().is_empty());
    assert!(store.insert(&scope, "id", "z".into(), LONG).await.unwrap());
    assert_eq!(found(store, &key).await.bytes, "z");
}

async fn one_of_many_inserts_wins<S: Store>(store: &S) {
    let scope = Scope::user(fresh("insert-race"));
    let won = race(64, |task| {
        let (store, scope) = (store.clone(), scope.clone());
        async move {
            let bytes = task.to_string().into();
            store.insert(&scope, "id", bytes, LONG).await.unwrap()
        }
    });
    let won = won.await.into_iter().filter(|won| *won).count();
    assert_eq!(won, 1, "one insert wins");
}

async fn one_of_many_replaces_wins<S: Store>(store: &S) {
    let scope = Scope::user(fresh("replace-race"));
    let key = Key::new(&scope.user, "id");
    assert!(store.insert(&scope, "id", "".into(), LONG).await.unwrap());
    for _ in 0..5 {
        let version = found(store, &key).await.version;
        let wrote = race(64, |task| {
            let (store, key) = (store.clone(), key.clone());
            async move {
                let bytes = Bytes::from(task.to_string());
                let won = store.replace(&key, version, bytes.clone(), LONG).await;
                won.unwrap().then_some(bytes)
            }
        });
        let wrote: Vec<_> = wrote.await.into_iter().flatten().collect();
        assert_eq!(wrote.len(), 1, "one replace of a version wins");
        assert_eq!(found(store, &key).await.bytes, wrote[0]);
    }
}

async fn one_of_many_takes_wins<S: Store>(store: &S) {
    let scope = Scope::user(fresh("take-race"));
    let key = Key::new(&scope.user, "id");
    for _ in 0..5 {
        assert!(store.insert(&scope, "id", "a".into(), LONG).await.unwrap());
        let got = race(64, |_| {
            let (store, key) = (store.clone(), key.clone());
            async move { store.take(&key).await.unwrap() }
        });
        assert_eq!(got.await.iter().flatten().count(), 1, "one take wins");
    }
}

async fn lists_are_oldest_first<S: Store>(store: &S) {
    let scope = Scope::user(fresh("order"));
    let ids = ["m", "z", "a", "k", "b", "10", "9"];
    for id in ids {
        assert!(store.insert(&scope, id, id.into(), LONG).await.unwrap());
    }
    // A new version makes a record no younger.
    renew(store, &Key::new(&scope.user, "m"), "new", LONG).await;
    let listed = store.list(&scope).await.unwrap();
    let listed: Vec<_> = listed.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(listed, ids);
}

async fn scopes_see_their_own<S: Store>(store: &S) {
    let ana = Scope::user(fresh("ana"));
    let bob = Scope::user(fresh("bob"));
    let scopes = [
        ana.clone(),
        ana.clone().workspace("w"),
        ana.clone().workspace("w").conversation("c"),
        ana.clone().conversation("c"),
        ana.clone().workspace(""),
        bob.clone(),
        bob.clone().workspace("w").conversation("c"),
    ];
    for (at, scope) in scopes.iter().enumerate() {
        let id = at.to_string();
        assert!(store.insert(scope, &id, "x".into(), LONG).await.unwrap());
    }
    for viewer in &scopes {
        let listed = store.list(viewer).await.unwrap();
        let listed: Vec<_> = listed.into_iter().map(|record| record.scope).collect();
        let mine = scopes.iter().filter(|scope| viewer.covers(scope));
        assert!(mine.eq(&listed), "{viewer:?} sees {listed:?}");
    }
    let stolen = Key::new(&bob.user, "0");
    assert_eq!(store.get(&stolen).await.unwrap(), None);
    assert_eq!(store.take(&stolen).await.unwrap(), None);
    let version = found(store, &Key::new(&ana.user, "0")).await.version;
    let replaced = store.replace(&stolen, version, "y".into(), LONG).await;
    assert!(!replaced.unwrap(), "another user's record is not replaced");
    let nobody = Scope::user(fresh("nobody"));
    assert!(store.list(&nobody).await.unwrap().is_empty());
}

async fn any_size_fits<S: Store>(store: &S) {
    let scope = Scope::user(fresh("size"));
    let every: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    for (id, bytes) in [("empty", vec![]), ("zero", vec![0]), ("large", every)] {
        let (key, bytes) = (Key::new(&scope.user, id), Bytes::from(bytes));
        let inserted = store.insert(&scope, id, bytes.clone(), LONG).await;
        assert!(inserted.unwrap());
        assert!(found(store, &key).await.bytes == bytes, "{id} comes back");
        renew(store, &key, bytes.clone(), LONG).await;
        let taken = store.take(&key).await.unwrap();
        assert!(taken.unwrap().bytes == bytes, "{id} comes back");
    }
}

async fn any_name_fits<S: Store>(store: &S) {
    let long = "n".repeat(1_000);
    let odd = [
        "", " ", "/", "a/b", "..", ":", "a:b", "a:", "*", "a*", "?", "[a]", "{a}", "%", "_", "'",
        "\"", "\\", "\n", "a\nb", "\0", "é", "e\u{301}", "名前", "🦀", "A", "a", &long,
    ];
    let base = fresh("odd");
    let scopes = odd.map(|name| Scope::user(format!("{base}{name}")).workspace(name));
    for scope in &scopes {
        for id in odd {
            let inserted = store.insert(scope, id, "x".into(), LONG).await;
            assert!(inserted.unwrap(), "{id:?} is new to {scope:?}");
        }
    }
    for scope in &scopes {
        let listed = store.list(scope).await.unwrap();
        let ids = listed.iter().map(|record| record.id.as_str());
        assert!(ids.eq(odd), "{scope:?} has each id once, in order");
        assert!(listed.iter().all(|record| record.scope == *scope));
        for id in odd {
            let taken = store.take(&Key::new(&scope.user, id)).await.unwrap();
            assert_eq!(taken.map(|record| record.id).as_deref(), Some(id));
        }
    }
}
