//! A modern client with a legacy server.

use midcall_core::Answer;

use super::eras::*;

pub(super) fn call(id: u64, retry: Value) -> Value {
    let mut params = json!({"name": "book", "arguments": {"b": 1, "a": 2}, "_meta": {"progressToken": format!("t{id}")}});
    if let Some(retry) = retry.as_object() {
        params.as_object_mut().unwrap().extend(retry.clone());
    }
    modern(id, "tools/call", params, both())
}

/// A call in which the server has asked `params`; the state that the client was given.
pub(super) fn asked(params: Value) -> (World, Value) {
    let mut world = modern_to_legacy("client,page", both());
    world.client(call(1, Value::Null));
    let sent = world.told_server();
    assert_eq!(
        sent["params"],
        json!({"name": "book", "arguments": {"b": 1, "a": 2}, "_meta": {"progressToken": "t1"}})
    );
    world.server(
        json!({"jsonrpc": "2.0", "id": "s7", "method": "elicitation/create", "params": params}),
    );
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["result"]["resultType"]),
        (&json!(1), &json!("input_required"))
    );
    (world, told["result"].clone())
}

pub(super) fn back(id: u64, round: &Value, responses: Value) -> Value {
    call(
        id,
        json!({"requestState": round["requestState"], "inputResponses": responses}),
    )
}

pub(super) fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "done"}]}})
}

#[test]
fn a_question_is_a_round_and_its_answer_reaches_the_waiting_request() {
    let (mut world, round) = asked(day());
    let requests = round["inputRequests"].as_object().unwrap();
    assert_eq!(
        requests["q1"],
        json!({"method": "elicitation/create", "params": day()})
    );
    world.client(back(2, &round, json!({"q1": monday(), "unknown": 1})));
    assert_eq!(
        world.told_server(),
        json!({"jsonrpc": "2.0", "id": "s7", "result": monday()})
    );
    assert!(world.to_client.is_empty());
    world.server(result(1));
    let mut told = result(2);
    told["result"]["resultType"] = "complete".into();
    assert_eq!(world.told_client(), told);
}

#[test]
fn a_link_keeps_its_id_for_clients_that_cannot_read_one_without() {
    let mut params = link("in");
    params["elicitationId"] = "e1".into();
    let (mut world, round) = asked(params.clone());
    assert_eq!(round["inputRequests"]["q1"]["params"], params);
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    assert_eq!(world.told_server()["result"], json!({"action": "accept"}));
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "e1"}}));
    assert!(world.to_client.is_empty());
}

#[test]
fn several_rounds_and_two_questions_at_once() {
    let (mut world, round) = asked(day());
    world.server(
        json!({"jsonrpc": "2.0", "id": "s8", "method": "elicitation/create", "params": day()}),
    );
    assert!(world.to_client.is_empty());
    world.client(back(2, &round, json!({"q1": {"action": "decline"}})));
    assert_eq!(world.told_server()["id"], "s7");
    let round = world.told_client()["result"].clone();
    assert_eq!(
        round["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["q2"]
    );
    world.passes(Duration::from_secs(1));
    world.client(back(3, &round, json!({"q2": {"action": "cancel"}})));
    assert_eq!(
        world.told_server(),
        json!({"jsonrpc": "2.0", "id": "s8", "result": {"action": "cancel"}})
    );
    world.server(
        json!({"jsonrpc": "2.0", "id": "s9", "method": "elicitation/create", "params": day()}),
    );
    let told = world.told_client();
    assert_eq!(told["id"], 3);
    world.client(back(4, &told["result"], json!({"q3": monday()})));
    world.to_server.clear();
    world.server(result(1));
    assert_eq!(world.told_client()["id"], 4);
}

#[test]
fn progress_and_cancel_follow_the_call_under_its_new_id() {
    let (mut world, round) = asked(day());
    let progress = |n: u64| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t1", "progress": n}});
    world.server(progress(1));
    assert!(world.to_client.is_empty(), "nobody waits");
    world.client(back(2, &round, json!({"q1": monday()})));
    world.to_server.clear();
    world.server(progress(2));
    assert_eq!(world.told_client()["params"]["progressToken"], "t2");
    world.client(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "r"}}));
    assert_eq!(
        world.told_server()["params"],
        json!({"requestId": 1, "reason": "r"})
    );
    world.server(result(1));
    assert!(world.to_client.is_empty());
}

#[test]
fn a_question_the_server_takes_back_is_not_answered() {
    let (mut world, round) = asked(day());
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s7"}}));
    assert!(world.to_client.is_empty());
    world.client(back(2, &round, json!({"q1": monday()})));
    assert!(world.to_server.is_empty() && world.to_client.is_empty());
    world.server(result(1));
    assert_eq!(world.told_client()["id"], 2);
}

#[test]
fn what_the_client_cannot_ask_goes_to_the_page_and_long_waits_are_rounds_without_questions() {
    let mut world = modern_to_legacy("client,page", Value::Null);
    let plain = |id: u64, state: &Value| {
        let mut params = json!({"name": "book"});
        if state.is_string() {
            params["requestState"] = state.clone();
        }
        modern(id, "tools/call", params, Value::Null)
    };
    world.client(plain(1, &Value::Null));
    world.to_server.clear();
    world.server(
        json!({"jsonrpc": "2.0", "id": "s7", "method": "elicitation/create", "params": day()}),
    );
    assert_eq!(world.asked.len(), 1);
    world.see();
    world.passes(Duration::from_secs(45));
    let told = world.told_client();
    assert_eq!(told["result"]["resultType"], "input_required");
    assert!(told["result"].get("inputRequests").is_none());
    let state = told["result"]["requestState"].clone();
    world.client(plain(2, &state));
    assert!(world.to_client.is_empty());
    world.ends(
        1,
        Outcome::Answered(Answer::Declined { reason: None }, PAGE),
    );
    assert_eq!(world.told_server()["result"]["action"], "decline");
    world.server(result(1));
    assert_eq!(world.told_client()["id"], 2);
}

#[test]
fn sampling_and_roots_ride_the_same_way_if_they_are_declared() {
    let mut world = modern_to_legacy("client,page", both());
    let mut request = call(1, Value::Null);
    request["params"]["_meta"][meta::CLIENT_CAPABILITIES]["sampling"] = json!({});
    world.client(request);
    world.to_server.clear();
    world.server(json!({"jsonrpc": "2.0", "id": "m", "method": "sampling/createMessage", "params": {"maxTokens": 9}}));
    let round = world.told_client()["result"].clone();
    assert_eq!(
        round["inputRequests"]["q1"],
        json!({"method": "sampling/createMessage", "params": {"maxTokens": 9}})
    );
    world.client(back(
        2,
        &round,
        json!({"q1": {"role": "assistant", "content": {"type": "text", "text": "hi"}}}),
    ));
    assert_eq!(world.told_server()["result"]["role"], "assistant");
    world.server(json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}));
    assert_eq!(world.told_server()["error"]["code"], -32601);
}

#[test]
fn links_that_a_call_needs_are_asked_in_it_and_the_call_made_again() {
    let mut world = modern_to_legacy("client,page", both());
    world.client(call(1, Value::Null));
    world.to_server.clear();
    let needs = |id: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32042, "message": "Sign in",
        "data": {"elicitations": [{"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "e"}]}}})
    };
    world.server(needs(&json!(1)));
    let round = world.told_client()["result"].clone();
    let mut params = link("in");
    params["elicitationId"] = "e".into();
    assert_eq!(round["inputRequests"]["q1"]["params"], params);
    world.client(back(2, &round, json!({"q1": {"action": "accept"}})));
    assert!(world.to_server.is_empty(), "opening is not finishing");
    world.passes(Duration::from_secs(1));
    let again = world.told_server();
    assert_eq!(again["params"]["name"], "book");
    world.to_client.clear(); // It was kept alive.
    world.server(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"content": []}}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"content": [], "resultType": "complete"}})
    );
    // An error of that kind means nothing in this era.
    world.client(call(3, Value::Null));
    world.to_server.clear();
    world.server(needs(&json!(3)));
    let round = world.told_client()["result"].clone();
    world.client(back(4, &round, json!({"q1": {"action": "decline"}})));
    let error = world.told_client()["error"].clone();
    assert_eq!(error["code"], -32603);
}

#[test]
fn logs_are_heard_by_those_who_asked_for_them() {
    let mut world = modern_to_legacy("client,page", both());
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
    world.client(call(1, Value::Null));
    world.to_server.clear();
    world.server(log.clone());
    assert!(world.to_client.is_empty());
    let mut loud = call(2, Value::Null);
    loud["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "info".into();
    world.client(loud);
    assert_eq!(world.to_server[0]["method"], "logging/setLevel");
    assert_eq!(world.to_server[0]["params"]["level"], "info");
    world.server(log.clone());
    assert_eq!(world.told_client(), log);
}

#[test]
fn news_are_heard_by_those_who_follow_them() {
    let mut world = modern_to_legacy("client,page", both());
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    world.server(changed.clone());
    assert!(world.to_client.is_empty());
    let wanted = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a:b"]}});
    world.client(modern(5, "subscriptions/listen", wanted, both()));
    let subscribe = world.told_server();
    assert_eq!(
        (&subscribe["method"], &subscribe["params"]),
        (&json!("resources/subscribe"), &json!({"uri": "a:b"}))
    );
    world.server(json!({"jsonrpc": "2.0", "id": subscribe["id"], "result": {}}));
    let ack = world.told_client();
    assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        ack["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["a:b"]})
    );
    assert_eq!(
        ack["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        5
    );
    world.server(changed);
    assert_eq!(
        world.told_client()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        5
    );
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}}));
    assert_eq!(world.told_client()["params"]["uri"], "a:b");
    world.server(json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "c:d"}}));
    assert!(world.to_client.is_empty());
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}),
    );
    assert_eq!(world.told_server()["method"], "resources/unsubscribe");
}

#[test]
fn errors_and_unknown_methods_pass_and_pings_are_answered_here() {
    let mut world = modern_to_legacy("client,page", both());
    world.client(modern(3, "ping", json!({}), both()));
    assert_eq!(world.told_client()["result"]["resultType"], "complete");
    world.client(modern(4, "x/unknown", json!({"y": 1}), both()));
    let sent = world.told_server();
    assert_eq!(
        (&sent["id"], &sent["method"], &sent["params"]["y"]),
        (&json!(4), &json!("x/unknown"), &json!(1))
    );
    let error = json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32601, "message": "Method not found"}});
    world.server(error.clone());
    assert_eq!(world.told_client(), error);
    world.client(modern(5, "resources/read", json!({"uri": "a:b"}), both()));
    world.to_server.clear();
    world.server(
        json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32002, "message": "no such"}}),
    );
    assert_eq!(world.told_client()["error"]["code"], -32602);
}

#[test]
fn a_server_may_look_whether_anybody_is_there() {
    let mut world = modern_to_legacy("client,page", both());
    world.server(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    assert_eq!(
        world.told_server(),
        json!({"jsonrpc": "2.0", "id": "p", "result": {}})
    );
}

#[test]
fn a_client_changes_its_era_only_between_calls() {
    let mut world = World::new("client,page");
    let opening = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    world.client(opening.clone());
    let sent = world.told_server();
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    let told = world.told_client();
    assert_eq!(
        (&told["id"], &told["error"]["code"]),
        (&json!(1), &json!(-32600))
    );
    world.server(
        json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}),
    );
    assert_eq!(world.told_client()["id"], 0);

    let mut world = modern_to_legacy("client,page", both());
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    let sent = world.told_server();
    world.client(opening);
    assert_eq!(world.told_client()["error"]["code"], -32600);
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": {"content": []}}));
    assert_eq!(world.told_client()["id"], 1);
}

#[test]
fn a_meta_that_is_no_object_says_nothing() {
    for odd in [json!("x"), json!(5), json!([1]), Value::Null] {
        let mut world = World::new("client,page");
        world.client(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": odd}}));
        world.server_answers(json!({}));
        world.client(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "a", "_meta": odd}}));
    }
}

#[test]
fn what_one_window_was_asked_is_never_asked_in_another() {
    let shared = World::new("client,page").shared();
    let mut world = modern_to_legacy_in(shared, both());
    world.client(modern(1, "tools/call", json!({"name": "book"}), both()));
    let first = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": "s7", "method": "elicitation/create", "params":
        {"mode": "url", "message": "Sign in", "url": "https://example.com/", "elicitationId": "e"}}));
    assert_eq!(world.told_client()["id"], 1);
    world.client(modern(2, "tools/call", json!({"name": "book"}), both()));
    world.told_server();
    // The first call is over, and its window doesn't come back.
    world.server(json!({"jsonrpc": "2.0", "id": first["id"], "result": {"content": []}}));
    world.passes(Duration::from_secs(120));
    let told = serde_json::to_string(&world.to_client).unwrap();
    assert!(!told.contains("example.com"), "{told}");
}
