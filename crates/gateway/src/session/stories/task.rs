//! Tools that can only be called as tasks, for clients that make calls.

use std::time::Duration;

use midcall_core::Answer;
use midcall_desk::Outcome;
use serde_json::{Value, json};

use super::accepted;
use crate::session::world::{PAGE, World, day};

/// A world whose server runs tasks, and what its client is told of the tools.
fn world() -> (World, Value) {
    let mut world = World::new("client,page");
    world.client(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}));
    world.server(
        json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25",
        "capabilities": {"tasks": {"requests": {"tools": {"call": {}}}}},
        "serverInfo": {"name": "books", "version": "2"}}}),
    );
    world.to_client.clear();
    let tools = world.lists(json!([
        {"name": "research", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}},
        {"name": "either", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}},
        {"name": "plain", "inputSchema": {"type": "object"}}
    ]));
    world.to_server.clear();
    (world, tools)
}

fn call(id: u64, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": {"x": 1}, "_meta": {"progressToken": 7}}})
}

/// The call that started a task, which the server says is called `t`.
fn started(world: &mut World) -> Value {
    let start = world.told_server();
    assert_eq!(start["params"]["task"], json!({}));
    world.server(json!({"jsonrpc": "2.0", "id": start["id"], "result":
        {"task": {"taskId": "t", "status": "working", "ttl": null}}}));
    let wait = world.told_server();
    assert_eq!(
        (&wait["method"], &wait["params"]),
        (&json!("tasks/result"), &json!({"taskId": "t"}))
    );
    wait
}

#[test]
fn a_client_without_tasks_calls_a_tool_that_needs_one() {
    let (mut world, tools) = world();
    let support: Vec<&Value> = (0..3)
        .map(|at| &tools[at]["execution"]["taskSupport"])
        .collect();
    assert_eq!(
        support,
        [&json!("optional"), &json!("optional"), &Value::Null]
    );
    world.client(call(1, "research"));
    let wait = started(&mut world);
    assert!(world.to_client.is_empty());
    // What becomes of the task is no news for a client that does not know of it.
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": "t", "status": "input_required"}}));
    assert!(world.to_client.is_empty());
    world.asks(9, day());
    let answer: Answer = accepted(&world.asked[0].1, json!({"day": "2026-12-24"}));
    world.ends(1, Outcome::Answered(answer, PAGE));
    assert_eq!(
        world.told_server()["result"]["content"],
        json!({"day": "2026-12-24"})
    );
    world.to_client.clear(); // Somebody is being waited for.
    world.server(json!({"jsonrpc": "2.0", "id": wait["id"], "result": {"content": [], "x": 1}}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "x": 1}})
    );
}

#[test]
fn whoever_makes_tasks_makes_them() {
    let (mut world, _) = world();
    let mut own = call(1, "research");
    own["params"]["task"] = json!({"ttl": 1000});
    for call in [own, call(2, "either"), call(3, "plain")] {
        world.client(call.clone());
        assert_eq!(world.told_server(), call);
    }
    let news = json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": "u", "status": "working"}});
    world.server(news.clone());
    assert_eq!(world.told_client(), news);
}

#[test]
fn a_server_that_makes_no_task_of_it_is_heard() {
    let (mut world, _) = world();
    for (id, said) in [
        (1, json!({"error": {"code": -32602, "message": "no"}})),
        (2, json!({"result": {"content": []}})),
    ] {
        world.client(call(id, "research"));
        let start = world.told_server();
        let mut answer = said.clone();
        answer["id"] = start["id"].clone();
        world.server(answer);
        let mut told = said;
        told["id"] = json!(id);
        assert_eq!(world.told_client(), told);
    }
}

#[test]
fn a_call_that_is_taken_back_takes_its_task_with_it() {
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    // While it runs.
    let (mut world, _) = world();
    world.client(call(1, "research"));
    let wait = started(&mut world);
    world.client(cancel.clone());
    let ends = world.to_server.remove(0);
    assert_eq!(
        (&ends["method"], &ends["params"]),
        (&json!("tasks/cancel"), &json!({"taskId": "t"}))
    );
    assert_eq!(world.told_server()["params"]["requestId"], wait["id"]);
    world.server(json!({"jsonrpc": "2.0", "id": ends["id"], "result": {}}));
    // Before anybody knows what it is called.
    world.client(call(1, "research"));
    let start = world.told_server();
    world.client(cancel);
    assert_eq!(world.told_server()["params"]["requestId"], start["id"]);
    world.server(
        json!({"jsonrpc": "2.0", "id": start["id"], "result": {"task": {"taskId": "late"}}}),
    );
    assert_eq!(world.told_server()["params"], json!({"taskId": "late"}));
    assert!(world.to_client.is_empty());
}

#[test]
fn a_call_that_was_taken_back_and_never_answered_is_forgotten_after_a_while() {
    let cancel = |id: u64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let (mut world, _) = world();
    let taken_back = |world: &mut World, id: u64| {
        world.client(call(id, "research"));
        let start = world.told_server();
        world.client(cancel(id));
        assert_eq!(world.told_server()["params"]["requestId"], start["id"]);
        start
    };
    let late = |world: &mut World, start: &Value| {
        world.server(
            json!({"jsonrpc": "2.0", "id": start["id"], "result": {"task": {"taskId": "late"}}}),
        );
        std::mem::take(&mut world.to_server)
    };
    for id in 1..=1_000 {
        taken_back(&mut world, id);
    }
    let start = taken_back(&mut world, 1_001);
    assert!(
        late(&mut world, &start).is_empty(),
        "there is no room for more"
    );
    world.passes(Duration::from_secs(10 * 60));
    assert_eq!(world.wakes_at(), None);
    let start = taken_back(&mut world, 1_002);
    world.passes(Duration::from_secs(10 * 60 - 1));
    let [end] = &late(&mut world, &start)[..] else {
        panic!("the task is ended");
    };
    assert_eq!(
        (&end["method"], &end["params"]),
        (&json!("tasks/cancel"), &json!({"taskId": "late"}))
    );
    assert_eq!(world.wakes_at(), None);
}
