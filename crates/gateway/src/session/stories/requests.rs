//! Modern servers that do what only the other era has words for: they ask by requests, and
//! answer with its errors.

use super::eras::*;

fn call(id: u64, params: Value, elicitation: Value) -> Value {
    let mut params = params;
    params["name"] = "book".into();
    modern(id, "tools/call", params, elicitation)
}

fn question(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": day()})
}

/// A client that can do this much, with a call at a modern server that asks by a request.
fn asked(elicitation: Value) -> World {
    let mut world = modern_to_modern("client,page", elicitation.clone());
    world.client(call(1, json!({}), elicitation));
    assert_eq!(world.told_server()["id"], 1);
    world.server(question(0));
    world
}

#[test]
fn a_modern_client_is_asked_in_its_call_although_that_passed() {
    let mut world = asked(both());
    let round = world.told_client();
    assert_eq!(
        (&round["id"], &round["result"]["resultType"]),
        (&json!(1), &json!("input_required"))
    );
    assert!(world.to_server.is_empty(), "the server has the call");
    let again = json!({"requestState": round["result"]["requestState"], "inputResponses": {"q1": monday()}});
    world.client(call(2, again, both()));
    assert_eq!(
        world.told_server(),
        json!({"jsonrpc": "2.0", "id": 0, "result": monday()})
    );
    world.server(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": []}}),
    );
    assert_eq!(world.told_client()["id"], 2);
}

#[test]
fn it_is_asked_in_the_oldest_call_whatever_round_that_is_in() {
    let mut world = modern_to_modern("client,page", both());
    world.client(modern(1, "tools/list", json!({}), both()));
    let theirs = json!({"requestState": "theirs", "inputResponses": {"k": monday()}});
    world.client(call(2, theirs, both()));
    world.client(call(3, json!({}), both()));
    world.to_server.clear();
    world.server(question(0));
    let round = world.told_client();
    assert_eq!(round["id"], 2);
    let again = json!({"requestState": round["result"]["requestState"], "inputResponses": {"q1": monday()}});
    world.client(call(4, again, both()));
    assert_eq!(world.told_server()["result"], monday());
    for (at, heard) in [(3, 3), (2, 4), (1, 1)] {
        world.server(json!({"jsonrpc": "2.0", "id": at, "result": {"resultType": "complete"}}));
        assert_eq!(world.told_client()["id"], heard);
    }
}

#[test]
fn it_takes_such_a_question_back() {
    let mut world = asked(both());
    let round = world.told_client();
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}});
    world.server(cancel);
    assert!(world.to_client.is_empty());
    let again = json!({"requestState": round["result"]["requestState"], "inputResponses": {"q1": monday()}});
    world.client(call(2, again, both()));
    assert!(world.to_server.is_empty(), "nobody waits for the answer");
    world.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}}));
    assert_eq!(world.told_client()["id"], 2);
}

#[test]
fn people_are_asked_for_a_client_that_cannot() {
    let mut world = asked(Value::Null);
    assert!(world.to_client.is_empty());
    world.see();
    world.ends(1, Outcome::TimedOut);
    let told = world.told_server();
    assert_eq!(
        (&told["id"], &told["result"]["action"]),
        (&json!(0), &json!("cancel"))
    );
}

#[test]
fn a_legacy_client_hears_it_as_it_came() {
    let mut world = legacy_to_modern("client,page", json!({"elicitation": {}, "roots": {}}));
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "book"}}),
    );
    world.to_server.clear();
    world.server(question(0));
    assert_eq!(world.told_client(), question(0));
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": monday()});
    world.client(answer.clone());
    assert_eq!(world.told_server(), answer);
    let roots = json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"});
    world.server(roots.clone());
    assert_eq!(world.told_client(), roots);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}});
    world.client(answer.clone());
    assert_eq!(world.told_server(), answer);
}

#[test]
fn out_of_any_call_people_are_asked_since_a_modern_client_has_no_ear() {
    let mut world = modern_to_modern("client,page", both());
    world.server(question(0));
    assert_eq!((world.asked.len(), world.to_client.len()), (1, 0));
}

#[test]
fn too_many_are_refused() {
    let mut world = legacy_to_modern("client,page", json!({}));
    for id in 0..1_001 {
        world.server(json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}));
    }
    assert_eq!(world.to_client.len(), 1_000);
    let told = world.told_server();
    assert_eq!(
        (&told["id"], &told["error"]["code"]),
        (&json!(1_000), &json!(-32600))
    );
}

#[test]
fn links_that_a_modern_server_wants_by_an_error_are_asked_for_in_the_call() {
    let mut world = modern_to_modern("client,page", both());
    world.client(call(1, json!({}), both()));
    world.to_server.clear();
    let mut link = link("first");
    link["elicitationId"] = "first".into();
    let error = json!({"code": -32042, "message": "Sign in", "data": {"elicitations": [link]}});
    world.server(json!({"jsonrpc": "2.0", "id": 1, "error": error}));
    assert_eq!(world.started, 0, "no second process is needed for that");
    let round = world.told_client();
    let requests = &round["result"]["inputRequests"];
    assert_eq!(requests["q1"]["params"]["url"], "https://example.com/first");
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "first"}}));
    assert!(world.to_client.is_empty(), "this era has no words for it");
    let again = json!({"requestState": round["result"]["requestState"], "inputResponses": {"q1": {"action": "accept"}}});
    world.client(call(2, again, both()));
    let made = world.told_server();
    assert_eq!(made["params"]["name"], "book");
    assert_eq!(
        made["params"]["_meta"][meta::PROTOCOL_VERSION],
        "2026-07-28"
    );
    world.server(json!({"jsonrpc": "2.0", "id": made["id"], "result": {"resultType": "complete", "content": []}}));
    assert_eq!(world.told_client()["id"], 2);
}

#[test]
fn errors_of_the_other_era_never_reach_a_modern_client() {
    let mut world = modern_to_modern("client,page", both());
    for (id, code, heard) in [
        (1, -32042, -32603),
        (2, -32002, -32602),
        (3, -32601, -32601),
    ] {
        world.client(call(id, json!({}), both()));
        world.to_server.clear();
        let error = json!({"code": code, "message": "?", "data": {"elicitations": []}});
        world.server(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        let told = world.told_client();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!(id), &json!(heard))
        );
    }
}
