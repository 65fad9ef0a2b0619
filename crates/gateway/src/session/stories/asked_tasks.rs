//! Questions that a server wants to be tasks (2025-11-25).

use super::eras::{both as modes, modern, modern_to_legacy};
use super::*;

/// What a client declares that makes tasks of questions.
fn makes_tasks() -> Value {
    let mut capabilities = both();
    capabilities["tasks"] = json!({"list": {}, "cancel": {},
        "requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}});
    capabilities
}

fn as_task(mut params: Value) -> Value {
    params["task"] = json!({"ttl": 60000});
    params
}

fn task() -> Value {
    json!({"task": {"taskId": "t1", "status": "input_required", "ttl": 60000,
        "createdAt": "2026-11-16T12:00:00Z", "lastUpdatedAt": "2026-11-16T12:00:00Z"}})
}

fn accept(day: &str) -> Value {
    json!({"action": "accept", "content": {"day": day}, "_meta": {
        "io.modelcontextprotocol/related-task": {"taskId": "t1"}}})
}

/// A client that has made a task of a question.
fn made() -> World {
    let mut world = World::opened("client,page", "2025-11-25", makes_tasks(), "2025-11-25");
    world.calls(1);
    world.asks(7, as_task(day()));
    assert_eq!(world.told_client()["params"], as_task(day()));
    world.client(json!({"jsonrpc": "2.0", "id": 7, "result": task()}));
    assert_eq!(
        world.told_server(),
        json!({"jsonrpc": "2.0", "id": 7, "result": task()})
    );
    world
}

fn fetches(world: &mut World, id: u64) {
    world.server(
        json!({"jsonrpc": "2.0", "id": id, "method": "tasks/result", "params": {"taskId": "t1"}}),
    );
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["method"], &told["params"]),
        (&json!(id), &json!("tasks/result"), &json!({"taskId": "t1"}))
    );
}

#[test]
fn a_client_that_makes_a_task_of_it_is_asked_and_its_answer_checked() {
    let mut world = made();
    // How far it is, is between the two.
    world.server(
        json!({"jsonrpc": "2.0", "id": 8, "method": "tasks/get", "params": {"taskId": "t1"}}),
    );
    assert_eq!(world.told_client()["method"], "tasks/get");
    world.client(json!({"jsonrpc": "2.0", "id": 8, "result": task()["task"]}));
    assert_eq!(world.told_server()["result"], task()["task"]);
    let news =
        json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": task()["task"]});
    world.client(news.clone());
    assert_eq!(world.told_server(), news);

    fetches(&mut world, 9);
    world.client(json!({"jsonrpc": "2.0", "id": 9, "result": accept("2026-11-16")}));
    assert_eq!(world.told_server()["result"], accept("2026-11-16"));
    // It may be fetched again, and isn't believed then either.
    fetches(&mut world, 10);
    world.client(json!({"jsonrpc": "2.0", "id": 10, "result": accept("xyzzy")}));
    let told = world.told_server();
    assert_eq!(told["error"]["code"], -32603);
    assert!(!told.to_string().contains("xyzzy"), "{told}");
    // Once by each request.
    world.client(json!({"jsonrpc": "2.0", "id": 10, "result": accept("2026-11-16")}));
    assert!(world.to_server.is_empty());
    fetches(&mut world, 11);
    world.client(
        json!({"jsonrpc": "2.0", "id": 11, "result": {"action": "decline",
        "content": {"day": "2026-11-16"}, "_meta": {"dev.midcall/reason": "too dear"}}}),
    );
    let told = world.told_server();
    assert_eq!(
        told["result"]["_meta"]["dev.midcall/outcome"]["reason"],
        "too dear"
    );
    assert!(told["result"].get("content").is_none());
}

#[test]
fn a_call_is_kept_alive_while_its_client_has_the_task() {
    let mut world = made();
    (0..60).for_each(|_| world.passes(Duration::from_secs(1)));
    let is_progress = |told: &Value| told["method"] == "notifications/progress";
    assert!(
        world.to_client.iter().any(is_progress),
        "{:?}",
        world.to_client
    );
    // No longer than anybody would wait for an answer.
    (0..300).for_each(|_| world.passes(Duration::from_secs(1)));
    world.to_client.clear();
    (0..60).for_each(|_| world.passes(Duration::from_secs(1)));
    assert!(world.to_client.is_empty());
}

#[test]
fn a_client_that_fetches_no_answer_in_time_is_told_so() {
    let mut world = made();
    fetches(&mut world, 9);
    world.passes(Duration::from_secs(300));
    let told = world.told_server();
    assert_eq!(
        (&told["id"], &told["result"]["action"]),
        (&json!(9), &json!("cancel"))
    );
    let cancelled = |told: &Value| {
        told["method"] == "notifications/cancelled" && told["params"]["requestId"] == 9
    };
    assert!(
        world.to_client.iter().any(cancelled),
        "{:?}",
        world.to_client
    );
}

#[test]
fn a_client_that_makes_no_task_of_it_may_answer_at_once() {
    let mut world = World::opened("client,page", "2025-11-25", makes_tasks(), "2025-11-25");
    world.asks(7, as_task(day()));
    world.client(json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "decline"}}));
    assert_eq!(world.told_server()["result"], json!({"action": "decline"}));
}

#[test]
fn a_client_that_knows_no_tasks_is_asked_without_one() {
    for params in [as_task(day()), {
        let mut odd = day();
        odd["task"] = json!("odd");
        odd
    }] {
        let mut world = World::opened("client,page", "2025-11-25", both(), "2025-11-25");
        world.asks(7, params.clone());
        assert_eq!(world.told_client()["params"], day());
        let answer = json!({"action": "accept", "content": {"day": "2026-11-16"}});
        world.client(json!({"jsonrpc": "2.0", "id": 7, "result": answer}));
        assert_eq!(world.told_server()["result"], answer);

        // A modern client, people at the page, and a model.
        let mut world = modern_to_legacy("client,page", modes());
        world.client(modern(1, "tools/call", json!({"name": "book"}), modes()));
        world.asks(7, params.clone());
        let told = world.told_client();
        assert!(
            told["result"]["inputRequests"]["q1"]["params"]
                .get("task")
                .is_none(),
            "{told}"
        );
        let mut world = World::plain();
        world.asks(7, params.clone());
        let answer = accepted(&world.asked[0].1, json!({"day": "2026-11-16"}));
        world.ends(1, Outcome::Answered(answer, PAGE));
        assert_eq!(world.told_server()["result"]["action"], "accept");
        let mut world = World::opened("model", "2025-11-25", json!({}), "2025-11-25");
        world.lists(json!([{"name": "book"}]));
        world.calls(1);
        world.asks(7, params);
        assert!(world.told_client()["result"]["_meta"]["elicitationPending"].is_object());
    }
}

/// A server that isn't told of tasks has to live with a plain answer, so it is told only where the client gets every
/// question.
#[test]
fn a_server_is_told_of_tasks_only_if_its_questions_become_tasks() {
    let offered = |ask: &str, capabilities: Value| {
        let mut world = World::new(ask);
        world.client(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
            {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}}));
        let told = world.told_server()["params"]["capabilities"]["tasks"].clone();
        world.server(
            json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "serverInfo": {"name": "books", "version": "2"}}}),
        );
        world.to_client.clear();
        (world, told)
    };
    let (_, told) = offered("client,page", makes_tasks());
    assert_eq!(told, makes_tasks()["tasks"]);
    let mut forms = makes_tasks();
    forms["elicitation"] = json!({"form": {}});
    for (ask, capabilities) in [
        ("page,client", makes_tasks()),
        ("page", makes_tasks()),
        ("client,page", forms),
    ] {
        let (mut world, told) = offered(ask, capabilities);
        assert_eq!(
            told,
            json!({"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}}),
            "{ask}"
        );
        world.asks(7, as_task(day()));
        let asked_client = world.to_client.pop();
        assert_eq!(asked_client.is_some(), world.asked.is_empty());
        if let Some(told) = asked_client {
            assert!(told["params"].get("task").is_none());
        }
    }
}
