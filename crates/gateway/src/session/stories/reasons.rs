//! Why a person said no, as their client passes it on.

use super::eras::{
    asks, both as modes, legacy_to_modern, modern, modern_to_legacy, modern_to_modern,
};
use super::*;
use crate::route::Confirm;

const OUTCOME: &str = "dev.midcall/outcome";

/// A refusal as `<mcp-elicitation>` hands it to a client.
fn refusal(reason: &str) -> Value {
    json!({"action": "decline", "_meta": {"dev.midcall/reason": reason, "own": 1}})
}

fn outcome(reason: &str) -> Value {
    json!({"state": "answered", "by": {"route": "client", "human": true}, "reason": reason})
}

#[test]
fn a_legacy_server_hears_it_in_the_outcome() {
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    world.asks(7, day());
    world.client(json!({"jsonrpc": "2.0", "id": 7, "result": refusal("  too dear ")}));
    assert_eq!(
        world.told_server()["result"],
        json!({"action": "decline", "_meta": {"own": 1, OUTCOME: outcome("too dear")}})
    );
    // It is bounded, and only a refusal has one.
    world.asks(8, day());
    world.client(json!({"jsonrpc": "2.0", "id": 8, "result": refusal(&"é".repeat(5_000))}));
    let told = world.told_server();
    let reason = told["result"]["_meta"][OUTCOME]["reason"].as_str().unwrap();
    assert_eq!(reason.chars().count(), 1_000);
    assert!(told["result"]["_meta"].get("dev.midcall/reason").is_none());
    for (id, reason, result) in [
        (9, json!("words"), json!({"action": "cancel"})),
        (10, json!(7), json!({"action": "decline"})),
        (11, json!("  "), json!({"action": "decline"})),
    ] {
        world.asks(id, day());
        let mut said = result.clone();
        said["_meta"] = json!({"dev.midcall/reason": reason});
        world.client(json!({"jsonrpc": "2.0", "id": id, "result": said}));
        assert_eq!(world.told_server()["result"], result, "{reason}");
    }
}

#[test]
fn a_modern_server_hears_it_in_the_retry() {
    let round = json!({"resultType": "input_required", "inputRequests": asks("k", day())});
    // In the retry that Midcall makes for a legacy client.
    let mut world = legacy_to_modern("client,page", both());
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "book"}}),
    );
    world.server_answers(round.clone());
    let ask = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": refusal("too dear")}));
    let retry = world.told_server()["params"].clone();
    assert_eq!(
        retry["inputResponses"]["k"],
        json!({"action": "decline", "_meta": {"own": 1}})
    );
    assert_eq!(retry["_meta"][OUTCOME]["k"], outcome("too dear"));

    // In the retry of a modern client, whose messages pass: how fast it was isn't known.
    let mut world = modern_to_modern("client,page", modes());
    world.client(modern(1, "tools/call", json!({"name": "book"}), modes()));
    world.server_answers(round);
    world.to_client.clear();
    let retry = json!({"name": "book", "inputResponses": {"k": refusal("too dear"), "l": {"action": "cancel"}}});
    world.client(modern(2, "tools/call", retry, modes()));
    let told = world.told_server()["params"].clone();
    assert_eq!(
        told["inputResponses"],
        json!({"k": {"action": "decline", "_meta": {"own": 1}}, "l": {"action": "cancel"}})
    );
    assert_eq!(
        told["_meta"][OUTCOME],
        json!({"k": {"state": "answered", "reason": "too dear"}})
    );
}

#[test]
fn a_round_brings_it_to_a_legacy_server() {
    let mut world = modern_to_legacy("client,page", modes());
    world.client(modern(1, "tools/call", json!({"name": "book"}), modes()));
    world.to_server.clear();
    world.asks(7, day());
    let state = world.told_client()["result"]["requestState"].clone();
    let retry = json!({"name": "book", "requestState": state,
        "inputResponses": {"q1": refusal("too dear")}});
    world.client(modern(2, "tools/call", retry, modes()));
    assert_eq!(
        world.told_server()["result"],
        json!({"action": "decline", "_meta": {"own": 1, OUTCOME: outcome("too dear")}})
    );
}

#[test]
fn it_is_told_to_the_caller_of_a_tool_that_needed_approval() {
    let mut world = World::with("client,page", |rules| {
        rules.flags.confirm = Some(Confirm::All)
    });
    world.open("2025-11-25", both(), "2025-11-25");
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}}),
    );
    let id = world.told_client()["id"].clone();
    world.client(json!({"jsonrpc": "2.0", "id": id, "result": refusal("not today")}));
    let told = world.told_client();
    let words = told["result"]["content"][0]["text"].as_str().unwrap();
    assert!(words.ends_with(": not today"), "{words}");
}
