//! Many questions, many answers, several desks on one store.

use std::time::Duration;

use midcall_core::{Asker, Elicitation, Limits, Scope};
use midcall_desk::{AskError, Desk, Limited, Outcome, Rules, State};
use midcall_store::{Key, Mailroom, Memory, Store};
use serde_json::json;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn there_are_bounds_on_what_a_server_can_ask() {
    let mut rules = Rules::default();
    (
        rules.open_per_user,
        rules.open_per_server,
        rules.open_per_conversation,
    ) = (4, 3, 2);
    (rules.asks_per_minute, rules.question_bytes) = (6, 1_000);
    let desk = desk_with(rules).await;
    let by = |server: &str| {
        let params = r#"{"message": "?", "requestedSchema": {"type": "object"}}"#;
        Elicitation::read(params, Asker::named(server), &Limits::default()).unwrap()
    };
    let limited = |result: Result<_, AskError>| match result {
        Err(AskError::Limited(limited)) => limited,
        Err(other) => panic!("{other}"),
        Ok(ticket) => panic!("{ticket:?}"),
    };
    let talk = ana().conversation("c1");
    let one = desk.ask(&talk, &by("a"), None).await.unwrap();
    let two = desk.ask(&talk, &by("b"), None).await.unwrap();
    assert_eq!(
        limited(desk.ask(&talk, &by("c"), None).await),
        Limited::Conversation(2)
    );
    let three = desk.ask(&ana(), &by("a"), None).await.unwrap();
    let four = desk.ask(&ana(), &by("a"), None).await.unwrap();
    assert_eq!(
        limited(desk.ask(&ana(), &by("d"), None).await),
        Limited::User(4)
    );
    let bob = desk.ask(&Scope::user("bob"), &by("a"), None).await.unwrap();
    drop(two);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(
        limited(desk.ask(&ana(), &by("a"), None).await),
        Limited::Server(3)
    );
    drop((one, three, four, bob));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(desk.waiting(), 0);

    for _ in 0..3 {
        drop(desk.ask(&ana(), &by("a"), None).await.unwrap());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(
        limited(desk.ask(&ana(), &by("a"), None).await),
        Limited::TooOften(6)
    );
    tokio::time::sleep(Duration::from_secs(11)).await;
    drop(desk.ask(&ana(), &by("a"), None).await.unwrap());

    let long =
        question(json!({"message": "x".repeat(1_000), "requestedSchema": {"type": "object"}}));
    assert_eq!(
        limited(desk.ask(&ana(), &long, None).await),
        Limited::TooLarge(1_000)
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_given_at_one_node_reaches_the_node_that_asked() {
    let (store, post) = (Memory::default(), Mailroom::default());
    let a = Desk::open(store.clone(), post.clone(), Rules::default())
        .await
        .unwrap();
    let b = Desk::open(store.clone(), post.clone(), Rules::default())
        .await
        .unwrap();
    let ticket = a.ask(&ana(), &name_please(), None).await.unwrap();
    let id = ticket.id();
    b.settle(&ana(), id, typed(json!({"name": "xyzzy"})), HUMAN)
        .await
        .unwrap();
    let Outcome::Answered(answer, by) = ticket.await else {
        panic!()
    };
    assert_eq!((content(answer), by), (json!({"name": "xyzzy"}), HUMAN));
    a.sent(&ana(), id).await.unwrap();
    let record = store
        .get(&Key::new("ana", id.to_string()))
        .await
        .unwrap()
        .unwrap();
    let kept = String::from_utf8(record.bytes.to_vec()).unwrap();
    assert!(!kept.contains("xyzzy"), "what was said is not kept: {kept}");

    let ticket = a.ask(&ana(), &name_please(), None).await.unwrap();
    let id = ticket.id();
    drop((ticket, a));
    tokio::time::sleep(Duration::from_millis(1)).await;
    let late = b
        .settle(&ana(), id, typed(json!({"name": "xyzzy"})), HUMAN)
        .await;
    assert_eq!(
        closed(late),
        State::Unavailable,
        "nobody is there to hear it, and that is said"
    );
    let record = store
        .get(&Key::new("ana", id.to_string()))
        .await
        .unwrap()
        .unwrap();
    assert!(
        !String::from_utf8(record.bytes.to_vec())
            .unwrap()
            .contains("xyzzy")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_answers_at_once_exactly_one_wins() {
    let desk = desk().await;
    for _ in 0..50 {
        let ticket = ask(&desk).await;
        let id = ticket.id();
        let settlers: Vec<_> = (0..20)
            .map(|n| {
                let desk = desk.clone();
                tokio::spawn(async move {
                    settle(&desk, id, json!({"name": format!("n{n}")}))
                        .await
                        .is_ok()
                })
            })
            .collect();
        let mut winners = Vec::new();
        for (n, settler) in settlers.into_iter().enumerate() {
            if settler.await.unwrap() {
                winners.push(n);
            }
        }
        let Outcome::Answered(answer, _) = ticket.await else {
            panic!()
        };
        assert_eq!(content(answer), json!({"name": format!("n{}", winners[0])}));
        assert_eq!(winners.len(), 1);
        tokio::time::sleep(Duration::from_millis(500) / 50).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_deadlines_on_several_threads_all_come() {
    let mut rules = Rules::default();
    (
        rules.open_per_user,
        rules.open_per_server,
        rules.asks_per_minute,
    ) = (9_999, 9_999, 99_999);
    let desk = desk_with(rules).await;
    let waiting: Vec<_> = (0..3_000)
        .map(|n| {
            let desk = desk.clone();
            tokio::spawn(async move {
                let patience = Duration::from_millis(1 + n % 5);
                desk.ask(&ana(), &name_please(), Some(patience))
                    .await
                    .unwrap()
                    .await
            })
        })
        .collect();
    for one in waiting {
        let outcome = tokio::time::timeout(Duration::from_secs(20), one).await;
        assert_eq!(outcome.expect("it ends").unwrap(), Outcome::TimedOut);
    }
}
