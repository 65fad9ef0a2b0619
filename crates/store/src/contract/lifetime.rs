//! Records end with their time: for every call, at the same moment.

use std::time::Duration;

use midcall_core::Scope;
use tokio::time::{Instant, sleep};

use super::{LONG, found, fresh, renew};
use crate::{Key, Store};

const SHORT: Duration = Duration::from_millis(300);
const LATER: Duration = Duration::from_millis(700);

pub(super) async fn holds<S: Store>(store: &S) {
    tokio::join!(
        what_expired_is_not_there(store),
        an_id_is_free_after_its_record_expired(store),
        replacing_renews(store),
        replacing_may_shorten(store),
        any_time_fits(store),
    );
}

async fn what_expired_is_not_there<S: Store>(store: &S) {
    let scope = Scope::user(fresh("expired"));
    let key = Key::new(&scope.user, "short");
    let stay = store.insert(&scope, "long", "".into(), LONG).await;
    let go = store.insert(&scope, "short", "a".into(), SHORT).await;
    assert!(stay.unwrap() && go.unwrap());
    let version = found(store, &Key::new(&scope.user, "long")).await.version;
    sleep(LATER).await;

    assert_eq!(store.get(&key).await.unwrap(), None);
    let listed = store.list(&scope).await.unwrap();
    assert_eq!(listed.len(), 1, "the other one stays");
    assert_eq!(listed[0].id, "long");
    // Both were new, so they had the same version.
    let replaced = store.replace(&key, version, "b".into(), LONG).await;
    assert!(!replaced.unwrap(), "what expired is not replaced");
    assert_eq!(store.take(&key).await.unwrap(), None);
}

async fn an_id_is_free_after_its_record_expired<S: Store>(store: &S) {
    let scope = Scope::user(fresh("again")).workspace("old");
    let key = Key::new(&scope.user, "id");
    let next = Scope::user(&scope.user).workspace("new");
    assert!(store.insert(&scope, "id", "a".into(), SHORT).await.unwrap());
    sleep(LATER).await;
    assert!(store.insert(&next, "id", "b".into(), LONG).await.unwrap());
    let record = found(store, &key).await;
    assert_eq!((record.scope, record.bytes), (next, "b".into()));
    // The end of the first is not the end of the second.
    sleep(LATER).await;
    assert_eq!(found(store, &key).await.bytes, "b");
    assert!(store.list(&scope).await.unwrap().is_empty());
}

async fn replacing_renews<S: Store>(store: &S) {
    let scope = Scope::user(fresh("renewed"));
    for id in (0..).map(|number| number.to_string()) {
        let key = Key::new(&scope.user, &id);
        let start = Instant::now();
        assert!(store.insert(&scope, &id, "a".into(), SHORT).await.unwrap());
        let renewed = match store.get(&key).await.unwrap() {
            Some(record) => store.replace(&key, record.version, "b".into(), LONG).await,
            None => Ok(false),
        };
        // A machine that stood still meanwhile may have renewed it too late: that tells nothing.
        if start.elapsed() < SHORT {
            assert!(renewed.unwrap());
            sleep(LATER).await;
            assert_eq!(found(store, &key).await.bytes, "b");
            return;
        }
    }
}

async fn replacing_may_shorten<S: Store>(store: &S) {
    let scope = Scope::user(fresh("shortened"));
    let key = Key::new(&scope.user, "id");
    assert!(store.insert(&scope, "id", "a".into(), LONG).await.unwrap());
    renew(store, &key, "b", SHORT).await;
    sleep(LATER).await;
    assert_eq!(store.get(&key).await.unwrap(), None);
}

async fn any_time_fits<S: Store>(store: &S) {
    let scope = Scope::user(fresh("ages"));
    let key = Key::new(&scope.user, "id");
    let inserted = store.insert(&scope, "id", "a".into(), Duration::MAX).await;
    assert!(inserted.unwrap());
    renew(store, &key, "b", Duration::MAX).await;
    assert_eq!(store.take(&key).await.unwrap().unwrap().bytes, "b");

    let inserted = store.insert(&scope, "none", "a".into(), Duration::ZERO);
    assert!(inserted.await.unwrap());
    sleep(SHORT).await;
    assert_eq!(
        store.get(&Key::new(&scope.user, "none")).await.unwrap(),
        None
    );
}
