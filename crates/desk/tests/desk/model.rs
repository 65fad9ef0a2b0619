//! Random schedules against what must always be true.
//!
//! The store yields at random before and after each of its calls, so that asking, settling,
//! withdrawing, dropping and expiring cut into each other at every point. Whatever happens,
//! each ticket ends once, and everybody agrees on how.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use midcall_core::Scope;
use midcall_desk::{Desk, News, Outcome, Rules, SettleError, State, Withdrawn};
use midcall_store::{Changes, Key, Mailroom, Memory, Record, Store, StoreError, Version};
use serde_json::json;

use crate::world::*;

const SCHEDULES: u64 = 10_000;

thread_local!(static RANDOM: Cell<u64> = const { Cell::new(1) });

fn random(below: u64) -> u64 {
    RANDOM.with(|state| {
        let mut x = state.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        x % below
    })
}

async fn pause() {
    for _ in 0..random(4) {
        tokio::task::yield_now().await;
    }
}

/// A store that takes its time.
#[derive(Clone)]
struct Slow(Memory);

impl Store for Slow {
    async fn insert(
        &self,
        scope: &Scope,
        id: &str,
        bytes: Bytes,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        pause().await;
        let done = self.0.insert(scope, id, bytes, ttl).await;
        pause().await;
        done
    }
    async fn replace(
        &self,
        key: &Key,
        version: Version,
        bytes: Bytes,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        pause().await;
        let done = self.0.replace(key, version, bytes, ttl).await;
        pause().await;
        done
    }
    async fn take(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.0.take(key).await
    }
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        pause().await;
        let found = self.0.get(key).await;
        pause().await;
        found
    }
    async fn list(&self, scope: &Scope) -> Result<Vec<Record>, StoreError> {
        pause().await;
        self.0.list(scope).await
    }
    async fn changes(&self, scope: &Scope) -> Result<Changes, StoreError> {
        let changes = self.0.changes(scope).await;
        pause().await;
        changes
    }
}

/// What one settler heard.
#[derive(Debug, PartialEq)]
enum Heard {
    Won,
    Closed(State),
    NotThere,
}

#[tokio::test(start_paused = true)]
async fn every_ticket_ends_once_and_everybody_agrees_how() {
    let mut seen = HashMap::<String, u64>::new();
    for seed in 1..=SCHEDULES {
        RANDOM.with(|state| state.set(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let ended = schedule().await;
        *seen.entry(ended).or_default() += 1;
    }
    for ended in ["answered", "timed out", "withdrawn", "dropped"] {
        let times = seen.get(ended).copied().unwrap_or_default();
        assert!(
            times > SCHEDULES / 50,
            "{ended} happened {times} times: {seen:?}"
        );
    }
}

async fn schedule() -> String {
    let (store, post) = (Slow(Memory::default()), Mailroom::default());
    let desk = Desk::open(store.clone(), post.clone(), Rules::default())
        .await
        .unwrap();
    let other = Desk::open(store, post, Rules::default()).await.unwrap();
    let mut watch = desk.watch(&ana()).await.unwrap();

    let patience = Duration::from_millis(1 + random(3));
    let ticket = desk
        .ask(&ana(), &name_please(), Some(patience))
        .await
        .unwrap();
    let id = ticket.id();
    let waiter = tokio::spawn(ticket);

    let settlers: Vec<_> = (0..random(4))
        .map(|n| {
            let desk = if random(2) == 0 {
                desk.clone()
            } else {
                other.clone()
            };
            let delay = Duration::from_millis(random(4));
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                pause().await;
                let said = typed(json!({"name": format!("n{n}")}));
                match desk.settle(&ana(), id, said, HUMAN).await {
                    Ok(()) => Heard::Won,
                    Err(SettleError::Closed(closing)) => Heard::Closed(closing.state),
                    Err(SettleError::NotFound) => Heard::NotThere,
                    Err(other) => panic!("{other}"),
                }
            })
        })
        .collect();
    let withdraws = random(4) == 0;
    let drops = random(6) == 0;
    let delay = Duration::from_millis(random(4));
    let withdrawing = tokio::spawn({
        let desk = desk.clone();
        async move {
            tokio::time::sleep(delay).await;
            pause().await;
            if withdraws {
                desk.withdraw(id, Withdrawn::ByClient).await.unwrap();
            }
        }
    });
    if drops {
        tokio::time::sleep(Duration::from_millis(random(4))).await;
        pause().await;
        waiter.abort();
    }

    let mut heard = Vec::new();
    for settler in settlers {
        heard.push(settler.await.unwrap());
    }
    withdrawing.await.unwrap();
    let outcome = waiter.await.ok();
    tokio::time::sleep(Duration::from_millis(20)).await;

    let state = desk.status(&ana(), id).await.unwrap().state;
    assert_ne!(state, State::Open, "it ended");
    let winners: Vec<usize> = (0..heard.len())
        .filter(|n| heard[*n] == Heard::Won)
        .collect();
    assert!(winners.len() <= 1, "one answer won: {heard:?}");
    assert_eq!(
        winners.len() == 1,
        state == State::Answered,
        "{heard:?} {state:?}"
    );
    for told in &heard {
        assert!(
            matches!(told, Heard::Won) || *told == Heard::Closed(state),
            "{told:?} {state:?}"
        );
    }
    let ended = match outcome {
        None => "dropped",
        Some(Outcome::Answered(answer, _)) => {
            assert_eq!(content(answer), json!({"name": format!("n{}", winners[0])}));
            "answered"
        }
        Some(Outcome::TimedOut) => {
            assert_eq!(state, State::TimedOut);
            "timed out"
        }
        Some(Outcome::Withdrawn(why)) => {
            assert_eq!((state, why), (State::Withdrawn, Withdrawn::ByClient));
            "withdrawn"
        }
        Some(other) => panic!("{other:?}"),
    };
    assert_eq!((desk.waiting(), other.waiting()), (0, 0));

    let mut requests = 0;
    let mut closings = Vec::new();
    while let Ok(news) = tokio::time::timeout(Duration::from_millis(1), watch.next()).await {
        match news.unwrap() {
            News::Request(_) => requests += 1,
            News::Opened { .. } => panic!("nobody opened anything"),
            News::Closed { closing, .. } => closings.push(closing.state),
        }
    }
    assert!(requests <= 1, "asked once");
    assert_eq!(
        closings,
        [state],
        "closed once, and the watcher was told how"
    );
    ended.to_owned()
}
