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
