//! Random schedules against what must always be true.
//!
//! The store yields at random before and after each of its calls, so that asking, settling,
//! withdrawing, dropping and expiring cut into each other at every point; settlers are cut off
//! at random, and in some schedules the store fails, before or after it did what it was asked.
//! The two nodes' clocks differ. Whatever happens, each ticket ends once, everybody agrees on how,
//! and every answer is delivered or lost, once.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use midcall_core::Scope;
use midcall_desk::{Delivery, Desk, News, Outcome, Rules, SettleError, State, TicketId, Withdrawn};
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

thread_local!(static FAILS: Cell<bool> = const { Cell::new(false) });

/// Sometimes the store cannot be reached.
fn reach() -> Result<(), StoreError> {
    if FAILS.get() && random(25) == 0 {
        return Err(StoreError::Unreachable("for the test".to_owned()));
    }
    Ok(())
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
        reach()?;
        let done = self.0.replace(key, version, bytes, ttl).await;
        pause().await;
        reach()?;
        done
    }
    async fn take(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.0.take(key).await
    }
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        pause().await;
        reach()?;
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
    /// The store failed, or the settler was cut off: it may have won or not.
    Nothing,
}

#[tokio::test(start_paused = true)]
async fn every_ticket_ends_once_and_everybody_agrees_how() {
    let mut seen = HashMap::<&str, u64>::new();
    for seed in 1..=SCHEDULES {
        RANDOM.with(|state| state.set(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        FAILS.set(seed.is_multiple_of(3));
        schedule(seed, &mut seen).await;
    }
    for ended in ["answered", "timed out", "withdrawn", "dropped"] {
        let times = seen.get(ended).copied().unwrap_or_default();
        assert!(
            times > SCHEDULES / 50,
            "{ended} happened {times} times: {seen:?}"
        );
    }
}

type SlowDesk = Desk<Slow, Mailroom>;

async fn schedule(seed: u64, seen: &mut HashMap<&str, u64>) {
    let (store, post) = (Slow(Memory::default()), Mailroom::default());
    let desk = Desk::open(store.clone(), post.clone(), Rules::default())
        .await
        .unwrap();
    tokio::time::advance(Duration::from_millis(random(3))).await;
    let other = Desk::open(store, post, Rules::default()).await.unwrap();
    let mut watch = desk.watch(&ana()).await.unwrap();

    let tickets = 1 + random(2);
    let lives: Vec<_> = (0..tickets)
        .map(|_| tokio::spawn(life(desk.clone(), other.clone())))
        .collect();
    let mut ends = HashMap::new();
    for one in lives {
        let (id, ended) = one.await.unwrap();
        ends.insert(id.to_string(), (id, ended));
        *seen.entry(ended).or_default() += 1;
    }
    FAILS.set(false);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(
        (desk.waiting(), other.waiting()),
        (0, 0),
        "in schedule {seed}"
    );

    let mut requests = 0;
    let mut closings = HashMap::new();
    let mut deliveries = HashMap::<String, Vec<Delivery>>::new();
    while let Ok(news) = tokio::time::timeout(Duration::from_millis(1), watch.next()).await {
        match news.unwrap() {
            News::Request(_) => requests += 1,
            News::Opened { .. } => panic!("nobody opened anything"),
            News::Closed { id, closing } => {
                let twice = closings.insert(id, closing.state);
                assert_eq!(twice, None, "closed twice in schedule {seed}");
            }
            News::Delivery { id, closing } => {
                let delivery = closing.delivery.expect("it was answered");
                deliveries.entry(id).or_default().push(delivery);
            }
        }
    }
    assert!(requests <= tickets, "asked once");
    for (name, (id, ended)) in ends {
        let status = desk.status(&ana(), id).await.unwrap();
        let state = status.state;
        let told = deliveries.remove(&name).unwrap_or_default();
        let expected: &[Delivery] = match (ended, state) {
            ("answered", _) => &[Delivery::Sent, Delivery::Delivered],
            ("dropped", State::Answered) => &[Delivery::Lost],
            _ => &[],
        };
        // A store that fails may keep some of it to itself, but never tells what isn't so.
        let agree = match seed.is_multiple_of(3) {
            true => told.iter().all(|delivery| expected.contains(delivery)),
            false => {
                told == expected && status.delivery.unwrap_or(Delivery::Lost) != Delivery::Pending
            }
        };
        assert!(agree, "{ended} {told:?} in schedule {seed}");
        let told = closings.get(&name).copied();
        // Where the store failed for good, the record stays open until its time is over.
        let late = told.is_none() && state == State::TimedOut && seed.is_multiple_of(3);
        assert!(
            told == Some(state) || late,
            "{told:?} {state:?} in schedule {seed}"
        );
    }
}

/// One ticket, with everything that can happen to it.
async fn life(desk: SlowDesk, other: SlowDesk) -> (TicketId, &'static str) {
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
                    Err(SettleError::Store(_)) => Heard::Nothing,
                    Err(other) => panic!("{other}"),
                }
            })
        })
        .collect();
    let withdraws = random(4) == 0;
    let drops = random(6) == 0;
    let cuts = random(4) == 0;
    let delay = Duration::from_millis(random(4));
    let withdrawing = tokio::spawn({
        let desk = desk.clone();
        async move {
            tokio::time::sleep(delay).await;
            pause().await;
            if withdraws {
                let _ = desk.withdraw(id, Withdrawn::ByClient).await;
            }
        }
    });
    if cuts || drops {
        tokio::time::sleep(Duration::from_millis(random(4))).await;
        for _ in 0..random(12) {
            tokio::task::yield_now().await;
        }
    }
    if cuts && let Some(settler) = settlers.first() {
        settler.abort();
    }
    if drops {
        waiter.abort();
    }

    let mut heard = Vec::new();
    for settler in settlers {
        heard.push(settler.await.unwrap_or(Heard::Nothing));
    }
    withdrawing.await.unwrap();
    let outcome = tokio::time::timeout(Duration::from_secs(60), waiter).await;
    let outcome = outcome.expect("every ticket ends").ok();

    let winners: Vec<usize> = (0..heard.len())
        .filter(|n| heard[*n] == Heard::Won)
        .collect();
    assert!(winners.len() <= 1, "one answer won: {heard:?}");
    let ended = match outcome {
        None => "dropped",
        Some(Outcome::Answered(answer, _)) => {
            let said = content(answer);
            let by = |n: usize| json!({"name": format!("n{n}")}) == said;
            assert!((0..heard.len()).any(by), "somebody said it: {said}");
            if let [winner] = winners[..] {
                assert!(by(winner), "the winner said it: {said} {heard:?}");
            }
            let agree =
                |told: &Heard| !matches!(told, Heard::Closed(state) if *state != State::Answered);
            assert!(heard.iter().all(agree), "{heard:?}");
            let _ = desk.sent(&ana(), id).await;
            let _ = desk.delivered(&ana(), id).await;
            "answered"
        }
        Some(Outcome::Unavailable(_)) => "unavailable",
        Some(outcome) => {
            assert_eq!(
                winners, [0; 0],
                "an answer that won is not lost: {outcome:?}"
            );
            let state = outcome.closing().state;
            let agree =
                |told: &Heard| matches!(told, Heard::Nothing) || *told == Heard::Closed(state);
            assert!(heard.iter().all(agree), "{heard:?} {outcome:?}");
            match outcome {
                Outcome::TimedOut => "timed out",
                _ => "withdrawn",
            }
        }
    };
    (id, ended)
}
