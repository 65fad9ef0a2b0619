//! What people are told of their answers: sent, delivered, or lost, and each just once.

use std::time::Duration;

use midcall_core::Values;
use midcall_desk::Lost;

use super::eras::{modern, modern_to_modern};
use super::*;
use crate::frame::Id;
use crate::route::Confirm;
use crate::session::world::Delivered::{self, No, Sent, Unknown, Yes};

fn cancel(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

fn done(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})
}

fn broken(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "broken"}})
}

fn another(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "input_required", "requestState": "wait"}})
}

/// A person says yes to the nth question.
fn says_yes(world: &mut World, nth: u64) {
    let (_, elicitation) = &world.asked[nth as usize - 1];
    let answer = match &elicitation.wanted {
        Wanted::Link(link) => Answer::Accepted(link.consent().unwrap()),
        Wanted::Form(form) => match form.check(Values::default()) {
            Ok(nothing) => Answer::Accepted(nothing),
            Err(_) => accepted(elicitation, json!({"day": "2026-11-16"})),
        },
    };
    world.ends(nth, Outcome::Answered(answer, PAGE));
}

fn says_no(world: &mut World, nth: u64) {
    world.ends(
        nth,
        Outcome::Answered(Answer::Declined { reason: None }, PAGE),
    );
}

/// A legacy server, asking in the only call that it has.
fn asked_in_a_call() -> World {
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    world
}

type Does = fn(&mut World);
type Answers = fn(&Value) -> Value;

#[test]
fn an_answer_is_delivered_when_its_call_comes_back_and_lost_when_its_server_is_gone() {
    let cases: [(&str, Does, Delivered); 5] = [
        ("a result", |world| world.server(done(&json!(1))), Yes),
        ("an error", |world| world.server(broken(&json!(1))), Unknown),
        ("taken back", |world| world.client(cancel(1)), Unknown),
        (
            "server gone",
            |world| world.server_gone("ended"),
            No(Lost::ServerGone),
        ),
        ("client gone", World::client_gone, Unknown),
    ];
    for (what, happens, told) in cases {
        let mut world = asked_in_a_call();
        says_yes(&mut world, 1);
        assert_eq!(world.told_of_answers(), [(1, Sent)], "{what}");
        happens(&mut world);
        assert_eq!(world.told_of_answers(), [(1, told)], "{what}");
        // That is the last word.
        world.server(done(&json!(1)));
        world.server_gone("ended");
        assert_eq!(world.told_of_answers(), [], "{what}");
    }
}

#[test]
fn a_no_arrives_as_a_yes_does_and_whoever_does_not_answer_hears_nothing() {
    let mut world = asked_in_a_call();
    says_no(&mut world, 1);
    world.server(done(&json!(1)));
    assert_eq!(world.told_of_answers(), [(1, Sent), (1, Yes)]);

    let mut world = asked_in_a_call();
    world.ends(1, Outcome::TimedOut);
    world.server(done(&json!(1)));
    assert_eq!(world.told_of_answers(), []);
}

#[test]
fn where_it_is_not_known_which_call_an_answer_was_for_no_more_is_told_than_that_it_was_sent() {
    let mut world = World::plain();
    for id in [1, 2, 3] {
        world.calls(id);
    }
    world.asks(7, day());
    world.calls(4); // It came later, so the question isn't of this one.
    says_yes(&mut world, 1);
    assert_eq!(world.told_of_answers(), [(1, Sent)]);
    for id in [2, 1, 4] {
        world.server(done(&json!(id)));
        assert_eq!(world.told_of_answers(), [], "3 may still come back");
    }
    world.server(done(&json!(3)));
    assert_eq!(world.told_of_answers(), [(1, Unknown)]);

    // A server that is gone is known to have done nothing more with it.
    let mut world = World::plain();
    for id in [1, 2] {
        world.calls(id);
    }
    world.asks(7, day());
    says_yes(&mut world, 1);
    world.server(done(&json!(1)));
    world.server_gone("ended");
    assert_eq!(
        world.told_of_answers(),
        [(1, Sent), (1, No(Lost::ServerGone))]
    );

    // Outside of all calls, there is nothing that could come back.
    let mut world = World::plain();
    world.asks(7, day());
    says_yes(&mut world, 1);
    assert_eq!(world.told_of_answers(), [(1, Sent), (1, Unknown)]);
}

#[test]
fn an_answer_that_did_not_get_through_is_lost_whatever_its_call_returns() {
    for calls in [1, 2] {
        let mut world = World::plain();
        for id in 1..=calls {
            world.calls(id);
        }
        world.asks(7, day());
        world.asks(8, day());
        says_yes(&mut world, 1);
        says_yes(&mut world, 2);
        world.told_of_answers();
        world.unreached(8);
        assert_eq!(world.told_of_answers(), [(2, No(Lost::Unreached))]);
        for id in 1..=calls {
            world.server(done(&json!(id)));
        }
        let first = if calls == 1 { Yes } else { Unknown };
        assert_eq!(world.told_of_answers(), [(1, first)]);
    }

    let mut world = asked_in_a_round();
    says_yes(&mut world, 1);
    says_no(&mut world, 2);
    let again = world.told_server()["id"].clone();
    world.told_of_answers();
    world.unreached(Id::read(again.to_string().as_bytes()).unwrap());
    world.server(broken(&again));
    assert_eq!(
        world.told_of_answers(),
        [(1, No(Lost::Unreached)), (2, No(Lost::Unreached))]
    );
}

#[test]
fn an_answer_that_came_as_its_question_was_taken_back_is_lost_and_says_why() {
    let cases: [(Does, Lost); 3] = [
        (|world| world.server(cancel(7)), Lost::Dropped),
        (World::client_gone, Lost::ByClient),
        (|world| world.server_gone("ended"), Lost::ServerGone),
    ];
    for (happens, why) in cases {
        let mut world = asked_in_a_call();
        happens(&mut world);
        assert_eq!(world.withdrawn.len(), 1);
        says_yes(&mut world, 1);
        assert_eq!(world.told_of_answers(), [(1, No(why))]);
    }
}

/// A modern server whose round has two questions, both at the desk.
fn asked_in_a_round() -> World {
    let mut world = modern_to_modern("page", Value::Null);
    world.client(modern(
        1,
        "tools/call",
        json!({"name": "book"}),
        Value::Null,
    ));
    let call = world.told_server();
    let form = json!({"method": "elicitation/create", "params": day()});
    let round = json!({"resultType": "input_required", "inputRequests": {"a": form, "b": form}, "requestState": "s"});
    world.server(json!({"jsonrpc": "2.0", "id": call["id"], "result": round}));
    world.see();
    assert_eq!(world.asked.len(), 2);
    world
}

#[test]
fn the_answers_of_a_round_are_sent_together_and_arrive_with_what_comes_back() {
    let cases: [(Answers, Delivered); 3] = [(done, Yes), (another, Yes), (broken, Unknown)];
    for (answer, told) in cases {
        let mut world = asked_in_a_round();
        says_yes(&mut world, 1);
        assert_eq!(world.told_of_answers(), []);
        says_no(&mut world, 2);
        assert_eq!(world.told_of_answers(), [(1, Sent), (2, Sent)]);
        let again = world.told_server();
        world.server(answer(&again["id"]));
        assert_eq!(world.told_of_answers(), [(1, told), (2, told)]);
    }
    let lost: [(Does, Lost); 3] = [
        (|world| world.client(cancel(1)), Lost::ByClient),
        (World::client_gone, Lost::ByClient),
        (|world| world.server_gone("ended"), Lost::ServerGone),
    ];
    for (happens, why) in lost {
        let mut world = asked_in_a_round();
        says_yes(&mut world, 1);
        happens(&mut world);
        assert_eq!(
            world.told_of_answers(),
            [(1, No(why))],
            "it waited for the other one"
        );
    }
}

#[test]
fn an_approval_is_sent_with_its_call_and_a_refusal_needs_no_server() {
    let approving = || {
        let mut world = World::with("page", |choices| choices.flags.confirm = Some(Confirm::All));
        world.open("2025-11-25", json!({}), "2025-11-25");
        world.calls(1);
        world.see();
        assert_eq!(world.asked.len(), 1);
        world
    };
    let mut world = approving();
    says_yes(&mut world, 1);
    assert_eq!(world.told_of_answers(), [(1, Sent)]);
    let call = world.told_server();
    world.server(done(&call["id"]));
    assert_eq!(world.told_of_answers(), [(1, Yes)]);

    let mut world = approving();
    says_no(&mut world, 1);
    assert!(world.to_server.is_empty());
    assert_eq!(world.told_of_answers(), [(1, Yes)]);
}

#[test]
fn an_approval_of_what_a_server_wants_of_the_model_takes_effect_at_once() {
    let mut world = World::with("page", |choices| {
        choices.policy = "sampling = \"ask\"".parse().unwrap();
    });
    world.open("2025-11-25", json!({"sampling": {}}), "2025-11-25");
    world.calls(1);
    let params = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5});
    world.server(
        json!({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": params}),
    );
    world.see();
    says_yes(&mut world, 1);
    assert_eq!(world.told_of_answers(), [(1, Yes)]);
}

/// A call that needs two links, both at the desk.
fn needs_two_links() -> World {
    let mut world = World::plain();
    world.calls(1);
    let link = |name: &str| json!({"mode": "url", "message": "Sign in", "url": format!("https://example.com/{name}"), "elicitationId": name});
    world.server(
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32042, "message": "Sign in",
        "data": {"elicitations": [link("a"), link("b")]}}}),
    );
    world.see();
    assert_eq!(world.asked.len(), 2);
    world
}

#[test]
fn links_that_a_call_needs_arrive_when_it_was_made_again_or_a_no_made_that_needless() {
    let mut world = needs_two_links();
    says_yes(&mut world, 1);
    assert_eq!(world.told_of_answers(), []);
    says_yes(&mut world, 2);
    assert_eq!(world.told_of_answers(), [(1, Sent), (2, Sent)]);
    let again = world.told_server();
    world.server(done(&again["id"]));
    assert_eq!(world.told_of_answers(), [(1, Yes), (2, Yes)]);

    let mut world = needs_two_links();
    says_yes(&mut world, 1);
    says_no(&mut world, 2);
    assert_eq!(world.told_of_answers(), [(1, Yes), (2, Yes)]);

    let mut world = needs_two_links();
    says_yes(&mut world, 1);
    world.ends(2, Outcome::TimedOut);
    assert_eq!(world.told_of_answers(), [(1, No(Lost::CallEnded))]);
}

#[test]
fn finishing_a_link_that_was_opened_arrives_with_its_call() {
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, link());
    world.follows(1, PAGE);
    assert_eq!(world.told_of_answers(), [], "the person isn't done");
    says_yes(&mut world, 1);
    assert_eq!(
        world.told_of_answers(),
        [(1, Sent)],
        "the yes went out when it was opened"
    );
    world.server(done(&json!(1)));
    assert_eq!(world.told_of_answers(), [(1, Yes)]);

    let mut world = World::plain();
    world.calls(1);
    world.asks(7, link());
    world.follows(1, PAGE);
    world.server(done(&json!(1)));
    says_yes(&mut world, 1);
    assert_eq!(world.told_of_answers(), [(1, Sent), (1, Unknown)]);
}

#[test]
fn a_call_that_was_let_go_still_takes_its_answer() {
    let mut world = asked_in_a_call();
    world.passes(Duration::from_secs(46));
    says_yes(&mut world, 1);
    world.server(done(&json!(1)));
    assert_eq!(world.told_of_answers(), [(1, Sent), (1, Yes)]);
}

#[test]
fn a_call_with_answers_without_end_keeps_the_latest() {
    let mut world = World::plain();
    world.calls(1);
    for nth in 1..=1_001 {
        world.asks(nth + 100, day());
        says_yes(&mut world, nth);
    }
    let told = world.told_of_answers();
    assert_eq!(told.last(), Some(&(1, Unknown)));
    world.server(done(&json!(1)));
    assert_eq!(world.told_of_answers().len(), 1_000);
}
