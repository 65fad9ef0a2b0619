//! What becomes of an answer after the person's "recorded": it is never lost without a word.

use std::time::Duration;

use midcall_desk::{Attempt, Desk, Lost, News, Outcome, Rules, SettleError, TicketId, Withdrawn};
use midcall_store::{Key, Mailroom, Memory, Store};
use serde_json::{Value, json};

use crate::world::*;

const SECRET: &str = "xyzzy";

/// Where a ticket stands, as the status call tells it.
async fn stands(desk: &MemoryDesk, id: TicketId) -> Value {
    let mut status = serde_json::to_value(desk.status(&ana(), id).await.unwrap()).unwrap();
    let told = status.as_object_mut().unwrap();
    told.retain(|name, _| ["state", "action", "delivery", "reason"].contains(&name.as_str()));
    status
}

fn answered(delivery: &str) -> Value {
    json!({"state": "answered", "action": "accept", "delivery": delivery})
}

fn lost(reason: &str) -> Value {
    json!({"state": "answered", "action": "accept", "delivery": "lost", "reason": reason})
}

/// True if what the person typed is in the store.
async fn is_kept(store: &Memory, id: TicketId) -> bool {
    let record = store.get(&Key::new("ana", id.to_string())).await.unwrap();
    let record = record.expect("it is remembered");
    memory_has(&record.bytes)
}

fn memory_has(bytes: &[u8]) -> bool {
    bytes
        .windows(SECRET.len())
        .any(|part| part == SECRET.as_bytes())
}

async fn desk_on(store: &Memory) -> MemoryDesk {
    let opened = Desk::open(store.clone(), Mailroom::default(), Rules::default());
    opened.await.unwrap()
}

/// Lets the desk's own task work.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_said_is_kept_until_it_is_sent_also_by_the_node_that_asked() {
    let store = Memory::default();
    let desk = desk_on(&store).await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    settle(&desk, id, json!({"name": SECRET})).await.unwrap();
    assert!(is_kept(&store, id).await);
    assert_eq!(stands(&desk, id).await, answered("pending"));
    assert!(matches!(ticket.await, Outcome::Answered(..)));
    assert!(is_kept(&store, id).await, "it isn't sent yet");

    desk.sent(&ana(), id).await.unwrap();
    assert!(!is_kept(&store, id).await);
    assert_eq!(stands(&desk, id).await, answered("sent"));
    desk.delivered(&ana(), id).await.unwrap();
    assert_eq!(stands(&desk, id).await, answered("delivered"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_never_sent_is_forgotten_with_its_ticket() {
    let store = Memory::default();
    let desk = desk_on(&store).await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    settle(&desk, id, json!({"name": SECRET})).await.unwrap();
    assert!(matches!(ticket.await, Outcome::Answered(..)));
    tokio::time::sleep(minutes(11)).await;
    let status = desk.status(&ana(), id).await;
    assert!(matches!(status, Err(SettleError::NotFound)));
}

#[tokio::test(start_paused = true)]
async fn how_an_answer_arrived_is_told_once_and_never_taken_back() {
    let desk = desk().await;
    let settled = async || {
        let ticket = ask(&desk).await;
        let id = ticket.id();
        settle(&desk, id, json!({"name": "Ana"})).await.unwrap();
        drop(ticket.await);
        id
    };
    // Without "sent": it went on all the same.
    let id = settled().await;
    desk.delivered(&ana(), id).await.unwrap();
    desk.sent(&ana(), id).await.unwrap();
    let undelivered = desk.undelivered(&ana(), id, Lost::ServerGone).await;
    undelivered.unwrap();
    assert_eq!(stands(&desk, id).await, answered("delivered"));

    let id = settled().await;
    desk.sent(&ana(), id).await.unwrap();
    let undelivered = desk.undelivered(&ana(), id, Lost::ServerGone).await;
    undelivered.unwrap();
    desk.delivered(&ana(), id).await.unwrap();
    assert_eq!(stands(&desk, id).await, lost("server_gone"));

    // Of what isn't an answer, or isn't there, nothing is told.
    let ticket = ask(&desk).await;
    desk.sent(&ana(), ticket.id()).await.unwrap();
    assert_eq!(stands(&desk, ticket.id()).await, json!({"state": "open"}));
    desk.withdraw(ticket.id(), Withdrawn::ByServer)
        .await
        .unwrap();
    desk.delivered(&ana(), ticket.id()).await.unwrap();
    let withdrawn = json!({"state": "withdrawn", "reason": "by_server"});
    assert_eq!(stands(&desk, ticket.id()).await, withdrawn);
    let strangers = midcall_core::Scope::user("bob");
    desk.undelivered(&strangers, ticket.id(), Lost::ServerGone)
        .await
        .unwrap();
    drop(ticket);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_took_is_lost_and_not_taken_back() {
    let store = Memory::default();
    let desk = desk_on(&store).await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    settle(&desk, id, json!({"name": SECRET})).await.unwrap();
    drop(ticket);
    a_moment().await;
    assert_eq!(stands(&desk, id).await, lost("dropped"));
    assert!(!is_kept(&store, id).await);

    // One that is open is taken back as ever.
    let ticket = ask(&desk).await;
    let id = ticket.id();
    drop(ticket);
    a_moment().await;
    let withdrawn = json!({"state": "withdrawn", "reason": "dropped"});
    assert_eq!(stands(&desk, id).await, withdrawn);
}

#[tokio::test(start_paused = true)]
async fn an_answer_by_another_node_is_kept_until_the_asker_sends_it() {
    let (store, post) = (Memory::default(), Mailroom::default());
    let open = || Desk::open(store.clone(), post.clone(), Rules::default());
    let (desk, other) = (open().await.unwrap(), open().await.unwrap());
    let ticket = ask(&desk).await;
    let id = ticket.id();
    settle(&other, id, json!({"name": SECRET})).await.unwrap();
    assert!(matches!(ticket.await, Outcome::Answered(..)));
    assert!(is_kept(&store, id).await);
    desk.sent(&ana(), id).await.unwrap();
    assert!(!is_kept(&store, id).await);
    assert_eq!(stands(&other, id).await, answered("sent"));
}

/// The events that a watcher hears, with the delivery that each tells.
async fn heard(watch: &mut midcall_desk::Watch<Memory>) -> Vec<String> {
    let mut told = Vec::new();
    while let Ok(news) = tokio::time::timeout(Duration::from_millis(1), watch.next()).await {
        let news: News = news.unwrap();
        let data = serde_json::to_value(&news).unwrap();
        let delivery = data["delivery"].as_str().unwrap_or_default();
        told.push(format!("{} {delivery}", news.event()).trim_end().to_owned());
    }
    told
}

#[tokio::test(start_paused = true)]
async fn watchers_hear_of_a_delivery_once_wherever_they_were_cut_off() {
    let desk = desk().await;
    let mut watch = desk.watch(&ana()).await.unwrap();
    let mut marks = vec![watch.mark().clone()];
    let ticket = ask(&desk).await;
    let id = ticket.id();
    let mut told = heard(&mut watch).await;
    marks.push(watch.mark().clone());
    settle(&desk, id, json!({"name": "Ana"})).await.unwrap();
    told.extend(heard(&mut watch).await);
    marks.push(watch.mark().clone());
    drop(ticket.await);
    desk.sent(&ana(), id).await.unwrap();
    told.extend(heard(&mut watch).await);
    marks.push(watch.mark().clone());
    desk.delivered(&ana(), id).await.unwrap();
    told.extend(heard(&mut watch).await);
    marks.push(watch.mark().clone());
    assert_eq!(
        told,
        [
            "elicitation/request",
            "elicitation/closed pending",
            "elicitation/delivery sent",
            "elicitation/delivery delivered",
        ]
    );
    // Whoever comes back hears what it missed, as it stands now.
    let (closed, delivered) = (
        "elicitation/closed delivered",
        "elicitation/delivery delivered",
    );
    let missed: [&[&str]; 5] = [
        &[closed, delivered],
        &[closed, delivered],
        &[delivered],
        &[delivered],
        &[],
    ];
    for (mark, missed) in marks.iter().zip(missed).skip(1) {
        let mut again = desk.watch_after(&ana(), mark).await.unwrap();
        assert_eq!(heard(&mut again).await, missed, "{mark}");
        let mut later = desk.watch_after(&ana(), again.mark()).await.unwrap();
        assert_eq!(heard(&mut later).await, [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_never_knew_a_question_hears_no_closing_of_it() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    settle(&desk, id, json!({"name": "Ana"})).await.unwrap();
    drop(ticket.await);
    let mut watch = desk.watch(&ana()).await.unwrap();
    desk.sent(&ana(), id).await.unwrap();
    assert_eq!(heard(&mut watch).await, ["elicitation/delivery sent"]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_repeated_wins_again_and_no_other_does() {
    let (store, post) = (Memory::default(), Mailroom::default());
    let open = || Desk::open(store.clone(), post.clone(), Rules::default());
    let (desk, other) = (open().await.unwrap(), open().await.unwrap());
    let ticket = ask(&desk).await;
    let id = ticket.id();
    let tries = async |at: &MemoryDesk, name: &str| {
        let (scope, said) = (ana(), typed(json!({"name": "Ana"})));
        let attempt = Attempt::named(name);
        at.settle_once(&scope, id, said, HUMAN, attempt).await
    };
    tries(&desk, "a").await.unwrap();
    let Outcome::Answered(answer, _) = ticket.await else {
        panic!()
    };
    assert_eq!(content(answer), json!({"name": "Ana"}));
    for at in [&desk, &other] {
        tries(at, "a").await.unwrap();
        for name in ["b", ""] {
            let refused = tries(at, name).await;
            assert!(matches!(refused, Err(SettleError::Closed(_))), "{name}");
        }
    }
    desk.delivered(&ana(), id).await.unwrap();
    tries(&desk, "a").await.unwrap();
    assert_eq!(stands(&desk, id).await, answered("delivered"));

    // What ended otherwise was answered by no attempt.
    let ticket = ask(&desk).await;
    let id = ticket.id();
    desk.withdraw(id, Withdrawn::ByServer).await.unwrap();
    let late = typed(json!({"name": "Ana"}));
    let attempt = Attempt::named("a");
    let refused = desk.settle_once(&ana(), id, late, HUMAN, attempt).await;
    assert!(matches!(refused, Err(SettleError::Closed(_))));
    assert!(Attempt::named(&"a".repeat(65)).is_none());
    drop(ticket);
}
