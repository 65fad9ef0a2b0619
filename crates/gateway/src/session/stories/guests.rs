//! What a client was told to come back for, after it has left, and for those who come from its other sessions.

use std::time::Duration;

use midcall_core::Answer;
use midcall_desk::{Lost, Outcome, Withdrawn};
use serde_json::{Value, json};

use crate::session::world::{Delivered, PAGE, World, day, link};

const HOLD: Duration = Duration::from_secs(45);
const KEPT: Duration = Duration::from_secs(10 * 60);

/// A call in which a person is asked, whose client was told to come back: with which claim.
fn let_go() -> (World, String) {
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    let claim = claim(&mut world, 1);
    (world, claim)
}

/// Waits until a call is let go: the claim for its result.
fn claim(world: &mut World, id: u64) -> String {
    world.to_client.clear();
    (0..HOLD.as_secs()).for_each(|_| world.passes(Duration::from_secs(1)));
    let mut told = results(world);
    let at = told.iter().position(|told| told["id"] == id);
    let waiting = told.remove(at.expect("it is let go"));
    let claim = &waiting["result"]["_meta"]["dev.midcall/waiting"]["claim"];
    claim.as_str().expect("a claim").to_owned()
}

/// What was answered.
fn results(world: &mut World) -> Vec<Value> {
    let told = std::mem::take(&mut world.to_client).into_iter();
    told.filter(|told| told.get("method").is_none()).collect()
}

fn added(id: &str, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": arguments, "_meta": {"progressToken": id}}})
}

fn collects(world: &mut World, id: &str, claim: &str) {
    world.guest(added(id, "awaitElicitation", json!({"claim": claim})));
}

fn result(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "result": {"content": [], "structuredContent": {"booked": true}}})
}

fn answered() -> Outcome {
    Outcome::Answered(Answer::Cancelled, PAGE)
}

fn is_unknown(told: &Value) -> bool {
    told["result"]["content"][0]["text"]
        .to_string()
        .contains("There is no such claim")
}

#[test]
fn what_a_client_was_told_to_come_back_for_goes_on_without_it() {
    let (mut world, claim) = let_go();
    world.client_left();
    assert!(world.withdrawn.is_empty() && world.to_server.is_empty());
    assert!(world.is_named() && world.needs_server());

    collects(&mut world, "one", &claim);
    collects(&mut world, "other", &claim);
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t1", "progress": 7}}));
    let heard: Vec<_> = world
        .to_client
        .iter()
        .map(|told| told["params"]["progressToken"].clone())
        .collect();
    assert!(
        heard.contains(&json!("one")) && heard.contains(&json!("other")),
        "{heard:?}"
    );

    world.ends(1, answered());
    assert_eq!(world.told_server()["id"], 7);
    world.to_client.clear();
    world.server(result(1));
    assert_eq!(results(&mut world), [result("one"), result("other")]);
    assert_eq!(
        world.told_of_answers(),
        [(1, Delivered::Sent), (1, Delivered::Yes)]
    );
    assert!(
        world.is_named() && !world.needs_server(),
        "only its result is kept"
    );

    collects(&mut world, "again", &claim);
    assert_eq!(results(&mut world), [result("again")]);
    world.passes(KEPT);
    assert!(!world.is_named());
    collects(&mut world, "late", &claim);
    assert!(is_unknown(&results(&mut world)[0]));
}

#[test]
fn whether_the_client_got_what_it_was_told_to_come_back_for_is_known() {
    let is_owed = |world: &World| world.named.values().any(|given| given.is_owed);
    let (mut world, claim) = let_go();
    assert!(is_owed(&world));
    world.ends(1, answered());
    world.server(result(1));
    assert!(is_owed(&world), "nobody has collected it");
    collects(&mut world, "one", &claim);
    assert!(!is_owed(&world) && world.is_named());
}

#[test]
fn what_the_client_was_not_told_to_come_back_for_ends_when_it_leaves() {
    let (mut world, _) = let_go();
    world.client(
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "pay"}}),
    );
    world.client(json!({"jsonrpc": "2.0", "id": 3, "method": "resources/list"}));
    world.asks(8, day());
    world.to_server.clear();
    world.client_left();
    let told = std::mem::take(&mut world.to_server);
    let told: Vec<_> = told
        .iter()
        .map(|told| (&told["method"], &told["params"]["requestId"]))
        .collect();
    let cancelled = json!("notifications/cancelled");
    assert_eq!(told, [(&cancelled, &json!(2)), (&cancelled, &json!(3))]);
    // The question may have come up in the call that goes on.
    assert!(world.withdrawn.is_empty());
    world.ends(1, answered());
    world.server(result(1));
    assert_eq!(world.withdrawn, [(2, Withdrawn::ByServer)]);
}

#[test]
fn a_client_that_was_told_nothing_takes_everything_with_it() {
    let mut world = World::plain();
    world.calls(1);
    world.asks(7, day());
    world.client_left();
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByClient)]);
    assert_eq!(world.told_server()["result"]["action"], "cancel");
    assert!(!world.is_named() && !world.needs_server());
    world.ends(1, answered());
    assert_eq!(
        world.told_of_answers(),
        [(1, Delivered::No(Lost::ByClient))]
    );
}

#[test]
fn a_question_at_a_client_that_leaves_is_asked_on_the_page() {
    let form = json!({"elicitation": {"form": {}}});
    let mut world = World::opened("client,page", "2025-11-25", form, "2025-11-25");
    world.calls(1);
    world.asks(7, link());
    let claim = claim(&mut world, 1);
    world.asks(8, day());
    assert_eq!(
        (world.asked.len(), world.told_client()["id"].clone()),
        (1, json!(8))
    );
    world.client_left();
    assert_eq!(world.asked.len(), 2);
    assert!(world.to_server.is_empty() && world.withdrawn.is_empty());
    // What comes later isn't for the client either.
    world.asks(9, day());
    assert_eq!(world.asked.len(), 3);
    assert!(results(&mut world).is_empty());
    for nth in [1, 2, 3] {
        world.ends(nth, answered());
    }
    world.server(result(1));
    collects(&mut world, "one", &claim);
    assert_eq!(results(&mut world), [result("one")]);
}

#[test]
fn a_server_hears_that_the_client_has_left_when_it_wants_something_of_it() {
    let (mut world, _) = let_go();
    let asks = |id: u64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"messages": []}});
    world.server(asks(20, "roots/list"));
    world.to_client.clear();
    world.client_left();
    let told = world.told_server();
    assert_eq!(
        (&told["id"], &told["error"]["code"]),
        (&json!(20), &json!(-32603))
    );
    world.server(asks(21, "sampling/createMessage"));
    let told = world.told_server();
    assert_eq!(
        (&told["id"], &told["error"]["code"]),
        (&json!(21), &json!(-32603))
    );
    world.server(asks(22, "ping"));
    assert_eq!(world.told_server()["result"], json!({}));
    assert!(world.to_client.is_empty());
}

#[test]
fn a_guest_that_goes_disturbs_nobody() {
    let (mut world, claim) = let_go();
    collects(&mut world, "one", &claim);
    collects(&mut world, "other", &claim);
    world.client(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "one"}}));
    assert!(world.withdrawn.is_empty() && world.to_server.is_empty());
    world.client_left();
    world.ends(1, answered());
    world.to_client.clear();
    world.server(result(1));
    assert_eq!(results(&mut world), [result("other")]);
}

#[test]
fn a_guest_that_waits_in_vain_gets_the_same_claim() {
    let (mut world, claim) = let_go();
    world.client_left();
    world.guest(added(
        "one",
        "awaitElicitation",
        json!({"claim": claim, "waitSeconds": 1}),
    ));
    world.passes(Duration::from_secs(1));
    let told = results(&mut world).remove(0);
    assert_eq!(
        told["result"]["_meta"]["dev.midcall/waiting"]["claim"],
        json!(claim)
    );
}

#[test]
fn a_server_that_ends_is_told_to_whoever_comes_for_its_result() {
    let (mut world, claim) = let_go();
    world.client_left();
    world.server_gone("ended with status 3");
    assert_eq!(world.withdrawn, [(1, Withdrawn::ServerGone)]);
    assert!(world.is_named() && !world.needs_server());
    collects(&mut world, "one", &claim);
    let told = results(&mut world).remove(0);
    let words = told["error"]["message"].as_str().unwrap();
    assert!(
        words.contains("ended with status 3 before it answered"),
        "{words}"
    );
}

#[test]
fn a_model_answers_from_another_session() {
    let mut world = World::opened("client,model", "2025-11-25", json!({}), "2025-11-25");
    world.lists(json!([{"name": "book"}]));
    world.calls(1);
    world.asks(7, day());
    let told = results(&mut world).remove(0);
    let id = told["result"]["_meta"]["elicitationPending"]["elicitId"].clone();
    world.client_left();
    assert!(world.is_named() && world.needs_server());
    let answer = json!({"elicitId": id, "action": "accept", "content": {"day": "2026-11-16"}});
    world.guest(added("one", "sendElicitationResult", answer.clone()));
    assert_eq!(world.told_server()["result"]["action"], "accept");
    world.server(result(1));
    assert_eq!(results(&mut world), [result("one")]);
    // Clients make the call again.
    world.guest(added("again", "sendElicitationResult", answer));
    assert_eq!(results(&mut world), [result("again")]);
    world.guest(added(
        "other",
        "sendElicitationResult",
        json!({"elicitId": "mc1.x", "action": "cancel"}),
    ));
    assert_eq!(results(&mut world)[0]["result"]["isError"], true);
}

#[test]
fn a_session_knows_the_tools_that_an_earlier_one_was_shown() {
    let (mut world, claim) = let_go();
    let collect = |claim: &str| added("one", "awaitElicitation", json!({"claim": claim}));
    let mut later = world.later("client,page");
    later.open("2025-11-25", json!({}), "2025-11-25");
    for claim in [claim.as_str(), "mc1.never"] {
        later.client(collect(claim));
        assert!(
            is_unknown(&results(&mut later)[0]),
            "another session has it, or none"
        );
        assert!(later.to_server.is_empty());
    }
    // A tool of the server by that name gets what isn't ours.
    later.lists(json!([{"name": "awaitElicitation"}]));
    later.client(collect("mc1.never"));
    assert_eq!(later.told_server()["id"], "one");
}
