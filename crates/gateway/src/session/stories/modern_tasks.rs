//! Modern servers that make tasks of calls, with clients that know nothing of tasks.

use super::eras::*;
use crate::session::world::Delivered;

const A_SECOND: Duration = Duration::from_secs(1);
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What the server says of itself: it makes tasks.
fn makes_tasks() -> Value {
    let mut told = discovered();
    told["capabilities"]["extensions"] = json!({TASKS: {}});
    told
}

fn legacy_to(ask: &str, capabilities: Value) -> World {
    let mut world = World::new(ask);
    world.client(initialize(0, capabilities));
    let opening = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "error": {"code": -32601, "message": "Method not found"}}));
    world.server_answers(makes_tasks());
    world.to_server.clear();
    world.to_client.clear();
    world.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    world
}

fn modern_to(ask: &str) -> World {
    let mut world = World::new(ask);
    world.client(modern(0, "server/discover", json!({}), both()));
    world.server_answers(makes_tasks());
    world.server_answers(makes_tasks());
    world.to_client.clear();
    world.to_server.clear();
    world
}

fn call(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "book", "_meta": {"progressToken": "t"}}})
}

fn task(status: &str) -> Value {
    json!({"resultType": "complete", "taskId": "t1", "status": status, "ttlMs": null, "pollIntervalMs": 500})
}

fn started(mut told: Value) -> Value {
    told["resultType"] = "task".into();
    told
}

/// A call that is a task by now.
fn running(world: &mut World) {
    world.client(call(1));
    world.server_answers(started(task("working")));
    assert!(world.to_client.is_empty() && world.to_server.is_empty());
}

/// The server is asked how far the task is, and says that.
fn polled(world: &mut World, told: Value) {
    world.passes(A_SECOND);
    let asked = world.server_answers(told);
    assert_eq!(
        (&asked["method"], &asked["params"]["taskId"]),
        (&json!("tasks/get"), &json!("t1"))
    );
    let told = &asked["params"]["_meta"];
    assert_eq!(
        told[meta::CLIENT_CAPABILITIES]["extensions"][TASKS],
        json!({})
    );
    assert_eq!(told["progressToken"], Value::Null);
}

fn wanting(requests: Value) -> Value {
    let mut told = task("input_required");
    told["inputRequests"] = requests;
    told
}

#[test]
fn a_task_is_a_call_that_takes_its_time() {
    let mut world = legacy_to(
        "client,page",
        json!({"elicitation": {"form": {}, "url": {}}}),
    );
    running(&mut world);
    polled(&mut world, task("working"));
    polled(&mut world, wanting(asks("k", day())));
    let ask = world.told_client();
    assert_eq!(
        (&ask["method"], &ask["params"]),
        (&json!("elicitation/create"), &day())
    );
    // The same question is not asked twice, and another one is.
    polled(
        &mut world,
        wanting(json!({"k": asks("k", day())["k"], "l": asks("l", link("in"))["l"]})),
    );
    let second = world.told_client();
    assert_eq!(second["params"]["url"], "https://example.com/in");
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    let update = world.server_answers(json!({"resultType": "complete"}));
    assert_eq!(update["method"], "tasks/update");
    assert_eq!(update["params"]["inputResponses"], json!({"k": monday()}));
    world.answers_at_once = true; // It has been shown for as long as the first.
    world.client(json!({"jsonrpc": "2.0", "id": second["id"], "result": {"action": "decline"}}));
    let update = world.server_answers(json!({"resultType": "complete"}));
    assert_eq!(
        update["params"]["inputResponses"],
        json!({"l": {"action": "decline"}})
    );
    // It has not noticed yet.
    polled(&mut world, wanting(asks("k", day())));
    assert!(world.to_client.is_empty());
    let mut done = task("completed");
    done["result"] = json!({"content": [], "x": 1});
    polled(&mut world, done);
    let told = world.told_client();
    assert_eq!((&told["id"], &told["result"]["x"]), (&json!(1), &json!(1)));
    world.passes(A_SECOND * 60);
    assert!(world.to_server.is_empty());
}

#[test]
fn what_a_task_does_not_want_to_know_any_more_is_taken_back() {
    let mut world = legacy_to("client,page", json!({}));
    running(&mut world);
    polled(&mut world, wanting(asks("k", day())));
    world.see();
    polled(&mut world, task("working"));
    assert_eq!(world.withdrawn, [(1, Withdrawn::ByServer)]);
    world.to_client.clear(); // Somebody was being waited for.
    for (told, words) in [("failed", "no room"), ("cancelled", "took its task back")] {
        if told == "cancelled" {
            running(&mut world);
        }
        let mut end = task(told);
        end["error"] = json!({"code": -32000, "message": "no room"});
        polled(&mut world, end);
        let error = world.told_client()["error"]["message"].clone();
        assert!(error.as_str().unwrap().contains(words), "{error}");
    }
}

/// A person answers the nth question at the desk.
fn declines(world: &mut World, nth: u64) {
    let no = midcall_core::Answer::Declined { reason: None };
    world.ends(nth, Outcome::Answered(no, PAGE));
}

#[test]
fn a_persons_answer_to_a_task_has_arrived_once_the_server_says_so() {
    let asked = || {
        let mut world = legacy_to("page", json!({}));
        running(&mut world);
        let both = json!({"k": asks("k", day())["k"], "l": asks("l", day())["l"]});
        polled(&mut world, wanting(both));
        world.see();
        world
    };
    let mut world = asked();
    declines(&mut world, 1);
    declines(&mut world, 2);
    assert_eq!(
        world.told_of_answers(),
        [(1, Delivered::Sent), (2, Delivered::Sent)]
    );
    let updates = std::mem::take(&mut world.to_server);
    for (update, told) in updates
        .iter()
        .zip([vec![], vec![(1, Delivered::Yes), (2, Delivered::Yes)]])
    {
        assert_eq!(update["method"], "tasks/update");
        world.server(
            json!({"jsonrpc": "2.0", "id": update["id"], "result": {"resultType": "complete"}}),
        );
        assert_eq!(world.told_of_answers(), told, "each update is one answer");
    }

    let mut world = asked();
    declines(&mut world, 1);
    world.to_server.clear();
    polled(&mut world, task("failed"));
    assert_eq!(
        world.told_of_answers(),
        [(1, Delivered::Sent), (1, Delivered::Unknown)]
    );
}

#[test]
fn a_call_that_is_taken_back_ends_its_task() {
    let mut world = legacy_to("client,page", json!({}));
    running(&mut world);
    polled(&mut world, wanting(asks("k", day())));
    world.see();
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let ends = world.server_answers(json!({"resultType": "complete"}));
    assert_eq!(
        (&ends["method"], &ends["params"]["taskId"]),
        (&json!("tasks/cancel"), &json!("t1"))
    );
    assert_eq!(world.withdrawn[0], (1, Withdrawn::ByClient));
}

#[test]
fn a_server_that_makes_tasks_may_whoever_calls() {
    for (mut world, is_modern) in [
        (legacy_to("client,page", json!({})), false),
        (modern_to("client,page"), true),
    ] {
        let request = modern(1, "tools/call", json!({"name": "book"}), both());
        world.client(if is_modern { request } else { call(1) });
        let sent = world.server_answers(started(task("working")));
        assert_eq!(
            sent["params"]["_meta"][meta::CLIENT_CAPABILITIES]["extensions"],
            json!({TASKS: {}})
        );
        let mut done = task("completed");
        done["result"] = json!({"content": [{"type": "text", "text": "done"}]});
        polled(&mut world, done);
        assert_eq!(world.told_client()["result"]["content"][0]["text"], "done");
    }
}

#[test]
fn a_client_that_knows_tasks_has_them() {
    let mut world = modern_to("client,page");
    let mut call = modern(1, "tools/call", json!({"name": "book"}), both());
    call["params"]["_meta"][meta::CLIENT_CAPABILITIES]["extensions"] = json!({TASKS: {}});
    world.client(call.clone());
    assert_eq!(world.told_server(), call);
    let told = json!({"jsonrpc": "2.0", "id": 1, "result": started(task("working"))});
    world.server(told.clone());
    assert_eq!(world.told_client(), told);
    world.passes(A_SECOND * 60);
    assert!(world.to_server.is_empty());
}

#[test]
fn a_server_that_is_not_reached_for_a_moment_keeps_its_task() {
    let mut world = legacy_to(
        "client,page",
        json!({"elicitation": {"form": {}, "url": {}}}),
    );
    running(&mut world);
    let unreached = json!({"code": -32603, "message": "not reached"});
    for _ in 0..3 {
        world.passes(A_SECOND);
        let asked = world.told_server();
        world.server(json!({"jsonrpc": "2.0", "id": asked["id"], "error": unreached}));
        assert!(world.to_client.is_empty());
    }
    polled(&mut world, wanting(asks("k", day())));
    let ask = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    let first = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": first["id"], "error": unreached}));
    let second = world.told_server();
    assert_eq!(
        second["params"], first["params"],
        "nothing that was typed is lost"
    );
    for _ in 0..2 {
        world.passes(A_SECOND);
        world.to_server.clear();
    }
    world.server(json!({"jsonrpc": "2.0", "id": second["id"], "error": {"code": -32602, "message": "No such task"}}));
    let ends = world.told_server();
    assert_eq!(ends["method"], "tasks/cancel");
    assert_eq!(world.told_client()["error"]["message"], "No such task");
}

#[test]
fn a_call_that_is_taken_back_before_it_is_a_task_leaves_none() {
    let mut world = legacy_to("client,page", json!({}));
    world.client(call(1));
    world.to_server.clear();
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    assert_eq!(world.told_server()["params"]["requestId"], 1);
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": started(task("working"))}));
    let ends = world.told_server();
    assert_eq!(
        (&ends["method"], &ends["params"]["taskId"]),
        (&json!("tasks/cancel"), &json!("t1"))
    );
    assert!(world.to_client.is_empty());
}
