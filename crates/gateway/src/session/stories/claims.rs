//! What impatient clients live through, in memory.

use std::time::Duration;

use midcall_core::Answer;
use midcall_desk::Outcome;
use serde_json::{Value, json};

use crate::session::world::{PAGE, World, day};

const HOLD: Duration = Duration::from_secs(45);

/// A client that knows nothing of questions, with a call in which one has come up.
fn asked() -> World {
    let mut world = shown();
    world.calls(1);
    world.asks(7, day());
    world.to_client.clear();
    world
}

/// A client that has been shown the added tool.
fn shown() -> World {
    let mut world = World::plain();
    world.lists(json!([]));
    world
}

/// What the client was told besides that its calls are alive.
fn told(world: &mut World) -> Vec<Value> {
    let told = std::mem::take(&mut world.to_client);
    let progress = |message: &Value| message["method"] == "notifications/progress";
    told.into_iter()
        .filter(|message| !progress(message))
        .collect()
}

/// Lets time pass in steps, as a clock does.
fn passes(world: &mut World, time: Duration) {
    (0..time.as_secs()).for_each(|_| world.passes(Duration::from_secs(1)));
}

fn claim(waiting: &Value) -> String {
    let claim = &waiting["result"]["_meta"]["dev.midcall/waiting"]["claim"];
    claim.as_str().unwrap().to_owned()
}

fn collects(world: &mut World, id: u64, claim: &str, wait: Option<f64>) {
    let mut arguments = json!({"claim": claim});
    if let Some(wait) = wait {
        arguments["waitSeconds"] = wait.into();
    }
    world.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "awaitElicitation", "arguments": arguments, "_meta": {"progressToken": format!("t{id}")}}}));
}

fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "structuredContent": {"booked": true}}})
}

#[test]
fn a_call_that_is_too_old_is_let_go_and_its_result_collected_once_it_is_there() {
    let mut world = asked();
    passes(&mut world, HOLD - Duration::from_secs(1));
    assert!(told(&mut world).is_empty());
    passes(&mut world, Duration::from_secs(1));
    let [waiting] = &told(&mut world)[..] else {
        panic!("one result")
    };
    assert_eq!(waiting["id"], 1);
    let meta = &waiting["result"]["_meta"]["dev.midcall/waiting"];
    assert_eq!(
        (&meta["deadline"], &meta["page"]),
        (
            &json!("2026-11-16T12:00:00.000Z"),
            &json!("http://127.0.0.1:1")
        )
    );
    let claim = claim(waiting);
    let words = waiting["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        words.contains(&claim) && words.contains("awaitElicitation") && words.contains("books"),
        "{words}"
    );
    assert_eq!(waiting["result"]["content"].as_array().unwrap().len(), 1);

    // The person is slower than one wait.
    collects(&mut world, 2, &claim, None);
    passes(&mut world, Duration::from_secs(39));
    assert!(told(&mut world).is_empty());
    passes(&mut world, Duration::from_secs(1));
    let [again] = &told(&mut world)[..] else {
        panic!("one result")
    };
    assert_eq!(
        (
            &again["id"],
            &again["result"]["_meta"]["dev.midcall/waiting"]["claim"]
        ),
        (&json!(2), &json!(claim))
    );

    collects(&mut world, 3, &claim, None);
    world.ends(1, Outcome::Answered(Answer::Cancelled, PAGE));
    assert_eq!(world.told_server()["id"], 7);
    world.server(result(1));
    assert_eq!(told(&mut world), [result(3)]);

    // And again, for those who missed it.
    collects(&mut world, 4, &claim, None);
    assert_eq!(told(&mut world), [result(4)]);
    passes(&mut world, Duration::from_secs(10 * 60 + 1));
    collects(&mut world, 5, &claim, None);
    assert_eq!(told(&mut world)[0]["result"]["isError"], true);
    assert!(
        world.to_server.is_empty(),
        "the server knows nothing of all this"
    );
}

#[test]
fn whoever_collects_waits_no_longer_than_their_client_bears() {
    let hold = Duration::from_secs(5);
    let mut world = World::with("client,page", |rules| rules.hold = Some(hold));
    world.open("2025-11-25", json!({}), "2025-11-25");
    let takes = &world.lists(json!([]))[0]["inputSchema"]["properties"];
    assert_eq!(takes["waitSeconds"]["default"], 5.0);
    world.calls(1);
    world.asks(7, day());
    passes(&mut world, hold);
    let claim = claim(&told(&mut world)[0]);
    collects(&mut world, 2, &claim, None);
    passes(&mut world, Duration::from_secs(4));
    assert!(told(&mut world).is_empty());
    passes(&mut world, Duration::from_secs(1));
    assert_eq!(told(&mut world)[0]["id"], 2);
}

#[test]
fn a_result_that_came_before_anybody_asked_for_it_waits() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    world.server(json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "full"}}));
    assert!(told(&mut world).is_empty());
    collects(&mut world, 2, &claim, Some(0.0));
    assert_eq!(
        told(&mut world),
        [json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -1, "message": "full"}})]
    );
}

#[test]
fn every_open_call_gets_a_claim_of_its_own() {
    let mut world = shown();
    world.calls(1);
    passes(&mut world, Duration::from_secs(30));
    world.calls(2);
    world.asks(7, day());
    world.to_client.clear();
    passes(&mut world, Duration::from_secs(15));
    let first = told(&mut world);
    assert_eq!((first.len(), &first[0]["id"]), (1, &json!(1)));
    passes(&mut world, Duration::from_secs(30));
    let second = told(&mut world);
    assert_eq!((second.len(), &second[0]["id"]), (1, &json!(2)));
    let (one, two) = (claim(&first[0]), claim(&second[0]));
    assert_ne!(one, two);
    world.server(result(2));
    collects(&mut world, 3, &two, None);
    assert_eq!(told(&mut world), [result(3)]);
    collects(&mut world, 4, &one, None);
    assert!(told(&mut world).is_empty());
    world.server(result(1));
    assert_eq!(told(&mut world), [result(4)]);
}

#[test]
fn nothing_is_said_about_a_call_that_was_answered() {
    let mut world = asked();
    passes(&mut world, HOLD);
    world.to_client.clear();
    passes(&mut world, HOLD);
    assert!(world.to_client.is_empty());
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t1", "progress": 5}}));
    assert!(world.to_client.is_empty());
}

#[test]
fn whoever_collects_is_kept_alive_and_may_give_up() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    collects(&mut world, 2, &claim, Some(1e9));
    passes(&mut world, Duration::from_secs(11));
    assert_eq!(world.to_client[0]["params"]["progressToken"], "t2");
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    );
    assert!(world.to_server.is_empty() && world.withdrawn.is_empty());
    world.to_client.clear();
    world.server(result(1));
    assert!(world.to_client.is_empty());
    collects(&mut world, 3, &claim, None);
    assert_eq!(told(&mut world), [result(3)]);
}

#[test]
fn a_claim_that_nobody_gave_is_worth_nothing() {
    let mut world = asked();
    passes(&mut world, HOLD);
    world.to_client.clear();
    for claim in ["", "xyzzy", "t1"] {
        collects(&mut world, 2, claim, None);
        let told = told(&mut world);
        assert_eq!(told[0]["result"]["isError"], true, "{claim}");
    }
    world.client(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "awaitElicitation"}}));
    assert_eq!(told(&mut world)[0]["result"]["isError"], true);
}

#[test]
fn two_who_collect_one_result_both_get_it() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    collects(&mut world, 2, &claim, None);
    collects(&mut world, 3, &claim, None);
    world.server(result(1));
    assert_eq!(told(&mut world), [result(2), result(3)]);
}

#[test]
fn ids_and_tokens_of_calls_that_are_over_are_free_again() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    // While it runs, its id is taken.
    world.calls(1);
    assert_eq!(told(&mut world)[0]["error"]["code"], -32600);
    world.server(result(1));
    world.ends(1, Outcome::TimedOut);
    world.calls(1);
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t1", "progress": 1}}));
    assert_eq!(world.to_client.len(), 1);
    world.to_client.clear();
    let second = json!({"jsonrpc": "2.0", "id": 1, "result": {"second": true}});
    world.server(second.clone());
    assert_eq!(told(&mut world), [second]);
    collects(&mut world, 3, &claim, None);
    assert_eq!(told(&mut world), [result(3)]);
}

#[test]
fn a_call_taken_back_after_it_was_let_go_is_over() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    collects(&mut world, 2, &claim, None);
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let told = told(&mut world);
    assert_eq!(
        (&told[0]["id"], &told[0]["error"]["code"]),
        (&json!(2), &json!(-32603))
    );
    assert_eq!(world.told_server()["method"], "notifications/cancelled");
}

#[test]
fn a_server_cannot_answer_what_it_was_not_asked() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    collects(&mut world, 2, &claim, None);
    world.server(result(2));
    assert!(told(&mut world).is_empty());
    world.server(result(1));
    assert_eq!(told(&mut world), [result(2)]);
}

#[test]
fn a_client_that_is_not_to_ask_may_be_impatient_too() {
    let both = json!({"elicitation": {"form": {}, "url": {}}});
    let mut world = World::opened("page", "2025-11-25", both, "2025-11-25");
    world.calls(1);
    world.asks(7, day());
    passes(&mut world, HOLD);
    assert_eq!(told(&mut world)[0]["id"], 1);
}

#[test]
fn hundreds_of_old_calls_do_not_keep_anybody_busy() {
    let mut world = World::plain();
    for id in 0..300 {
        world.calls(id + 1);
    }
    world.asks(999, day());
    passes(&mut world, HOLD);
    assert_eq!(told(&mut world).len(), 256);
    assert!(world.wakes_at().is_none_or(|at| at > world.now));
}

#[test]
fn prompts_and_resources_are_told_where_to_answer() {
    let mut world = World::plain();
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "p"}}),
    );
    world.asks(7, day());
    passes(&mut world, HOLD);
    let told_ = told(&mut world);
    assert_eq!(
        (&told_[0]["id"], &told_[0]["error"]["code"]),
        (&json!(1), &json!(-32603))
    );
    world.server(result(1));
    assert!(told(&mut world).is_empty());
}

#[test]
fn a_server_that_dies_is_told_to_whoever_collects() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    collects(&mut world, 2, &claim, None);
    world.server_gone("ended");
    let told = told(&mut world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["id"], 2);
    assert!(
        told[0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ended")
    );
}

#[test]
fn the_tool_is_listed_to_those_who_need_it_and_to_nobody_else() {
    let list = |id: u64, cursor: Option<&str>, names: &[&str]| {
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "inputSchema": {}, "outputSchema": {"type": "object"}, "x": 1})).collect();
        let mut result = json!({"tools": tools, "y": 2});
        if let Some(cursor) = cursor {
            result["nextCursor"] = cursor.into();
        }
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    };
    let lists = |world: &mut World, id: u64, answer: Value| {
        world.client(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
        world.server(answer);
        world.to_client.remove(0)
    };
    let names = |list: &Value| -> Vec<String> {
        let tools = list["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut world = World::plain();
    let first = lists(&mut world, 1, list(1, Some("2"), &["a", "b"]));
    assert_eq!(names(&first), ["a", "b"]);
    let mut widened = first["result"]["tools"][0].clone();
    assert_eq!(
        widened["outputSchema"]["anyOf"][0],
        json!({"type": "object"})
    );
    widened["outputSchema"] = Value::Null;
    assert_eq!(
        widened,
        json!({"name": "a", "inputSchema": {}, "outputSchema": null, "x": 1})
    );
    let last = lists(&mut world, 2, list(2, None, &["c"]));
    assert_eq!(names(&last), ["c", "awaitElicitation"]);
    assert_eq!(last["result"]["y"], 2);

    // A server may have a tool of that name.
    let taken = lists(&mut world, 3, list(3, None, &["awaitElicitation"]));
    assert_eq!(
        names(&taken),
        ["awaitElicitation", "midcall_awaitElicitation"]
    );
    world.to_server.clear();
    collects(&mut world, 4, "x", None);
    assert_eq!(world.told_server()["id"], 4, "it is the server's own");

    for (ask, capabilities) in [
        (
            "client,page",
            json!({"elicitation": {"form": {}, "url": {}}}),
        ),
        ("client", json!({})),
    ] {
        let mut world = World::opened(ask, "2025-11-25", capabilities, "2025-11-25");
        let all = list(1, None, &["a"]);
        assert_eq!(lists(&mut world, 1, all.clone()), all);
        world.to_server.clear();
        collects(&mut world, 2, "x", None);
        assert_eq!(world.told_server()["id"], 2);
    }
}

#[test]
fn too_many_that_collect_one_result_are_told_so() {
    let mut world = asked();
    passes(&mut world, HOLD);
    let claim = claim(&told(&mut world)[0]);
    for id in 0..16 {
        collects(&mut world, 100 + id, &claim, Some(600.0));
    }
    assert!(told(&mut world).is_empty(), "they wait");
    collects(&mut world, 200, &claim, Some(600.0));
    let refused = told(&mut world);
    assert_eq!(
        refused[0]["result"],
        midcall_core::model::too_many_collect()
    );
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    assert_eq!(told(&mut world).len(), 16, "each of the others has it");
}
