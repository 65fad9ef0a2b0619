//! A question that is asked again by the same name is the same question.

use std::time::Duration;

use midcall_desk::{AskError, Desk, Outcome, Rules, State, Ticket, TicketId};
use midcall_store::{Mailroom, Memory};
use serde_json::{Value, json};

use crate::world::*;

const NAME: [u8; 16] = [7; 16];

/// Two processes with one store.
async fn two() -> [MemoryDesk; 2] {
    let (store, post) = (Memory::default(), Mailroom::default());
    let open = || Desk::open(store.clone(), post.clone(), Rules::default());
    [open().await.unwrap(), open().await.unwrap()]
}

async fn ask_as(desk: &MemoryDesk) -> Ticket {
    let id = TicketId::from(NAME);
    desk.ask_as(id, &ana(), &name_please(), Some(minutes(5)))
        .await
        .unwrap()
}

async fn delivery(desk: &MemoryDesk) -> Value {
    let status = desk.status(&ana(), TicketId::from(NAME)).await.unwrap();
    serde_json::to_value(status).unwrap()["delivery"].clone()
}

#[tokio::test(start_paused = true)]
async fn people_see_it_once_and_whoever_asked_last_gets_the_answer() {
    let [first, second] = two().await;
    let mut watch = first.watch(&ana()).await.unwrap();
    let before = ask_as(&first).await;
    first.detach(before.id());
    tokio::time::sleep(minutes(2)).await;
    let after = ask_as(&second).await;
    assert_eq!(before.id(), after.id());
    assert_eq!(all_news(&mut watch).await, ["elicitation/request Name?"]);
    assert!(
        matches!(before.await, Outcome::Unavailable(_)),
        "it waits in vain"
    );
    settle(&first, after.id(), json!({"name": "Ada"}))
        .await
        .unwrap();
    let Outcome::Answered(answer, _) = after.await else {
        panic!("it is answered")
    };
    assert_eq!(content(answer), json!({"name": "Ada"}));
    assert_eq!(delivery(&second).await, "pending");
}

#[tokio::test(start_paused = true)]
async fn it_waits_no_longer_than_it_did() {
    let [first, second] = two().await;
    let before = ask_as(&first).await;
    first.detach(before.id());
    drop(before);
    tokio::time::sleep(minutes(4)).await;
    let (start, after) = (tokio::time::Instant::now(), ask_as(&second).await);
    assert_eq!(after.await, Outcome::TimedOut);
    assert!(start.elapsed() <= minutes(1) + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_meanwhile_is_not_lost() {
    let [first, second] = two().await;
    let before = ask_as(&first).await;
    first.detach(before.id());
    settle(&first, before.id(), json!({"name": "Ada"}))
        .await
        .unwrap();
    let after = ask_as(&second).await;
    assert!(matches!(after.await, Outcome::Answered(..)));
    assert_eq!(delivery(&second).await, "pending");
    // Nothing was sent, so it may be asked for once more.
    assert!(matches!(ask_as(&second).await.await, Outcome::Answered(..)));
    second.sent(&ana(), TicketId::from(NAME)).await.unwrap();
    assert!(matches!(
        ask_as(&second).await.await,
        Outcome::Unavailable(_)
    ));
    assert_eq!(delivery(&second).await, "sent");
}

#[tokio::test(start_paused = true)]
async fn the_same_process_may_ask_again_too() {
    let [desk, _] = two().await;
    let before = ask_as(&desk).await;
    let after = ask_as(&desk).await;
    assert_eq!(desk.waiting(), 1);
    drop(before);
    tokio::time::sleep(Duration::from_millis(1)).await;
    let status = desk.status(&ana(), after.id()).await.unwrap();
    assert_eq!(
        status.state,
        State::Open,
        "dropping the former takes nothing back"
    );
    settle(&desk, after.id(), json!({"name": "Ada"}))
        .await
        .unwrap();
    assert!(matches!(after.await, Outcome::Answered(..)));
    assert_eq!(desk.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_name_of_another_conversation_is_taken() {
    let [desk, _] = two().await;
    let mut other = ana();
    other.conversation = Some("other".to_owned());
    let id = TicketId::from(NAME);
    let _ticket = desk.ask_as(id, &other, &name_please(), None).await.unwrap();
    let mut mine = ana();
    mine.conversation = Some("mine".to_owned());
    let taken = desk.ask_as(id, &mine, &name_please(), None).await;
    assert!(matches!(taken, Err(AskError::Store(_))));
    assert_eq!(desk.waiting(), 1);
}
