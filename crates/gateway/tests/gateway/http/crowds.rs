//! Many at once: settlers that race, watchers that all want to know.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::day;
use super::desk::{Caller, Desk};
use super::events::Events;

const FAST: [&str; 6] = [
    "--calls-per-second",
    "100000",
    "--asks-per-minute",
    "100000",
    "--open-limit",
    "2000",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_answer_at_once_one_wins_a_thousand_times() {
    let mut desk = Desk::start(&FAST).await;
    let (person, script) = (desk.person().await, desk.script());
    let mut won = [0; 2];
    for _ in 0..20 {
        let mut races = JoinSet::new();
        for _ in 0..50 {
            let id = desk.ask(day()).await;
            races.spawn(race(person.clone(), script.clone(), id));
        }
        for [mine, other] in races.join_all().await {
            won[usize::from(mine == 409)] += 1;
            assert_eq!([mine.min(other), mine.max(other)], [200, 409]);
        }
        for _ in 0..50 {
            assert_eq!(desk.line().await["state"], "answered");
        }
    }
    assert_eq!(won[0] + won[1], 1_000);
}

/// The statuses that two settlers of one ticket get.
async fn race(person: Caller, script: Caller, id: String) -> [u16; 2] {
    let accept = person
        .post(&format!("/elicitation/{id}/accept"))
        .json(&json!({"content": {"day": "2026-11-16"}}));
    let reject = script.post(&format!("/elicitation/{id}/reject"));
    let (accepted, rejected) = tokio::join!(accept.send(), reject.send());
    [accepted, rejected].map(|response| response.unwrap().status().as_u16())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_watchers_all_see_a_ticket_close() {
    const WATCHERS: usize = 2_000;
    let mut desk = Desk::start(&FAST).await;
    let script = desk.script();
    let id = desk.ask(day()).await;
    let all_watch = Arc::new(Barrier::new(WATCHERS + 1));
    let mut watchers = JoinSet::new();
    for _ in 0..WATCHERS {
        let (script, all_watch) = (script.clone(), all_watch.clone());
        watchers.spawn(async move {
            let mut events = Events::of(&script, "", None).await;
            let opened = events.next().await.unwrap();
            all_watch.wait().await;
            let closed = events.next().await.unwrap();
            (opened.name, closed.name, closed.data)
        });
    }
    all_watch.wait().await;
    let cancel = script.post(&format!("/elicitation/{id}/cancel"));
    assert_eq!(cancel.send().await.unwrap().status(), 200);
    let mut seen = 0;
    while let Some(watched) = watchers.join_next().await {
        let (opened, closed, data) = watched.unwrap();
        assert_eq!(opened, "elicitation/request");
        assert_eq!(closed, "elicitation/closed");
        assert_eq!(
            (&data["id"], &data["action"]),
            (&json!(id), &json!("cancel"))
        );
        seen += 1;
    }
    assert_eq!(seen, WATCHERS);
}
