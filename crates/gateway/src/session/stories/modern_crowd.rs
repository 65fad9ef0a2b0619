//! Many calls, questions and subscriptions at once: each has a bound, and one costs the same however many there are.
//!
//! Nothing is timed. Each story ends in an error, or has so many of something that looking at each of them every time
//! would not end while a test waits.

use super::client::{back, call, result};
use super::eras::*;

#[test]
fn a_client_comes_back_without_a_look_at_every_call() {
    const CALLS: u64 = 9_000;
    let mut world = modern_to_legacy("page", json!(null));
    for id in 1..=CALLS {
        world.client(call(id, Value::Null));
    }
    world.to_server.clear();
    world.server(
        json!({"jsonrpc": "2.0", "id": "s", "method": "elicitation/create", "params": day()}),
    );
    world.see();
    world.passes(Duration::from_secs(45));
    let mut told = std::mem::take(&mut world.to_client);
    told.retain(|told| told["result"].is_object());
    assert_eq!(told.len() as u64, CALLS, "all are told to come back");
    for told in &told {
        let id = told["id"].as_u64().unwrap();
        world.client(back(CALLS + id, &told["result"], Value::Null));
        assert!(world.to_client.is_empty(), "{id}");
        let progress = json!({"progressToken": format!("t{id}"), "progress": 1});
        world.server(
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}),
        );
        assert_eq!(
            world.told_client()["params"]["progressToken"],
            format!("t{}", CALLS + id)
        );
    }
    for id in 1..=CALLS {
        world.server(result(id));
        assert_eq!(world.told_client()["id"], CALLS + id);
    }
}

#[test]
fn a_server_has_at_most_a_thousand_questions_in_the_calls_of_a_client() {
    let mut world = modern_to_legacy("client", both());
    let mut first = call(1, Value::Null);
    first["params"]["_meta"][meta::CLIENT_CAPABILITIES]["sampling"] = json!({});
    world.client(first);
    world.to_server.clear();
    for id in 0..2_000 {
        world.server(json!({"jsonrpc": "2.0", "id": format!("s{id}"), "method": "sampling/createMessage", "params": {}}));
    }
    assert_eq!(world.to_server.len(), 1_000);
    assert_eq!(world.to_server[0]["id"], "s1000");
    assert_eq!(world.to_server[0]["error"]["code"], -32600);
    // What is answered makes room.
    world.to_server.clear();
    let round = world.told_client()["result"].clone();
    assert_eq!(round["inputRequests"].as_object().unwrap().len(), 1);
    let mut again = back(2, &round, json!({"q1": {"role": "assistant"}}));
    again["params"]["_meta"][meta::CLIENT_CAPABILITIES]["sampling"] = json!({});
    world.client(again);
    assert_eq!(world.told_server()["id"], "s0");
    let round = world.told_client()["result"].clone();
    assert_eq!(round["inputRequests"].as_object().unwrap().len(), 999);
    world.server(json!({"jsonrpc": "2.0", "id": "more", "method": "sampling/createMessage"}));
    assert!(world.to_server.is_empty());
}

/// Comparing each link with each would take 10^9 comparisons.
#[test]
fn a_round_asks_at_most_a_thousand_things() {
    let mut world = legacy_to_modern(
        "client,page",
        json!({"elicitation": {"form": {}, "url": {}}}),
    );
    for (id, count, is_asked) in [(1, 1_000, true), (2, 50_000, false)] {
        world.client(
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "book"}}),
        );
        world.to_server.clear();
        let requests: serde_json::Map<String, Value> = (0..count)
            .map(|n| {
                let params = link(&format!("{n}"));
                (
                    n.to_string(),
                    json!({"method": "elicitation/create", "params": params}),
                )
            })
            .collect();
        world.server(json!({"jsonrpc": "2.0", "id": id, "result":
            {"resultType": "input_required", "inputRequests": requests}}));
        let told = std::mem::take(&mut world.to_client);
        if is_asked {
            assert_eq!(told.len(), count);
            world.client(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
            world.to_client.clear();
        } else {
            assert_eq!(told.len(), 1);
            assert_eq!(told[0]["error"]["code"], -32603);
        }
    }
}

#[test]
fn subscriptions_end_without_comparing_each_with_each() {
    let mut world = modern_to_legacy("page", json!(null));
    let listen = |id: u64, from: u64, to: u64| {
        let uris: Vec<String> = (from..to).map(|n| format!("a:{n}")).collect();
        let wanted = json!({"notifications": {"resourceSubscriptions": uris}});
        modern(id, "subscriptions/listen", wanted, json!(null))
    };
    world.client(listen(1, 0, 5_001));
    assert_eq!(world.told_client()["error"]["code"], -32602);
    for (id, from, to) in [(2, 0, 2_500), (3, 2_400, 4_900)] {
        world.client(listen(id, from, to));
        for subscribe in std::mem::take(&mut world.to_server) {
            world.server(json!({"jsonrpc": "2.0", "id": subscribe["id"], "result": {}}));
        }
        world.to_client.clear();
    }
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:2450"}}));
    assert_eq!(std::mem::take(&mut world.to_client).len(), 2);
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    );
    assert_eq!(
        world.to_server.len(),
        2_400,
        "the other follows a hundred of them too"
    );
    assert!(
        (world.to_server.iter()).all(|told| told["method"] == "resources/unsubscribe"),
        "{:?}",
        world.to_server[0]
    );
}

#[test]
fn a_modern_server_is_told_of_so_many_bytes_of_resources() {
    let mut world = legacy_to_modern("page", json!({}));
    let mut told = 0;
    for n in 0..300 {
        let uri = format!("a:{n:01022}");
        world.client(json!({"jsonrpc": "2.0", "id": n, "method": "resources/subscribe", "params": {"uri": uri}}));
        told += world.to_server.len();
        world.to_server.clear();
    }
    assert_eq!(told, 2 * 256, "each tells all, and takes the last back");
}

#[test]
fn a_client_says_so_much_before_its_server_is_open_and_no_more() {
    let mut world = World::new("page");
    world.client(modern(0, "tools/list", json!({}), json!(null)));
    let probe = world.told_server();
    world.server(
        json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32601, "message": "no"}}),
    );
    let opening = world.told_server();
    for _ in 0..2_000 {
        world.client(json!({"jsonrpc": "2.0", "method": "notifications/x"}));
    }
    world.server(json!({"jsonrpc": "2.0", "id": opening["id"], "result": initialized()}));
    let said = |told: &&Value| told["method"] == "notifications/x";
    assert_eq!(world.to_server.iter().filter(said).count(), 999);
}
