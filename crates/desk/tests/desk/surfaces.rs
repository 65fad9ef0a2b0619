//! What is seen of questions: by watchers, and by nobody else.

use std::time::Duration;

use midcall_core::{Answer, Asker, Elicitation, Limits, Words};
use midcall_desk::{By, News, Outcome, Route, Rules, SettleError, Submission, TicketId};
use serde_json::json;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn a_watcher_sees_what_is_open_oldest_first_and_then_every_change() {
    let desk = desk().await;
    let first = ask(&desk).await;
    let link = desk
        .ask(&ana(), &sign_in("https://example.com/in"), None)
        .await
        .unwrap();
    let mut watch = desk.watch(&ana()).await.unwrap();
    assert_eq!(
        all_news(&mut watch).await,
        ["elicitation/request Name?", "elicitation/request Sign in"]
    );
    let mark = watch.mark().clone();
    drop(watch);
    tokio::time::sleep(Duration::from_millis(100)).await;

    desk.opened(&ana(), link.id(), HUMAN).await.unwrap();
    desk.opened(&ana(), link.id(), HUMAN).await.unwrap();
    settle(&desk, first.id(), json!({"name": "Ana"}))
        .await
        .unwrap();
    let third = ask(&desk).await;
    let expected = [
        "elicitation/opened",
        "elicitation/closed accept",
        "elicitation/request Name?",
    ];
    let mut resumed = desk.watch_after(&ana(), &mark).await.unwrap();
    assert_eq!(
        all_news(&mut resumed).await,
        expected,
        "nothing lost, nothing twice"
    );

    let mut newcomer = desk.watch(&ana()).await.unwrap();
    assert_eq!(
        all_news(&mut newcomer).await,
        [
            "elicitation/request Sign in",
            "elicitation/opened",
            "elicitation/request Name?"
        ]
    );
    drop((first, link, third));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(
        all_news(&mut newcomer).await,
        [
            "elicitation/delivery accept",
            "elicitation/closed",
            "elicitation/closed"
        ],
        "the answer that nobody took is lost"
    );
}

#[tokio::test(start_paused = true)]
async fn an_opened_link_gets_another_address_of_the_same_site_and_watchers_hear_it() {
    let desk = desk().await;
    let link = desk
        .ask(&ana(), &sign_in("https://example.com/in?try=1"), None)
        .await
        .unwrap();
    let mut watch = desk.watch(&ana()).await.unwrap();
    let second = "https://example.com/other?try=2";
    desk.renew(&ana(), link.id(), second).await.unwrap();
    assert_eq!(
        all_news(&mut watch).await,
        ["elicitation/request Sign in"],
        "nobody has opened it: what people read before they agree stays as it is"
    );

    desk.opened(&ana(), link.id(), HUMAN).await.unwrap();
    for elsewhere in [
        "https://example.org/in?try=2",
        "http://example.com/in?try=2",
        "https://example.com:8443/in",
        "https://example.com/\u{202e}",
        "javascript:alert(1)",
    ] {
        let refused = desk.renew(&ana(), link.id(), elsewhere).await;
        assert!(
            matches!(refused, Err(SettleError::Refused(_))),
            "{elsewhere}"
        );
    }
    for _ in 0..2 {
        desk.renew(&ana(), link.id(), second).await.unwrap();
    }
    let told = news(&mut watch).await;
    let told: Vec<_> = told.iter().map(|news| json!(news)["url"].clone()).collect();
    assert_eq!(told, [json!(null), json!(second)]);

    let mut newcomer = desk.watch(&ana()).await.unwrap();
    let told = news(&mut newcomer).await;
    let told: Vec<_> = told.iter().map(|news| json!(news)["url"].clone()).collect();
    assert_eq!(told, [json!("https://example.com/in?try=1"), json!(second)]);

    // It is answered as any other, and then leads nowhere.
    desk.settle(&ana(), link.id(), Submission::Cancel, HUMAN)
        .await
        .unwrap();
    let closed = desk.renew(&ana(), link.id(), second).await;
    assert!(matches!(closed, Err(SettleError::Closed(_))));
}

#[tokio::test(start_paused = true)]
async fn a_slow_watcher_catches_up() {
    let mut rules = Rules::default();
    (
        rules.open_per_user,
        rules.open_per_server,
        rules.asks_per_minute,
    ) = (9_999, 9_999, 9_999);
    let desk = desk_with(rules).await;
    let mut watch = desk.watch(&ana()).await.unwrap();
    let mut tickets = Vec::new();
    for _ in 0..3_000 {
        tickets.push(ask(&desk).await);
    }
    assert_eq!(all_news(&mut watch).await.len(), 3_000);
}

#[tokio::test(start_paused = true)]
async fn a_ticket_is_told_in_the_shape_that_surfaces_bind_to() {
    let desk = desk().await;
    let params = json!({"message": "Name?", "requestedSchema": {"type": "object", "title": "You",
        "properties": {}}, "_meta": {"x": 1}});
    let asker = Asker {
        version: Some("1.2".into()),
        tool: Some("greet".into()),
        ..Asker::named("crm")
    };
    let question = Elicitation::read(&params.to_string(), asker, &Limits::default()).unwrap();
    let ticket = desk.ask(&ana(), &question, Some(minutes(1))).await.unwrap();
    let news = desk.watch(&ana()).await.unwrap().next().await.unwrap();
    let mut told = serde_json::to_value(&news).unwrap();
    let told_at = ["asked", "deadline"].map(|name| told[name].take());
    assert_eq!(
        told,
        json!({"type": "elicitation/request", "id": ticket.id().to_string(), "mode": "form",
            "title": "You", "description": "Name?", "schema": params["requestedSchema"],
            "params": params, "server": {"name": "crm", "version": "1.2"}, "tool": "greet",
            "asked": null, "deadline": null})
    );
    let [asked, deadline] =
        told_at.map(|at| at.as_str().unwrap().parse::<jiff::Timestamp>().unwrap());
    assert_eq!(deadline.as_second() - asked.as_second(), 60);
}

#[test]
fn what_people_typed_is_in_no_debug_output() {
    let secret = "xyzzy";
    let submission = typed(json!({"name": secret}));
    let refusal = Submission::Decline(Words::new(secret));
    let by = By {
        route: Route::Api,
        human: false,
    };
    let outcome = Outcome::Answered(
        Answer::Declined {
            reason: Words::new(secret),
        },
        by,
    );
    let printed = format!("{submission:?} {refusal:?} {outcome:?}");
    assert!(!printed.contains(secret), "{printed}");
    assert!(
        !serde_json::to_string(&outcome.closing())
            .unwrap()
            .contains(secret)
    );
}

#[test]
fn a_ticket_is_named_by_128_bits_that_nobody_guesses() {
    for wrong in [
        "",
        "e_1",
        "../../etc",
        &"A".repeat(21),
        &"A".repeat(23),
        &"=".repeat(22),
        "é",
    ] {
        assert!(wrong.parse::<TicketId>().is_err(), "{wrong}");
    }
    let name = "AAECAwQFBgcICQoLDA0ODw";
    assert_eq!(name.parse::<TicketId>().unwrap().to_string(), name);
}

#[tokio::test(start_paused = true)]
async fn news_are_named_as_surfaces_expect() {
    let desk = desk().await;
    let ticket = desk
        .ask(&ana(), &name_please(), Some(minutes(1)))
        .await
        .unwrap();
    let id = ticket.id().to_string();
    let mut watch = desk.watch(&ana()).await.unwrap();
    assert_eq!(ticket.await, Outcome::TimedOut);
    assert!(matches!(watch.next().await.unwrap(), News::Request(_)));
    let last = watch.next().await.unwrap();
    assert_eq!(last.event(), "elicitation/timeout");
    assert_eq!(
        serde_json::to_value(last).unwrap(),
        json!({"id": id, "state": "timed_out"})
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_readers_take_differently_is_seen_as_core_read_it() {
    let desk = desk().await;
    let params = r#"{"message": "c", "url": 5, "requestedSchema": {"type": "object"}}"#;
    let question = Elicitation::read(params, Asker::named("x"), &Limits::default()).unwrap();
    let ticket = desk.ask(&ana(), &question, None).await.unwrap();
    let mut watch = desk.watch(&ana()).await.unwrap();
    assert_eq!(all_news(&mut watch).await, ["elicitation/request c"]);
    settle(&desk, ticket.id(), json!({})).await.unwrap();
    assert!(matches!(ticket.await, Outcome::Answered(..)));
}
