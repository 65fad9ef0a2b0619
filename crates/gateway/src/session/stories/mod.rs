//! What clients and servers live through, in memory.

use std::time::Duration;

use midcall_core::{Answer, Elicitation, Limits, Values, Wanted, Words};
use midcall_desk::{By, Outcome, Route, Unavailable, Withdrawn};
use serde_json::{Value, json};

use super::world::{PAGE, World, day, link};
use crate::frame::Frame;
use crate::route::OnUnavailable;

mod added;
mod asked_tasks;
mod beside;
mod both;
mod bytes;
mod claims;
mod client;
mod confirm;
mod crashes;
mod crowd;
mod delivery;
mod during;
mod eras;
mod guests;
mod hints;
mod hostile;
mod ids;
mod level;
mod links;
mod model;
mod modern_crowd;
mod modern_tasks;
mod names;
mod nobody;
mod once;
mod opening;
mod parked;
mod plan;
mod reasons;
mod records;
mod reopening;
mod requests;
mod requests_own;
mod restored;
mod server;
mod sign_in;
mod task;
mod walks;
mod windows;

fn accepted(elicitation: &Elicitation, content: Value) -> Answer {
    let Wanted::Form(form) = &elicitation.wanted else {
        panic!("a form was asked");
    };
    let values = Values::read(&content.to_string(), &Limits::default()).unwrap();
    Answer::Accepted(form.check(values).unwrap())
}

fn both() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}})
}

#[test]
fn a_client_that_can_ask_is_asked_and_heard_word_for_word() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.calls(1);
    for (id, params, result) in [
        (
            7,
            day(),
            json!({"action": "accept", "content": {"day": "2026-11-16"}, "_meta": {"x": 1}}),
        ),
        (8, day(), json!({"action": "decline"})),
        (9, day(), json!({"action": "cancel", "extra": true})),
        (10, link(), json!({"action": "accept"})),
    ] {
        world.asks(id, params.clone());
        assert_eq!(world.told_client()["params"], params);
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        world.client(answer.clone());
        assert_eq!(world.told_server(), answer);
    }
    world.asks(11, day());
    world.client(json!({"jsonrpc": "2.0", "id": 11, "error": {"code": -1, "message": "no"}}));
    assert_eq!(world.told_server()["error"]["message"], "no");
    assert!(world.asked.is_empty());
}

#[test]
fn an_answer_that_does_not_fit_never_reaches_the_server() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    for (result, says) in [
        (
            json!({"action": "accept", "content": {"day": "xyzzy"}}),
            "/day",
        ),
        (json!({"action": "accept", "content": {}}), "/day"),
        (json!({"action": "accept"}), "/day"),
        (json!({"action": "xyzzy"}), "action"),
        (json!("xyzzy"), "result"),
    ] {
        world.asks(7, day());
        world.client(json!({"jsonrpc": "2.0", "id": 7, "result": result}));
        let told = world.told_server();
        assert_eq!(told["error"]["code"], -32603, "{result}");
        let words = told["error"]["message"].as_str().unwrap();
        assert!(words.contains(says) && !words.contains("xyzzy"), "{words}");
    }
}

#[test]
fn a_client_that_cannot_ask_leaves_it_to_the_page() {
    let outcomes = |elicitation: &Elicitation| {
        let yes = accepted(elicitation, json!({"day": "2026-11-16"}));
        let no = Answer::Declined {
            reason: Words::new("too dear"),
        };
        [
            (
                Outcome::Answered(yes, PAGE),
                json!({"action": "accept", "content": {"day": "2026-11-16"},
                "_meta": {"dev.midcall/outcome": {"state": "answered", "by": {"route": "page", "human": true}}}}),
            ),
            (
                Outcome::Answered(no, PAGE),
                json!({"action": "decline", "_meta": {"dev.midcall/outcome":
                {"state": "answered", "by": {"route": "page", "human": true}, "reason": "too dear"}}}),
            ),
            (
                Outcome::Answered(Answer::Cancelled, PAGE),
                json!({"action": "cancel", "_meta": {"dev.midcall/outcome":
                {"state": "answered", "by": {"route": "page", "human": true}}}}),
            ),
            (
                Outcome::TimedOut,
                json!({"action": "cancel", "_meta": {"dev.midcall/outcome": {"state": "timed_out"}}}),
            ),
            (
                Outcome::Unavailable(Unavailable::NoRoute),
                json!({"action": "cancel", "_meta": {"dev.midcall/outcome":
                {"state": "unavailable", "reason": "no_route"}}}),
            ),
        ]
    };
    for case in 0..5 {
        let mut world = World::plain();
        world.calls(1);
        world.to_client.clear();
        world.asks(7, day());
        let (nth, elicitation) = world.asked.pop().unwrap();
        assert_eq!(nth, 1);
        assert_eq!(elicitation.asker.server, "books");
        assert_eq!(elicitation.asker.version.as_deref(), Some("2"));
        assert_eq!(elicitation.asker.tool.as_deref(), Some("book"));
        world.to_client.clear(); // The first word that the call is alive.
        let (outcome, result) = outcomes(&elicitation)[case].clone();
        world.ends(1, outcome);
        assert_eq!(
            world.told_server(),
            json!({"jsonrpc": "2.0", "id": 7, "result": result})
        );
        assert!(world.to_client.is_empty());
    }
}

#[test]
fn every_mode_finds_its_own_way() {
    for (ask, capabilities, forms_to_page, links_to_page) in [
        ("client,page", json!({}), true, true),
        ("client,page", json!({"elicitation": {}}), false, true),
        ("client,page", both(), false, false),
        ("page,client", both(), true, true),
        ("page", both(), true, true),
        ("api", both(), true, true),
        ("client", json!({"elicitation": {}}), false, false),
    ] {
        let mut world = World::opened(ask, "2025-11-25", capabilities.clone(), "2025-11-25");
        world.asks(7, day());
        assert_eq!(
            world.asked.len() == 1,
            forms_to_page,
            "{ask} {capabilities}"
        );
        assert_eq!(world.to_client.len() == 1, !forms_to_page);
        world.asks(8, link());
        let asked = usize::from(forms_to_page) + usize::from(links_to_page);
        assert_eq!(world.asked.len(), asked, "{ask} {capabilities}");
    }
}

#[test]
fn opening_a_link_is_consent_and_finishing_is_not_told_again() {
    let mut world = World::plain();
    world.asks(7, link());
    world.follows(1, PAGE);
    assert_eq!(
        world.told_server()["result"],
        json!({"action": "accept", "_meta": {"dev.midcall/outcome":
        {"state": "answered", "by": {"route": "page", "human": true}}}})
    );
    world.follows(1, PAGE);
    world.server(
        json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete",
        "params": {"elicitationId": "e1"}}),
    );
    assert_eq!(world.completed, [(1, PAGE)]);
    world.ends(1, Outcome::Answered(Answer::Cancelled, PAGE));
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
    // Of a link that it has opened itself, the client hears.
    let other = json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete",
        "params": {"elicitationId": "e2"}});
    world.server(other.clone());
    assert_eq!(world.told_client(), other);
}

#[test]
fn a_server_that_takes_its_question_back_closes_it_where_it_is_shown() {
    let cancelled = |id: u64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let mut world = World::plain();
    world.asks(7, day());
    world.server(cancelled(7));
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByServer)]);
    // A server that uses the id again hears of its new question only.
    world.asks(7, day());
    world.ends(1, Outcome::Withdrawn(Withdrawn::ByServer));
    assert!(world.to_client.is_empty() && world.to_server.is_empty());
    world.ends(2, Outcome::TimedOut);
    assert_eq!(world.told_server()["id"], 7);

    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.asks(7, day());
    world.to_client.clear();
    world.server(cancelled(7));
    assert_eq!(world.told_client(), cancelled(7));
    assert!(world.withdrawn.is_empty());
}

#[test]
fn a_cancellation_that_overtakes_its_question_ends_it() {
    let cancelled = |id: u64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let clients = [json!({}), both()];
    for capabilities in clients {
        let mut world = World::opened("client,page", "2025-11-25", capabilities, "2025-11-25");
        world.calls(1);
        world.server(cancelled(7));
        world.to_client.clear();
        world.asks(7, day());
        assert!(world.asked.is_empty(), "no person sees it");
        assert!(world.to_client.is_empty(), "nor does the client");
        let told = world.told_server();
        assert_eq!(told["result"]["action"], "cancel");
        let outcome = &told["result"]["_meta"]["dev.midcall/outcome"];
        assert_eq!(outcome["state"], "withdrawn");
    }

    // A cancellation that comes too late says nothing about the next question of that id.
    let mut world = World::plain();
    world.asks(7, day());
    world.ends(1, Outcome::TimedOut);
    world.server(cancelled(7));
    world.asks(7, day());
    assert_eq!(world.asked.len(), 2);
}

#[test]
fn a_call_taken_back_takes_its_question_with_it_if_it_is_surely_its_own() {
    let cancel = |id: u64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    world.client(cancel(1));
    assert_eq!(world.told_server(), cancel(1));
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByClient)]);
    world.ends(1, Outcome::Withdrawn(Withdrawn::ByClient));
    assert_eq!(world.told_server()["result"]["action"], "cancel");

    // With two calls open, only the last one that is left can be meant.
    let mut world = World::plain();
    world.calls(1);
    world.calls(2);
    world.asks(7, day());
    world.client(cancel(1));
    assert!(world.withdrawn.is_empty());
    world.client(cancel(2));
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByClient)]);

    // A call that came later is not the one.
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    world.calls(2);
    world.client(cancel(2));
    assert!(world.withdrawn.is_empty());
}

#[test]
fn calls_are_kept_alive_while_a_person_thinks() {
    let mut world = World::with("client,page", |rules| rules.hold = None);
    world.open("2025-11-25", json!({}), "2025-11-25");
    world.calls(1);
    world.client(
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "silent"}}),
    );
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t1", "progress": 3, "total": 10}}));
    world.to_client.clear();
    world.asks(7, day());
    let first = world.told_client();
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(first["params"]["progressToken"], "t1");
    assert_eq!(
        first["params"]["message"],
        "Waiting for a person to answer books"
    );
    let mut last = first["params"]["progress"].as_f64().unwrap();
    assert!(last > 3.0 && last < 3.1);
    for _ in 0..40 {
        world.passes(Duration::from_secs(10));
        let progress = world.told_client()["params"]["progress"].as_f64().unwrap();
        assert!(progress > last && progress < 3.1);
        last = progress;
    }
    world.passes(Duration::from_secs(3));
    assert!(world.to_client.is_empty());
    // The server's own next step is still a step on.
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t1", "progress": 4, "total": 10}}));
    assert_eq!(world.told_client()["params"]["progress"], 4);
    world.ends(1, Outcome::TimedOut);
    assert_eq!(world.wakes_at(), None);

    // After the call is answered, nothing is said about it.
    world.asks(8, day());
    world.to_client.clear();
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    world.to_client.clear();
    world.passes(Duration::from_secs(60));
    assert!(world.to_client.is_empty());
    assert_eq!(world.wakes_at(), None);
}

#[test]
fn calls_are_kept_alive_while_the_client_itself_asks() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.calls(1);
    world.passes(Duration::from_secs(4));
    world.asks(7, day());
    assert_eq!(world.told_client()["method"], "elicitation/create");

    // The call is ten seconds old, then twenty, and so on.
    world.passes(Duration::from_secs(5));
    assert!(world.to_client.is_empty());
    world.passes(Duration::from_secs(1));
    let first = world.told_client();
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(first["params"]["progressToken"], "t1");
    let mut last = first["params"]["progress"].as_f64().unwrap();
    for _ in 0..12 {
        world.passes(Duration::from_secs(10));
        let told = world.told_client();
        let progress = told["params"]["progress"].as_f64().unwrap();
        assert!(progress > last && progress < 0.1, "and it isn't let go");
        last = progress;
    }
    // One counter with the server's own.
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t1", "progress": 0, "total": 10}}));
    assert!(world.told_client()["params"]["progress"].as_f64().unwrap() > last);

    world.client(json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "decline"}}));
    assert_eq!(world.told_server()["result"]["action"], "decline");
    assert_eq!(world.wakes_at(), None);
    world.passes(Duration::from_secs(60));
    assert!(world.to_client.is_empty(), "nobody thinks any more");

    // The call is older than ten seconds now, so its client hears of it with the question, but of the next in time.
    world.asks(8, day());
    let told: Vec<_> = world
        .to_client
        .drain(..)
        .map(|it| it["method"].clone())
        .collect();
    assert_eq!(told, ["elicitation/create", "notifications/progress"]);
    world.client(json!({"jsonrpc": "2.0", "id": 8, "result": {"action": "decline"}}));
    world.asks(9, day());
    assert_eq!(world.told_client()["method"], "elicitation/create");

    // After the call is answered, nothing is said about it.
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    world.to_client.clear();
    world.passes(Duration::from_secs(60));
    assert!(world.to_client.is_empty());
}

#[test]
fn an_older_client_is_asked_in_words_it_knows() {
    let choices = json!({"mode": "form", "message": "Extras?", "requestedSchema": {"type": "object", "properties": {
        "extras": {"type": "array", "items": {"anyOf": [{"const": "dog", "title": "A dog"}, {"const": "bar", "title": "The bar"}]}}}}});
    let mut world = World::opened(
        "client,page",
        "2025-06-18",
        json!({"elicitation": {}}),
        "2025-11-25",
    );
    world.asks(7, choices);
    let told = world.told_client();
    assert_eq!(
        told["params"]["requestedSchema"]["properties"]["extras.dog"]["type"],
        "boolean"
    );
    world.client(
        json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept",
        "content": {"extras.dog": true, "extras.bar": false}, "_meta": {"x": 1}}}),
    );
    assert_eq!(
        world.told_server(),
        json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept",
        "content": {"extras": ["dog"]}, "_meta": {"x": 1}}})
    );
}

#[test]
fn what_strict_clients_refuse_is_mended_on_the_way() {
    let fastmcp = json!({"message": "Which?", "requestedSchema": {"type": "object", "properties": {
        "value": {"type": "array", "items": {"enum": ["a", "b"]}}}, "required": ["value"]}});
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.asks(7, fastmcp);
    let told = world.told_client();
    assert_eq!(
        told["params"]["requestedSchema"]["properties"]["value"]["items"]["type"],
        "string"
    );
    let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"value": ["b"]}}});
    world.client(answer.clone());
    assert_eq!(world.told_server(), answer);
}

#[test]
fn what_nobody_asked_is_not_answered() {
    let mut world = World::plain();
    world.asks(7, day());
    // The client never saw it, whatever it says.
    world.client(json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"day": "2026-11-16"}}}));
    assert!(world.to_server.is_empty());
    world.ends(1, Outcome::TimedOut);
    assert_eq!(world.told_server()["result"]["action"], "cancel");
}

#[test]
fn questions_that_cannot_be_asked_are_refused_with_the_reason() {
    let mut world = World::plain();
    for params in [
        json!(null),
        json!({"message": "?"}),
        json!({"message": "?", "requestedSchema": {"type": 7}}),
    ] {
        world.asks(7, params);
        let told = world.told_server();
        assert_eq!(told["error"]["code"], -32602, "{told}");
    }
    world.asks(7, day());
    world.asks(7, day());
    assert_eq!(world.told_server()["error"]["code"], -32600);
    world.refuses(1, "50 questions are open for this server already");
    assert_eq!(
        world.told_server()["error"]["message"],
        "midcall: 50 questions are open for this server already"
    );
    // A client that asks by itself may understand what we do not.
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.asks(7, json!({"message": "?", "requestedSchema": {"type": 7}}));
    assert_eq!(world.told_client()["method"], "elicitation/create");
}

#[test]
fn whoever_goes_leaves_nothing_behind() {
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    world.to_client.clear();
    world.server_gone("was ended by signal 9");
    assert_eq!(world.withdrawn, [(1, Withdrawn::ServerGone)]);
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603,
        "message": "midcall: the server was ended by signal 9 before it answered"}})
    );
    assert_eq!(world.wakes_at(), None);

    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    world.client_gone();
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByClient)]);
    assert_eq!(
        world.told_server()["result"],
        json!({"action": "cancel", "_meta": {"dev.midcall/outcome":
        {"state": "withdrawn", "reason": "by_client"}}})
    );
    assert_eq!(world.wakes_at(), None);
}

#[test]
fn noise_stays_on_its_side() {
    let mut world = World::plain();
    world.server_frame(Frame::new("listening on port 1\n".into()));
    world.server_frame(Frame::new("{\"level\":30}\n".into()));
    assert_eq!((world.noise, world.to_client.len()), (2, 0));
    world.client_frame(Frame::new("xyzzy\n".into()));
    assert_eq!(world.told_client()["error"]["code"], -32700);
    assert!(world.to_server.is_empty());
}

#[test]
fn nobody_says_yes_for_a_person() {
    let complete = json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete",
        "params": {"elicitationId": "e1"}});
    // Done before anybody opened it here.
    let mut world = World::plain();
    world.asks(7, link());
    world.server(complete);
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByServer)]);
    world.ends(1, Outcome::Withdrawn(Withdrawn::ByServer));
    assert_eq!(world.told_server()["result"]["action"], "cancel");

    // A script that opened it is told as what it is.
    let script = By {
        route: Route::Api,
        human: false,
    };
    let mut world = World::plain();
    world.asks(7, link());
    world.follows(1, script);
    let outcome = &world.told_server()["result"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(outcome["by"], json!({"route": "api", "human": false}));

    // A form has nothing to open.
    let mut world = World::plain();
    world.asks(7, day());
    world.follows(1, PAGE);
    assert!(world.to_server.is_empty());
}

#[test]
fn an_answer_that_nobody_can_read_is_none() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    for content in [
        r#"{"day":1e999}"#,
        r#"{"day":"\ud800"}"#,
        &format!("{}{}", "[".repeat(200), "]".repeat(200)),
    ] {
        world.asks(7, day());
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"action":"accept","content":{content}}}}}"#
        );
        world.client_frame(Frame::new(line.into()));
        assert_eq!(world.told_server()["error"]["code"], -32603, "{content}");
    }
}

#[test]
fn in_company_a_question_is_still_a_question_and_an_answer_an_answer() {
    let batch = json!([{"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": day()},
        {"jsonrpc": "2.0", "method": "notifications/message"}]);
    let mut world = World::plain();
    world.server(batch.clone());
    assert_eq!(world.asked.len(), 1);
    assert_eq!(world.told_client()["method"], "notifications/message");
    world.client(json!([{"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"day": "2026-11-16"}}}]));
    assert!(world.to_server.is_empty(), "nobody asked the client");

    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.server(batch);
    world.client(json!([{"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"day": "xyzzy"}}}]));
    assert_eq!(world.told_server()["error"]["code"], -32603);
}

#[test]
fn after_one_side_is_gone_the_other_is_not_left_waiting() {
    let mut world = World::opened(
        "client,page",
        "2025-11-25",
        json!({"elicitation": {}}),
        "2025-11-25",
    );
    world.asks(5, link());
    world.client_gone();
    world.to_server.clear();
    world.asks(5, day());
    world.ends(1, Outcome::Withdrawn(Withdrawn::ByClient));
    assert_eq!(
        world.told_server()["result"]["_meta"]["dev.midcall/outcome"]["state"],
        "withdrawn"
    );
    assert_eq!(
        world.asked.len(),
        1,
        "nobody is asked for a client that is gone"
    );

    let mut world = World::plain();
    world.server_gone("closed its output");
    world.client(json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"}));
    assert_eq!(world.told_client()["error"]["code"], -32603);
}

#[test]
fn a_question_that_is_being_taken_back_keeps_no_call_waiting() {
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    world.to_client.clear();
    world.calls(2);
    assert!(world.to_client.is_empty(), "{:?}", world.to_client);
}

#[test]
fn a_no_that_comes_at_once_is_told_as_nobodys() {
    let mut world = World::opened("client", "2025-11-25", both(), "2025-11-25");
    world.answers_at_once = true;
    for action in ["decline", "cancel"] {
        world.asks(7, day());
        world.client(
            json!({"jsonrpc": "2.0", "id": 7, "result": {"action": action, "_meta": {"x": 1}}}),
        );
        let told = world.told_server();
        assert_eq!(told["result"]["action"], action);
        let unattended = json!({"state": "answered", "by": {"route": "client", "human": false}, "reason": "unattended"});
        assert_eq!(
            told["result"]["_meta"],
            json!({"x": 1, "dev.midcall/outcome": unattended})
        );
    }
    world.answers_at_once = false;
    world.asks(8, day());
    world.client(json!({"jsonrpc": "2.0", "id": 8, "result": {"action": "decline"}}));
    assert_eq!(world.told_server()["result"], json!({"action": "decline"}));
}

#[test]
fn where_nobody_can_be_asked_the_server_hears_that() {
    // A model is told in a call, and there is none.
    let mut world = World::opened("client,model", "2025-11-25", json!({}), "2025-11-25");
    world.asks(7, day());
    let told = world.told_server();
    assert_eq!(told["result"]["action"], "cancel");
    assert_eq!(
        told["result"]["_meta"]["dev.midcall/outcome"],
        json!({"state": "unavailable", "reason": "no_route"})
    );
    let mut world = World::with("client,model", |rules| {
        rules.on_unavailable = OnUnavailable::Error
    });
    world.open("2025-11-25", json!({}), "2025-11-25");
    world.asks(7, day());
    let error = world.told_server()["error"].clone();
    assert_eq!(error["code"], -32603);
    assert_eq!(
        error["message"],
        "midcall: nobody could be asked: no route leads to a person"
    );
    // What nobody told the server it could ask is an error of its own, whatever it prefers.
    world.asks(8, link());
    assert_eq!(world.told_server()["error"]["code"], -32602);
}

#[test]
fn an_answer_after_its_time_is_nobodys() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.calls(1);
    world.asks(7, day());
    world.to_client.clear();
    world.passes(Duration::from_secs(300));
    assert_eq!(world.told_server()["result"]["action"], "cancel");
    assert_eq!(world.told_client()["params"]["requestId"], 7);
    let late = json!({"action": "accept", "content": {"day": "2026-11-16"}});
    world.client(json!({"jsonrpc": "2.0", "id": 7, "result": late}));
    assert!(world.to_server.is_empty());
}
