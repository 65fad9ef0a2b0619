//! How a question ends, with time paused.

use std::time::Duration;

use midcall_core::{Answer, Scope, Words};
use midcall_desk::{Outcome, Rules, SettleError, State, Submission, Withdrawn};
use serde_json::json;

use crate::world::*;

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
        json!({"state": "answered", "action": "decline", "by": {"route": "page", "human": true},
            "delivery": "pending"}),
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
async fn when_the_desk_goes_its_tickets_end() {
    let desk = desk().await;
    let ticket = ask(&desk).await;
    drop(desk);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(matches!(ticket.await, Outcome::Unavailable(_)));
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
