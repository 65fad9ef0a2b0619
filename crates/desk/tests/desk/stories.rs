//! Every rule of the desk, with time paused.

use std::time::Duration;

use midcall_core::{Answer, Asker, Elicitation, Limits, Scope, Words};
use midcall_desk::{
    AskError, By, Desk, Limited, News, Outcome, Route, Rules, SettleError, State, Submission,
    TicketId, Withdrawn,
};
use midcall_store::{Key, Mailroom, Memory, Store};
use serde_json::json;

use crate::world::*;

fn closed(result: Result<(), SettleError>) -> State {
    match result {
        Err(SettleError::Closed(closing)) => closing.state,
        other => panic!("{other:?}"),
    }
}

fn is_not_found(result: &Result<(), SettleError>) -> bool {
    matches!(result, Err(SettleError::NotFound))
}

#[tokio::test(start_paused = true)]
async fn a_person_answers_and_the_answer_reaches_whoever_asked() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    assert_eq!(desk.waiting(), 1);
    settle(&desk, id, json!({"name": "Ana"})).await.unwrap();

    let Outcome::Answered(answer, by) = ticket.await else {
        panic!()
    };
    assert_eq!((content(answer), by), (json!({"name": "Ana"}), HUMAN));
    assert_eq!(desk.waiting(), 0);
    assert_eq!(
        desk.status(&ana(), id).await.unwrap().state,
        State::Answered
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_as_one_with_its_reason() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let reason = Words::new("too dear");
    let refusal = Submission::Decline(reason.clone());
    desk.settle(&ana(), ticket.id(), refusal, HUMAN)
        .await
        .unwrap();
    assert_eq!(
        ticket.await,
        Outcome::Answered(Answer::Declined { reason }, HUMAN)
    );

    let ticket = ask(&desk).await;
    desk.settle(&ana(), ticket.id(), Submission::Cancel, HUMAN)
        .await
        .unwrap();
    assert_eq!(ticket.await, Outcome::Answered(Answer::Cancelled, HUMAN));
}

#[tokio::test(start_paused = true)]
async fn a_question_nobody_answers_times_out_and_a_late_answer_hears_so() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    let asked = tokio::time::Instant::now();
    assert_eq!(ticket.await, Outcome::TimedOut);
    let waited = asked.elapsed();
    assert!(
        waited >= minutes(5) && waited < minutes(5) + Duration::from_millis(10),
        "{waited:?}"
    );
    assert_eq!(
        closed(settle(&desk, id, json!({"name": "Ana"})).await),
        State::TimedOut
    );

    tokio::time::sleep(minutes(11)).await;
    assert!(
        is_not_found(&settle(&desk, id, json!({"name": "Ana"})).await),
        "forgotten in the end"
    );
}

#[tokio::test(start_paused = true)]
async fn patience_is_the_servers_then_the_callers_then_the_desks() {
    let desk = desk().await;
    let hasty = question(
        json!({"message": "Now?", "requestedSchema": {"type": "object"},
        "_meta": {"dev.midcall/timeoutMs": 1500}}),
    );
    let endless = question(
        json!({"message": "Ever?", "requestedSchema": {"type": "object"},
        "_meta": {"dev.midcall/timeoutMs": 9_000_000_000_u64}}),
    );
    for (question, patience, expected) in [
        (&hasty, Some(minutes(1)), Duration::from_millis(1500)),
        (&name_please(), Some(minutes(1)), minutes(1)),
        (&name_please(), None, minutes(5)),
        (&endless, None, minutes(24 * 60)),
    ] {
        let asked = tokio::time::Instant::now();
        let ticket = desk.ask(&ana(), question, patience).await.unwrap();
        assert_eq!(ticket.await, Outcome::TimedOut);
        assert_eq!(
            asked.elapsed().as_secs_f64().round(),
            expected.as_secs_f64().round()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_second_answer_hears_how_the_first_one_closed_it() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    desk.settle(&ana(), id, Submission::Decline(Words::new("xyzzy")), HUMAN)
        .await
        .unwrap();
    let Err(SettleError::Closed(closing)) = settle(&desk, id, json!({"name": "Ana"})).await else {
        panic!()
    };
    assert_eq!(
        serde_json::to_value(&closing).unwrap(),
        json!({"state": "answered", "action": "decline", "by": {"route": "page", "human": true}}),
        "how, by whom, and nothing of what was said"
    );
    drop(ticket);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_refused_and_the_question_stays() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let Err(SettleError::Unfit(problems)) = settle(&desk, ticket.id(), json!({"name": "A"})).await
    else {
        panic!()
    };
    assert_eq!(problems[0].path, "/name");
    assert_eq!(
        desk.status(&ana(), ticket.id()).await.unwrap().state,
        State::Open
    );
    settle(&desk, ticket.id(), json!({"name": "Ana"}))
        .await
        .unwrap();
    assert!(matches!(ticket.await, Outcome::Answered(..)));
}

#[tokio::test(start_paused = true)]
async fn a_ticket_of_another_scope_does_not_exist() {
    let desk = desk().await;
    let acme = ana().workspace("acme").conversation("c1");
    let ticket = desk.ask(&acme, &name_please(), None).await.unwrap();
    let id = ticket.id();
    let answer = || typed(json!({"name": "Ana"}));
    for stranger in [
        Scope::user("bob"),
        Scope::user("bob").workspace("acme").conversation("c1"),
        ana().workspace("other"),
        ana().workspace("acme").conversation("c2"),
        ana().conversation("c2"),
    ] {
        assert!(
            is_not_found(&desk.settle(&stranger, id, answer(), HUMAN).await),
            "{stranger:?}"
        );
        assert!(
            is_not_found(&desk.opened(&stranger, id, HUMAN).await),
            "{stranger:?}"
        );
        assert!(matches!(
            desk.status(&stranger, id).await,
            Err(SettleError::NotFound)
        ));
        let mut watch = desk.watch(&stranger).await.unwrap();
        assert_eq!(all_news(&mut watch).await, [""; 0], "{stranger:?}");
    }
    for own in [ana(), ana().workspace("acme"), acme.clone()] {
        let mut watch = desk.watch(&own).await.unwrap();
        assert_eq!(
            all_news(&mut watch).await,
            ["elicitation/request Name?"],
            "{own:?}"
        );
    }
    desk.settle(&ana(), id, answer(), HUMAN).await.unwrap();
    drop(ticket);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cancels_takes_its_question_back_everywhere() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    let mut watch = desk.watch(&ana()).await.unwrap();
    desk.withdraw(id, Withdrawn::ByServer).await.unwrap();
    assert_eq!(ticket.await, Outcome::Withdrawn(Withdrawn::ByServer));
    let status = desk.status(&ana(), id).await.unwrap();
    assert_eq!(status.state, State::Withdrawn);
    assert_eq!(status.reason.as_deref(), Some("by_server"));
    assert_eq!(
        closed(settle(&desk, id, json!({"name": "Ana"})).await),
        State::Withdrawn
    );
    assert_eq!(
        all_news(&mut watch).await,
        ["elicitation/request Name?", "elicitation/closed"]
    );
    desk.withdraw(id, Withdrawn::ByServer).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_waiting_takes_the_question_back() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    let id = ticket.id();
    drop(ticket);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(
        closed(settle(&desk, id, json!({"name": "Ana"})).await),
        State::Withdrawn
    );
    assert_eq!(desk.waiting(), 0);
}

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
        ["elicitation/closed", "elicitation/closed"]
    );
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

#[tokio::test(start_paused = true)]
async fn a_link_is_accepted_by_opening_it_unless_it_is_unsafe() {
    let desk = desk().await;
    let ticket = desk
        .ask(&ana(), &sign_in("https://example.com/in"), None)
        .await
        .unwrap();
    settle(&desk, ticket.id(), json!({"ignored": 1}))
        .await
        .unwrap();
    let Outcome::Answered(answer, _) = ticket.await else {
        panic!()
    };
    assert_eq!(content(answer), json!({}), "consent has no content");

    let ticket = desk
        .ask(&ana(), &sign_in("javascript:alert(1)"), None)
        .await
        .unwrap();
    let refused = settle(&desk, ticket.id(), json!({})).await;
    assert!(matches!(refused, Err(SettleError::Refused(_))));
    desk.settle(&ana(), ticket.id(), Submission::Decline(None), HUMAN)
        .await
        .unwrap();
}

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

#[tokio::test(start_paused = true)]
async fn when_the_desk_goes_its_tickets_end() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    drop(desk);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(matches!(ticket.await, Outcome::Unavailable(_)));
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
    for (params, told) in [
        (
            r#"{"message": "a", "message": "b", "requestedSchema": {"type": "object"}}"#,
            "b",
        ),
        (
            r#"{"message": "c", "url": 5, "requestedSchema": {"type": "object"}}"#,
            "c",
        ),
    ] {
        let question = Elicitation::read(params, Asker::named("x"), &Limits::default()).unwrap();
        let ticket = desk.ask(&ana(), &question, None).await.unwrap();
        let mut watch = desk.watch(&ana()).await.unwrap();
        assert_eq!(
            all_news(&mut watch).await,
            [format!("elicitation/request {told}")]
        );
        settle(&desk, ticket.id(), json!({})).await.unwrap();
        assert!(matches!(ticket.await, Outcome::Answered(..)));
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

#[tokio::test(start_paused = true)]
async fn a_desk_that_shuts_down_takes_its_questions_back() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    desk.shut_down().await;
    assert_eq!(ticket.await, Outcome::Withdrawn(Withdrawn::Shutdown));
}

#[tokio::test(start_paused = true)]
async fn no_rule_makes_it_panic() {
    let mut rules = Rules::default();
    (rules.patience, rules.longest_patience, rules.memory) =
        (Duration::MAX, Duration::MAX, Duration::MAX);
    let desk = desk_with(rules).await;
    let ticket = ask(&desk).await;
    settle(&desk, ticket.id(), json!({"name": "Ana"}))
        .await
        .unwrap();
    assert!(matches!(ticket.await, Outcome::Answered(..)));
}
