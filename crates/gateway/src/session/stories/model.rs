//! Questions that a model is told to ask.

use std::time::Duration;

use midcall_desk::{Outcome, Unavailable};
use serde_json::{Value, json};

use super::both;
use crate::session::world::{World, day, link};

/// A client that knows nothing of questions, and whose model is asked.
fn world() -> World {
    let mut world = World::opened("client,model", "2025-11-25", json!({}), "2025-11-25");
    world.lists(json!([
        {"name": "book", "outputSchema": {"type": "object"}},
        {"name": "delete", "annotations": {"destructiveHint": true}},
        {"name": "look", "annotations": {"readOnlyHint": true}},
        {"name": "write", "annotations": {"readOnlyHint": false}},
    ]));
    world
}

fn asked() -> (World, String) {
    let mut world = world();
    world.calls(1);
    world.asks(7, day());
    let id = pending(&world.told_client(), 1);
    (world, id)
}

/// The question that a result tells the model to ask.
fn pending(told: &Value, answered: u64) -> String {
    assert_eq!(told["id"], answered, "{told}");
    let pending = &told["result"]["_meta"]["elicitationPending"];
    pending["elicitId"]
        .as_str()
        .unwrap_or_else(|| panic!("{told}"))
        .to_owned()
}

fn sends(world: &mut World, id: u64, name: &str, action: &str, content: Value) {
    let mut arguments = json!({"elicitId": name, "action": action});
    if !content.is_null() {
        arguments["content"] = content;
    }
    world.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "sendElicitationResult", "arguments": arguments}}));
}

fn words(told: &Value) -> &str {
    told["result"]["content"][0]["text"].as_str().unwrap()
}

fn monday() -> Value {
    json!({"day": "2026-11-16"})
}

fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "structuredContent": {"booked": true}}})
}

#[test]
fn the_tools_are_listed_for_clients_that_need_them_and_for_no_others() {
    let names = |tools: &Value| -> Vec<String> {
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut needing = World::opened("client,model", "2025-11-25", json!({}), "2025-11-25");
    let tools = needing.lists(json!([{"name": "book", "outputSchema": {"type": "object"}}]));
    assert_eq!(
        names(&tools),
        ["book", "awaitElicitation", "sendElicitationResult"]
    );
    let any = &tools[0]["outputSchema"]["anyOf"];
    assert_eq!(any[0], json!({"type": "object"}));
    let others = [&any[1]["required"][0], &any[2]["required"][0]];
    assert_eq!(others, ["elicitationPending", "dev.midcall/waiting"]);
    let mut taken = World::opened("client,model", "2025-11-25", json!({}), "2025-11-25");
    let tools = taken.lists(json!([{"name": "sendElicitationResult"}]));
    assert_eq!(names(&tools)[2], "midcall_sendElicitationResult");
    // A client of forms needs no model: links are not for models anyway.
    let forms = json!({"elicitation": {}});
    let mut able = World::opened("client,model", "2025-11-25", forms.clone(), "2025-11-25");
    assert_eq!(names(&able.lists(json!([{"name": "book"}]))), ["book"]);
    let mut able = World::opened("client,page,model", "2025-11-25", both(), "2025-11-25");
    assert_eq!(names(&able.lists(json!([{"name": "book"}]))), ["book"]);
    // Its links are left to the page, which may take long, and no form is left to a model.
    let mut able = World::opened("client,page,model", "2025-11-25", forms, "2025-11-25");
    assert_eq!(
        names(&able.lists(json!([{"name": "book"}]))),
        ["book", "awaitElicitation"]
    );
}

#[test]
fn the_call_is_parked_and_the_answer_brings_its_result() {
    let mut world = world();
    world.calls(1);
    world.asks(7, day());
    let told = world.told_client();
    let name = pending(&told, 1);
    let meta = &told["result"]["_meta"]["elicitationPending"];
    assert_eq!(
        (&meta["message"], &meta["schema"]),
        (&day()["message"], &day()["requestedSchema"])
    );
    for said in [
        name.as_str(),
        "sendElicitationResult",
        "For which day?",
        "\"format\":\"date\"",
    ] {
        assert!(words(&told).contains(said), "{said} in {}", words(&told));
    }
    assert!(world.to_server.is_empty());
    sends(&mut world, 2, &name, "accept", monday());
    let answer = world.told_server();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"]),
        (&json!(7), &monday())
    );
    let outcome = &answer["result"]["_meta"]["dev.midcall/outcome"];
    assert_eq!(
        outcome,
        &json!({"state": "answered", "by": {"route": "model", "human": false}})
    );
    assert!(world.to_client.is_empty());
    world.server(result(1));
    assert_eq!(world.told_client(), result(2));
}

#[test]
fn decline_and_cancel_are_told_as_such() {
    for action in ["decline", "cancel"] {
        let (mut world, name) = asked();
        sends(&mut world, 2, &name, action, monday());
        let answer = world.told_server();
        assert_eq!(answer["result"]["action"], action);
        assert!(answer["result"].get("content").is_none());
        world.server(result(1));
        assert_eq!(world.told_client(), result(2));
    }
}

#[test]
fn what_does_not_fit_is_told_by_field_and_can_be_mended() {
    let (mut world, name) = asked();
    for (content, path) in [
        (json!({"day": "xyzzy"}), "/day"),
        (json!({}), "/day"),
        (Value::Null, "/day"),
        (json!("x"), "content"),
    ] {
        sends(&mut world, 2, &name, "accept", content);
        let told = world.told_client();
        assert_eq!(told["result"]["isError"], true, "{told}");
        assert!(
            words(&told).contains(path) && !words(&told).contains("xyzzy"),
            "{}",
            words(&told)
        );
        assert!(world.to_server.is_empty());
    }
    sends(&mut world, 3, &name, "shrug", Value::Null);
    assert_eq!(world.told_client()["result"]["isError"], true);
    sends(&mut world, 4, &name, "accept", monday());
    assert_eq!(world.told_server()["result"]["action"], "accept");
}

#[test]
fn a_wizard_goes_on_step_by_step_and_runs_once() {
    let (mut world, mut name) = asked();
    for step in 0..5 {
        sends(&mut world, 10 + step, &name, "accept", monday());
        assert_eq!(world.told_server()["id"], 7 + step);
        world.asks(8 + step, day());
        name = pending(&world.told_client(), 10 + step);
    }
    sends(&mut world, 20, &name, "decline", Value::Null);
    world.to_server.clear();
    world.server(result(1));
    assert_eq!(world.told_client(), result(20));
}

#[test]
fn two_questions_at_once_are_asked_one_after_the_other() {
    let (mut world, first) = asked();
    world.asks(8, day());
    assert!(
        world.to_client.is_empty(),
        "the call has its answer already"
    );
    sends(&mut world, 2, &first, "accept", monday());
    assert_eq!(world.told_server()["id"], 7);
    let second = pending(&world.told_client(), 2);
    assert_ne!(first, second);
    sends(&mut world, 3, &second, "decline", Value::Null);
    assert_eq!(world.told_server()["id"], 8);
    world.server(result(1));
    assert_eq!(world.told_client(), result(3));
}

#[test]
fn with_two_calls_open_each_gets_its_own_result() {
    let mut world = world();
    world.calls(1);
    world.passes(Duration::from_secs(1));
    world.calls(2);
    world.asks(7, day());
    assert_eq!(
        world.to_client.pop().unwrap()["params"]["progressToken"],
        "t2"
    );
    let name = pending(&world.told_client(), 1);
    // It was the other that asked.
    sends(&mut world, 3, &name, "accept", monday());
    world.to_server.clear();
    world.server(result(2));
    assert_eq!(world.told_client(), result(2));
    world.server(result(1));
    assert_eq!(world.told_client(), result(3));
}

#[test]
fn twice_late_and_unknown_are_told_apart() {
    let (mut world, name) = asked();
    sends(&mut world, 2, "guessed", "accept", monday());
    assert!(words(&world.told_client()).contains("no such question"));
    sends(&mut world, 3, &name, "accept", monday());
    world.to_server.clear();
    // A client that gave up on the call makes it again, and gets the result as well.
    sends(&mut world, 4, &name, "accept", monday());
    assert!(world.to_server.is_empty());
    world.server(result(1));
    assert_eq!(world.to_client, [result(3), result(4)]);
    world.to_client.clear();
    sends(&mut world, 5, &name, "accept", monday());
    assert_eq!(world.told_client(), result(5));
    sends(&mut world, 6, &name, "decline", Value::Null);
    assert!(words(&world.told_client()).contains("first answer counts"));
    assert!(world.to_server.is_empty());
}

#[test]
fn a_question_nobody_answers_closes_by_itself() {
    let (mut world, name) = asked();
    world.passes(Duration::from_secs(299));
    assert!(world.to_server.is_empty());
    world.passes(Duration::from_secs(1));
    let answer = world.told_server();
    assert_eq!(answer["result"]["action"], "cancel");
    assert_eq!(
        answer["result"]["_meta"]["dev.midcall/outcome"],
        json!({"state": "timed_out"})
    );
    sends(&mut world, 2, &name, "accept", monday());
    let told = world.told_client();
    assert!(words(&told).contains("in time"), "{told}");
    assert!(world.to_server.is_empty());
    // The call went on, and the model is told how to get at what became of it.
    world.asks(8, day());
    assert!(world.to_client.is_empty());
    collects(&mut world, 3, &told);
    let second = pending(&world.told_client(), 3);
    world.passes(Duration::from_secs(300));
    world.server(result(1));
    sends(&mut world, 4, &second, "decline", Value::Null);
    let told = world.told_client();
    collects(&mut world, 5, &told);
    assert_eq!(world.told_client(), result(5));
}

/// Calls the tool that collects results, as it is told to.
fn collects(world: &mut World, id: u64, told: &Value) {
    let (_, after) = words(told).split_once("with the claim ").unwrap();
    let claim = after.split_once(' ').unwrap().0;
    world.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": {"claim": claim}}}));
}

#[test]
fn a_question_the_server_takes_back_is_closed() {
    let (mut world, name) = asked();
    world.server(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
    );
    assert!(world.to_client.is_empty());
    sends(&mut world, 2, &name, "accept", monday());
    assert!(words(&world.told_client()).contains("taken this question back"));
    assert!(world.to_server.is_empty());
}

#[test]
fn secrets_links_and_what_destroys_are_not_for_models() {
    let unavailable = json!({"state": "unavailable", "reason": "no_route"});
    let refused = |tool: &str, params: Value| {
        let mut world = world();
        world.client(
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}}),
        );
        world.to_server.clear();
        world.asks(7, params.clone());
        assert!(world.to_client.is_empty(), "{params}");
        let answer = world.told_server();
        assert_eq!(
            answer["result"]["_meta"]["dev.midcall/outcome"], unavailable,
            "{params}"
        );
    };
    let form = |properties: Value| json!({"message": "?", "requestedSchema": {"type": "object", "properties": properties}});
    let sure = form(json!({"sure": {"type": "boolean"}}));
    refused(
        "look",
        form(json!({"user": {"type": "string"}, "password": {"type": "string"}})),
    );
    let mut secret = form(json!({"code": {"type": "string"}}));
    secret["_meta"] = json!({"dev.midcall/hints": {"/code": {"secret": true}}});
    refused("look", secret);
    let mut wipe = day();
    wipe["_meta"] = json!({"dev.midcall/destructive": true});
    refused("look", wipe);
    refused("delete", day());
    refused("book", form(json!({})));
    refused("book", sure.clone());
    refused("write", sure.clone());
    // Links were not even declared, since nobody here can ask for them.
    let mut links = world();
    links.calls(1);
    links.asks(7, link());
    assert_eq!(links.told_server()["error"]["code"], -32602);
    // What only looks, may ask.
    let mut world = world();
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look"}}),
    );
    world.asks(7, sure);
    pending(&world.told_client(), 1);
}

#[test]
fn without_a_call_to_tell_it_in_nobody_is_asked() {
    let mut world = world();
    world.asks(7, day());
    assert_eq!(world.told_server()["result"]["action"], "cancel");
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "p"}}),
    );
    world.to_server.clear();
    world.asks(8, day());
    assert_eq!(world.told_server()["result"]["action"], "cancel");
}

#[test]
fn the_page_comes_first_and_the_model_when_there_is_none() {
    let mut world = World::opened("client,page,model", "2025-11-25", json!({}), "2025-11-25");
    world.lists(json!([{"name": "book"}]));
    world.calls(1);
    world.asks(7, day());
    assert_eq!(world.asked.len(), 1);
    world.to_client.clear();
    world.ends(1, Outcome::Unavailable(Unavailable::NoRoute));
    let name = pending(&world.told_client(), 1);
    sends(&mut world, 2, &name, "accept", monday());
    assert_eq!(world.told_server()["id"], 7);
}

#[test]
fn a_model_that_waits_too_long_collects_later_and_is_reminded() {
    let (mut world, name) = asked();
    sends(&mut world, 2, &name, "accept", monday());
    world.to_server.clear();
    world.passes(Duration::from_secs(40));
    let told = world.told_client();
    assert_eq!(told["id"], 2);
    let claim = told["result"]["_meta"]["dev.midcall/waiting"]["claim"].clone();
    assert!(words(&told).contains("still working"), "{}", words(&told));
    world.asks(8, day());
    assert!(world.to_client.is_empty());
    let collects = |world: &mut World, id: u64| {
        world.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "awaitElicitation", "arguments": {"claim": claim}}}));
    };
    collects(&mut world, 3);
    let second = pending(&world.told_client(), 3);
    collects(&mut world, 4);
    assert_eq!(pending(&world.told_client(), 4), second);
    sends(&mut world, 5, &second, "accept", monday());
    world.server(result(1));
    assert_eq!(world.told_client(), result(5));
    collects(&mut world, 6);
    assert_eq!(world.told_client(), result(6));
}

#[test]
fn another_session_knows_nothing_of_it() {
    let (_, name) = asked();
    let mut other = world();
    other.calls(1);
    other.asks(7, day());
    other.to_client.clear();
    sends(&mut other, 2, &name, "accept", monday());
    assert!(words(&other.told_client()).contains("no such question"));
    assert!(other.to_server.is_empty());
}
