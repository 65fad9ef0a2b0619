//! Many at once: settlers that race, watchers that all want to know.

use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::day;
use super::desk::{Caller, Desk};
use super::events::Events;

/// Set in the process that may open many files.
const RAISED: &str = "MIDCALL_TEST_RAISED";

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
    for _ in 0..20 {
        let mut races = JoinSet::new();
        for _ in 0..50 {
            let id = desk.ask(day()).await;
            races.spawn(race(person.clone(), script.clone(), id));
        }
        for mut statuses in races.join_all().await {
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409]);
        }
        for _ in 0..50 {
            assert_eq!(desk.line().await["state"], "answered");
        }
    }
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

/// Each needs a file handle, and the usual limit is lower than the number of them: the test
/// runs itself again with a higher one.
#[test]
fn two_thousand_watchers_all_see_a_ticket_close() {
    let this = "http::crowds::two_thousand_watchers_all_see_a_ticket_close";
    if std::env::var_os(RAISED).is_some() {
        return many_watch();
    }
    let again = Command::new("sh")
        .args(["-c", "ulimit -S -n 8192; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", this])
        .env(RAISED, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

#[tokio::main]
async fn many_watch() {
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
