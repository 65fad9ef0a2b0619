//! Many calls and many questions at once: what one of them costs doesn't depend on the others.
//!
//! Nothing is timed. Each story has so many of both that looking at each of one for each of the other would not end
//! while a test waits.

use super::*;

/// As many questions as may be open.
const QUESTIONS: u64 = 1_000;

#[test]
fn a_call_ends_without_a_look_at_every_question() {
    const CALLS: u64 = 9_000;
    let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
    for id in 0..CALLS {
        world.calls(id);
    }
    for id in 0..QUESTIONS {
        world.asks(CALLS + id, day());
    }
    assert_eq!(world.to_client.len() as u64, QUESTIONS);
    world.to_client.clear();
    // Any of the questions may belong to any of the calls, so they end with the last.
    for id in 0..CALLS {
        assert!(world.to_server.is_empty(), "{id}");
        world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": format!("t{id}"), "progress": 1}}));
        world.server(json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    assert_eq!(world.to_server.len() as u64, QUESTIONS);
}

#[test]
fn a_question_ends_with_the_last_call_that_it_can_belong_to() {
    let mut world = World::plain();
    world.calls(1);
    world.calls(2);
    world.asks(7, day());
    world.calls(3);
    world.asks(8, day());
    let ends = |world: &mut World, id: u64| {
        world.withdrawn.clear();
        world.server(json!({"jsonrpc": "2.0", "id": id, "result": {}}));
        let turns: Vec<u64> = world.withdrawn.iter().map(|(nth, _)| *nth).collect();
        turns
    };
    let turns: Vec<u64> = world.asked.iter().map(|(nth, _)| *nth).collect();
    assert_eq!(ends(&mut world, 2), [] as [u64; 0]);
    assert_eq!(ends(&mut world, 1), [turns[0]]);
    assert_eq!(ends(&mut world, 3), [turns[1]]);
}

#[test]
fn so_many_requests_are_open_and_no_more() {
    let mut world = World::plain();
    for id in 0..10_000 {
        world.calls(id);
    }
    world.to_client.clear();
    world.calls(10_000);
    assert_eq!(world.told_client()["error"]["code"], -32600);
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    world.to_client.clear();
    world.calls(10_000);
    assert!(world.to_client.is_empty(), "there is room again");
}

/// How often calls, questions and tools are looked at for what a peer says, while so many questions wait in as many calls.
/// It is told the names by which a model answers them.
fn looks(crowd: u64, ask: &str, says: impl Fn(&mut World, &mut Vec<Value>)) -> u64 {
    let mut world = World::new(ask);
    world.open("2025-11-25", json!({}), "2025-11-25");
    world.lists(json!([{"name": "look", "annotations": {"readOnlyHint": true}}]));
    for id in 0..crowd {
        // What a model may be asked depends on each tool.
        let tool = match ask {
            "model" => "look".to_owned(),
            _ => format!("look{id}"),
        };
        world.client(json!({"jsonrpc": "2.0", "id": format!("p{id}"), "method": "prompts/get", "params": {"name": "p"}}));
        world.client(
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}),
        );
        world.asks(10_000 + id, day());
    }
    let told = std::mem::take(&mut world.to_client).into_iter();
    let names = told.map(|told| told["result"]["_meta"]["elicitationPending"]["elicitId"].clone());
    let mut names: Vec<Value> = names.filter(Value::is_string).collect();
    let mut looks_of = |world: &mut World| {
        let before = crate::call::looks();
        says(world, &mut names);
        crate::call::looks() - before
    };
    // The ledger is checked after some events, which looks at everything.
    (0..3).map(|_| looks_of(&mut world)).min().unwrap()
}

#[test]
fn a_question_costs_the_same_however_many_wait() {
    for ask in ["page", "model"] {
        let asks = |world: &mut World, names: &mut Vec<Value>| {
            names.push(Value::Null); // One more.
            world.asks(100_000 + names.len() as u64, day());
        };
        assert_eq!(looks(200, ask, asks), looks(400, ask, asks), "{ask}");
    }
}

#[test]
fn a_model_that_answers_costs_the_same_however_many_questions_wait() {
    let answers = |world: &mut World, names: &mut Vec<Value>| {
        let arguments = json!({"elicitId": names.pop(), "action": "cancel"});
        world.client(
            json!({"jsonrpc": "2.0", "id": format!("a{}", names.len()), "method": "tools/call",
            "params": {"name": "sendElicitationResult", "arguments": arguments}}),
        );
        assert_eq!(world.to_server.pop().unwrap()["result"]["action"], "cancel");
    };
    assert_eq!(looks(200, "model", answers), looks(400, "model", answers));
}
