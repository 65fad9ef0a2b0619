//! The call that a server asks in, where the wire tells it: over HTTP, a request that comes on the stream of a call
//! came up in that call, whatever else is open.

use super::client::{back, call};
use super::eras::{modern_to_legacy, monday};
use super::*;

/// Two calls are open: 1 of a harmless tool, 2 of one whose questions only the page may ask.
fn two_calls() -> World {
    let policy = "[[rule]]\ntool = \"delete\"\nroutes = \"page\"";
    let mut world = World::with("client,page", |rules| {
        rules.policy = policy.parse().unwrap();
    });
    world.open("2025-11-25", both(), "2025-11-25");
    for (id, tool) in [(1, "read"), (2, "delete")] {
        world.client(
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}),
        );
    }
    world.to_server.clear();
    world
}

fn question(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": day()})
}

fn cancel(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

#[test]
fn a_question_is_judged_by_the_policy_of_its_own_call_and_shows_its_tool() {
    let mut world = two_calls();
    world.server_during(1, question(7));
    assert_eq!(world.told_client(), question(7));
    world.server_during(2, question(8));
    assert!(world.to_client.is_empty());
    let (_, asked) = world.asked.pop().unwrap();
    assert_eq!(asked.asker.tool.as_deref(), Some("delete"));
    // On the stream that belongs to no call, any of them can be meant: the strictest policy holds, and no tool is named.
    world.server(question(9));
    assert!(world.to_client.is_empty());
    let (_, asked) = world.asked.pop().unwrap();
    assert_eq!(asked.asker.tool, None);
}

#[test]
fn cancelling_a_call_takes_its_own_question_back_and_no_other() {
    let mut world = two_calls();
    world.server_during(2, question(8));
    world.see();
    world.client(cancel(1));
    assert_eq!(world.told_server(), cancel(1));
    assert!(world.withdrawn.is_empty());
    world.client(cancel(2));
    assert_eq!(world.told_server(), cancel(2));
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByClient)]);

    // Though another call is open in which it could have come up, if nobody had said so.
    let mut world = two_calls();
    world.server_during(2, question(8));
    world.see();
    world.client(cancel(2));
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByClient)]);

    let mut world = two_calls();
    world.server_during(1, question(7));
    assert_eq!(world.told_client(), question(7));
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(world.to_client[0], cancel(7), "its call is over");
}

#[test]
fn what_belongs_to_a_call_is_told_in_that_call() {
    let mut world = two_calls();
    let sampling =
        json!({"jsonrpc": "2.0", "id": 8, "method": "sampling/createMessage", "params": {}});
    let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}});
    for (during, message) in [(1, question(7)), (2, sampling), (1, ping), (2, log.clone())] {
        world.server_during(during, message.clone());
        assert_eq!(world.in_calls.pop(), Some((json!(during), message)));
    }
    // Of a request that the session doesn't know, nobody can say.
    world.server_during(77, log.clone());
    world.server(log);
    assert!(world.in_calls.is_empty());
    assert_eq!(world.to_client.len(), 6);
}

#[test]
fn a_modern_client_is_asked_in_the_very_call() {
    let mut world = modern_to_legacy("client,page", json!({"form": {}}));
    for id in [1, 2] {
        world.client(call(id, Value::Null));
    }
    world.to_server.clear();
    world.server_during(2, question(7));
    let round = world.told_client();
    assert_eq!(round["id"], 2);
    world.client(back(3, &round["result"], json!({"q1": monday()})));
    assert_eq!(world.told_server()["id"], 7);
    // The server knows the call by the id of its first request, which the client has changed meanwhile.
    world.server_during(2, question(8));
    assert_eq!(world.told_client()["id"], 3);
}
