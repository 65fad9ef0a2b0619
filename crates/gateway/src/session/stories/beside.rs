//! Servers that speak both eras, and whose tools can ask in one of them only.

use super::eras::*;

const NOBODY: &str = "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.";

fn call(id: u64) -> Value {
    modern(id, "tools/call", json!({"name": "book"}), both())
}

fn refused(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": NOBODY}})
}

/// A modern client whose call a modern server refuses, and the server opened in the other era.
fn moved() -> World {
    let mut world = modern_to_modern("client,page", both());
    world.client(call(1));
    let sent = world.told_server();
    world.server(refused(&sent["id"]));
    assert_eq!(world.started, 1);
    assert!(world.to_client.is_empty());
    let opening = world.told_beside();
    assert_eq!(opening["method"], "initialize");
    world.beside(json!({"jsonrpc": "2.0", "id": opening["id"], "result": initialized()}));
    assert_eq!(
        world.to_beside.remove(0)["method"],
        "notifications/initialized"
    );
    world
}

#[test]
fn a_call_that_the_modern_era_refuses_is_made_in_the_other_and_remembered() {
    let mut world = moved();
    let made = world.told_beside();
    assert_eq!(
        (&made["id"], &made["params"]["name"]),
        (&json!(1), &json!("book"))
    );
    world.beside(
        json!({"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": day()}),
    );
    let round = world.told_client()["result"].clone();
    world.client(modern(
        2,
        "tools/call",
        json!({"name": "book", "requestState": round["requestState"],
        "inputResponses": {"q1": monday()}}),
        both(),
    ));
    assert_eq!(
        world.told_beside(),
        json!({"jsonrpc": "2.0", "id": 0, "result": monday()})
    );
    world.beside(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    assert_eq!(world.told_client()["id"], 2);
    // The next call of that tool goes there at once, those of others do not.
    world.client(call(3));
    assert_eq!(world.told_beside()["id"], 3);
    world.client(modern(4, "tools/call", json!({"name": "look"}), both()));
    assert_eq!(world.told_server()["id"], 4);
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}),
    );
    assert_eq!(world.told_beside()["params"]["requestId"], 3);
    assert_eq!(world.started, 1);
}

#[test]
fn a_refusal_inside_a_result_is_one_too_and_is_not_repeated_for_ever() {
    let mut world = modern_to_modern("client,page", Value::Null);
    world.client(modern(
        1,
        "tools/call",
        json!({"name": "book"}),
        Value::Null,
    ));
    let sent = world.told_server();
    let told = json!({"content": [{"type": "text", "text": NOBODY}], "isError": true});
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "result": told}));
    let opening = world.told_beside();
    world.beside(json!({"jsonrpc": "2.0", "id": opening["id"], "result": initialized()}));
    world.to_beside.clear();
    world.beside(refused(&json!(1)));
    assert_eq!(world.told_client()["error"]["message"], NOBODY);
}

#[test]
fn a_tool_of_rounds_is_called_in_the_modern_era() {
    let mut world = World::new("client,page");
    world.client(initialize(0, json!({"elicitation": {}})));
    world.server_answers(initialized());
    world.to_client.clear();
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rounds"}}),
    );
    let sent = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "error": {"code": -32603, "message": "Handler returned an invalid result"}}));
    let probe = world.told_beside();
    assert_eq!(probe["method"], "server/discover");
    world.beside(json!({"jsonrpc": "2.0", "id": probe["id"], "result": discovered()}));
    let made = world.told_beside();
    assert_eq!(
        (
            &made["id"],
            &made["params"]["_meta"][meta::PROTOCOL_VERSION]
        ),
        (&json!(1), &json!("2026-07-28"))
    );
    world.beside(json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required", "inputRequests": asks("k", day())}}));
    let ask = world.told_client();
    world.client(json!({"jsonrpc": "2.0", "id": ask["id"], "result": monday()}));
    let again = world.told_beside();
    assert_eq!(again["params"]["inputResponses"]["k"], monday());
    world.beside(json!({"jsonrpc": "2.0", "id": again["id"], "result": {"content": []}}));
    assert_eq!(
        world.told_client(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    );
}

#[test]
fn where_there_is_no_other_era_the_refusal_stands() {
    let mut world = World::new("client,page");
    world.client(initialize(0, json!({"elicitation": {}})));
    world.server_answers(initialized());
    world.to_client.clear();
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "broken"}}),
    );
    let sent = world.told_server();
    let error = json!({"jsonrpc": "2.0", "id": sent["id"], "error": {"code": -32603, "message": "Handler returned an invalid result"}});
    world.server(error.clone());
    let probe = world.told_beside();
    world.beside(
        json!({"jsonrpc": "2.0", "id": probe["id"], "error": {"code": -32601, "message": "?"}}),
    );
    assert_eq!(world.told_client(), error);

    let mut world = modern_to_modern("client,page", both());
    world.client(call(1));
    let sent = world.told_server();
    world.server(refused(&sent["id"]));
    world.to_beside.clear();
    world.beside_gone();
    assert_eq!(world.told_client()["error"]["message"], NOBODY);
}

#[test]
fn when_it_goes_its_calls_and_questions_end() {
    let mut world = moved();
    world.beside(
        json!({"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": day()}),
    );
    let round = world.told_client()["result"].clone();
    world.beside_gone();
    world.client(modern(
        2,
        "tools/call",
        json!({"name": "book", "requestState": round["requestState"],
        "inputResponses": {"q1": monday()}}),
        both(),
    ));
    let told = world.told_client();
    assert_eq!(told["id"], 2);
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ended before it answered")
    );
    // It can be started again.
    world.client(call(3));
    assert_eq!(world.started, 2);
}

#[test]
fn one_that_never_opens_leaves_the_refusal_and_a_call_taken_back_is_not_made() {
    let mut world = modern_to_modern("client,page", both());
    world.client(call(1));
    let sent = world.told_server();
    world.server(refused(&sent["id"]));
    world.client(modern(
        2,
        "tools/call",
        json!({"name": "book", "arguments": {}}),
        both(),
    ));
    let opening = world.told_beside();
    world.client(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    );
    assert!(world.to_beside.is_empty());
    let mut late = World::new("client,page");
    std::mem::swap(&mut late, &mut world);
    late.passes(Duration::from_secs(60));
    assert_eq!(late.told_client()["error"]["message"], NOBODY);
    let _ = opening;
}

#[test]
fn a_refusal_in_company_is_still_one() {
    let mut world = World::new("client,page");
    world.client(initialize(0, json!({"elicitation": {}})));
    world.server_answers(initialized());
    world.to_client.clear();
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rounds"}}),
    );
    world.to_server.clear();
    let refusal = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "Handler returned an invalid result"}});
    let question =
        json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": day()});
    world.server(json!([refusal, question]));
    assert_eq!(world.told_beside()["method"], "server/discover");
    assert_eq!(world.told_client()["method"], "elicitation/create");
}

#[test]
fn a_request_is_taken_back_by_the_id_that_the_client_knows() {
    let mut world = World::new("client,page");
    world.client(initialize(0, json!({"elicitation": {}, "sampling": {}})));
    world.server_answers(initialized());
    world.to_client.clear();
    world.client(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rounds"}}),
    );
    let sent = world.told_server();
    world.server(json!({"jsonrpc": "2.0", "id": sent["id"], "error": {"code": -32603, "message": "Handler returned an invalid result"}}));
    let probe = world.told_beside();
    world.beside(json!({"jsonrpc": "2.0", "id": probe["id"], "result": discovered()}));
    world.to_beside.clear();
    let cancelled = |id: &Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    for (method, params) in [
        ("sampling/createMessage", json!({"messages": []})),
        ("elicitation/create", day()),
    ] {
        // Both processes use the same id.
        let request = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
        world.server(request.clone());
        assert_eq!(world.told_client(), request);
        world.beside(request);
        let other = world.told_client();
        assert_eq!(other["method"], method);
        assert_ne!(other["id"], 5);
        world.beside(cancelled(&json!(5)));
        assert_eq!(world.told_client(), cancelled(&other["id"]));
        // The answer of a client that didn't hear that in time is for nobody.
        world.client(json!({"jsonrpc": "2.0", "id": other["id"], "result": {}}));
        assert!(world.to_beside.is_empty() && world.to_server.is_empty());
        world.server(cancelled(&json!(5)));
        assert_eq!(world.told_client(), cancelled(&json!(5)));
    }
}
