//! What a server's tools say of themselves, known before it matters.

use super::eras::{modern, modern_to_modern_in};
use super::*;
use crate::route::Confirm;
use midcall_core::wire::meta;

/// A yes or no, which a model may ask for if the tool only reads.
fn sure() -> Value {
    json!({"message": "Sure?", "requestedSchema": {"type": "object", "properties": {"sure": {"type": "boolean"}}}})
}

/// A client whose model is asked, in a call of `look`, and which never lists any tools.
fn world() -> World {
    let mut world = World::opened("client,model", "2025-11-25", json!({}), "2025-11-25");
    calls(&mut world, 1, "look");
    world
}

fn calls(world: &mut World, id: u64, tool: &str) {
    world.client(
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}),
    );
    world.to_server.clear();
}

fn look(read_only: bool) -> Value {
    json!({"name": "look", "annotations": {"readOnlyHint": read_only}})
}

/// The server is asked for a page of its tools, and tells them.
fn told_tools(world: &mut World, cursor: Value, result: Value) {
    let asked = world.told_server();
    assert_eq!(asked["method"], "tools/list");
    assert_eq!(
        asked["params"].get("cursor").cloned().unwrap_or_default(),
        cursor
    );
    assert!(asked["id"].as_str().unwrap().starts_with("midcall-"));
    world.server(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
}

fn is_pending(told: &Value) -> bool {
    told["result"]["_meta"]["elicitationPending"].is_object()
}

#[test]
fn the_list_is_fetched_before_a_model_is_asked() {
    for (read_only, asks) in [(true, true), (false, false)] {
        let mut world = world();
        world.asks(7, sure());
        assert!(world.to_client.is_empty(), "the question waits");
        told_tools(
            &mut world,
            Value::Null,
            json!({"tools": [{"name": "awaitElicitation"}], "nextCursor": "2"}),
        );
        assert!(world.to_client.is_empty());
        told_tools(&mut world, json!("2"), json!({"tools": [look(read_only)]}));
        match asks {
            true => assert!(is_pending(&world.told_client())),
            false => assert_eq!(world.told_server()["result"]["action"], "cancel"),
        }
        // Once for all questions.
        world.to_client.clear();
        world.to_server.clear();
        world.asks(8, sure());
        let listed = |told: &Value| told["method"] == "tools/list";
        assert!(!world.to_server.iter().any(listed));
    }
}

#[test]
fn it_is_fetched_again_when_the_server_says_that_it_changed() {
    let mut world = world();
    world.lists(json!([look(false)]));
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    world.to_client.clear();
    world.asks(7, sure());
    told_tools(&mut world, Value::Null, json!({"tools": [look(true)]}));
    assert!(is_pending(&world.told_client()));
}

#[test]
fn questions_that_wait_for_it_are_asked_together_and_may_be_taken_back() {
    let mut world = world();
    world.asks(7, day());
    world.asks(8, day());
    let asked = world.told_server();
    world.server(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
    );
    world.server(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": [look(true)]}}));
    assert!(is_pending(&world.told_client()));
    assert!(world.to_server.is_empty());
}

#[test]
fn a_list_that_fails_says_nothing_of_any_tool() {
    let fails: [fn(&mut World, Value); 5] = [
        |world, id| {
            world.server(
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}),
            )
        },
        |world, id| world.server(json!({"jsonrpc": "2.0", "id": id, "result": {"tools": 7}})),
        |world, _| world.passes(Duration::from_secs(10)),
        // Pages without end.
        |world, id| {
            let mut id = id;
            for _ in 0..1_000 {
                world.server(
                    json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [], "nextCursor": "x"}}),
                );
                match world
                    .to_server
                    .iter()
                    .position(|told| told["method"] == "tools/list")
                {
                    Some(at) => id = world.to_server.remove(at)["id"].clone(),
                    None => return,
                }
            }
            panic!("it asks without end");
        },
        |world, id| {
            world.server(json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [], "nextCursor": "x".repeat(1_000_000)}}))
        },
    ];
    for (nth, fail) in fails.into_iter().enumerate() {
        let mut world = world();
        world.asks(7, sure());
        world.asks(8, day());
        let asked = world.told_server();
        fail(&mut world, asked["id"].clone());
        // A yes to a tool of which nothing is known isn't for a model to give; what day it is, is.
        let told = world.told_server();
        assert_eq!(
            (&told["id"], &told["result"]["action"]),
            (&json!(7), &json!("cancel")),
            "{nth}"
        );
        assert!(is_pending(&world.told_client()), "{nth}");
    }
}

#[test]
fn a_question_that_waits_for_it_has_its_deadline_and_its_server() {
    let mut world = World::with("client,model", |rules| {
        rules.flags.patience = Some(Duration::from_secs(3))
    });
    world.open("2025-11-25", json!({}), "2025-11-25");
    calls(&mut world, 1, "look");
    world.asks(7, day());
    let asked = world.told_server();
    world.passes(Duration::from_secs(3));
    assert_eq!(
        world.told_server()["result"]["_meta"]["dev.midcall/outcome"],
        json!({"state": "timed_out"})
    );
    world.server(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": [look(true)]}}));
    assert!(world.to_client.is_empty() && world.to_server.is_empty());
}

#[test]
fn a_modern_server_is_asked_for_it_in_its_own_words() {
    let mut world = modern_to_modern_in(World::new("model"), Value::Null);
    world.client(modern(
        1,
        "tools/call",
        json!({"name": "look"}),
        Value::Null,
    ));
    let mut question = sure();
    question["mode"] = "form".into();
    world.server_answers(json!({"resultType": "input_required",
        "inputRequests": {"k": {"method": "elicitation/create", "params": question}}}));
    assert_eq!(
        world.to_server[0]["params"]["_meta"][meta::PROTOCOL_VERSION],
        "2026-07-28"
    );
    told_tools(
        &mut world,
        Value::Null,
        json!({"resultType": "complete", "tools": [look(true)]}),
    );
    assert!(is_pending(&world.told_client()));
}

#[test]
fn a_call_that_may_need_approval_waits_for_it() {
    for (tool, read_only, asks) in [
        ("look", true, false),
        ("look", false, true),
        ("unheard", true, true),
    ] {
        let mut world = World::with("client,page", |rules| {
            rules.flags.confirm = Some(Confirm::Destructive)
        });
        world.open("2025-11-25", json!({}), "2025-11-25");
        let call = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"a": 1.0}}});
        world.client(call(1));
        world.client(call(2));
        let asked = world.told_server();
        assert_eq!(asked["method"], "tools/list");
        assert!(world.asked.is_empty());
        world.client(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
        assert!(world.to_server.is_empty(), "the server never had it");
        world.server(
            json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": [look(read_only)]}}),
        );
        assert_eq!(world.asked.len(), usize::from(asks), "{tool}");
        match asks {
            true => assert!(world.to_server.is_empty()),
            false => assert_eq!(world.told_server(), call(1)),
        }
    }
}
